// The command `adbo`: what belongs to the process rather than to a command.

#include <fcntl.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands/command.h"

namespace {

/// How many threads oneTBB may use is one number for the whole process, so that the engine leaves it alone.
class ThreadLimit {
 public:
  /// One more than the workers' threads: the master waits, but it counts.
  void set(std::int64_t threads) {
    const auto workers = static_cast<std::size_t>(threads > 0 ? threads : tbb::info::default_concurrency());
    control_ =
        std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, workers + 1);
  }

 private:
  std::unique_ptr<tbb::global_control> control_;
};

/// A standard stream that the caller closed must not become the number of a result file: messages would go
/// into it. Reading from what stands in for it works, writing fails, and is reported.
void occupy_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    if (open("/dev/null", O_RDONLY) != descriptor) std::abort();  // the lowest free number, by POSIX
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  std::ios::sync_with_stdio(false);
  // A shell starts the jobs that it does not wait for with SIGINT ignored. Who sends one means it, also while
  // nothing listens yet.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error to report, not a silent end
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not become that large
  adbo::app::Console console(std::cout, std::cerr, isatty(STDERR_FILENO) != 0);
  ThreadLimit limit;
  const adbo::app::Environment environment{console, [&limit](std::int64_t threads) { limit.set(threads); }};
  return static_cast<int>(adbo::app::run_command({argv + 1, argv + argc}, environment));
}
