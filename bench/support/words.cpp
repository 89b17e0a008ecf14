#include "words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace adbo::bench {
namespace {

[[noreturn]] void refuse(std::string_view usage) {
  fmt::print(stderr, "{}", usage);
  std::exit(2);
}

}  // namespace

std::string CommandWords::value(std::string_view option, std::string_view otherwise) const {
  const auto found = options.find(option);
  return found == options.end() ? std::string(otherwise) : found->second.back();
}

std::vector<std::string> CommandWords::values(std::string_view option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::vector<std::string>() : found->second;
}

CommandWords read_words(std::span<char* const> arguments, std::span<const std::string_view> known,
                        std::size_t places, std::string_view usage) {
  CommandWords words;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string word = arguments[k];
    if (!word.starts_with("--")) {
      words.places.push_back(word);
      continue;
    }
    const bool is_known = std::find(known.begin(), known.end(), word) != known.end();
    if (!is_known || k + 1 == arguments.size()) refuse(usage);
    words.options[word].emplace_back(arguments[++k]);
  }
  if (words.places.size() != places) refuse(usage);
  return words;
}

}  // namespace adbo::bench
