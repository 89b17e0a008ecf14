#pragma once
// For runs that give workers up: what those compute with has to stay as long as they may.

#include <memory>
#include <utility>
#include <vector>

#include "adbo/problem.h"

namespace adbo::test {

/// The problem stays as long as the process.
inline Problem& keep(Problem problem) {
  static auto* const kept = new std::vector<std::unique_ptr<Problem>>;
  kept->push_back(std::make_unique<Problem>(std::move(problem)));
  return *kept->back();
}

}  // namespace adbo::test
