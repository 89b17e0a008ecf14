#pragma once
// Class names to class numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/table.h"

namespace adbo::io::detail {

/// Hash that finds a std::string key by a std::string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// Numbers class names in the order of their first occurrence; order() then gives the numbers of the sorted
/// names.
class LabelTable {
 public:
  /// The number of the class. Names that are equal as numbers are one class.
  std::int32_t number_of(std::string_view name);

  struct Order {
    std::vector<std::string> names;        // ascending by value if all are numbers, else lexicographic
    std::vector<std::int32_t> new_number;  // [classes] by the number that number_of() gave
  };
  [[nodiscard]] Order order() const;

 private:
  using Numbers = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;
  std::vector<std::string> names_;
  Numbers by_spelling_, by_key_;
};

/// Puts the sorted names and the labels (as number_of() gave them, one a row) into the table.
void set_labels(Table& table, const LabelTable& classes, std::vector<std::int32_t> labels);

/// Labels written one by one as text.
[[nodiscard]] std::string label_text(double value);

}  // namespace adbo::io::detail
