#pragma once
// NumPy's archives of arrays (NPZ): which array holds the features and which the labels.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/zip.h"

namespace adbo::io::detail {

/// One array of an archive, unpacked: the bytes of an NPY file.
struct NpzArray {
  std::string name;    ///< without ".npy"
  std::string source;  ///< "FILE.npz:name", for messages
  std::string bytes;
};

/// The arrays of an archive by name. An array is found by its role where its name begins with a word for it,
/// alone or before "_" or "-" (case aside): x, data, images or features; y, label, labels, target or targets.
class NpzArchive {
 public:
  /// InputError for a damaged archive, one without arrays, and SciPy's sparse matrices.
  NpzArchive(std::string_view bytes, const std::string& source, std::uint64_t max_unpacked_bytes);

  /// The array of this name. Without a name the only array with a name for features, else the only array of
  /// all. InputError naming the members when there is none or more than one.
  [[nodiscard]] NpzArray features(const std::string& name) const;

  /// The array of this name; without a name the only one with a name for labels, else the only array.
  [[nodiscard]] NpzArray labels(const std::string& name) const;

  /// Labels that go with these features: named for labels, with the same ending (x_train, y_train). Nothing
  /// when there are none; InputError when there are several.
  [[nodiscard]] std::optional<NpzArray> labels_beside(const std::string& features) const;

 private:
  using Members = std::vector<const ZipMember*>;

  [[nodiscard]] NpzArray unpack(const ZipMember& member) const;
  [[nodiscard]] NpzArray by_name(const std::string& name) const;
  [[nodiscard]] NpzArray only(const Members& candidates, const char* role) const;
  [[nodiscard]] std::string names(const Members& members) const;
  [[nodiscard]] Members all() const;

  std::string_view bytes_;
  const std::string& source_;
  std::uint64_t max_unpacked_bytes_;
  std::vector<ZipMember> arrays_;
};

}  // namespace adbo::io::detail
