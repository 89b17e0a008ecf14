#include "execution/stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace adbo::app {
namespace {

// A signal handler may touch lock-free atomics only.
std::atomic<Solver*> running_solver{nullptr};
std::atomic<int> first_signal{0};
std::atomic<bool> is_quiet{false};
static_assert(std::atomic<Solver*>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

constexpr std::string_view kAcknowledgement =
    "adbo: stopping as soon as the results are written (a second signal ends at once)\n";

extern "C" void on_stop_signal(int signal) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) {
    // The end of a terminal or session is told by its shell, the kernel and the service manager, each by a
    // signal of its own: nobody asks twice.
    if (signal == SIGHUP) return;
    _exit(128 + signal);
  }
  if (Solver* const solver = running_solver.load()) {
    solver->request_stop();  // who runs it says so when it has stopped
  } else if (!is_quiet.load()) {
    const int errno_before = errno;
    // Nobody looks until what is being measured is done, so the handler itself has to say it; where it
    // cannot, there is nobody to tell.
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, kAcknowledgement.data(), kAcknowledgement.size());
    errno = errno_before;
  }
}

bool is_ignored(int signal) {
  struct sigaction current {};
  sigaction(signal, nullptr, &current);
  return current.sa_handler == SIG_IGN;
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  if (!is_ignored(SIGHUP)) sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

void StopSignal::listen() {
  if (std::exchange(is_listening_, true)) return;
  first_signal.store(0);
  is_quiet.store(quiet_);
  install(on_stop_signal);
}

StopSignal::~StopSignal() {
  if (is_listening_) install(SIG_DFL);
  running_solver.store(nullptr);
}

void StopSignal::attach(Solver* solver) noexcept { running_solver.store(solver); }

int StopSignal::received() const noexcept { return is_listening_ ? first_signal.load() : 0; }

}  // namespace adbo::app
