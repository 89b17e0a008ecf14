#include <adbo/adbo.h>

#include <cstdio>

int main() {
  auto instance = adbo::make_quadratic({.num_workers = 3});
  adbo::Options options;
  options.clock = adbo::ClockKind::kVirtual;
  options.delay = "lognormal:3.5,1";
  options.iterations = 20;
  const adbo::Result result = adbo::Solver(options).solve(instance.problem);
  std::printf("%s\n", result.summary.one_line().c_str());
  return result.status.ok() && result.summary.iterations == 20 ? 0 : 1;
}
