// No call of a loss allocates: every form of the global operator new counts here, which is why this is a
// program apart.
#include <doctest/doctest.h>

#include <cstdint>

#include "adbo/kernels/logistic.h"
#include "adbo/kernels/softmax.h"
#include "loss_data.h"
#include "support/allocation_counter.h"

using namespace adbo::test;
using adbo::kernels::LogisticLoss;
using adbo::kernels::SoftmaxLoss;

namespace {

constexpr std::size_t kRows = 75, kCols = 22;

template <class Loss>
void check_no_call_allocates(Loss& loss, const Vector& w, const Vector& weights) {
  Vector gradient(loss.dimension()), hessian(loss.dimension()), rows(kRows), probabilities(kRows * 26);
  std::vector<std::int32_t> classes(kRows);
  const std::uint64_t before = thread_allocations();
  loss.value(w, weights, 1);
  loss.gradient(w, {}, 1, gradient);
  loss.hessian_product(w, weights, 1, w, hessian);
  loss.row_directional_derivatives(w, w, rows);
  loss.fused(w, weights, 1, w, gradient, hessian, rows);
  loss.row_losses(w, rows);
  loss.predict(w, classes);
  if constexpr (std::is_same_v<Loss, SoftmaxLoss>) {
    loss.probabilities(w, std::span(probabilities).first(kRows * static_cast<std::size_t>(loss.classes())));
  }
  const std::uint64_t after = thread_allocations();
  CHECK(after == before);
}

}  // namespace

TEST_CASE("losses: no call allocates after construction") {
  const std::uint64_t before = thread_allocations();
  Random random(1);
  const DenseRows x = random_rows(random, kRows, kCols, 0.5);
  REQUIRE(thread_allocations() > before);  // the counter counts
  const Vector weights(kRows, 0.5);
  for (const auto& rows : {share(x), share(to_sparse(x))}) {
    for (const int classes : {2, 10, 26}) {
      SoftmaxLoss softmax(rows, std::vector<std::int32_t>(kRows, 1), classes);
      const Vector w = normals(random, softmax.dimension());
      check_no_call_allocates(softmax, w, weights);
    }
    LogisticLoss logistic(rows, std::vector<std::int32_t>(kRows, -1));
    const Vector w = normals(random, logistic.dimension());
    check_no_call_allocates(logistic, w, weights);
  }
}
