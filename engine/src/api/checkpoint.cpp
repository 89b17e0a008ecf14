#include "adbo/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "adbo/version.h"

namespace adbo {
namespace {

constexpr std::string_view kMagic = "ADBOCKPT";
/// Of all that follows the checksum, the state's own layout included: raised when checkpoints of before no
/// longer fit.
constexpr std::uint32_t kFormat = 2;
constexpr std::size_t kChecksumAt = kMagic.size();
constexpr std::size_t kBodyAt = kChecksumAt + sizeof(std::uint64_t);

/// FNV-1a over words of 64 bits, with a rotation so that the high bits of a word reach the low ones: tells a
/// torn or damaged file, not a forged one.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t state = 0xcbf29ce484222325u ^ bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), size);
    state = std::rotl((state ^ word) * 0x100000001b3u, 29);
    bytes = bytes.subspan(size);
  }
  return state;
}

void carry_facts(StateArchive& archive, CheckpointFacts& facts) {
  archive.sized(facts.version, facts.iteration, facts.identity);
}

}  // namespace

void begin_checkpoint(std::vector<std::byte>& image, CheckpointFacts& facts) {
  image.clear();
  for (const char letter : kMagic) image.push_back(static_cast<std::byte>(letter));
  StateArchive archive = StateArchive::saving_to(image);
  std::uint64_t sum = 0;
  std::uint32_t format = kFormat;
  archive(sum, format);
  carry_facts(archive, facts);
}

void seal_checkpoint(std::vector<std::byte>& image) {
  const std::uint64_t sum = checksum(std::span(image).subspan(kBodyAt));
  std::memcpy(image.data() + kChecksumAt, &sum, sizeof sum);
}

OpenedCheckpoint open_checkpoint(std::span<const std::byte> image) {
  if (image.size() < kBodyAt) {
    throw BadState("no whole checkpoint: " + std::to_string(image.size()) + " bytes");
  }
  if (std::memcmp(image.data(), kMagic.data(), kMagic.size()) != 0) {
    throw BadState("no checkpoint: it does not begin with " + std::string(kMagic));
  }
  std::uint64_t sum = 0;
  std::memcpy(&sum, image.data() + kChecksumAt, sizeof sum);
  if (sum != checksum(image.subspan(kBodyAt))) {
    throw BadState("damaged or cut short: the checksum does not match its " + std::to_string(image.size()) +
                   " bytes");
  }
  StateArchive archive = StateArchive::loading_from(image.subspan(kBodyAt));
  std::uint32_t format = 0;
  archive(format);
  if (format != kFormat) {
    throw BadState("format " + std::to_string(format) + "; this version reads format " +
                   std::to_string(kFormat));
  }
  OpenedCheckpoint opened;
  carry_facts(archive, opened.facts);
  opened.state = image.last(archive.bytes_left());
  return opened;
}

std::string first_difference(const CheckpointFacts& before, const CheckpointFacts& now) {
  constexpr std::string_view kWhen = "when the checkpoint was made";
  const std::string versions =
      first_difference({{"version of adbo", before.version}}, {{"version of adbo", now.version}}, kWhen);
  return versions.empty() ? first_difference(before.identity, now.identity, kWhen) : versions;
}

}  // namespace adbo
