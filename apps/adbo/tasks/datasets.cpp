#include "tasks/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/dataset.h"
#include "io/error.h"
#include "io/text.h"
#include "support/exit_code.h"
#include "support/memory.h"
#include "support/names.h"
#include "tasks/random_streams.h"

namespace adbo::app {
namespace {

io::DatasetRequest base_request(const TaskSettings& task) {
  io::DatasetRequest request;
  request.label_column = task.label_column;
  request.id_column = task.id_column;
  request.header = task.header;
  request.index_base = task.index_base;
  return request;
}

/// A file that has to fit a training file already read: same index base, same width at least.
io::DatasetRequest matching_request(const TaskSettings& task, const io::Table& train) {
  io::DatasetRequest request = base_request(task);
  request.follows_another = true;
  if (train.index_base)
    request.index_base = *train.index_base == 0 ? io::IndexBase::kZero : io::IndexBase::kOne;
  if (train.format == "libsvm") request.min_columns = io::column_count(train);
  return request;
}

/// Files of this size and more take long enough for a sign of life.
constexpr std::uintmax_t kAnnouncedBytes = std::uintmax_t{1} << 20;

void announce(const std::string& path, const Console& console) {
  std::error_code none;  // what cannot be read is for the reader to refuse
  const std::uintmax_t bytes = std::filesystem::file_size(path, none);
  if (!none && bytes >= kAnnouncedBytes) console.progress(fmt::format("reading {}", path));
}

void refuse_missing(std::string path, std::string_view option) {
  std::string member;  // of an archive; the file is what has to be there
  io::split_member(path, member);
  std::error_code error;
  if (path.empty() || std::filesystem::exists(path, error) || error) return;
  throw io::InputError(path, fmt::format("no such file (given as --{})", option));
}

io::Table read_table(io::DatasetRequest request, const std::string& path, const std::string& labels,
                     std::string_view role, const Console& console) {
  request.path = path;
  request.labels_path = labels;
  refuse_missing(path, role);
  refuse_missing(labels, fmt::format("{}-labels", role));
  announce(path, console);
  io::Table table = io::read_dataset(request);
  for (const std::string& note : table.notes) console.detail(fmt::format("{}: {}", path, note));
  if (table.labels.empty()) {
    throw DataError(
        fmt::format("{} has no labels: give them with --{}-labels FILE or, for CSV, --label-column NAME",
                    table.source, role));
  }
  console.detail(
      fmt::format("{}: {}, {} rows, {} columns, {} classes{}", path, table.format, io::row_count(table),
                  io::column_count(table), table.label_names.size(),
                  table.index_base ? fmt::format(", indices begin at {}", *table.index_base) : ""));
  return table;
}

void match_columns(io::Table& train, io::Table& other) {
  if (train.format == "libsvm" && other.format == "libsvm") {  // trailing zeros are left out of such files
    const std::size_t columns = std::max(io::column_count(train), io::column_count(other));
    io::widen(train, columns);
    io::widen(other, columns);
    return;
  }
  if (io::column_count(train) != io::column_count(other)) {
    throw DataError(fmt::format("{} has {} feature columns, {} has {}", train.source, io::column_count(train),
                                other.source, io::column_count(other)));
  }
}

/// This label against all others.
void make_binary(io::Table& table, std::string_view positive) {
  const auto found = std::find(table.label_names.begin(), table.label_names.end(), positive);
  if (found == table.label_names.end()) {
    std::vector<std::string> quoted;
    for (const std::string& name : table.label_names) quoted.push_back(io::detail::in_quotes(name));
    const std::vector<std::string_view> names(quoted.begin(), quoted.end());
    throw UsageError(fmt::format("positive_class = {} is no label of {}: expected one of {}",
                                 io::detail::in_quotes(positive), table.source,
                                 joined(std::span(names).first(std::min<std::size_t>(names.size(), 20)))));
  }
  const auto index = static_cast<std::int32_t>(found - table.label_names.begin());
  for (std::int32_t& label : table.labels) label = label == index ? 1 : 0;
  table.label_names = {fmt::format("not {}", positive), std::string(positive)};
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// Columns are matched by their place. Where both files name them, the same names in another order are
/// refused; of other names one is said.
void compare_column_names(const io::Table& train, const io::Table& other, const Console& console) {
  const std::vector<std::string>&own = train.feature_names, &others = other.feature_names;
  if (own.size() != others.size()) return;  // none, or another number of columns, which is refused elsewhere
  const auto [at, there] = std::mismatch(own.begin(), own.end(), others.begin());
  if (at == own.end()) return;
  const std::string difference =
      fmt::format("{}: feature {} is {}, in {} it is {}", other.source, at - own.begin() + 1,
                  io::detail::in_quotes(*there), train.source, io::detail::in_quotes(*at));
  if (sorted(own) == sorted(others)) {
    throw DataError(difference + ": both have the same columns in another order; bring them into one");
  }
  console.note(difference + "; columns are matched by their place");
}

kernels::DenseRows first_columns(const kernels::DenseRows& rows, std::size_t columns) {
  kernels::DenseRows cut(rows.rows(), columns);
  for (std::size_t r = 0; r < rows.rows(); ++r) std::copy_n(rows.row(r), columns, cut.mutable_row(r));
  return cut;
}

kernels::SparseRows first_columns(const kernels::SparseRows& rows, std::size_t columns) {
  kernels::SparseRows cut;
  cut.cols = columns;
  cut.row_begin = {0};
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (auto k = static_cast<std::size_t>(rows.row_begin[r]);
         k < static_cast<std::size_t>(rows.row_begin[r + 1]); ++k) {
      if (static_cast<std::size_t>(rows.column[k]) >= columns) continue;
      cut.column.push_back(rows.column[k]);
      cut.value.push_back(rows.value[k]);
    }
    cut.row_begin.push_back(static_cast<std::int64_t>(cut.column.size()));
  }
  return cut;
}

/// Features that no training row has cannot be learned: the test file's columns beyond are left out, so that
/// the same model is learned with and without a test file. Returns how many were.
std::size_t cut_test_columns(const io::Table& train, io::Table& test, const Console& console) {
  const std::size_t learned = io::column_count(train), given = io::column_count(test);
  if (train.format != "libsvm" || test.format != "libsvm" || given <= learned) return 0;
  std::visit([&](const auto& rows) { test.features = kernels::Rows(first_columns(rows, learned)); },
             kernels::Rows(std::move(test.features)));
  console.note(fmt::format("{}: {} of {} columns are beyond the {} of {} and left out", test.source,
                           given - learned, given, learned, train.source));
  return given - learned;
}

/// Numbers the test labels by the classes of training; a class that training never saw cannot be predicted.
void adopt_classes(const io::Table& train, io::Table& test) {
  const std::vector<std::string> own_names = test.label_names;
  const std::vector<std::int32_t> own_labels = test.labels;
  io::Table classes;
  classes.label_names = train.label_names;
  const std::array<io::Table*, 2> both{&classes, &test};
  io::unify_label_names(both);
  if (classes.label_names.size() == train.label_names.size()) return;
  for (std::size_t r = 0; r < test.labels.size(); ++r) {
    const std::string& name = test.label_names[static_cast<std::size_t>(test.labels[r])];
    if (std::find(train.label_names.begin(), train.label_names.end(), name) != train.label_names.end())
      continue;
    throw DataError(fmt::format(
        "{}: row {} (counted from 1) has the label {}, which no row of {} has", test.source, r + 1,
        io::detail::in_quotes(own_names[static_cast<std::size_t>(own_labels[r])]), train.source));
  }
  throw DataError(fmt::format("{} names classes that {} does not have", test.source, train.source));
}

/// Classes and columns are those of the rows that are learned from: train and validation, and test too when
/// its rows are pooled with them.
void match_tables(LoadedData& data, const TaskSettings& task, const Console& console) {
  std::vector<io::Table*> learned{&data.train};
  if (data.validation) learned.push_back(&*data.validation);
  if (data.test && task.pool_rows > 0) learned.push_back(&*data.test);
  for (const auto* const other : {&data.validation, &data.test}) {
    if (*other) compare_column_names(data.train, **other, console);
  }
  for (int pass = 0; pass < 2; ++pass) {  // the widest may have come last
    for (std::size_t k = 1; k < learned.size(); ++k) match_columns(data.train, *learned[k]);
  }
  io::unify_label_names(learned);
  if (data.test && task.pool_rows == 0) {
    data.test_columns_cut = cut_test_columns(data.train, *data.test, console);
    match_columns(data.train, *data.test);
    adopt_classes(data.train, *data.test);
    learned.push_back(&*data.test);
  }
  for (std::size_t k = 1; k < learned.size(); ++k) io::match_storage(*learned[k], data.train);
  if (task.positive_class.empty()) return;
  for (io::Table* const table : learned) make_binary(*table, task.positive_class);
}

void refuse_single_class(const LoadedData& data, const TaskSettings& task) {
  if (data.classes() < 2) {
    throw DataError(fmt::format("{}: all {} rows have the label {}: two classes at least are needed",
                                task.train_labels.empty() ? data.train.source : task.train_labels,
                                io::row_count(data.train),
                                io::detail::in_quotes(data.train.label_names.front())));
  }
}

/// What a run allocates at least, in numbers of the size of a model: measured on sparse rows with a million
/// columns, methods need 15 to 20 of them for every worker and 30 to 40 besides.
constexpr double kModelsPerWorker = 15, kModelsBesides = 30;

/// A sparse file is small however many columns its largest index stands for; the models are not.
void refuse_beyond_memory(const LoadedData& data, const TaskSettings& task) {
  const double rows = static_cast<double>(io::row_count(data.train));
  const double workers = std::max(1.0, std::min(static_cast<double>(task.workers), rows / 2));
  const double model_bytes = static_cast<double>(io::column_count(data.train)) *
                             static_cast<double>(data.classes()) * sizeof(double);
  const double needed = model_bytes * (kModelsPerWorker * workers + kModelsBesides);
  const std::string beyond = beyond_memory(needed);
  if (beyond.empty()) return;
  throw DataError(fmt::format(
      "{}: {} columns (its largest index decides), {} classes and {} workers need {}: is the largest "
      "index meant? Fewer --workers need less",
      data.train.source, io::column_count(data.train), data.classes(), workers, beyond));
}

kernels::Rows concatenated(const kernels::Rows& first, const kernels::Rows& second) {
  if (const auto* a = std::get_if<kernels::DenseRows>(&first)) {
    if (const auto* b = std::get_if<kernels::DenseRows>(&second)) {
      kernels::DenseRows all(a->rows() + b->rows(), a->cols());
      for (std::size_t r = 0; r < a->rows(); ++r) std::copy_n(a->row(r), a->cols(), all.mutable_row(r));
      for (std::size_t r = 0; r < b->rows(); ++r)
        std::copy_n(b->row(r), b->cols(), all.mutable_row(a->rows() + r));
      return all;
    }
  } else if (const auto* b = std::get_if<kernels::SparseRows>(&second)) {
    kernels::SparseRows all = std::get<kernels::SparseRows>(first);
    const std::int64_t offset = all.row_begin.back();
    for (std::size_t r = 1; r < b->row_begin.size(); ++r) all.row_begin.push_back(offset + b->row_begin[r]);
    all.column.insert(all.column.end(), b->column.begin(), b->column.end());
    all.value.insert(all.value.end(), b->value.begin(), b->value.end());
    return all;
  }
  throw DataError("pool_rows cannot join a dense and a sparse table");
}

std::vector<std::int32_t> labels_at(const std::vector<std::int32_t>& labels,
                                    std::span<const std::size_t> rows) {
  std::vector<std::int32_t> chosen;
  chosen.reserve(rows.size());
  for (const std::size_t row : rows) chosen.push_back(labels[row]);
  return chosen;
}

}  // namespace

LoadedData load_data(const TaskSettings& task, const Console& console) {
  if (task.train.empty()) throw UsageError("no training data: --train FILE is missing");
  const auto begin = std::chrono::steady_clock::now();
  LoadedData data;
  data.train = read_table(base_request(task), task.train, task.train_labels, "train", console);
  const io::DatasetRequest request = matching_request(task, data.train);
  if (!task.validation.empty()) {
    data.validation = read_table(request, task.validation, task.validation_labels, "validation", console);
  }
  if (!task.test.empty()) data.test = read_table(request, task.test, task.test_labels, "test", console);
  match_tables(data, task, console);
  refuse_single_class(data, task);
  refuse_beyond_memory(data, task);
  data.read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return data;
}

void pool_rows(LoadedData& data, std::size_t rows, std::uint64_t seed) {
  if (!data.test)
    throw UsageError(fmt::format("pool_rows = {} needs --test, whose rows it pools with --train", rows));
  const std::size_t train = io::row_count(data.train);
  const std::size_t all = train + io::row_count(*data.test);
  if (all <= rows) {
    throw UsageError(fmt::format("pool_rows = {} leaves no test row of the {} rows of {} and {}", rows, all,
                                 data.train.source, data.test->source));
  }
  const kernels::Rows features = concatenated(data.train.features, data.test->features);
  std::vector<std::int32_t> labels = data.train.labels;
  labels.insert(labels.end(), data.test->labels.begin(), data.test->labels.end());
  const std::vector<std::size_t> order = random_stream(seed, DrawPurpose::kPooling).permutation(all);
  const std::span<const std::size_t> first = std::span(order).first(rows);
  const std::span<const std::size_t> others = std::span(order).subspan(rows);
  data.train.features = kernels::select_rows(features, first);
  data.train.labels = labels_at(labels, first);
  data.train.ids.clear();
  data.test->features = kernels::select_rows(features, others);
  data.test->labels = labels_at(labels, others);
  data.test->ids.clear();
}

Scaling scale_data(LoadedData& data, ScaleRule rule) {
  Scaling scaling = learn_scaling(data.train.features, rule, data.train.image.has_value());
  apply_scaling(data.train.features, scaling);
  if (data.validation) apply_scaling(data.validation->features, scaling);
  if (data.test) {
    const bool code = scaling.rule == ScaleRule::kMnistCode;
    apply_scaling(data.test->features, code ? mnist_code_scaling(255) : scaling);
  }
  return scaling;
}

LabelledRows select_labelled(const kernels::Rows& features, const std::vector<std::int32_t>& labels,
                             const std::vector<std::size_t>& rows) {
  return {std::make_shared<const kernels::Rows>(kernels::select_rows(features, rows)),
          labels_at(labels, rows)};
}

LabelledRows take_labelled(io::Table& table) {
  return {std::make_shared<const kernels::Rows>(std::move(table.features)), table.labels};
}

std::vector<ShardRows> shard_rows(const Settings& settings, const LoadedData& data) {
  const TaskSettings& task = settings.task();
  const auto workers = static_cast<std::size_t>(task.workers);
  const std::vector<RowRange> train = contiguous_shards(io::row_count(data.train), workers, "training rows");
  if (!data.validation) {
    return split_shards(train, task.validation_fraction, task.split, settings.options().seed);
  }
  return pair_shards(train, contiguous_shards(io::row_count(*data.validation), workers, "validation rows"));
}

Json files_json(const LoadedData& data) {
  Json json;
  json["train"] = table_json(data.train);
  if (data.validation) json["validation"] = table_json(*data.validation);
  if (data.test) json["test"] = table_json(*data.test);
  if (data.test_columns_cut > 0) json["test"]["columns_cut"] = data.test_columns_cut;
  return json;
}

void settle_workers(Settings& settings, const LoadedData& data) {
  if (settings.origin("workers") != Origin::kDefault) return;
  std::size_t rows = io::row_count(data.train) / 2;
  if (data.validation) rows = std::min(io::row_count(data.train), io::row_count(*data.validation)) / 2;
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(rows, 1));
  settings.set_default_workers(std::min(settings.task().workers, most));
}

}  // namespace adbo::app
