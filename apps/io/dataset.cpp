#include "io/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/array_view.h"
#include "io/cifar.h"
#include "io/digest.h"
#include "io/error.h"
#include "io/idx.h"
#include "io/labels.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/text.h"

namespace adbo::io {
namespace {

enum class Format { kIdx, kNpy, kCifar10, kCifar100, kLibsvm, kCsv };

constexpr const char* kSupportedFormats = "LIBSVM, CSV, IDX, NPY, NPZ, CIFAR binary, each also gzipped";

struct KnownMagic {
  std::string_view bytes;
  const char* name;
  const char* remedy;
};

/// Files that people hold out by mistake; the message can then say what to do.
constexpr std::array<KnownMagic, 14> kUnsupported = {{
    {"\x1f\x8b", "gzip data inside gzip data", "unpack it once"},
    {"BZh", "bzip2 data", "unpack it, or pack it with gzip"},
    {"\xfd"
     "7zXZ",
     "xz data", "unpack it, or pack it with gzip"},
    {"\x28\xb5\x2f\xfd", "zstd data", "unpack it, or pack it with gzip"},
    {"\x89HDF", "an HDF5 file", "export it as CSV or NPY"},
    {"\x89PNG", "a single PNG picture", "pack the pictures into an IDX or NPY file"},
    {"\xff\xd8\xff", "a single JPEG picture", "pack the pictures into an IDX or NPY file"},
    {std::string_view("\xff\xfe\0\0", 4), "UTF-32 text", "save it as UTF-8"},
    {std::string_view("\0\0\xfe\xff", 4), "UTF-32 text", "save it as UTF-8"},
    {"\xff\xfe", "UTF-16 text", "save it as UTF-8"},
    {"\xfe\xff", "UTF-16 text", "save it as UTF-8"},
    {"PAR1", "a Parquet file", "export it as CSV or NPY"},
    {"<!DOCTYPE", "a web page", "a download probably failed: fetch the file again"},
    {"<html", "a web page", "a download probably failed: fetch the file again"},
}};

/// Why the bytes cannot be data, or nothing.
void refuse_unsupported(std::string_view bytes, const std::string& source) {
  for (const KnownMagic& magic : kUnsupported) {
    if (bytes.starts_with(magic.bytes)) {
      throw InputError(
          source, fmt::format("this is {}, not one of {}: {}", magic.name, kSupportedFormats, magic.remedy));
    }
  }
}

bool has_nul(std::string_view bytes) { return bytes.find('\0') != bytes.npos; }

/// `digits:`, `-digits:` or `qid:`
bool looks_like_libsvm_entry(std::string_view token) {
  const std::size_t colon = token.find(':');
  if (colon == token.npos || colon == 0) return false;
  std::string_view index = token.substr(0, colon);
  if (index == "qid") return true;
  if (index.size() > 1 && index.front() == '-') index.remove_prefix(1);
  return std::all_of(index.begin(), index.end(), detail::is_digit);
}

/// Whether the second token of one of the first rows is `index:value` (rows may hold nothing but a label).
bool looks_like_libsvm(std::string_view text) {
  constexpr std::size_t kLines = 200;
  detail::LineReader lines(detail::without_byte_order_mark(text));
  std::string_view row;
  for (std::size_t line = 0; line < kLines && lines.read(row); ++line) {
    row = detail::trimmed(row.substr(0, row.find('#')));
    const std::size_t label_end = row.find_first_of(" \t");
    if (label_end == row.npos) continue;
    row = detail::trimmed(row.substr(label_end));
    if (looks_like_libsvm_entry(row.substr(0, row.find_first_of(" \t")))) return true;
  }
  return false;
}

Format recognise(std::string_view bytes, const std::string& source) {
  refuse_unsupported(bytes, source);
  if (detail::looks_like_npy(bytes)) return Format::kNpy;
  if (detail::looks_like_idx(bytes)) return Format::kIdx;
  if (looks_like_cifar10(bytes)) return Format::kCifar10;
  if (looks_like_cifar100(bytes)) return Format::kCifar100;
  if (has_nul(bytes)) {
    const std::string cifar = why_not_cifar(bytes);
    throw InputError(source,
                     fmt::format("is a binary file of unknown format ({} bytes); expected one of {}{}{}",
                                 bytes.size(), kSupportedFormats, cifar.empty() ? "" : "; ", cifar));
  }
  return looks_like_libsvm(bytes) ? Format::kLibsvm : Format::kCsv;
}

const char* name_of(Format format) {
  switch (format) {
    case Format::kIdx:
      return "IDX";
    case Format::kNpy:
      return "NPY";
    case Format::kCifar10:
      return "CIFAR-10 binary";
    case Format::kCifar100:
      return "CIFAR-100 binary";
    case Format::kLibsvm:
      return "LIBSVM";
    case Format::kCsv:
      return "CSV";
  }
  return "";
}

/// An option without effect is a misunderstanding that must not pass in silence.
void refuse_options_without_effect(const DatasetRequest& request, Format format) {
  const auto refuse = [&](const char* option, const char* where) {
    throw InputError(request.path, fmt::format("recognised as {} by its content, where {} has no effect ({})",
                                               name_of(format), option, where));
  };
  if (format != Format::kCsv && !request.follows_another) {
    if (!request.label_column.empty()) refuse("a label column", "only in CSV");
    if (!request.id_column.empty()) refuse("an id column", "only in CSV");
    if (request.header != HeaderMode::kAuto) refuse("a header", "only in CSV");
  }
  if (format != Format::kLibsvm && !request.follows_another && request.index_base != IndexBase::kAuto)
    refuse("an index base", "only in LIBSVM");
  const bool own_labels =
      format == Format::kCifar10 || format == Format::kCifar100 || format == Format::kLibsvm;
  if (own_labels && !request.labels_path.empty())
    refuse("a file of labels", "its rows have labels of their own");
  if (format == Format::kCsv && !request.labels_path.empty() && !request.label_column.empty() &&
      request.label_column != "none") {
    throw InputError(request.path,
                     fmt::format("both a label column ({}) and a file of labels ({}): give one of them",
                                 detail::in_quotes(request.label_column), request.labels_path));
  }
}

Table parse_features(const DatasetRequest& request, Format format, std::string_view bytes) {
  switch (format) {
    case Format::kIdx:
      return parse_idx(bytes, request.path);
    case Format::kNpy:
      return parse_npy_table(bytes, request.path);
    case Format::kCifar10:
      return parse_cifar10(bytes, request.path);
    case Format::kCifar100:
      return parse_cifar100(bytes, request.path);
    case Format::kLibsvm:
      return parse_libsvm(bytes, request.path, {request.index_base, request.min_columns});
    case Format::kCsv:
      break;
  }
  const std::string label_column = request.labels_path.empty() ? request.label_column : "none";
  return parse_csv(bytes, request.path, {label_column, request.id_column, request.header});
}

/// Rows of a table where there should be one label a line: as many classes as rows would come of them.
void refuse_table(const detail::Text& text, std::string_view first, std::string_view label) {
  // Words may have blanks between them; a number is followed by one in a table.
  const std::size_t blank = label.find(' ');
  double number = 0;
  const bool has_columns = blank != label.npos &&
                           detail::parse_number(label.substr(0, blank), number) == detail::NumberError::kNone;
  for (const char separator : {',', ';', '\t', ' '}) {
    if (label.find(separator) == label.npos || (separator == ' ' && !has_columns)) continue;
    text.fail(first.data(), label,
              fmt::format("expected one label a line, found a row of a table: {}; a file of labels has no "
                          "other column",
                          detail::in_quotes(label)));
  }
}

/// A label in double quotes, as tables write it, is what stands in them; two of them within are one.
std::string without_quotes(std::string_view label) {
  if (label.size() < 2 || !label.starts_with('"') || !label.ends_with('"')) return std::string(label);
  const std::string_view inside = label.substr(1, label.size() - 2);
  std::string plain;
  for (std::size_t k = 0; k < inside.size(); ++k) {
    plain += inside[k];
    if (inside[k] != '"') continue;
    if (k + 1 == inside.size() || inside[k + 1] != '"') return std::string(label);  // quotes of its own
    ++k;
  }
  return plain;
}

/// One label a line.
void set_text_labels(Table& table, std::string_view bytes, const std::string& source) {
  const detail::Text text(detail::without_byte_order_mark(bytes), source);
  detail::LabelTable classes;
  std::vector<std::int32_t> labels;
  detail::LineReader lines(text.bytes());
  for (std::string_view line; lines.read(line);) {
    const std::string_view token = detail::trimmed(line);
    if (token.empty() && lines.is_at_end()) break;
    const std::string label = without_quotes(token);
    if (detail::means_missing(label)) {
      text.fail(line.data(), token, fmt::format("expected a label, found {}", detail::in_quotes(label)));
    }
    if (labels.empty() && !token.starts_with('"')) refuse_table(text, line, token);
    labels.push_back(classes.number_of(label));
  }
  detail::require_equal_counts(table, labels.size(), source);
  set_labels(table, classes, std::move(labels));
}

void refuse_member(const std::string& path, const std::string& member) {
  if (member.empty()) return;
  throw InputError(path,
                   fmt::format("is no NPZ archive that could hold an array {}", detail::in_quotes(member)));
}

void set_labels_from_file(Table& table, std::string_view bytes, const DatasetRequest& request) {
  const std::string& source = request.labels_path;
  if (detail::looks_like_zip(bytes)) {
    const detail::NpzArchive arrays(bytes, source, request.max_unpacked_bytes);
    const detail::NpzArray labels = arrays.labels(request.labels_member);
    detail::set_labels(table, detail::view_npy(labels.bytes, labels.source), labels.source);
    return;
  }
  refuse_member(source, request.labels_member);
  refuse_unsupported(bytes, source);
  if (detail::looks_like_idx(bytes)) {
    detail::set_labels(table, detail::view_idx(bytes, source), source);
  } else if (detail::looks_like_npy(bytes)) {
    detail::set_labels(table, detail::view_npy(bytes, source), source);
  } else if (has_nul(bytes)) {
    throw InputError(
        source, "is a binary file of unknown format; expected labels as IDX, NPY, NPZ or text, one a line");
  } else {
    set_text_labels(table, bytes, source);
  }
}

Table parse_unpacked(const DatasetRequest& request, std::string_view data, std::string_view labels);

/// The arrays of an archive, read as the NPY files that they are.
Table parse_archive(const DatasetRequest& request, std::string_view archive, std::string_view labels) {
  const detail::NpzArchive arrays(archive, request.path, request.max_unpacked_bytes);
  const detail::NpzArray features = arrays.features(request.member);
  DatasetRequest inner = request;
  inner.path = features.source;
  inner.member.clear();
  if (!detail::looks_like_npy(features.bytes)) throw InputError(features.source, "is no NPY array");
  if (!request.labels_path.empty()) return parse_unpacked(inner, features.bytes, labels);
  const std::optional<detail::NpzArray> own = arrays.labels_beside(features.name);
  if (own) inner.labels_path = own->source;
  Table table = parse_unpacked(inner, features.bytes, own ? std::string_view(own->bytes) : labels);
  table.notes.push_back(own ? fmt::format("features are the array {}, labels the array {}",
                                          detail::in_quotes(features.name), detail::in_quotes(own->name))
                            : fmt::format("features are the array {}", detail::in_quotes(features.name)));
  return table;
}

Table parse_unpacked(const DatasetRequest& request, std::string_view data, std::string_view labels) {
  if (data.empty()) throw InputError(request.path, "is empty");
  if (detail::looks_like_zip(data)) return parse_archive(request, data, labels);
  refuse_member(request.path, request.member);
  const Format format = recognise(data, request.path);
  refuse_options_without_effect(request, format);
  Table table = parse_features(request, format, data);
  if (request.labels_path.empty()) return table;
  if (labels.empty()) throw InputError(request.labels_path, "is empty");
  set_labels_from_file(table, labels, request);
  table.digest = Digest().update(data).update(labels).text();
  return table;
}

}  // namespace

void split_member(std::string& path, std::string& member) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::size_t colon = path.rfind(':');
  if (colon == path.npos || fs::exists(path, ignored)) return;
  if (!fs::is_regular_file(path.substr(0, colon), ignored)) return;
  member = path.substr(colon + 1);
  path.resize(colon);
}

