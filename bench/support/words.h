#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adbo::bench {

/// The words of a command line: those that stand alone, and the values of the options, in order.
struct CommandWords {
  std::vector<std::string> places;
  std::map<std::string, std::vector<std::string>, std::less<>> options;

  /// The last value given, or `otherwise`.
  [[nodiscard]] std::string value(std::string_view option, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
};

/// Every option takes a value. Prints `usage` and exits with 2 for an option that is not `known`, one without
/// its value, or another number of places.
[[nodiscard]] CommandWords read_words(std::span<char* const> arguments,
                                      std::span<const std::string_view> known, std::size_t places,
                                      std::string_view usage);

}  // namespace adbo::bench
