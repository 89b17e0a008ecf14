#pragma once
// NumPy's array files (NPY), read and written.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/table.h"

namespace adbo::io {

/// A C-order array; values.size() is the product of the shape (1 for an empty shape: a scalar).
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// Writes format version 1.0, little-endian float64, C-order; the file appears whole or not at all. The
/// product of `shape` must be values.size() (std::invalid_argument). OutputError when the file cannot be
/// written.
void write_npy(const std::string& path, std::span<const double> values, std::span<const std::size_t> shape);

/// Reads versions 1 to 3, C or Fortran order (the result is in C order), gzipped or not: float16, float32,
/// float64, booleans and integers of 1, 2, 4 or 8 bytes in either byte order, converted to
/// double. InputError for anything else, and for a truncated or too long file (expected and present bytes).
[[nodiscard]] NpyArray read_npy(const std::string& path);
[[nodiscard]] NpyArray parse_npy(std::string_view bytes, const std::string& source);

/// An array of rank 2, 3 or 4 as a table without labels (axes as for IDX). Values must be finite in float32.
[[nodiscard]] Table parse_npy_table(std::string_view bytes, const std::string& source);

}  // namespace adbo::io
