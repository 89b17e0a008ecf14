#pragma once

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
    const auto parts = request.borrowed();
    copies_.resize(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      std::span<const double>& part = *parts[k];
      if (part.data() == copies_[k].data()) continue;
      copies_[k].assign(part.begin(), part.end());
      part = copies_[k];
    }
  }

 private:
  std::vector<std::vector<double>> copies_;  ///< one per span of the request
};

}  // namespace adbo::detail
