#pragma once

#include <memory>
#include <string>

#include "runtime/executor.h"

namespace adbo::detail {

/// Work items as oneTBB tasks in an arena of their own. The arena gets at most as many threads as the
/// process's tbb::global_control allows beside the calling one, which is the application's business.
[[nodiscard]] std::unique_ptr<Executor> make_tbb_executor(int threads);
/// Of the oneTBB in use at run time.
[[nodiscard]] std::string tbb_version();

}  // namespace adbo::detail
