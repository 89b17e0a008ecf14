// The only file that includes oneTBB.
#include "runtime/tbb_executor.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include <algorithm>

#if defined(__SANITIZE_THREAD__)
// oneTBB as packaged is not instrumented: the sanitizer sees neither its synchronization nor the hand-over of
// a task, and would report both as races. So the functor's call operator is not instrumented, and the
// hand-over that enqueue does give (what precedes submit() precedes the item's run) is told to the sanitizer
// with the context as its token.
#define ADBO_NO_SANITIZE_THREAD __attribute__((no_sanitize("thread")))
extern "C" void __tsan_acquire(void* token);
extern "C" void __tsan_release(void* token);
#else
#define ADBO_NO_SANITIZE_THREAD
#endif

namespace adbo::detail {
namespace {

void announce_submission([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(token);
#endif
}

struct RunItem {
  WorkItem item;
  ADBO_NO_SANITIZE_THREAD void operator()() const {
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(item.context);
#endif
    item.run(item.context, item.index);
  }
};

/// Of the arena's own threads one runs this, while the caller waits.
struct WaitForItems {
  tbb::task_group* group;
  ADBO_NO_SANITIZE_THREAD void operator()() const { group->wait(); }
};

/// Threads that the process's oneTBB would give an arena at most: all but the calling thread's. Asking for
/// more makes oneTBB print a warning, and a library does not print.
int grantable_threads() {
  const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return std::max(1, static_cast<int>(allowed) - 1);
}

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(int threads)
      : threads_(std::min(threads, grantable_threads())), arena_(threads_, /*reserved_for_masters=*/0) {}
  TbbExecutor(const TbbExecutor&) = delete;
  TbbExecutor& operator=(const TbbExecutor&) = delete;
  // noexcept: items never throw, so neither does waiting for them.
  ~TbbExecutor() noexcept override {
    const WaitForItems wait{&group_};
    arena_.execute(wait);
  }

  void submit(const WorkItem& item) override {
    announce_submission(item.context);
    arena_.enqueue(group_.defer(RunItem{item}));
  }
  [[nodiscard]] int threads() const override { return threads_; }

 private:
  int threads_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

}  // namespace

std::string tbb_version() { return TBB_runtime_version(); }

std::unique_ptr<Executor> make_tbb_executor(int threads) { return std::make_unique<TbbExecutor>(threads); }

}  // namespace adbo::detail
