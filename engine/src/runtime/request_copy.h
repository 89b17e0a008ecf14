#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "protocol/messages.h"

namespace adbo::detail {

/// A worker's own copy of what its request refers to in the master's memory. Where answers have a deadline, a
/// worker that is given up goes on reading while the master changes what is its own.
class RequestCopy {
 public:
  /// Afterwards the request refers to the copy. To be called before the request is handed over; what is not
  /// filled anew until the next call may refer to the copy already.
  void take(Request& request) {
    const std::array<std::span<const double>*, kParts> parts{
        &request.consensus_dual,   &request.reference_upper, &request.reference_lower,
        &request.round_consensus,  &request.round_dual,      &request.consensus_adjoint,
        &request.point.upper,      &request.point.lower,     &request.point.direction,
        &request.local.correction,
    };
    for (std::size_t k = 0; k < kParts; ++k) {
      std::span<const double>& part = *parts[k];
      if (part.data() == copies_[k].data()) continue;
      copies_[k].assign(part.begin(), part.end());
      part = copies_[k];
    }
  }

 private:
  static constexpr std::size_t kParts = 10;
  std::array<std::vector<double>, kParts> copies_;
};

}  // namespace adbo::detail
