// Breaks the precondition that the argument names; the assertion that guards it must stop the program.
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "concurrency/snapshot_domain.h"
#include "concurrency/spsc_ring.h"

namespace {

constexpr int kPassed = 0;
constexpr int kNotStopped = 1;
constexpr int kUnknownViolation = 2;
constexpr int kAborted = 4;

struct Message {
  int number = 0;
};

int violate(std::string_view precondition) {
  adbo::detail::SpscRing<Message, 2> ring;
  adbo::detail::SnapshotDomain<Message> empty(1, [] { return std::make_unique<Message>(); });
  adbo::detail::SnapshotDomain<Message> domain(1, [] { return std::make_unique<Message>(); });
  domain.draft();
  domain.publish();

  if (precondition == "none") return kPassed;
  if (precondition == "publish_without_claim") {
    while (ring.claim() != nullptr) ring.publish();
    ring.publish();
  } else if (precondition == "peek_beyond_available") {
    static_cast<void>(ring.peek(ring.available()));
  } else if (precondition == "release_beyond_available") {
    ring.release(ring.available() + 1);
  } else if (precondition == "publish_without_draft") {
    domain.publish();
  } else if (precondition == "hand_to_before_publish") {
    empty.hand_to(0);
  } else if (precondition == "hand_to_twice") {
    domain.hand_to(0);
    domain.hand_to(0);
  } else if (precondition == "arrived_without_hand_to") {
    domain.arrived(0);
  } else if (precondition == "arrived_twice") {
    domain.hand_to(0);
    domain.arrived(0);
    domain.arrived(0);
  } else if (precondition == "read_outside_of_a_step") {
    domain.hand_to(0);
    domain.arrived(0);
    static_cast<void>(domain.read(0));
  } else {
    return kUnknownViolation;
  }
  return kNotStopped;
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::signal(SIGABRT, [](int) { std::_Exit(kAborted); });
  return argument_count == 2 ? violate(arguments[1]) : kUnknownViolation;
}
