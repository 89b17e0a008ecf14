#include "commands/measure_result.h"

#include <string>

namespace adbo::app {
namespace {

MeasuredResult measured_quickly(const PreparedTask& task, const State& state, const OutputFolder& folder,
                                std::string_view why) {
  return {.findings = task.conclude(
              state, folder, {.depth = MeasureDepth::kQuick, .give_up = {}, .why_quick = std::string(why)}),
          .depth = MeasureDepth::kQuick};
}

}  // namespace

MeasuredResult measure_result(const PreparedTask& task, const State& state, const OutputFolder& folder,
                              MeasureRule rule, const CommandEnd& end, const Console& console) {
  if (rule == MeasureRule::kQuick) return measured_quickly(task, state, folder, "measure = quick");
  const bool may_give_up = rule == MeasureRule::kAuto;
  if (!may_give_up || end.reason().empty()) {
    console.progress("measuring what the result is worth");
    MeasureRequest request;
    if (may_give_up) request.give_up = [&] { return !end.reason().empty(); };
    try {
      return {.findings = task.conclude(state, folder, request)};
    } catch (const GivenUp&) {
      console.progress("giving up measuring");
    }
  }
  MeasuredResult result = measured_quickly(task, state, folder, end.reason());
  result.was_given_up = true;
  return result;
}

}  // namespace adbo::app
