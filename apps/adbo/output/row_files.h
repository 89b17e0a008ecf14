#pragma once
// The files that have a line per training row, per feature or per coordinate.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adbo/problems/hyper_cleaning.h"
#include "tasks/scaling.h"

namespace adbo::app {

/// What suspects.csv says, all lists [training rows] in the order of the file.
struct SuspectRows {
  std::span<const std::string> label_names;
  std::span<const std::string> ids;   ///< of all rows of the file, or empty: row numbers
  std::span<const std::size_t> rows;  ///< row of the file, counted from 0
  std::span<const std::size_t> workers;
  std::span<const std::int32_t> given_labels;
  std::span<const double> upper;  ///< psi; the weight is sigmoid(psi)
  const RowVerdicts* verdicts = nullptr;
  std::span<const std::uint8_t> selected;  ///< for corruption; empty unless the run made one
  std::span<const std::uint8_t> changed;
};
void write_suspects(const std::string& path, const SuspectRows& rows);

/// coefficients.csv: per feature (and class where there is one per class) psi and r(psi).
void write_coefficients(const std::string& path, std::span<const double> upper,
                        std::span<const double> coefficients, std::size_t features,
                        std::span<const std::string> feature_names, std::span<const std::string> label_names);

/// scaling.csv: shift and factor of every column, or one line for all of them, called "all"; a new row is
/// brought to the model's scale with (value - shift) * factor.
void write_scaling(const std::string& path, const Scaling& scaling,
                   std::span<const std::string> feature_names);

/// upper.npy, [n].
void write_upper(const std::string& path, std::span<const double> upper);
/// model.npy, [features x classes] from the engine's class-after-class order.
void write_model(const std::string& path, std::span<const double> model, std::size_t features);

/// Features are named by the file, or counted from 0.
[[nodiscard]] std::string feature_name(std::span<const std::string> names, std::size_t feature);
/// 1 / (1 + exp(-psi)), without overflow.
[[nodiscard]] double sigmoid(double psi);

}  // namespace adbo::app
