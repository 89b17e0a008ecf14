#include "api/method_factory.h"

#include "methods/adbo/adbo_master.h"
#include "methods/adbo/adbo_worker.h"
#include "methods/aid/aid_master.h"
#include "methods/async_hypergradient/hypergradient_master.h"
#include "methods/async_hypergradient/hypergradient_worker.h"
#include "methods/cpbo/cpbo_master.h"
#include "methods/decentralized/dsbo_master.h"
#include "methods/decentralized/spdb_master.h"
#include "methods/decentralized/tracking_dsbo_master.h"
#include "methods/exact/exact_master.h"
#include "methods/f2sa/f2sa_master.h"
#include "methods/fednest/fednest_master.h"
#include "methods/fednest/fednest_worker.h"
#include "methods/implicit_cuts/implicit_master.h"
#include "methods/implicit_cuts/implicit_worker.h"
#include "methods/itd/itd_master.h"
#include "methods/stochastic/amigo_master.h"
#include "methods/stochastic/saba_master.h"
#include "methods/stochastic/soba_master.h"
#include "methods/stochastic/stable_master.h"
#include "methods/stochastic/stocbio_master.h"
#include "methods/stochastic/vrbo_master.h"
#include "methods/synchronous/evaluation_worker.h"
#include "protocol/direct_curvature.h"

namespace adbo::detail {
namespace {

std::unique_ptr<Snapshot> make_snapshot(const Problem& problem) {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->upper_consensus.resize(problem.upper_dim());
  snapshot->lower_consensus.resize(problem.lower_dim());
  return snapshot;
}

template <class Program, class... Arguments>
void add_programs(MethodParts& parts, const Problem& problem, const Arguments&... arguments) {
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    parts.programs.push_back(std::make_unique<Program>(problem, i, arguments...));
  }
}

/// Snapshots with room for cuts, which go back to the pool with them. `prepare` sizes what else they carry.
void carry_cuts(MethodParts& parts, const Problem& problem, const Options& options,
                const std::shared_ptr<CutPool>& pool, const std::function<void(Snapshot&)>& prepare) {
  parts.make_snapshot = [&problem, &options, prepare] {
    auto snapshot = make_snapshot(problem);
    snapshot->cuts.reserve(static_cast<std::size_t>(options.max_cuts));
    snapshot->cut_multiplier.reserve(static_cast<std::size_t>(options.max_cuts));
    prepare(*snapshot);
    return snapshot;
  };
  parts.on_reclaim = [pool](Snapshot& snapshot) { pool->release(snapshot); };
}

MethodParts make_adbo(const Problem& problem, const Options& options) {
  MethodParts parts;
  const auto pool =
      std::make_shared<CutPool>(problem.upper_dim(), problem.lower_dim(), problem.num_workers());
  parts.master = std::make_unique<AdboMaster>(problem, options, pool);
  add_programs<AdboWorker>(parts, problem, options);
  carry_cuts(parts, problem, options, pool, [](Snapshot&) {});
  return parts;
}

MethodParts make_implicit_cuts(const Problem& problem, const Options& options) {
  MethodParts parts;
  const bool has_copies = options.lower_copies == LowerCopies::kLocal;
  const auto pool = std::make_shared<CutPool>(problem.upper_dim(), problem.lower_dim(),
                                              has_copies ? problem.num_workers() : 0);
  parts.master = std::make_unique<ImplicitMaster>(problem, options, pool);
  add_programs<ImplicitWorker>(parts, problem, CurvaturePlan(problem), options);
  carry_cuts(parts, problem, options, pool, [&problem, has_copies](Snapshot& snapshot) {
    snapshot.lower_adjoint.resize(problem.lower_dim());
    if (!has_copies) snapshot.lower_point.resize(problem.lower_dim());
  });
  return parts;
}

MethodParts make_async_hypergradient(const Problem& problem, const Options& options) {
  MethodParts parts;
  parts.master = std::make_unique<HypergradientMaster>(problem, options);
  add_programs<HypergradientWorker>(parts, problem, CurvaturePlan(problem));
  parts.make_snapshot = [&problem] {
    auto snapshot = make_snapshot(problem);
    snapshot->lower_adjoint.resize(problem.lower_dim());
    return snapshot;
  };
  return parts;
}

MethodParts make_exact(const Problem& problem, const Options& options) {
  MethodParts parts;
  parts.master = std::make_unique<ExactMaster>(problem, options);
  add_programs<EvaluationWorker>(parts, problem, direct_curvature_size(problem));
  parts.make_snapshot = [&problem] { return make_snapshot(problem); };
  return parts;
}

/// A method whose workers only evaluate.
template <class Master>
MethodParts make_in_rounds(const Problem& problem, const Options& options) {
  MethodParts parts;
  parts.master = std::make_unique<Master>(problem, options);
  add_programs<EvaluationWorker>(parts, problem, std::size_t{0});
  parts.make_snapshot = [&problem] { return make_snapshot(problem); };
  return parts;
}

MethodParts make_fednest(const Problem& problem, const Options& options) {
  MethodParts parts;
  const std::shared_ptr<const BatchSampler> sampler =
      std::make_shared<BatchSampler>(problem, options.seed, options.batch_rows);
  parts.master = std::make_unique<FedNestMaster>(problem, options, sampler);
  add_programs<FedNestWorker>(parts, problem, sampler);
  parts.make_snapshot = [&problem] { return make_snapshot(problem); };
  return parts;
}

}  // namespace

MethodParts make_method(const Problem& problem, const Options& options) {
  switch (options.method) {
    case Method::kAsyncHypergradient:
      return make_async_hypergradient(problem, options);
    case Method::kExact:
      return make_exact(problem, options);
    case Method::kStocbio:
      return make_in_rounds<StocbioMaster>(problem, options);
    case Method::kStable:
      return make_in_rounds<StableMaster>(problem, options);
    case Method::kVrbo:
      return make_in_rounds<VrboMaster>(problem, options);
    case Method::kSoba:
      return make_in_rounds<SobaMaster>(problem, options);
    case Method::kSaba:
      return make_in_rounds<SabaMaster>(problem, options);
    case Method::kAmigo:
      return make_in_rounds<AmigoMaster>(problem, options);
    case Method::kAidCg:
    case Method::kAidNeumann:
      return make_in_rounds<AidMaster>(problem, options);
    case Method::kItd:
      return make_in_rounds<ItdMaster>(problem, options);
    case Method::kCpbo:
      return make_in_rounds<CpboMaster>(problem, options);
    case Method::kF2sa:
      return make_in_rounds<F2saMaster>(problem, options);
    case Method::kFedNest:
      return make_fednest(problem, options);
    case Method::kDsbo:
      return options.dsbo_variant == DsboVariant::kTracking
                 ? make_in_rounds<TrackingDsboMaster>(problem, options)
                 : make_in_rounds<DsboMaster>(problem, options);
    case Method::kSpdb:
      return make_in_rounds<SpdbMaster>(problem, options);
    case Method::kAuto:
    case Method::kAdbo:
    case Method::kSdbo:
      break;
  }
  return options.cuts == CutConstruction::kImplicit ? make_implicit_cuts(problem, options)
                                                    : make_adbo(problem, options);
}

}  // namespace adbo::detail
