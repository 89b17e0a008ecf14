#pragma once
// The binary versions of CIFAR-10 and CIFAR-100: records of label bytes and 3,072 pixel bytes (32 x 32,
// planar RGB).

#include <string>
#include <string_view>

#include "io/table.h"

namespace adbo::io {

/// Records of 3,073 bytes: the class (0..9) and the pixels. InputError when the size is no multiple of a
/// record or a label is out of range (which record, which value).
[[nodiscard]] Table read_cifar10(const std::string& path);
[[nodiscard]] Table parse_cifar10(std::string_view bytes, const std::string& source);

/// Records of 3,074 bytes: the coarse class (0..19), the fine class (0..99), the pixels. The labels are the
/// fine classes.
[[nodiscard]] Table read_cifar100(const std::string& path);
[[nodiscard]] Table parse_cifar100(std::string_view bytes, const std::string& source);

/// Whether the bytes can be a CIFAR file: a whole number of records, every label in range, and not plain
/// text.
[[nodiscard]] bool looks_like_cifar10(std::string_view bytes);
[[nodiscard]] bool looks_like_cifar100(std::string_view bytes);

/// What keeps bytes that look like neither from being a CIFAR file (cut short, or a label out of range);
/// empty where they are fewer than a picture has.
[[nodiscard]] std::string why_not_cifar(std::string_view bytes);

}  // namespace adbo::io
