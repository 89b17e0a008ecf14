// Figures that are known of real data. Skipped, with a message, where the data are not there.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "adbo/measures.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/regularization_tuning.h"
#include "io/idx.h"
#include "io/libsvm.h"
#include "test_rows.h"

namespace {

using adbo::LabelledRows;
namespace fs = std::filesystem;

fs::path directory(const char* variable, const fs::path& otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : otherwise;
}

LabelledRows rows_of(adbo::io::Table table) {
  return {.features = std::make_shared<const adbo::kernels::Rows>(std::move(table.features)),
          .labels = std::move(table.labels)};
}

TEST_CASE("ijcnn1: the pooled value function at coefficients 1") {
  const fs::path folder =
      directory("ADBO_DATA_DIR", fs::path(ADBO_SOURCE_DIR) / ".." / "shared" / "data") / "ijcnn1";
  if (!fs::exists(folder / "ijcnn1.gz") || !fs::exists(folder / "ijcnn1.t.gz")) {
    MESSAGE("no ijcnn1 in " << folder.string() << ": skipped");
    return;
  }
  const LabelledRows train =
      rows_of(adbo::io::read_libsvm((folder / "ijcnn1.gz").string(), {.min_columns = 22}));
  const LabelledRows validation =
      rows_of(adbo::io::read_libsvm((folder / "ijcnn1.t.gz").string(), {.min_columns = 22}));
  REQUIRE(train.size() == 49990);
  REQUIRE(validation.size() == 91701);

  // 24 contiguous shards, weighted by their rows: the pooled problem.
  std::vector<adbo::TuningShard> shards;
  constexpr std::size_t kShards = 24;
  const auto part = [](const LabelledRows& rows, std::size_t i) {
    const std::size_t begin = i * rows.size() / kShards, end = (i + 1) * rows.size() / kShards;
    return adbo::test::slice(rows, begin, end - begin);
  };
  for (std::size_t i = 0; i < kShards; ++i) shards.push_back({part(train, i), part(validation, i)});
  adbo::Problem problem = adbo::make_regularization_tuning(shards, {.penalty_factor = 0.5});

  const adbo::ValueFunction start = value_function(problem, std::vector<double>(22, 0.0), {}, {});
  CHECK(start.converged);
  MESSAGE("F(0) = " << start.upper_objective << ", " << start.evaluations << " evaluations, " << start.seconds
                    << " s");
  // Known: 0.453 above the optimum 0.20389373 of this pooled problem.
  CHECK(std::abs(start.upper_objective - 0.657) < 0.002);
}

/// Pixels 0..255 scaled by the training set's mean and deviation.
LabelledRows scaled_images(const fs::path& images, const fs::path& labels) {
  adbo::io::Table table = adbo::io::read_idx(images.string(), labels.string());
  auto& pixels = std::get<adbo::kernels::DenseRows>(table.features);
  for (std::size_t r = 0; r < pixels.rows(); ++r) {
    for (std::size_t k = 0; k < pixels.cols(); ++k) {
      float& pixel = pixels.mutable_row(r)[k];
      pixel = (pixel / 255.0F - 0.286F) / 0.353F;
    }
  }
  return rows_of(std::move(table));
}

TEST_CASE("Fashion-MNIST: what plain training, the validation rows alone and the true mask are worth") {
  const fs::path folder = directory("ADBO_FASHION_MNIST_DIR", "/usr/share/datasets/fashion-mnist");
  if (!fs::exists(folder / "train-images-idx3-ubyte.gz")) {
    MESSAGE("no Fashion-MNIST in " << folder.string() << ": skipped");
    return;
  }
  const LabelledRows all =
      scaled_images(folder / "train-images-idx3-ubyte.gz", folder / "train-labels-idx1-ubyte.gz");
  const LabelledRows test =
      scaled_images(folder / "t10k-images-idx3-ubyte.gz", folder / "t10k-labels-idx1-ubyte.gz");

  // 18 contiguous shards; the first half of each trains, with 0.4 of its labels redrawn among the other
  // classes.
  constexpr std::size_t kShards = 18;
  std::vector<adbo::CleaningShard> shards;
  std::vector<std::uint8_t> changed;
  adbo::RandomStream random(1, 0);
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::size_t begin = i * all.size() / kShards, end = (i + 1) * all.size() / kShards;
    const std::size_t middle = begin + (end - begin) / 2;
    adbo::CleaningShard shard{adbo::test::slice(all, begin, middle - begin),
                              adbo::test::slice(all, middle, end - middle)};
    for (std::int32_t& label : shard.train.labels) {
      changed.push_back(random.uniform() < 0.4);
      if (changed.back() != 0) label = (label + 1 + static_cast<std::int32_t>(random.below(9))) % 10;
    }
    shards.push_back(std::move(shard));
  }
  const std::vector<double> upper(changed.size(), 0.0);
  const adbo::CleaningMeasures measures = adbo::measure_cleaning({.shards = &shards,
                                                                  .settings = {.classes = 10, .ridge = 0.001},
                                                                  .upper = upper,
                                                                  .upper_start = {},
                                                                  .lower_consensus = {},
                                                                  .test = &test,
                                                                  .label_changed = changed},
                                                                 {.gradient_tolerance = 3e-3});
  MESSAGE("plain " << measures.test_accuracy_start << ", validation only "
                   << measures.test_accuracy_validation_only << ", true mask "
                   << measures.test_accuracy_true_mask << ", AUC plain " << measures.detection_auc_plain
                   << ", delivered F1 " << measures.detection_f1 << ", " << measures.seconds << " s");
  CHECK(measures.all_converged);
  // The tolerance moves an accuracy by less than 0.001, another draw of the noise that of plain training by
  // some 0.003.
  CHECK(std::abs(measures.test_accuracy_start - 0.805) < 0.008);
  CHECK(std::abs(measures.test_accuracy_validation_only - 0.843) < 0.003);
  CHECK(std::abs(measures.test_accuracy_true_mask - 0.839) < 0.004);
  CHECK(std::abs(measures.detection_auc_plain - 0.976) < 0.003);
  CHECK(measures.detection_f1 > 0.90);
  CHECK(measures.value_function_true_mask < 0.5 * measures.value_function_start);
  CHECK(measures.detection_auc_weight == 0.5);
}

}  // namespace
