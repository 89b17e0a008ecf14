#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "adbo/early_stopping.h"
#include "adbo/kernels/fit.h"
#include "adbo/problems/hyper_cleaning.h"
#include "problems/fit_options.h"
#include "problems/labelled_rows.h"
#include "problems/ordered_sum.h"
#include "problems/softmax_fit.h"

namespace adbo {
namespace {

/// The parts' losses plus the ridge, as the minimizer wants them.
class RidgeSoftmax {
 public:
  RidgeSoftmax(detail::Executor& executor, std::span<const detail::WeightedLoss> parts, double ridge,
               std::size_t dimension, const ResolveOptions& options)
      : parts_(parts), ridge_(ridge), options_(options), sum_(executor, parts.size(), dimension) {}

  double value_and_gradient(std::span<const double> w, std::span<double> gradient) {
    detail::throw_if_given_up(options_);
    const double loss = sum_(
        [&](std::size_t p, std::span<double> out) {
          return parts_[p].loss->gradient(w, parts_[p].weights, parts_[p].scale, out);
        },
        gradient);
    double squares = 0;
    for (std::size_t k = 0; k < w.size(); ++k) {
      squares += w[k] * w[k];
      gradient[k] += 2 * ridge_ * w[k];
    }
    return loss + ridge_ * squares;
  }

  void hessian_product(std::span<const double> w, std::span<const double> u, std::span<double> out) {
    detail::throw_if_given_up(options_);
    sum_(
        [&](std::size_t p, std::span<double> product) {
          parts_[p].loss->hessian_product(w, parts_[p].weights, parts_[p].scale, u, product);
          return 0.0;
        },
        out);
    for (std::size_t k = 0; k < u.size(); ++k) out[k] += 2 * ridge_ * u[k];
  }

 private:
  std::span<const detail::WeightedLoss> parts_;
  double ridge_;
  const ResolveOptions& options_;
  detail::OrderedSum sum_;
};

/// Checks the parts and returns the number of features.
std::size_t check_parts(const std::vector<WeightedRows>& parts, int classes) {
  if (parts.empty()) throw std::invalid_argument("fit_softmax: no rows");
  std::size_t features = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string name = "fit_softmax, part " + std::to_string(p);
    if (parts[p].rows == nullptr) throw std::invalid_argument(name + ": no rows");
    features = detail::check_labelled_rows(*parts[p].rows, classes, features, name);
    if (!parts[p].weights.empty() && parts[p].weights.size() != parts[p].rows->size()) {
      throw std::invalid_argument(name + ": " + std::to_string(parts[p].rows->size()) + " rows and " +
                                  std::to_string(parts[p].weights.size()) + " weights");
    }
  }
  return features;
}

/// As many rows as keep a copy of usual width in a core's own cache, and a multiple of any block size of the
/// kernels.
constexpr std::size_t kChunkRows = 1024;

LabelledRows copy_rows(const LabelledRows& rows, std::size_t begin, std::size_t count) {
  std::vector<std::size_t> index(count);
  std::iota(index.begin(), index.end(), begin);
  const auto first = rows.labels.begin() + static_cast<std::ptrdiff_t>(begin);
  return {.features = std::make_shared<const kernels::Rows>(kernels::select_rows(*rows.features, index)),
          .labels = {first, first + static_cast<std::ptrdiff_t>(count)}};
}

}  // namespace

