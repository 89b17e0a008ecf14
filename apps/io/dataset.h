#pragma once
// One entry for every format: the content decides, not the name.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/byte_source.h"
#include "io/csv.h"
#include "io/libsvm.h"
#include "io/table.h"

namespace adbo::io {

struct DatasetRequest {
  std::string path;
  /// NPZ: the name of the array that holds the features. Empty: found by its name, see NpzArchive.
  std::string member;
  /// For formats without labels of their own (IDX, NPY), and for CSV instead of a label column: an IDX or NPY
  /// file of rank 1, an NPZ file that holds one, or a text file with one label a line. Empty: none, and for
  /// NPZ the labels beside the features.
  std::string labels_path;
  /// NPZ: the name of the array that holds the labels.
  std::string labels_member;
  /// CSV; see CsvOptions.
  std::string label_column;
  std::string id_column;
  HeaderMode header = HeaderMode::kAuto;
  /// LIBSVM; see LibsvmOptions.
  IndexBase index_base = IndexBase::kAuto;
  std::size_t min_columns = 0;
  /// The options of CSV and LIBSVM are those of another file: where this one is of another format they do not
  /// apply, and that is no mistake.
  bool follows_another = false;
  /// The most a gzipped file may unpack to.
  std::uint64_t max_unpacked_bytes = kDefaultMaxUnpackedBytes;
};

/// Reads the data set, gzipped or not, after recognising LIBSVM, CSV, IDX, NPY, NPZ or CIFAR by its content.
/// Paths may name an array of an archive, as split_member() says.
/// InputError for a missing, empty or unreadable file, a directory, a format that is known but not supported
/// (by name), an option that does not apply to the format found, and everything that the reader of the format
/// refuses.
[[nodiscard]] Table read_dataset(const DatasetRequest& request);

/// The same from memory, the bytes packed or not; the paths of the request only name the buffers.
[[nodiscard]] Table parse_dataset(const DatasetRequest& request, std::string_view data,
                                  std::string_view labels = {});

/// A path FILE:NAME that is no file, where FILE is one, means the array NAME of the NPZ archive FILE: `path`
/// becomes FILE, `member` NAME. Other paths are left as they are.
void split_member(std::string& path, std::string& member);

}  // namespace adbo::io
