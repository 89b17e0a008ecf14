#include "io/labels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "io/text.h"

namespace adbo::io::detail {
namespace {

/// "-0012", "-12.0" and "-1.2e1" as "-12"; nothing where a number, which `name` is, is no integer.
std::string integer_key(std::string_view name) {
  const bool negative = name.starts_with('-');
  if (negative || name.starts_with('+')) name.remove_prefix(1);
  const std::size_t mark = std::min(name.find_first_of("eE"), name.size());
  const std::string_view mantissa = name.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return "0";
  std::string_view exponent = name.substr(std::min(mark + 1, name.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  // As finite numbers they are not large; one that is small without end is no integer.
  if (!exponent.empty() &&
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power).ec != std::errc{}) {
    return {};
  }
  if (power < -static_cast<std::int64_t>(name.size())) return {};  // it has fewer zeros than that
  power -= point < mantissa.size() ? static_cast<std::int64_t>(mantissa.size() - point - 1) : 0;
  for (; power < 0 && digits.ends_with('0'); ++power) digits.pop_back();
  if (power < 0) return {};
  return (negative ? "-" : "") + digits + std::string(static_cast<std::size_t>(power), '0');
}

/// Equal for two spellings of the same number. Integers too long for a double to tell apart stand for
/// themselves.
std::string label_key(std::string_view name) {
  constexpr std::size_t kExactDigits = std::numeric_limits<double>::digits10;
  double value = 0;
  if (parse_number(name, value) != NumberError::kNone) return std::string(name);
  if (std::string integer = integer_key(name); integer.size() > kExactDigits) return integer;
  return label_text(value);
}

}  // namespace

std::int32_t LabelTable::number_of(std::string_view name) {
  if (const auto known = by_spelling_.find(name); known != by_spelling_.end()) return known->second;
  const auto [entry, is_new] = by_key_.emplace(label_key(name), static_cast<std::int32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  by_spelling_.emplace(name, entry->second);
  return entry->second;
}

LabelTable::Order LabelTable::order() const {
  std::vector<double> values(names_.size());
  bool all_numbers = true;
  for (std::size_t c = 0; c < names_.size(); ++c) {
    all_numbers = all_numbers && parse_number(names_[c], values[c]) == NumberError::kNone;
  }
  std::vector<std::size_t> sorted(names_.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    if (all_numbers && values[a] != values[b]) return values[a] < values[b];
    return names_[a] < names_[b];
  });
  Order result;
  result.new_number.resize(names_.size());
  for (const std::size_t c : sorted) {
    result.new_number[c] = static_cast<std::int32_t>(result.names.size());
    result.names.push_back(names_[c]);
  }
  return result;
}

void set_labels(Table& table, const LabelTable& classes, std::vector<std::int32_t> labels) {
  LabelTable::Order order = classes.order();
  for (std::int32_t& label : labels) label = order.new_number[static_cast<std::size_t>(label)];
  table.label_names = std::move(order.names);
  table.labels = std::move(labels);
}

std::string label_text(double value) {
  std::array<char, 32> buffer;
  value += 0.0;  // -0 is 0
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

}  // namespace adbo::io::detail