ModelFit detail::fit_weighted_losses(Executor& executor, std::span<const WeightedLoss> parts, double ridge,
                                     std::span<const double> start, const ResolveOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t dimension = parts.front().loss->dimension();
  ModelFit result;
  result.model.assign(start.begin(), start.end());
  result.model.resize(dimension);

  RidgeSoftmax objective(executor, parts, ridge, dimension, options);
  const kernels::FitResult fit = kernels::fit(
      result.model,
      [&](std::span<const double> w, std::span<double> gradient) {
        return objective.value_and_gradient(w, gradient);
      },
      [&](std::span<const double> w, std::span<const double> u, std::span<double> out) {
        objective.hessian_product(w, u, out);
      },
      fit_options(options));

  result.gradient_norm = fit.gradient_norm;
  result.evaluations = fit.evaluations;
  result.converged = fit.status == kernels::FitStatus::kConverged;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

void detail::for_each_row_chunk(
    const LabelledRows& rows, int classes, std::int64_t threads,
    const std::function<void(kernels::SoftmaxLoss& loss, std::size_t begin, std::size_t count)>& body) {
  const std::size_t chunks = (rows.size() + kChunkRows - 1) / kChunkRows;
  const std::unique_ptr<Executor> executor = make_measure_executor(threads, chunks);
  if (executor->threads() == 1) {
    kernels::SoftmaxLoss loss(rows.features, rows.labels, classes);
    body(loss, 0, rows.size());
    return;
  }
  parallel_for(*executor, chunks, [&](std::size_t chunk) {
    const std::size_t begin = chunk * kChunkRows;
    LabelledRows part = copy_rows(rows, begin, std::min(kChunkRows, rows.size() - begin));
    const std::size_t count = part.size();
    kernels::SoftmaxLoss loss(std::move(part.features), std::move(part.labels), classes);
    body(loss, begin, count);
  });
}

double detail::accuracy_of(std::span<const std::int32_t> predicted, std::span<const std::int32_t> labels) {
  std::size_t correct = 0;
  for (std::size_t j = 0; j < labels.size(); ++j) correct += predicted[j] == labels[j];
  return static_cast<double>(correct) / static_cast<double>(labels.size());
}

ModelFit fit_softmax(const std::vector<WeightedRows>& parts, int classes, double ridge,
                     std::span<const double> start, const ResolveOptions& options) {
  const std::size_t dimension = check_parts(parts, classes) * static_cast<std::size_t>(classes);
  if (!start.empty() && start.size() != dimension) {
    throw std::invalid_argument("fit_softmax: the start has " + std::to_string(start.size()) +
                                " coordinates, the model " + std::to_string(dimension));
  }
  std::vector<kernels::SoftmaxLoss> losses;
  losses.reserve(parts.size());
  std::vector<detail::WeightedLoss> weighted;
  for (const WeightedRows& part : parts) {
    losses.emplace_back(part.rows->features, part.rows->labels, classes);
    weighted.push_back({.loss = &losses.back(), .weights = part.weights, .scale = part.scale});
  }
  const std::unique_ptr<detail::Executor> executor =
      detail::make_measure_executor(options.threads, parts.size());
  return detail::fit_weighted_losses(*executor, weighted, ridge, start, options);
}

ModelScore score_model(std::span<const double> model, const LabelledRows& rows, int classes,
                       std::int64_t threads) {
  detail::check_labelled_rows(rows, classes, model.size() / static_cast<std::size_t>(classes),
                              "rows to score");
  std::vector<std::int32_t> predicted(rows.size());
  std::vector<double> row_loss(rows.size());
  detail::for_each_row_chunk(rows, classes, threads,
                             [&](kernels::SoftmaxLoss& loss, std::size_t begin, std::size_t count) {
                               loss.predict(model, std::span(predicted).subspan(begin, count));
                               loss.row_losses(model, std::span(row_loss).subspan(begin, count));
                             });
  return {.accuracy = detail::accuracy_of(predicted, rows.labels),
          .loss = std::accumulate(row_loss.begin(), row_loss.end(), 0.0) / static_cast<double>(rows.size())};
}

namespace {

/// The mean of independent draws, and the standard error of that mean (0 for a single draw).
HeldOutValue mean_with_error(std::span<const double> draws) {
  const double count = static_cast<double>(draws.size());
  const double mean = std::accumulate(draws.begin(), draws.end(), 0.0) / count;
  double square = 0;
  for (const double draw : draws) square += (draw - mean) * (draw - mean);
  return {.loss = mean, .standard_error = draws.size() > 1 ? std::sqrt(square / (count - 1) / count) : 0};
}

}  // namespace

HeldOutLoss softmax_held_out_loss(const LabelledRows& rows, int classes) {
  detail::check_labelled_rows(rows, classes, 0, "held-out rows");
  if (rows.size() == 0) throw std::invalid_argument("held-out rows: none");
  // Copies of the function share the loss and its scratch memory: one thread at a time, as an observer is.
  const auto loss = std::make_shared<kernels::SoftmaxLoss>(rows.features, rows.labels, classes);
  const auto row_losses = std::make_shared<std::vector<double>>(rows.size());
  return [loss, row_losses](std::span<const double> /*upper*/, std::span<const double> lower) {
    loss->row_losses(lower, *row_losses);
    return mean_with_error(*row_losses);
  };
}

}  // namespace adbo
