#include "execution/stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace adbo::app {
namespace {

// A signal handler may touch lock-free atomics only.
std::atomic<Solver*> running_solver{nullptr};
std::atomic<int> first_signal{0};
static_assert(std::atomic<Solver*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) _exit(128 + signal);
  if (Solver* const solver = running_solver.load()) solver->request_stop();
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  first_signal.store(0);
  install(on_stop_signal);
}

StopSignal::~StopSignal() {
  install(SIG_DFL);
  running_solver.store(nullptr);
}

void StopSignal::attach(Solver* solver) noexcept { running_solver.store(solver); }

int StopSignal::received() const noexcept { return first_signal.load(); }

}  // namespace adbo::app
