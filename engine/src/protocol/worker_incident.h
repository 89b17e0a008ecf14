#pragma once

#include <cstddef>
#include <string>

namespace adbo::detail {

/// Why a worker did not give what it should.
struct WorkerIncident {
  std::size_t worker = 0;
  bool non_finite = false;  ///< numbers ran away; otherwise an exception, or no answer
  std::string what;
};

}  // namespace adbo::detail
