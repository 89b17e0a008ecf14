#pragma once
// A bilevel worker so simple that tests can script what it does around its mathematics.

#include <cstddef>
#include <span>

#include "adbo/objective.h"

namespace adbo::test {

/// g_i = 1/2 ||y - x - shift||^2, G_i = 1/2 ||y - 2||^2 + 0.05 ||x||^2.
class PullToTwo : public WorkerObjective {
 public:
  explicit PullToTwo(double shift = 0) : shift_(shift) {}

  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    double value = before_upper();
    for (std::size_t k = 0; k < y.size(); ++k) {
      value += (y[k] - 2) * (y[k] - 2) / 2 + 0.05 * x[k] * x[k];
      grad_y[k] = y[k] - 2;
      grad_x[k] = 0.1 * x[k];
    }
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      grad_y[k] = y[k] - x[k] - shift_;
      value += grad_y[k] * grad_y[k] / 2;
    }
    return value;
  }

 protected:
  /// Called at every evaluation of G_i; what it returns is added to the value.
  virtual double before_upper() { return 0; }

 private:
  double shift_;
};

}  // namespace adbo::test
