#pragma once
// What every reader returns: features as the kernels want them, labels as class numbers, and where it all
// came from.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adbo/kernels/rows.h"

namespace adbo::io {

/// Where the channels of a pixel stand in a feature row.
enum class PixelOrder {
  kInterleaved,  // [height x width x channels]
  kPlanar,       // [channels x height x width], as in CIFAR
};

struct ImageShape {
  std::size_t height = 0, width = 0, channels = 1;
  PixelOrder order = PixelOrder::kInterleaved;
};

/// A data set in memory. Rows stand in the order of the file.
struct Table {
  /// [rows x columns], values as they stand in the file (pixels are 0..255), all finite.
  kernels::Rows features;
  /// The distinct classes as the user wrote them: ascending by value if all are numbers, else lexicographic.
  /// Two spellings of one number ("+1", "1.0") are one class, named by the spelling that came first.
  std::vector<std::string> label_names;
  /// [rows] index into label_names; empty when the input has no labels.
  std::vector<std::int32_t> labels;
  /// [rows]; empty when the input has no id column.
  std::vector<std::string> ids;
  /// [columns]; empty when the input names no features.
  std::vector<std::string> feature_names;
  /// "idx", "libsvm", "csv", "cifar10", "cifar100" or "npy".
  std::string format;
  /// The path, or the name given for an in-memory buffer.
  std::string source;
  /// 64-bit FNV-1a of the unpacked bytes (of the data, then of the labels file if there is one): "fnv1a64:<16
  /// hex>".
  std::string digest;
  /// Present when a row is a picture.
  std::optional<ImageShape> image;
  /// LIBSVM only: the index of the first feature in the file, 0 or 1. Read a test file with the base of its
  /// train file.
  std::optional<int> index_base;
  /// LIBSVM only: rows whose indices did not ascend and were sorted.
  std::size_t sorted_rows = 0;
  /// Choices made while reading that the user should see, one sentence each.
  std::vector<std::string> notes;
};

[[nodiscard]] std::size_t row_count(const Table& table);
[[nodiscard]] std::size_t column_count(const Table& table);

/// Gives all tables the same label_names (the union of their classes, ordered as in Table) and renumbers the
/// labels. Classes of different tables are the same when they are equal as numbers or, for words, as text.
/// Tables without labels get the names too.
void unify_label_names(std::span<Table* const> tables);

/// Appends columns of zeros until the table has `columns` of them (LIBSVM files leave trailing zeros out). A
/// table that is as wide or wider is left alone. Feature names must be empty. Dense tables are copied, and
/// become sparse where the zeros leave too little else (kDenseShare).
void widen(Table& table, std::size_t columns);

/// Stores the features as those of `like` are stored, dense or sparse: what is done to all values of the one
/// can then be done to all of the other.
void match_storage(Table& table, const Table& like);

/// Features with at least this share of non-zeros become dense rows.
inline constexpr double kDenseShare = 0.3;

}  // namespace adbo::io
