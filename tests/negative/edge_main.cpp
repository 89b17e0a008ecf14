// Runs the scenario that the argument names. Exit codes: see expect.cmake. No test framework here: its own
// synchronization could order what the scenario leaves unordered on purpose.
#include <cstdio>
#include <string_view>

#include "concurrency/edge_scenarios.h"

namespace {

constexpr int kPassed = 0;
constexpr int kWrongContents = 1;
constexpr int kUnknownScenario = 2;
constexpr int kLostWakeUp = 3;

// The weakened bell loses its first wake-up within some thousand rounds; this leaves a wide margin.
constexpr std::uint32_t kWakeUpRounds = 300000;
constexpr std::uint32_t kRingerDelays = 200;

int contents(bool hold) { return hold ? kPassed : kWrongContents; }

int run(std::string_view scenario) {
  if (scenario == "ring") return contents(adbo::test::ring_scenario());
  if (scenario == "hand_over") return contents(adbo::test::hand_over_scenario());
  if (scenario == "ticket") return contents(adbo::test::ticket_scenario());
  if (scenario == "quiescence") return contents(adbo::test::quiescence_scenario());
  if (scenario == "worker_state") return contents(adbo::test::worker_state_scenario());
  if (scenario == "wake_up") {
    return adbo::test::wake_up_scenario(kWakeUpRounds, kRingerDelays) ? kPassed : kLostWakeUp;
  }
  return kUnknownScenario;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int code = argument_count == 2 ? run(arguments[1]) : kUnknownScenario;
  if (code == kWrongContents) std::fputs("wrong contents\n", stderr);
  if (code == kUnknownScenario) std::fputs("usage: edge_main SCENARIO\n", stderr);
  return code;
}
