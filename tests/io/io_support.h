#pragma once
// What the tests of the readers and writers share.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/error.h"
#include "io/table.h"
#include "support/deflate.h"

namespace adbo::io::test {

/// A directory of its own, removed at the end of the scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "adbo-io-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void put_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.good());
}

inline std::string get_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::string bytes(std::filesystem::file_size(path), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.good());
  return bytes;
}

/// The InputError that `action` must throw.
template <typename Action>
InputError refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error;
  }
  FAIL("expected an InputError");
  throw std::logic_error("unreachable");
}

/// The whole message of that error.
template <typename Action>
std::string message_of(Action action) {
  return refusal(action).what();
}

inline bool is_dense(const Table& table) {
  return std::holds_alternative<kernels::DenseRows>(table.features);
}

/// One row of features as plain numbers, dense or sparse.
inline std::vector<float> row_of(const Table& table, std::size_t r) {
  std::vector<float> row(column_count(table));
  if (const auto* dense = std::get_if<kernels::DenseRows>(&table.features)) {
    row.assign(dense->row(r), dense->row(r) + dense->cols());
    return row;
  }
  const auto& sparse = std::get<kernels::SparseRows>(table.features);
  for (auto k = static_cast<std::size_t>(sparse.row_begin[r]);
       k < static_cast<std::size_t>(sparse.row_begin[r + 1]); ++k) {
    row.at(static_cast<std::size_t>(sparse.column[k])) = sparse.value[k];
  }
  return row;
}

using Row = std::vector<float>;
using Names = std::vector<std::string>;
using Numbers = std::vector<std::int32_t>;

/// How many rows have each label.
inline std::vector<std::size_t> class_counts(const Table& table) {
  std::vector<std::size_t> counts(table.label_names.size());
  for (const std::int32_t label : table.labels) ++counts.at(static_cast<std::size_t>(label));
  return counts;
}

/// The names of the first labels.
inline Names first_labels(const Table& table, std::size_t count) {
  Names names;
  for (std::size_t r = 0; r < count; ++r) {
    names.push_back(table.label_names.at(static_cast<std::size_t>(table.labels.at(r))));
  }
  return names;
}

/// Big-endian 32 bits.
inline std::string be32(std::size_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

}  // namespace adbo::io::test
