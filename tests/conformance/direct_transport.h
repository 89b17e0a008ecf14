#pragma once
// Polytope updates without threads or clock: the engine's workers are called one after the other.

#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "methods/adbo/adbo_worker.h"
#include "methods/adbo/polytope_update.h"
#include "protocol/transport.h"
#include "support/reference/reference_problem.h"

namespace adbo::conformance {

[[nodiscard]] inline std::vector<double> to_std(const reference::Vector& values) {
  return {values.begin(), values.end()};
}

class DirectTransport final : public detail::Transport {
 public:
  DirectTransport(const Problem& problem, const Options& options)
      : own_(problem.num_workers()), accepted_(own_), requests_(own_.size()), replies_(own_.size()) {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      workers_.push_back(std::make_unique<detail::AdboWorker>(problem, i, options));
      workers_[i]->size(own_[i]);
      workers_[i]->size(accepted_[i]);
      workers_[i]->size(replies_[i]);
    }
  }

  /// y_i as the worker has it, and as the master knows it.
  void set_local(std::size_t worker, const reference::Vector& own, const reference::Vector& known) {
    own_[worker].lower_local = to_std(own);
    accepted_[worker].lower_local = to_std(known);
  }

  [[nodiscard]] const detail::UpdateMessage& state(std::size_t worker) const override {
    return accepted_[worker];
  }
  [[nodiscard]] std::size_t num_workers() const override { return workers_.size(); }
  detail::Snapshot& draft() override { return snapshot_; }
  void publish() override {}
  [[nodiscard]] const detail::Snapshot& current() const override { return snapshot_; }
  detail::Request& request(std::size_t worker) override { return requests_[worker]; }
  void send_step(std::size_t worker) override {
    detail::UpdateMessage next = own_[worker];
    workers_[worker]->step(requests_[worker], snapshot_, own_[worker], next);
    own_[worker] = next;
    arrivals_.push_back(worker);
  }
  std::optional<std::size_t> next_update() override {
    if (arrivals_.empty()) return std::nullopt;
    const std::size_t worker = arrivals_.front();
    arrivals_.erase(arrivals_.begin());
    return worker;
  }
  void accept(std::size_t worker) override { accepted_[worker] = own_[worker]; }
  bool hold_all() override { return true; }
  bool discard_all() override {
    arrivals_.clear();
    return true;
  }
  bool exchange(std::span<const std::size_t> workers, Timing) override {
    for (const std::size_t i : workers) workers_[i]->round(requests_[i], snapshot_, own_[i], replies_[i]);
    return true;
  }
  bool settle() override { return true; }
  [[nodiscard]] const detail::RoundMessage& reply(std::size_t worker) const override {
    return replies_[worker];
  }
  [[nodiscard]] double now_seconds() const override { return 0; }
  [[nodiscard]] std::optional<detail::WorkerIncident> update_incident(std::size_t) const override {
    return {};
  }
  [[nodiscard]] std::optional<detail::WorkerIncident> reply_incident(std::size_t) const override {
    return {};
  }
  void drop(std::size_t) override {}
  [[nodiscard]] bool is_dropped(std::size_t) const override { return false; }
  void set_grace(double) override {}
  // Nothing is resumed here.
  [[nodiscard]] bool is_awaited(std::size_t) const override { return false; }
  bool prepare_to_persist(double) override { return false; }
  void persist(StateArchive&) override {}

 private:
  std::vector<detail::UpdateMessage> own_, accepted_;
  std::vector<detail::Request> requests_;
  std::vector<detail::RoundMessage> replies_;
  std::vector<std::unique_ptr<detail::AdboWorker>> workers_;
  std::vector<std::size_t> arrivals_;
  detail::Snapshot snapshot_;
};

/// A point ({y_i}, z, v) of the relaxed problem, with the starts y'_i0 of the lower rounds.
struct Point {
  reference::Vector v, z;
  std::vector<reference::Vector> y, start;
};

struct BuiltCut {
  detail::Cut cut;
  double distance = 0;  ///< h
};

/// The cut that the engine makes at a point, whatever h is. Where the starts differ from y, the options have
/// to say cut_barrier = restart: only then the workers begin elsewhere than where the master knows them.
[[nodiscard]] inline BuiltCut build_cut(const Problem& problem, const Options& options, const Point& point) {
  DirectTransport transport(problem, options);
  for (std::size_t i = 0; i < problem.num_workers(); ++i) transport.set_local(i, point.start[i], point.y[i]);
  const std::vector<double> v = to_std(point.v), z = to_std(point.z);
  transport.draft().upper_consensus = v;
  transport.draft().lower_consensus = z;
  BuiltCut built{detail::Cut(problem.upper_dim(), problem.lower_dim(), problem.num_workers())};
  std::vector<double> products;
  Counts counts;
  std::vector<std::size_t> everyone(problem.num_workers());
  std::iota(everyone.begin(), everyone.end(), std::size_t{0});
  detail::PolytopeUpdate update(problem, options);
  built.distance = update.run(everyone, v, z, transport, built.cut, products, counts).distance;
  return built;
}

}  // namespace adbo::conformance
