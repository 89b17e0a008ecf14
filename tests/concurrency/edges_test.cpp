// Each edge of MEMORY_MODEL.md as it is. The build with ThreadSanitizer is what makes these tests of the
// orders; tests/negative shows that they can fail.
#include <doctest/doctest.h>

#include "concurrency/edge_scenarios.h"

TEST_CASE("E1, E2: messages through a ring") { CHECK(adbo::test::ring_scenario()); }

TEST_CASE("E3: a snapshot and a request handed to a reader") { CHECK(adbo::test::hand_over_scenario()); }

TEST_CASE("E4: work left before a ring that the ticket counts") { CHECK(adbo::test::ticket_scenario()); }

TEST_CASE("E5, E6: no ring is slept through") { CHECK(adbo::test::wake_up_scenario(20000, 200)); }

TEST_CASE("T1: reads before the arrival, reclaim after it") { CHECK(adbo::test::quiescence_scenario()); }

TEST_CASE("T2: a worker's state from one thread to the next") { CHECK(adbo::test::worker_state_scenario()); }
