// The published data sets, read whole. The directory is $ADBO_DATA_DIR; where a file is absent its test says
// so.

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "io/dataset.h"
#include "io_support.h"

namespace adbo::io {
namespace {

using test::class_counts;
using test::first_labels;
using test::Names;
using test::Row;
using test::row_of;

using Counts = std::vector<std::size_t>;

std::string data_directory() {
  const char* given = std::getenv("ADBO_DATA_DIR");
  return given != nullptr ? given : std::string(ADBO_SOURCE_DIR) + "/../shared/data";
}

/// Reads the data set and reports the processor time it took; nothing when a file is absent.
std::optional<Table> read_path(DatasetRequest request) {
  for (const std::string& path : {request.path, request.labels_path}) {
    if (!path.empty() && !std::filesystem::exists(path)) {
      MESSAGE("skipped: no ", path, " (set ADBO_DATA_DIR)");
      return std::nullopt;
    }
  }
  const std::clock_t start = std::clock();
  Table table = read_dataset(request);
  const double cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  MESSAGE(request.path, ": ", row_count(table), " x ", column_count(table), " ", table.format, " in ",
          cpu_seconds, " s of CPU");
  return table;
}

std::optional<Table> read_named(const std::string& name, DatasetRequest request = {}) {
  request.path = data_directory() + "/" + name;
  if (!request.labels_path.empty()) request.labels_path = data_directory() + "/" + request.labels_path;
  return read_path(request);
}

void check_shape(const Table& table, const std::string& format, std::size_t rows, std::size_t columns,
                 bool dense) {
  CHECK(table.format == format);
  CHECK(row_count(table) == rows);
  CHECK(column_count(table) == columns);
  CHECK(test::is_dense(table) == dense);
}

TEST_CASE("ijcnn1") {
  if (const auto train = read_named("ijcnn1/ijcnn1.gz")) {
    check_shape(*train, "libsvm", 49'990, 22, true);
    CHECK(train->label_names == Names{"-1", "1"});
    CHECK(class_counts(*train) == Counts{45'137, 4'853});
    CHECK(train->notes.empty());
    CHECK(row_of(*train, 0)[5] == 1.0F);
    CHECK(row_of(*train, 0)[10] == -0.731854F);
    CHECK(row_of(*train, 0)[12] == 0.0F);
  }
  if (const auto test = read_named("ijcnn1/ijcnn1.t.gz")) {
    check_shape(*test, "libsvm", 91'701, 22, true);
    CHECK(class_counts(*test) == Counts{82'989, 8'712});
  }
}

TEST_CASE("a9a: train and test get the same width") {
  DatasetRequest request;
  if (const auto train = read_named("a9a/a9a.gz")) {
    check_shape(*train, "libsvm", 32'561, 123, false);
    CHECK(class_counts(*train) == Counts{24'720, 7'841});
    request.min_columns = column_count(*train);
  }
  if (const auto test = read_named("a9a/a9a.t.gz", request)) {
    check_shape(*test, "libsvm", 16'281, 123, false);
    CHECK(class_counts(*test) == Counts{12'435, 3'846});
  }
}

TEST_CASE("w8a: rows with nothing but a label are rows") {
  if (const auto table = read_named("w8a/w8a.gz")) {
    check_shape(*table, "libsvm", 49'749, 300, false);
    CHECK(class_counts(*table) == Counts{48'270, 1'479});
    const auto& rows = std::get<kernels::SparseRows>(table->features);
    std::size_t empty = 0;
    for (std::size_t r = 0; r < rows.rows(); ++r) empty += rows.row_begin[r] == rows.row_begin[r + 1];
    CHECK(empty == 4'203);
  }
}

TEST_CASE("sector") {
  if (const auto table = read_named("sector/sector.scale.gz")) {
    check_shape(*table, "libsvm", 6'412, 55'197, false);
    CHECK(table->label_names.size() == 105);
    CHECK(table->label_names.front() == "1");
    CHECK(table->label_names.back() == "105");
  }
}

TEST_CASE("reuters") {
  if (const auto table = read_named("reuters/reuters.trn.gz")) {
    check_shape(*table, "libsvm", 7'770, 8'315, false);
    CHECK(table->label_names == Names{"-1", "+1"});
    CHECK(class_counts(*table) == Counts{7'232, 538});
  }
}

TEST_CASE("letter and pendigits: numeric classes in numeric order") {
  if (const auto table = read_named("letter/letter.scale.gz")) {
    check_shape(*table, "libsvm", 15'000, 16, true);
    CHECK(table->label_names.size() == 26);
    CHECK(table->label_names[1] == "2");
    CHECK(first_labels(*table, 2) == Names{"26", "16"});
  }
  if (const auto table = read_named("pendigits/pendigits.gz")) {
    check_shape(*table, "libsvm", 7'494, 16, true);
    CHECK(class_counts(*table) == Counts{780, 779, 780, 719, 780, 720, 720, 778, 719, 719});
  }
}

TEST_CASE("covtype") {
  if (const auto table = read_named("covtype/covtype.random20000.csv.gz")) {
    check_shape(*table, "csv", 20'000, 54, true);
    CHECK(table->label_names == Names{"1", "2", "3", "4", "5", "6", "7"});
    CHECK(first_labels(*table, 2) == Names{"2", "6"});
    CHECK(row_of(*table, 0)[0] == 3075.0F);
  }
}

TEST_CASE("australian: blanks and LIBSVM hold the same rows") {
  const auto text = read_named("australian/australian.dat");
  const auto libsvm = read_named("australian/australian.libsvm");
  if (!text || !libsvm) return;
  check_shape(*text, "csv", 690, 14, true);
  check_shape(*libsvm, "libsvm", 690, 14, true);
  CHECK(class_counts(*text) == Counts{383, 307});
  CHECK(text->labels == libsvm->labels);
  CHECK(text->label_names == libsvm->label_names);
  for (std::size_t r = 0; r < 690; ++r) CHECK(row_of(*text, r) == row_of(*libsvm, r));
}

TEST_CASE("small sets") {
  struct Expected {
    const char* name;
    const char* format;
    std::size_t rows, columns;
    Counts counts;
  };
  for (const Expected& expected : {Expected{"breast-cancer_scale.txt", "libsvm", 683, 10, {444, 239}},
                                   Expected{"ionosphere_scale.txt", "libsvm", 351, 34, {126, 225}},
                                   Expected{"german.dat", "csv", 1000, 24, {300, 700}},
                                   Expected{"svmguide1", "libsvm", 3089, 4, {1089, 2000}},
                                   Expected{"svmguide3", "libsvm", 1243, 22, {947, 296}}}) {
    if (const auto table = read_named(std::string("small/") + expected.name)) {
      check_shape(*table, expected.format, expected.rows, expected.columns, true);
      CHECK(class_counts(*table) == expected.counts);
    }
  }
}

TEST_CASE("madelon: labels in a text file of their own") {
  DatasetRequest request;
  request.labels_path = "madelon/madelon_train.labels";
  if (const auto table = read_named("madelon/madelon_train.data.gz", request)) {
    check_shape(*table, "csv", 2'000, 500, true);
    CHECK(class_counts(*table) == Counts{1'000, 1'000});
  }
}

TEST_CASE("CIFAR") {
  if (const auto table = read_named("cifar10/data_batch_1.bin.gz")) {
    check_shape(*table, "cifar10", 10'000, 3'072, true);
    CHECK(class_counts(*table) == Counts{1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981});
    CHECK(first_labels(*table, 8) == Names{"6", "9", "9", "4", "1", "1", "2", "7"});
  }
  if (const auto table = read_named("cifar-fs/cifar100_test_by_class.bin.gz")) {
    check_shape(*table, "cifar100", 10'000, 3'072, true);
    CHECK(class_counts(*table) == Counts(100, 100));
  }
}

struct Moments {
  double mean = 0, deviation = 0;
};

/// Of all pixels, divided by 255.
Moments pixel_moments(const Table& table) {
  const auto& rows = std::get<kernels::DenseRows>(table.features);
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t c = 0; c < rows.cols(); ++c) {
      const double pixel = static_cast<double>(rows.row(r)[c]) / 255;
      sum += pixel;
      squares += pixel * pixel;
    }
  }
  const double count = static_cast<double>(rows.rows() * rows.cols());
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

TEST_CASE("MNIST") {
  DatasetRequest request;
  request.labels_path = "mnist/train-labels-idx1-ubyte.gz";
  if (const auto table = read_named("mnist/train-images-idx3-ubyte.gz", request)) {
    check_shape(*table, "idx", 60'000, 784, true);
    REQUIRE(table->image);
    CHECK(table->image->height == 28);
    CHECK(first_labels(*table, 10) == Names{"5", "0", "4", "1", "9", "2", "1", "3", "1", "4"});
    CHECK(class_counts(*table) == Counts{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
    const Moments moments = pixel_moments(*table);
    CHECK(moments.mean == doctest::Approx(0.1307).epsilon(0.0005));  // the published values have four digits
    CHECK(moments.deviation == doctest::Approx(0.3081).epsilon(0.0005));
  }
  request.labels_path = "mnist/t10k-labels-idx1-ubyte.gz";
  request.path = data_directory() + "/mnist/train-images-idx3-ubyte.gz";
  request.labels_path = data_directory() + "/" + request.labels_path;
  if (std::filesystem::exists(request.path) && std::filesystem::exists(request.labels_path)) {
    CHECK(test::message_of([&] { (void)read_dataset(request); }) ==
          request.labels_path + ": has 10000 labels, but " + request.path +
              " has 60000 rows: do the two files belong together?");
  }
}

TEST_CASE("Fashion-MNIST") {
  DatasetRequest request;
  request.path = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";
  request.labels_path = "/usr/share/datasets/fashion-mnist/train-labels-idx1-ubyte.gz";
  if (const auto table = read_path(request)) {
    check_shape(*table, "idx", 60'000, 784, true);
    CHECK(class_counts(*table) == Counts(10, 6'000));
    const Moments moments = pixel_moments(*table);
    CHECK(moments.mean == doctest::Approx(0.2860).epsilon(0.0005));
    CHECK(moments.deviation == doctest::Approx(0.3530).epsilon(0.0005));
  }
}

}  // namespace
}  // namespace adbo::io
