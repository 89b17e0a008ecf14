// Solves a small bilevel problem with a known solution and prints how far from it the run ended.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>

#include "adbo/adbo.h"

int main() {
  adbo::QuadraticInstance instance = adbo::make_quadratic({.num_workers = 4, .condition = 3, .seed = 7});

  adbo::Options options;
  options.active_workers = 2;  // the master goes on after two answers
  options.max_staleness = 5;   // and waits for a worker that was silent for five iterations
  options.iterations = 2000;   // the asynchronous hypergradient has no step size to set

  adbo::Solver solver(options);
  const adbo::Result result = solver.solve(instance.problem);
  if (!result.status.ok()) {
    std::cerr << result.status.message() << '\n';
    return 1;
  }
  double distance = 0;
  for (std::size_t j = 0; j < result.upper.size(); ++j) {
    distance = std::max(distance, std::abs(result.upper[j] - instance.upper_solution[j]));
  }
  std::cout << result.summary.one_line() << "\nlargest distance from the solution: " << distance << '\n';
}
