#pragma once

#include <exception>

namespace adbo::detail {

/// The ring's next slot. A full ring is a broken protocol (at most one request per worker), not an event:
/// nothing sane can follow it.
template <class Ring>
auto& claim_slot(Ring& ring) {
  auto* slot = ring.claim();  // (E2)
  if (slot == nullptr) std::terminate();
  return *slot;
}

}  // namespace adbo::detail
