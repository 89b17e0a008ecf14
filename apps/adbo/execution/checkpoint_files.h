#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "adbo/checkpoint.h"
#include "output/output_folder.h"
#include "support/console.h"

namespace adbo::app {

/// When a run leaves checkpoints besides the one at an interruption.
struct CheckpointRule {
  std::int64_t every = 0;  ///< iterations; 0: not by iterations
  double interval = 0;     ///< seconds of wall time; 0: not by time
};

/// The checkpoints of one run, PREFIX-ITERATION.adbo in its folder: each is whole on the disk before it has
/// its name, and the last two are kept.
class CheckpointFiles final : public CheckpointSink {
 public:
  CheckpointFiles(const OutputFolder& folder, std::string prefix, CheckpointRule rule);

  bool is_due(std::int64_t iteration) override;
  /// io::OutputError when the disk refuses.
  void store(std::int64_t iteration, std::span<const std::byte> image) override;

 private:
  OutputFolder folder_;
  std::string prefix_;
  CheckpointRule rule_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Whole or not at all. io::OutputError when the disk refuses.
void write_image(const std::string& path, std::span<const std::byte> image);

struct FoundCheckpoint {
  std::string name;  ///< of the file
  std::int64_t iteration = 0;
  std::string image;
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(image)); }
};
/// The newest whole checkpoint; what is wrong with newer ones is said on the console.
[[nodiscard]] std::optional<FoundCheckpoint> newest_checkpoint(const OutputFolder& folder,
                                                               const std::string& prefix,
                                                               const Console& console);
[[nodiscard]] bool has_checkpoints(const OutputFolder& folder, const std::string& prefix);
/// Removes the checkpoints of a run, if there are any.
void remove_checkpoints(const OutputFolder& folder, const std::string& prefix);

}  // namespace adbo::app
