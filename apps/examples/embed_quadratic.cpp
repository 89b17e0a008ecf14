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
  options.iterations = 5000;
  options.lower_rounds = 20;  // a close estimate of the lower solution, and a new cut every ten iterations
  options.cut_interval = 10;
  options.step_upper_local = options.step_upper_consensus = 0.02;
  options.step_lower_local = options.step_lower_consensus = options.step_lower_dual = 0.1;
  options.step_consensus_dual = 0.1;

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
