#pragma once
// A checksum of what was read: it tells whether two runs saw the same data, not whether somebody tampered
// with it.

#include <cstdint>
#include <string>
#include <string_view>

namespace adbo::io {

/// FNV-1a, 64 bits.
class Digest {
 public:
  Digest& update(std::string_view bytes);
  /// "fnv1a64:" and 16 hexadecimal digits.
  [[nodiscard]] std::string text() const;
  /// Its state, to be kept and gone on with.
  template <class Archive>
  void persist(Archive& archive) {
    archive(state_);
  }
  friend bool operator==(const Digest&, const Digest&) = default;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace adbo::io
