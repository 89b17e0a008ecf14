#include "adbo/identity.h"

#include <map>

namespace adbo {

std::string first_difference(const Identity& before, const Identity& now, std::string_view when) {
  const std::map<std::string, std::string> values(before.begin(), before.end());
  for (const auto& [name, value] : now) {
    const auto found = values.find(name);
    const std::string then = found == values.end() ? "absent" : found->second;
    if (then != value) return name + ": " + then + " " + std::string(when) + ", " + value + " now";
  }
  return {};
}

}  // namespace adbo
