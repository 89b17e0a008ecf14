// A checkpoint whose frame is whole and whose state is not what the run left: every input is a list of
// changes to the bytes of a state that a small run of some method did leave. Loading it may be refused; what
// is accepted has to run to its end.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "adbo/adbo.h"

namespace {

using namespace adbo;

constexpr std::int64_t kSavedAt = 5, kIterations = 8;

struct Saved {
  Options options;
  CheckpointFacts facts;
  std::vector<std::byte> state;
};

class KeepOne final : public CheckpointSink {
 public:
  bool is_due(std::int64_t iteration) override { return iteration == kSavedAt; }
  void store(std::int64_t, std::span<const std::byte> from) override {
    image.assign(from.begin(), from.end());
  }
  std::vector<std::byte> image;
};

Problem make_problem() {
  return std::move(make_quadratic({.upper_dim = 2, .lower_dim = 3, .num_workers = 3, .samples = 4}).problem);
}

Saved make_saved(Method method, bool implicit) {
  Saved saved;
  saved.options.method = method;
  if (implicit) saved.options.cuts = CutConstruction::kImplicit;
  saved.options.lower_copies = LowerCopies::kLocal;
  saved.options.cut_interval = 2;
  saved.options.cut_rule = CutRule::kAlways;
  saved.options.clock = ClockKind::kVirtual;
  saved.options.delay = "lognormal:0,1";
  saved.options.executor = ExecutorKind::kInline;
  saved.options.iterations = kIterations;
  saved.options.max_staleness = 3;
  saved.options.lower_steps = saved.options.adjoint_steps = 2;
  Problem problem = make_problem();
  KeepOne keep;
  (void)Solver(saved.options).solve(problem, nullptr, &keep);
  const OpenedCheckpoint opened = open_checkpoint(keep.image);
  saved.facts = opened.facts;
  saved.state.assign(opened.state.begin(), opened.state.end());
  return saved;
}

const std::vector<Saved>& all_saved() {
  static const std::vector<Saved> all = [] {
    std::vector<Saved> made{make_saved(Method::kAdbo, true)};
    for (const MethodInfo& info : method_table()) {
      if (info.method != Method::kAuto && info.method != Method::kExact)
        made.push_back(make_saved(info.method, false));
    }
    return made;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Saved& saved = all_saved()[data[0] % all_saved().size()];
  std::vector<std::byte> state = saved.state;
  // A change: where (two bytes), how many bytes (one to eight), which.
  for (std::size_t at = 1; at + 4 <= size;) {
    const std::size_t place = (data[at] + 256U * data[at + 1]) % state.size();
    const std::size_t count = 1 + data[at + 2] % 8;
    for (std::size_t k = 0; k < count && at + 3 + k < size && place + k < state.size(); ++k) {
      state[place + k] = static_cast<std::byte>(data[at + 3 + k]);
    }
    at += 3 + count;
  }
  std::vector<std::byte> image;
  CheckpointFacts facts = saved.facts;
  begin_checkpoint(image, facts);
  image.insert(image.end(), state.begin(), state.end());
  seal_checkpoint(image);
  Problem problem = make_problem();
  Options options = saved.options;
  options.time_limit_seconds = 5;
  (void)Solver(options).resume(problem, image);
  return 0;
}
