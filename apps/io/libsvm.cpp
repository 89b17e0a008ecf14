#include "io/libsvm.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/byte_source.h"
#include "io/digest.h"
#include "io/error.h"
#include "io/labels.h"
#include "io/text.h"

namespace adbo::io {
namespace {

using detail::in_quotes;
using detail::is_blank;
using detail::is_digit;
using detail::NumberError;

/// So that index + 1 (the number of columns of a zero-based file) is an int32 too.
constexpr std::int64_t kLargestIndex = std::numeric_limits<std::int32_t>::max() - 1;

/// One pass over the text into compressed rows; indices are kept as written until the base is known.
class LibsvmParser {
 public:
  LibsvmParser(std::string_view text, const std::string& source, const LibsvmOptions& options)
      : text_(detail::without_byte_order_mark(text), source), options_(options) {}

  Table run() {
    const auto entries = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), ':'));
    rows_.column.reserve(entries);
    rows_.value.reserve(entries);
    detail::LineReader lines(text_.bytes());
    for (std::string_view line; lines.read(line);) parse_line(line);
    if (labels_.empty())
      text_.fail("holds no rows: expected lines of the form `label index:value index:value ...`");
    return finish();
  }

 private:
  static const char* skip_blanks(const char* p, const char* last) {
    while (p != last && is_blank(*p)) ++p;
    return p;
  }
  static const char* token_end(const char* p, const char* last) {
    while (p != last && !is_blank(*p)) ++p;
    return p;
  }
  static std::string_view token_at(const char* p, const char* last) { return {p, token_end(p, last)}; }

  void parse_line(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const char* last = line.data() + line.size();
    const char* p = skip_blanks(line.data(), last);
    if (p != last) parse_row(p, last);
  }

  void parse_row(const char* first, const char* last) {
    parse_label(token_at(first, last));
    const char* entries = token_end(first, last);
    std::int64_t previous = -1;
    bool ascending = true;
    bool has_zero = false;
    for (const char* p = skip_blanks(entries, last); p != last; p = skip_blanks(p, last)) {
      std::int64_t index = 0;
      float value = 0;
      const char* entry = p;
      p = parse_entry(p, last, index, value);
      if (index < 0) continue;  // a qid token
      if (index == previous) fail_repeated(entry, last, index);
      ascending = ascending && index > previous;
      has_zero = has_zero || value == 0.0F;
      previous = index;
      rows_.column.push_back(static_cast<std::int32_t>(index));
      rows_.value.push_back(value);
    }
    if (!ascending) sort_row(entries, last);
    note_range(rows_.row_begin.back());
    if (has_zero) drop_zeros();
    rows_.row_begin.push_back(static_cast<std::int64_t>(rows_.value.size()));
  }

  void parse_label(std::string_view token) {
    if (!labels_.empty() && token == last_label_) {  // runs of one label are common
      labels_.push_back(labels_.back());
      return;
    }
    double value = 0;
    if (const NumberError error = detail::parse_number(token, value); error != NumberError::kNone) {
      if (error == NumberError::kNotFinite) {
        text_.fail(token.data(), token, fmt::format("expected a finite label, found {}", in_quotes(token)));
      }
      const char* hint = token.find(',') != token.npos   ? "; rows with several labels are not supported"
                         : token.find(':') != token.npos ? "; a row begins with its label"
                                                         : "";
      text_.fail(token.data(), token,
                 fmt::format("expected a label (a number), found {}{}", in_quotes(token), hint));
    }
    labels_.push_back(classes_.number_of(token));
    last_label_ = token;
  }

  /// Parses `index:value`; the index is -1 for a qid token. Returns the end of the entry.
  const char* parse_entry(const char* p, const char* last, std::int64_t& index, float& value) {
    const char* entry = p;
    std::int64_t digits = 0;
    while (p != last && is_digit(*p) && digits <= kLargestIndex) digits = 10 * digits + (*p++ - '0');
    if (p == entry || p == last || *p != ':' || digits > kLargestIndex) {
      if (token_at(entry, last).starts_with("qid:")) {
        ++skipped_query_ids_;
        index = -1;
        return token_end(entry, last);
      }
      fail_index(entry, last);
    }
    if (digits == 0 && options_.index_base == IndexBase::kOne) {
      text_.fail(entry, token_at(entry, last), "index 0 in a file read with indices that begin at 1");
    }
    index = digits;
    return parse_value(entry, p + 1, last, value);
  }

  const char* parse_value(const char* entry, const char* begin, const char* last, float& value) {
    const char* end = begin;
    const NumberError error = detail::scan_number(begin, last, value, end);
    if (error == NumberError::kNone && (end == last || is_blank(*end))) return end;
    const std::string where = fmt::format("after {}", in_quotes({entry, begin}));
    const std::string_view token = token_at(begin, last);
    if (token.empty()) text_.fail(begin, token, fmt::format("expected a number {}, found none", where));
    text_.fail(begin, token,
               explain(end == begin + token.size() ? error : NumberError::kNotANumber, where, token));
  }

  [[noreturn]] void fail_index(const char* entry, const char* last) {
    const std::string_view token = token_at(entry, last);
    const std::string_view before_colon = token.substr(0, token.find(':'));
    const bool negative = before_colon.starts_with('-') && before_colon.size() > 1 &&
                          std::all_of(before_colon.begin() + 1, before_colon.end(), is_digit);
    const bool digits =
        !before_colon.empty() && std::all_of(before_colon.begin(), before_colon.end(), is_digit);
    if (negative)
      text_.fail(entry, token,
                 fmt::format("negative index in {}: indices begin at 0 or 1", in_quotes(token)));
    if (digits && before_colon.size() < token.size()) {
      text_.fail(entry, token,
                 fmt::format("index too large in {}: at most {}", in_quotes(token), kLargestIndex));
    }
    text_.fail(entry, token, fmt::format("expected index:value, found {}", in_quotes(token)));
  }

  [[noreturn]] void fail_repeated(const char* entry, const char* last, std::int64_t index) {
    text_.fail(entry, token_at(entry, last), fmt::format("index {} occurs twice in this row", index));
  }

  /// Sorts the entries of the unfinished row; `first` is where its entries begin in the text.
  void sort_row(const char* first, const char* last) {
    const auto begin = static_cast<std::size_t>(rows_.row_begin.back());
    std::vector<std::pair<std::int32_t, float>> entries;
    for (std::size_t k = begin; k < rows_.column.size(); ++k)
      entries.emplace_back(rows_.column[k], rows_.value[k]);
    const auto by_index = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(entries.begin(), entries.end(), by_index);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (k > 0 && entries[k].first == entries[k - 1].first)
        fail_second_occurrence(first, last, entries[k].first);
      rows_.column[begin + k] = entries[k].first;
      rows_.value[begin + k] = entries[k].second;
    }
    ++sorted_rows_;
  }

  [[noreturn]] void fail_second_occurrence(const char* first, const char* last, std::int64_t wanted) {
    bool seen = false;
    for (const char* p = skip_blanks(first, last); p != last; p = skip_blanks(p, last)) {
      const char* entry = p;
      std::int64_t index = 0;
      float value = 0;
      p = parse_entry(p, last, index, value);
      if (index != wanted) continue;
      if (seen) fail_repeated(entry, last, wanted);
      seen = true;
    }
    text_.fail(first, {}, fmt::format("index {} occurs twice in this row", wanted));
  }

  /// The row's entries are sorted by now, so its first and last index are its range.
  void note_range(std::int64_t begin) {
    if (static_cast<std::size_t>(begin) == rows_.column.size()) return;
    smallest_index_ = std::min(smallest_index_, std::int64_t{rows_.column[static_cast<std::size_t>(begin)]});
    largest_index_ = std::max(largest_index_, std::int64_t{rows_.column.back()});
  }

  void drop_zeros() {
    auto kept = static_cast<std::size_t>(rows_.row_begin.back());
    for (std::size_t k = kept; k < rows_.value.size(); ++k) {
      if (rows_.value[k] == 0.0F) continue;
      rows_.column[kept] = rows_.column[k];
      rows_.value[kept++] = rows_.value[k];
    }
    rows_.column.resize(kept);
    rows_.value.resize(kept);
  }

  Table finish() {
    Table table;
    table.format = "libsvm";
    table.source = text_.source();
    const int base = choose_base(table);
    for (std::int32_t& column : rows_.column) column -= base;
    const std::int64_t columns = largest_index_ < 0 ? 0 : largest_index_ + 1 - base;
    rows_.cols = std::max(static_cast<std::size_t>(columns), options_.min_columns);
    if (rows_.cols == 0) text_.fail("holds no features: no row has an index:value entry");
    table.index_base = base;
    table.sorted_rows = sorted_rows_;
    if (sorted_rows_ > 0) table.notes.push_back(fmt::format("sorted the indices of {} rows", sorted_rows_));
    if (skipped_query_ids_ > 0)
      table.notes.push_back(fmt::format("skipped {} qid tokens", skipped_query_ids_));
    set_labels(table, classes_, std::move(labels_));
    set_features(table);
    return table;
  }

  int choose_base(Table& table) const {
    if (options_.index_base != IndexBase::kAuto) return options_.index_base == IndexBase::kOne ? 1 : 0;
    if (smallest_index_ != 0) return 1;
    table.notes.emplace_back("index 0 occurs: indices are taken to begin at 0");
    return 0;
  }

  void set_features(Table& table) {
    const std::size_t rows = rows_.rows();
    const double cells = static_cast<double>(rows) * static_cast<double>(rows_.cols);
    if (static_cast<double>(rows_.nonzeros()) < kDenseShare * cells) {
      table.features = std::move(rows_);
      return;
    }
    kernels::DenseRows dense(rows, rows_.cols);
    for (std::size_t r = 0; r < rows; ++r) {
      float* out = dense.mutable_row(r);
      for (auto k = static_cast<std::size_t>(rows_.row_begin[r]);
           k < static_cast<std::size_t>(rows_.row_begin[r + 1]); ++k) {
        out[rows_.column[k]] = rows_.value[k];
      }
    }
    table.features = std::move(dense);
  }

  detail::Text text_;
  const LibsvmOptions& options_;
  kernels::SparseRows rows_;
  detail::LabelTable classes_;
  std::vector<std::int32_t> labels_;
  std::string_view last_label_;
  std::int64_t smallest_index_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_index_ = -1;
  std::size_t sorted_rows_ = 0;
  std::size_t skipped_query_ids_ = 0;
};

}  // namespace

Table read_libsvm(const std::string& path, const LibsvmOptions& options) {
  return parse_libsvm(read_bytes(path), path, options);
}

Table parse_libsvm(std::string_view text, const std::string& source, const LibsvmOptions& options) {
  Table table = LibsvmParser(text, source, options).run();
  table.digest = Digest().update(text).text();
  return table;
}

}  // namespace adbo::io
