#pragma once
// Hyper-cleaning problems of a given size, filled with seeded random rows: what a step costs does not depend
// on values.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "adbo/adbo.h"

namespace adbo::bench {

inline LabelledRows random_rows(std::size_t rows, std::size_t features, int classes, RandomStream& random) {
  kernels::DenseRows matrix(rows, features);
  LabelledRows result;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < features; ++k) matrix.mutable_row(r)[k] = static_cast<float>(random.normal());
    result.labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
  }
  result.features = std::make_shared<const kernels::Rows>(std::move(matrix));
  return result;
}

/// `workers` shards of train_rows + validation_rows rows.
inline Problem cleaning_problem(std::size_t workers, std::size_t train_rows, std::size_t validation_rows,
                                std::size_t features, int classes) {
  RandomStream random(1, 0);
  std::vector<CleaningShard> shards;
  for (std::size_t i = 0; i < workers; ++i) {
    LabelledRows train = random_rows(train_rows, features, classes, random);
    shards.push_back({std::move(train), random_rows(validation_rows, features, classes, random)});
  }
  return make_hyper_cleaning(shards, {.classes = classes});
}

/// The values of a preset in the option table.
inline Options preset_options(const char* name) {
  Options options;
  const Preset* preset = find_preset(name);
  for (const auto& [option, value] : preset->values) {
    if (!set_option(options, option, value).ok()) std::abort();
  }
  options.clock = ClockKind::kVirtual;
  return options;
}

}  // namespace adbo::bench
