#include "adbo/method_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using adbo::Method;
using adbo::OptionInfo;

TEST_CASE(
    "every method has the row of its number, a name of its own, a sentence and, but for auto, a source") {
  std::size_t index = 0;
  for (const adbo::MethodInfo& info : adbo::method_table()) {
    CAPTURE(info.name);
    CHECK(static_cast<std::size_t>(info.method) == index++);
    CHECK(&adbo::method_info(info.method) == &info);
    CHECK(info.sentence.ends_with("."));
    CHECK(info.source.empty() == (info.method == Method::kAuto));
    CHECK(std::count_if(adbo::method_table().begin(), adbo::method_table().end(),
                        [&](const adbo::MethodInfo& other) { return other.name == info.name; }) == 1);
  }
}

TEST_CASE("what a method's row names are options and groups that exist") {
  for (const adbo::MethodInfo& info : adbo::method_table()) {
    for (const std::string_view word : info.options) {
      CAPTURE(word);
      CHECK(std::any_of(
          adbo::option_table().begin(), adbo::option_table().end(),
          [word](const OptionInfo& option) { return option.name == word || option.group == word; }));
    }
  }
}

TEST_CASE("which options act on which method") {
  const auto acts = [](const char* option, Method method) {
    return adbo::acts_on(*adbo::find_option(option), method);
  };
  CHECK(acts("seed", Method::kExact));
  CHECK(acts("delay", Method::kExact));
  CHECK_FALSE(acts("active_workers", Method::kExact));
  CHECK(acts("active_workers", Method::kAdbo));
  CHECK(acts("max_staleness", Method::kAdbo));
  CHECK(acts("max_staleness", Method::kAuto));
  CHECK_FALSE(acts("max_staleness", Method::kSdbo));  // nobody is late where everybody is awaited
  CHECK_FALSE(acts("max_staleness", Method::kExact));
  CHECK(acts("multipliers", Method::kCpbo));
  CHECK(acts("dsbo_variant", Method::kDsbo));
  CHECK_FALSE(acts("dsbo_variant", Method::kSpdb));
  CHECK(acts("max_cuts", Method::kSdbo));
  CHECK_FALSE(acts("max_cuts", Method::kAsyncHypergradient));
  CHECK(acts("upper_rate", Method::kAuto));  // what auto stands for
  CHECK_FALSE(acts("hypergradient_tolerance", Method::kAuto));
}

TEST_CASE("every option acts on some method") {
  for (const OptionInfo& option : adbo::option_table()) {
    CAPTURE(option.name);
    CHECK(
        std::any_of(adbo::method_table().begin(), adbo::method_table().end(),
                    [&option](const adbo::MethodInfo& info) { return adbo::acts_on(option, info.method); }));
  }
}
