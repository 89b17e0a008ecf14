#include "adbo/problem.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace adbo;

namespace {

class Part final : public WorkerObjective {
 public:
  explicit Part(UpperSupport support) : support_(support) {}
  double upper(std::span<const double>, std::span<const double>, std::span<double>,
               std::span<double>) override {
    return 0;
  }
  double lower(std::span<const double>, std::span<const double>, std::span<double>) override { return 0; }
  UpperSupport upper_support(std::size_t) const override { return support_; }

 private:
  UpperSupport support_;
};

void check_refused(const Problem& problem, const std::string& piece, const std::string& other) {
  const Status status = problem.validate();
  CHECK(status.code() == StatusCode::kInvalidProblem);
  CAPTURE(status.message());
  CHECK(status.message().find(piece) != std::string::npos);
  CHECK(status.message().find(other) != std::string::npos);
}

}  // namespace

TEST_CASE("problem: what does not fit together is refused with both numbers") {
  check_refused(Problem(0, 1), "upper variable", "0");
  check_refused(Problem(1, 0), "lower variable", "0");
  check_refused(Problem(1, 1), "no worker", "1");

  Problem outside(5, 2);
  outside.add_worker(std::make_unique<Part>(UpperSupport{3, 3}));
  check_refused(outside, "[3, 6)", "[0, 5)");

  Problem problem(5, 2);
  problem.add_worker(std::make_unique<Part>(UpperSupport{0, 5}));
  CHECK(problem.validate().ok());
  problem.set_start({.upper = {1, 2}, .lower = {}, .lower_local = {}, .consensus_dual = {}});
  check_refused(problem, "upper has 2", "expected 5");
  problem.set_start({.upper = {}, .lower = {1}, .lower_local = {}, .consensus_dual = {}});
  check_refused(problem, "lower has 1", "expected 2");
  problem.set_start({.upper = {}, .lower = {}, .lower_local = {{1, 2}, {3, 4}}, .consensus_dual = {}});
  check_refused(problem, "lower_local has 2", "expected 1");
  problem.set_start({.upper = {}, .lower = {}, .lower_local = {{1}}, .consensus_dual = {}});
  check_refused(problem, "worker 0", "expected 2");
  problem.set_start({.upper = {}, .lower = {}, .lower_local = {}, .consensus_dual = {1}});
  check_refused(problem, "consensus_dual has 1", "expected 5");
  problem.set_start({});
  problem.set_upper_bounds(1, -1);
  check_refused(problem, "lowest", "highest");
  CHECK_THROWS_AS(problem.add_worker(nullptr), std::invalid_argument);
}
