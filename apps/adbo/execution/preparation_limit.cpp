#include "execution/preparation_limit.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

/// setitimer() takes no more; as good as never.
constexpr double kLongest = 1e8;

extern "C" void on_preparation_limit(int) {
  constexpr std::string_view message =
      "adbo: time_limit is over before the problem was ready (its settings or data read, or made); "
      "nothing was written\n";
  // What is lost of a message on the way out cannot be helped.
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(static_cast<int>(ExitCode::kUsage));
}

void set_timer(double seconds) {
  const double whole = std::floor(std::min(seconds, kLongest));
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>((std::min(seconds, kLongest) - whole) * 1e6);
  // A timer of zero would be none.
  if (seconds > 0 && timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGALRM, &action, nullptr);
}

}  // namespace

PreparationLimit::PreparationLimit(double seconds) {
  if (!(seconds > 0)) return;
  handle(on_preparation_limit);
  set_timer(seconds);
}

PreparationLimit::~PreparationLimit() {
  set_timer(0);
  handle(SIG_DFL);
}

}  // namespace adbo::app
