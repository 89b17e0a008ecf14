#include "support/reference/reference_problem.h"

#include <cmath>

namespace adbo::reference {
namespace {

double sigmoid(double s) { return s >= 0 ? 1 / (1 + std::exp(-s)) : std::exp(s) / (1 + std::exp(s)); }

/// log(1 + exp(s)).
double softplus(double s) { return std::max(s, 0.0) + std::log1p(std::exp(-std::abs(s))); }

double sign_of(std::int32_t label) { return label == 0 ? -1.0 : 1.0; }

/// Mean over rows of log(1 + exp(-label w.x)): value, gradient and Hessian, row by row.
struct MeanLogistic {
  Sample sample;

  [[nodiscard]] Index rows() const { return sample.features.rows(); }
  [[nodiscard]] double margin(Index row, const Vector& w) const {
    return sign_of(sample.labels[row]) * sample.features.row(row).dot(w);
  }
  [[nodiscard]] double value(const Vector& w) const {
    double sum = 0;
    for (Index r = 0; r < rows(); ++r) sum += softplus(-margin(r, w));
    return sum / static_cast<double>(rows());
  }
  [[nodiscard]] Vector gradient(const Vector& w) const {
    Vector sum = Vector::Zero(w.size());
    for (Index r = 0; r < rows(); ++r)
      sum -= sign_of(sample.labels[r]) * sigmoid(-margin(r, w)) * sample.features.row(r).transpose();
    return sum / static_cast<double>(rows());
  }
  [[nodiscard]] Matrix hessian(const Vector& w) const {
    Matrix sum = Matrix::Zero(w.size(), w.size());
    for (Index r = 0; r < rows(); ++r) {
      const double p = sigmoid(margin(r, w));
      sum += p * (1 - p) * sample.features.row(r).transpose() * sample.features.row(r);
    }
    return sum / static_cast<double>(rows());
  }
};

/// The cross-entropy of single rows.
struct RowCrossEntropy {
  Sample sample;
  int classes = 2;

