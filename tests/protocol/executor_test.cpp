#include "runtime/executor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "runtime/fifo.h"

using namespace adbo::detail;
using adbo::ExecutorKind;

TEST_CASE("executors: every index runs exactly once, and the loop waits for all") {
  for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    for (const int threads : {1, 2, 7}) {
      const auto executor = make_executor(kind, threads);
      CHECK(executor->threads() >= 1);
      CHECK(executor->threads() <= threads);
      std::vector<std::atomic<int>> runs(1000);
      parallel_for(*executor, runs.size(), [&](std::size_t k) { runs[k].fetch_add(1); });
      for (const auto& count : runs) CHECK(count.load() == 1);
    }
  }
}

TEST_CASE("executors: an exception comes out after every index has run") {
  for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    const auto executor = make_executor(kind, 2);
    std::atomic<int> runs{0};
    const auto body = [&](std::size_t k) {
      runs.fetch_add(1);
      if (k == 3) throw std::runtime_error("index three");
    };
    CHECK_THROWS_WITH(parallel_for(*executor, 10, body), "index three");
    CHECK(runs.load() == 10);
  }
}

TEST_CASE("fifo: order is kept across growth and wrap-around") {
  Fifo<int> fifo;
  int next_in = 0, next_out = 0;
  for (int round = 0; round < 200; ++round) {
    for (int k = 0; k < round % 7; ++k) fifo.push(next_in++);
    for (int k = 0; k < round % 5 && !fifo.empty(); ++k) CHECK(fifo.pop() == next_out++);
  }
  while (!fifo.empty()) CHECK(fifo.pop() == next_out++);
  CHECK(next_in == next_out);
}
