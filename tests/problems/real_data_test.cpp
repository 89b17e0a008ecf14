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

}  // namespace
