// Runs the scenario that the argument names. Exit codes: see expect.cmake. No test framework here: its own
// synchronization could order what the scenario leaves unordered on purpose.
#ifdef ADBO_CLOG_STORES
#include "negative/clogged_stores.h"
#endif

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "concurrency/edge_scenarios.h"
#include "negative/two_cores.h"

namespace {

constexpr int kPassed = 0;
constexpr int kWrongContents = 1;
constexpr int kUnknownScenario = 2;
constexpr int kLostWakeUp = 3;

constexpr int kNeedsTwoCores = 77;

#if defined(ADBO_WEAKEN_E5)
// It depends on chance, round by round, and needs both threads to run at the same moment: on contended cores
// there are some hundred rounds a second, and runs took up to ten thousand rounds. Ends with the first loss.
constexpr std::uint32_t kWakeUpRounds = 100000000;
constexpr std::chrono::seconds kLimit{240};
#else
constexpr std::uint32_t kWakeUpRounds = 100000;
constexpr std::chrono::seconds kLimit = adbo::test::kWakeUpLimit;
#endif
constexpr std::uint32_t kRingerDelays = 1000;

int wake_up() {
  std::atomic<bool> is_bound{true};  // on two different cores
  const auto on_start = [&is_bound](bool is_waiter) {
    if (!adbo::test::bind_to_core(is_waiter ? 0 : 1)) is_bound = false;
#ifdef ADBO_CLOG_STORES
    adbo::test::clogs_its_stores = is_waiter;
#endif
  };
  if (!adbo::test::wake_up_scenario(kWakeUpRounds, kRingerDelays, on_start, kLimit)) return kLostWakeUp;
  return is_bound ? kPassed : kNeedsTwoCores;
}

int contents(bool hold) { return hold ? kPassed : kWrongContents; }

int run(std::string_view scenario) {
  if (scenario == "ring") return contents(adbo::test::ring_scenario());
  if (scenario == "hand_over") return contents(adbo::test::hand_over_scenario());
  if (scenario == "ticket") return contents(adbo::test::ticket_scenario());
  if (scenario == "quiescence") return contents(adbo::test::quiescence_scenario());
  if (scenario == "worker_state") return contents(adbo::test::worker_state_scenario());
  if (scenario == "wake_up") return wake_up();
  return kUnknownScenario;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int code = argument_count == 2 ? run(arguments[1]) : kUnknownScenario;
  if (code == kWrongContents) std::fputs("wrong contents\n", stderr);
  if (code == kUnknownScenario) std::fputs("usage: edge_main SCENARIO\n", stderr);
  return code;
}
