#pragma once
// run.json: what a run was told, so that it can be gone on with without being told again.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adbo/identity.h"
#include "settings/comparison.h"
#include "settings/settings.h"

namespace adbo::app {

inline constexpr std::string_view kSavedRunFile = "run.json";

/// As the command was given: the settings source by source, which problem, and the folder that relative paths
/// are seen from.
struct SavedRun {
  ProblemKind problem = ProblemKind::kClean;
  SettingSources sources;
  std::string working_folder;
  std::optional<ComparisonRequest> comparison;  ///< empty: it is one run
  /// Of the problem that was made of the settings and the data; empty: none was made yet.
  Identity identity{};
};

/// The text of run.json.
[[nodiscard]] std::string saved_run_text(const SavedRun& run);
/// UsageError naming the file when it is not there or not what saved_run_text() writes.
[[nodiscard]] SavedRun read_saved_run(const std::string& path);

/// The settings of the run, with what `flags` change and its output in `folder`. A setting that an iterate
/// depends on may be given again but not changed: UsageError with its name and both values. The files of data
/// may have moved; whether they are the same is for the checkpoint to say.
[[nodiscard]] Settings resumed_settings(SavedRun run, const std::vector<Assignment>& flags,
                                        const std::string& folder);

/// The methods of a comparison that goes on, with its output in `folder`. `flags` may change how the command
/// speaks and how often checkpoints are made: UsageError for any other.
[[nodiscard]] std::vector<ComparedMethod> resumed_comparison(SavedRun run,
                                                             const std::vector<Assignment>& flags,
                                                             const std::string& folder);

/// Whether a comparison may go on with another value of this setting.
[[nodiscard]] bool is_free_in_comparison(std::string_view name);
/// Whether runs that differ in this setting alone have the same iterates.
[[nodiscard]] bool is_free_setting(std::string_view name);

}  // namespace adbo::app
