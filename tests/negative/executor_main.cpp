// What ThreadSanitizer sees through oneTBB, whose library it does not see: with tests/support/tsan.supp the
// hand-over of work is silent, and races of the work itself are reported all the same. Exit codes: see
// expect.cmake.
#include <atomic>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/tbb_executor.h"

namespace {

using adbo::detail::Executor;
using adbo::detail::WorkItem;

constexpr int kPassed = 0;
constexpr int kWrongContents = 1;
constexpr int kUnknownScenario = 2;

constexpr int kThreads = 2;

struct Slot {
  int given = 0, result = 0;  // plain: only the hand-over orders them
  std::atomic<bool> done{false};
};

Slot& slot(void* context) { return *static_cast<Slot*>(context); }

void wait_for(const Slot& one, std::memory_order order) {
  while (!one.done.load(order)) std::this_thread::yield();
}

/// Work as the engine hands it over: what precedes submit() is seen by the item, the result is published by
/// the item itself. Executors come and go, so that oneTBB takes its own objects from its pools again and
/// again.
bool hand_over() {
  constexpr int kExecutors = 40, kRounds = 50, kItems = 20;
  bool holds = true;
  for (int e = 0; e < kExecutors; ++e) {
    std::vector<Slot> slots(kItems);
    const std::unique_ptr<Executor> executor = adbo::detail::make_tbb_executor(kThreads);
    for (int round = 0; round < kRounds; ++round) {
      for (Slot& one : slots) {
        one.given = round;
        one.done.store(false, std::memory_order_relaxed);
        executor->submit({.run =
                              [](void* context, std::size_t) noexcept {
                                slot(context).result = slot(context).given + 1;
                                slot(context).done.store(true, std::memory_order_release);
                              },
                          .context = &one});
      }
      for (Slot& one : slots) {
        wait_for(one, std::memory_order_acquire);
        holds = holds && one.result == round + 1;
      }
    }
  }
  return holds;
}

/// The result is read without having been published.
bool unpublished_result() {
  Slot one;
  const std::unique_ptr<Executor> executor = adbo::detail::make_tbb_executor(kThreads);
  executor->submit({.run =
                        [](void* context, std::size_t) noexcept {
                          slot(context).result = 1;
                          slot(context).done.store(true, std::memory_order_relaxed);
                        },
                    .context = &one});
  wait_for(one, std::memory_order_relaxed);
  return one.result == 1;
}

/// The item reads what was written after it was submitted.
bool late_argument() {
  Slot one;
  const std::unique_ptr<Executor> executor = adbo::detail::make_tbb_executor(kThreads);
  executor->submit({.run =
                        [](void* context, std::size_t) noexcept {
                          wait_for(slot(context), std::memory_order_relaxed);
                          slot(context).result = slot(context).given;
                        },
                    .context = &one});
  one.given = 1;
  one.done.store(true, std::memory_order_relaxed);
  return true;
}

int contents(bool hold) { return hold ? kPassed : kWrongContents; }

}  // namespace

int main(int count, char** arguments) {
  const std::string_view scenario = count == 2 ? arguments[1] : "";
  if (scenario == "work_handed_over") return contents(hand_over());
  if (scenario == "unpublished_result") return contents(unpublished_result());
  if (scenario == "late_argument") return contents(late_argument());
  return kUnknownScenario;
}