namespace {

/// Runs `read`; what the standard library throws for sizes that memory does not hold becomes an InputError.
template <typename Read>
Table within_memory(const DatasetRequest& request, Read read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw InputError(request.path, "not enough memory for its rows");
  } catch (const std::length_error&) {
    throw InputError(request.path, "not enough memory for its rows");
  }
}

}  // namespace

Table read_dataset(const DatasetRequest& given) {
  DatasetRequest request = given;
  split_member(request.path, request.member);
  split_member(request.labels_path, request.labels_member);
  return within_memory(request, [&] {
    const std::string data = read_bytes(request.path, request.max_unpacked_bytes);
    std::string labels;
    if (!request.labels_path.empty()) labels = read_bytes(request.labels_path, request.max_unpacked_bytes);
    return parse_unpacked(request, data, labels);
  });
}

Table parse_dataset(const DatasetRequest& request, std::string_view data, std::string_view labels) {
  return within_memory(request, [&] {
    std::string unpacked_data, unpacked_labels;
    if (is_gzip(data)) data = unpacked_data = gunzip(data, request.path, request.max_unpacked_bytes);
    if (is_gzip(labels))
      labels = unpacked_labels = gunzip(labels, request.labels_path, request.max_unpacked_bytes);
    return parse_unpacked(request, data, labels);
  });
}

}  // namespace adbo::io
