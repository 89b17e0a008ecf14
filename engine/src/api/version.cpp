#include "adbo/version.h"

#include <string>

#include <Eigen/Core>

#include "adbo/kernels/instruction_set.h"
#include "runtime/tbb_executor.h"

#define ADBO_STRING_(x) #x
#define ADBO_STRING(x) ADBO_STRING_(x)

namespace adbo {

std::string_view version() {
  return ADBO_STRING(ADBO_VERSION_MAJOR) "." ADBO_STRING(ADBO_VERSION_MINOR) "." ADBO_STRING(
      ADBO_VERSION_PATCH);
}

std::string_view build_description() {
  static const std::string description = std::string("compiler ") + __VERSION__ +
#ifdef NDEBUG
                                         ", optimized\n"
#else
                                         ", with assertions\n"
#endif
                                         "oneTBB " +
                                         detail::tbb_version() +
                                         "\nEigen " ADBO_STRING(EIGEN_WORLD_VERSION) "." ADBO_STRING(
                                             EIGEN_MAJOR_VERSION) "." ADBO_STRING(EIGEN_MINOR_VERSION);
  return description;
}

std::string_view instruction_set() { return kernels::active_instruction_set(); }

}  // namespace adbo
