#pragma once

#include <stdexcept>

#include "adbo/state_archive.h"
#include "protocol/messages.h"
#include "protocol/run_limits.h"

namespace adbo::detail {

/// Thrown by a worker's program when a value or an iterate is not finite.
class NonFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown by a worker's program that ends an answer early because the run is over: there is no answer then.
struct Abandoned {};

/// What a method's workers compute: the transport calls one of the two for each request. One call at a time
/// per object, from whichever thread. Exceptions and non-finite results become the message's failure.
class WorkerProgram {
 public:
  virtual ~WorkerProgram() = default;
  /// `previous` is the worker's own last update; `out` is filled completely.
  virtual void step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                    UpdateMessage& out) = 0;
  virtual void round(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                     RoundMessage& out) = 0;
  /// Sizes a message's buffers, before the run.
  virtual void size(UpdateMessage& message) const = 0;
  virtual void size(RoundMessage& message) const = 0;
  /// The state before the first step.
  virtual void fill_start(UpdateMessage& message) const = 0;
  /// What the worker carries from one request to the next beside its messages.
  virtual void persist(StateArchive&) {}

  /// Before the run: what ends it. The limits outlive the program.
  void watch(const RunLimits& limits) { limits_ = &limits; }

 protected:
  /// For answers that take many evaluations, between two of them: a run that is over waits for nothing.
  void require_wanted() const {
    if (limits_ != nullptr && limits_->interrupted()) throw Abandoned();
  }

 private:
  const RunLimits* limits_ = nullptr;
};

}  // namespace adbo::detail
