#pragma once

#include <cstddef>
#include <cstdint>

#include "adbo/problem.h"

namespace adbo::app {

/// Start of the authors' hyper-cleaning code: psi = 0; z and every y_i independent normal draws with standard
/// deviation sqrt(2 / features).
[[nodiscard]] StartPoint code_clean_start(std::size_t features, int classes, std::size_t workers,
                                          std::uint64_t seed);
/// Start of the authors' coefficient code: z and all y_i one normal draw with standard deviation sqrt(2 /
/// classes); psi, v and all theta_i one standard normal draw.
[[nodiscard]] StartPoint code_tune_start(std::size_t upper_dim, std::size_t lower_dim, int classes,
                                         std::uint64_t seed);

}  // namespace adbo::app
