#include "execution/resolve_options.h"

namespace adbo::app {

ResolveOptions resolve_options(const Settings& settings, double automatic) {
  ResolveOptions options;
  const double given = settings.task().measure_tolerance;
  options.gradient_tolerance = given > 0 ? given : automatic;
  options.max_evaluations = settings.task().measure_evaluations;
  options.threads = settings.options().threads;
  return options;
}

}  // namespace adbo::app
