#include "support/memory.h"

#include <fmt/format.h>

#include "io/byte_source.h"

namespace adbo::app {

std::string beyond_memory(double bytes) {
  constexpr double kGiB = 1 << 30;
  const auto memory = static_cast<double>(io::physical_memory_bytes());
  if (bytes <= memory) return {};
  return fmt::format("at least {:.3g} GiB, this machine has {:.3g} GiB", bytes / kGiB, memory / kGiB);
}

}  // namespace adbo::app
