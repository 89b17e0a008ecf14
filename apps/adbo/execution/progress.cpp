#include "execution/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

namespace adbo::app {
namespace {

constexpr std::chrono::milliseconds kBarInterval{100};
constexpr std::chrono::seconds kLineInterval{5};
constexpr std::size_t kBarWidth = 24;

ProgressMode settled(const Console& console, ProgressMode mode) {
  if (console.quiet()) return ProgressMode::kNone;
  if (mode == ProgressMode::kNone || mode == ProgressMode::kLines) return mode;
  // A bar in a file would be one endless line of carriage returns.
  return console.err_is_terminal() ? ProgressMode::kBar : ProgressMode::kLines;
}

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(kBarWidth));
  return "[" + std::string(full, '=') + std::string(kBarWidth - full, ' ') + "]";
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(const Console& console, ProgressMode mode, std::int64_t iterations)
    : console_(console), mode_(settled(console, mode)), iterations_(iterations) {}

void Progress::update(const TraceRecord& record, std::optional<double> test_accuracy) {
  if (mode_ == ProgressMode::kNone) return;
  record_ = record;
  is_stale_ = true;
  if (test_accuracy) test_ = LastTest{.accuracy = *test_accuracy, .iteration = record.iteration};
  const Clock::time_point now = Clock::now();
  const Clock::duration interval =
      mode_ == ProgressMode::kBar ? Clock::duration(kBarInterval) : kLineInterval;
  if (now - last_drawn_ < interval) return;
  last_drawn_ = now;
  draw();
}

void Progress::finish() {
  if (mode_ == ProgressMode::kNone) return;
  if (is_stale_) draw();
  if (mode_ == ProgressMode::kBar) console_.err() << std::endl;
}

double Progress::eta_seconds(Clock::time_point now) const {
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double done = static_cast<double>(std::max<std::int64_t>(record_.iteration, 1));
  return elapsed * static_cast<double>(iterations_ - record_.iteration) / done;
}

void Progress::draw() {
  is_stale_ = false;
  std::string text = fmt::format("iteration {}/{}", record_.iteration, iterations_);
  if (std::isfinite(record_.upper_objective))
    text += fmt::format(", objective {:.5g}", record_.upper_objective);
  text += fmt::format(", {} cuts, slowest worker {} behind", record_.cuts, record_.max_staleness);
  if (test_) {
    text += fmt::format(", test accuracy {:.4f}", test_->accuracy);
    if (test_->iteration != record_.iteration) text += fmt::format(" at {}", test_->iteration);
  }
  if (record_.iteration > 0 && record_.iteration < iterations_) {
    text += fmt::format(", {} left", time_text(eta_seconds(Clock::now())));
  }
  if (mode_ == ProgressMode::kBar) {
    const double share =
        iterations_ == 0 ? 1.0 : static_cast<double>(record_.iteration) / static_cast<double>(iterations_);
    console_.err() << "\r" << bar(share) << " " << text << "\x1b[K" << std::flush;
  } else {
    console_.note(text);
  }
}

}  // namespace adbo::app