  [[nodiscard]] Index rows() const { return sample.features.rows(); }
  [[nodiscard]] Index cols() const { return sample.features.cols(); }
  [[nodiscard]] Vector probabilities(Index row, const Vector& y) const {
    Vector logits(classes);
    for (int c = 0; c < classes; ++c) logits[c] = sample.features.row(row).dot(y.segment(c * cols(), cols()));
    logits.array() -= logits.maxCoeff();
    const Vector weights = logits.array().exp();
    return weights / weights.sum();
  }
  [[nodiscard]] double value(Index row, const Vector& y) const {
    return -std::log(probabilities(row, y)[sample.labels[row]]);
  }
  [[nodiscard]] Vector gradient(Index row, const Vector& y) const {
    Vector residual = probabilities(row, y);
    residual[sample.labels[row]] -= 1;
    Vector out(classes * cols());
    for (int c = 0; c < classes; ++c)
      out.segment(c * cols(), cols()) = residual[c] * sample.features.row(row).transpose();
    return out;
  }
  [[nodiscard]] Matrix hessian(Index row, const Vector& y) const {
    const Vector p = probabilities(row, y);
    const Matrix outer = sample.features.row(row).transpose() * sample.features.row(row);
    Matrix out(classes * cols(), classes * cols());
    for (int c = 0; c < classes; ++c)
      for (int d = 0; d < classes; ++d)
        out.block(c * cols(), d * cols(), cols(), cols()) =
            (p[c] * (c == d ? 1.0 : 0.0) - p[c] * p[d]) * outer;
    return out;
  }
  [[nodiscard]] double mean_value(const Vector& y) const {
    double sum = 0;
    for (Index r = 0; r < rows(); ++r) sum += value(r, y);
    return sum / static_cast<double>(rows());
  }
  [[nodiscard]] Vector mean_gradient(const Vector& y) const {
    Vector sum = Vector::Zero(y.size());
    for (Index r = 0; r < rows(); ++r) sum += gradient(r, y);
    return sum / static_cast<double>(rows());
  }
};

}  // namespace

Objective quadratic_objective(const QuadraticData& data) {
  Objective o;
  o.begin = data.begin;
  o.size = data.mixing.cols();
  o.upper_uses_x = data.rho != 0;
  o.upper = [data](const Vector& x, const Vector& y) {
    const double in_x = data.rho == 0 ? 0 : data.rho / 2 * (x - data.anchor).squaredNorm();
    return 0.5 * (y - data.target).squaredNorm() + in_x;
  };
  o.upper_gradient_x = [data](const Vector& x, const Vector&) -> Vector {
    if (data.rho == 0) return Vector::Zero(data.mixing.cols());
    return data.rho * (x - data.anchor);
  };
  o.upper_gradient_y = [data](const Vector&, const Vector& y) -> Vector { return y - data.target; };
  o.lower = [data](const Vector& x, const Vector& y) {
    return 0.5 * y.dot(data.hessian * y) - y.dot(data.mixing * x + data.shift);
  };
  o.lower_gradient = [data](const Vector& x, const Vector& y) -> Vector {
    return data.hessian * y - data.mixing * x - data.shift;
  };
  o.lower_hessian = [data](const Vector&, const Vector&) { return data.hessian; };
  o.lower_cross = [data](const Vector&, const Vector&) -> Matrix { return -data.mixing; };
  return o;
}

Objective logistic_tuning_objective(const Sample& train, const Sample& validation, double factor) {
  const MeanLogistic lower_loss{train};
  const MeanLogistic upper_loss{validation};
  Objective o;
  o.size = train.features.cols();
  o.upper_uses_x = false;
  o.upper = [upper_loss](const Vector&, const Vector& w) { return upper_loss.value(w); };
  o.upper_gradient_x = [](const Vector&, const Vector& w) -> Vector { return Vector::Zero(w.size()); };
  o.upper_gradient_y = [upper_loss](const Vector&, const Vector& w) { return upper_loss.gradient(w); };
  o.lower = [lower_loss, factor](const Vector& psi, const Vector& w) {
    return lower_loss.value(w) + factor * (psi.array().exp() * w.array().square()).sum();
  };
  o.lower_gradient = [lower_loss, factor](const Vector& psi, const Vector& w) -> Vector {
    return lower_loss.gradient(w) + Vector(2 * factor * psi.array().exp() * w.array());
  };
  o.lower_hessian = [lower_loss, factor](const Vector& psi, const Vector& w) -> Matrix {
    Matrix hessian = lower_loss.hessian(w);
    hessian.diagonal().array() += 2 * factor * psi.array().exp();
    return hessian;
  };
  o.lower_cross = [factor](const Vector& psi, const Vector& w) -> Matrix {
    return Vector(2 * factor * psi.array().exp() * w.array()).asDiagonal();
  };
  return o;
}

Objective hyper_cleaning_objective(const Sample& train, const Sample& validation, int classes, double ridge,
                                   Index begin) {
  const RowCrossEntropy lower_loss{train, classes};
  const RowCrossEntropy upper_loss{validation, classes};
  const auto rows = static_cast<double>(train.features.rows());
  Objective o;
  o.begin = begin;
  o.size = train.features.rows();
  o.upper_uses_x = false;
  o.upper = [upper_loss](const Vector&, const Vector& y) { return upper_loss.mean_value(y); };
  o.upper_gradient_x = [](const Vector& psi, const Vector&) -> Vector { return Vector::Zero(psi.size()); };
  o.upper_gradient_y = [upper_loss](const Vector&, const Vector& y) { return upper_loss.mean_gradient(y); };
  o.lower = [=](const Vector& psi, const Vector& y) {
    double sum = 0;
    for (Index r = 0; r < psi.size(); ++r) sum += sigmoid(psi[r]) * lower_loss.value(r, y);
    return sum / rows + ridge * y.squaredNorm();
  };
  o.lower_gradient = [=](const Vector& psi, const Vector& y) -> Vector {
    Vector sum = Vector::Zero(y.size());
    for (Index r = 0; r < psi.size(); ++r) sum += sigmoid(psi[r]) * lower_loss.gradient(r, y);
    return sum / rows + 2 * ridge * y;
  };
  o.lower_hessian = [=](const Vector& psi, const Vector& y) -> Matrix {
    Matrix sum = Matrix::Zero(y.size(), y.size());
    for (Index r = 0; r < psi.size(); ++r) sum += sigmoid(psi[r]) * lower_loss.hessian(r, y);
    sum /= rows;
    sum.diagonal().array() += 2 * ridge;
    return sum;
  };
  o.lower_cross = [=](const Vector& psi, const Vector& y) -> Matrix {
    Matrix cross(y.size(), psi.size());
    for (Index r = 0; r < psi.size(); ++r) {
      const double weight = sigmoid(psi[r]);
      cross.col(r) = weight * (1 - weight) / rows * lower_loss.gradient(r, y);
    }
    return cross;
  };
  return o;
}

}  // namespace adbo::reference
