#include "runtime/executor.h"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/fifo.h"
#include "runtime/tbb_executor.h"

namespace adbo::detail {
namespace {

/// Runs items on the master's own thread, in order of submission, while it would otherwise wait.
class InlineExecutor final : public Executor {
 public:
  void submit(const WorkItem& item) override { pending_.push(item); }
  bool run_one() override {
    if (pending_.empty()) return false;
    const WorkItem item = pending_.pop();
    item.run(item.context, item.index);
    return true;
  }
  [[nodiscard]] int threads() const override { return 1; }

 private:
  Fifo<WorkItem> pending_;
};

/// A fixed set of threads and one queue: for sanitizers, which follow it without suppressions, and for
/// comparison.
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads) {
    threads_.reserve(static_cast<std::size_t>(threads));
    for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
  }
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;
  ~ThreadExecutor() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(const WorkItem& item) override {
    {
      const std::lock_guard lock(mutex_);
      pending_.push(item);
    }
    changed_.notify_one();
  }
  [[nodiscard]] int threads() const override { return static_cast<int>(threads_.size()); }

 private:
  void work() {
    for (;;) {
      WorkItem item;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !pending_.empty(); });
        if (pending_.empty()) return;
        item = pending_.pop();
      }
      item.run(item.context, item.index);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Fifo<WorkItem> pending_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

/// The state of one parallel_for: how many calls are left, and the first failure.
struct ParallelLoop {
  const std::function<void(std::size_t)>* body = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t left = 0;
  std::exception_ptr failure;

  void run(std::size_t index) noexcept {
    std::exception_ptr thrown;
    try {
      (*body)(index);
    } catch (...) {
      thrown = std::current_exception();
    }
    // Notified under the lock: the waiter may destroy this object as soon as it sees `left` at zero.
    const std::lock_guard lock(mutex);
    if (thrown && !failure) failure = thrown;
    --left;
    changed.notify_one();
  }
};

}  // namespace

std::unique_ptr<Executor> make_executor(ExecutorKind kind, int threads) {
  switch (kind) {
    case ExecutorKind::kInline:
      return std::make_unique<InlineExecutor>();
    case ExecutorKind::kThreads:
      return std::make_unique<ThreadExecutor>(threads);
    case ExecutorKind::kTbb:
      break;
  }
  return make_tbb_executor(threads);
}

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(Executor& executor, std::size_t count, const std::function<void(std::size_t)>& body) {
  ParallelLoop loop;
  loop.body = &body;
  loop.left = count;
  const auto run = [](void* context, std::size_t index) noexcept {
    static_cast<ParallelLoop*>(context)->run(index);
  };
  for (std::size_t k = 0; k < count; ++k) executor.submit({.run = run, .context = &loop, .index = k});
  while (executor.run_one()) {
  }
  std::unique_lock lock(loop.mutex);
  loop.changed.wait(lock, [&loop] { return loop.left == 0; });
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace adbo::detail
