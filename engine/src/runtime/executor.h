#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "adbo/options.h"

namespace adbo::detail {

/// A unit of work that never throws and never blocks: plain data, so that submitting one copies a few words.
struct WorkItem {
  void (*run)(void* context, std::size_t index) noexcept = nullptr;
  void* context = nullptr;
  std::size_t index = 0;
};

/// Runs work items somewhere, in any order. submit() and run_one() belong to one thread (the master); the
/// destructor waits for what was submitted.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void submit(const WorkItem& item) = 0;
  /// Runs one pending task on the calling thread where the executor has no threads of its own; false: nothing
  /// to run.
  virtual bool run_one() { return false; }
  /// Threads that run tasks (the inline executor: 1, the caller's).
  [[nodiscard]] virtual int threads() const = 0;
};

/// threads >= 1. The number an executor really has is threads().
[[nodiscard]] std::unique_ptr<Executor> make_executor(ExecutorKind kind, int threads);
/// Processors this process may use, >= 1.
[[nodiscard]] int available_processors();

/// Calls body(0) ... body(count - 1) on the executor and waits. The first exception is rethrown after all
/// have ended.
void parallel_for(Executor& executor, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace adbo::detail
