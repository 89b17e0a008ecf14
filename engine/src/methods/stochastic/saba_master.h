#pragma once

#include <vector>

#include "adbo/state_archive.h"
#include "methods/stochastic/gradient_memory.h"
#include "methods/stochastic/soba_master.h"

namespace adbo::detail {

/// SABA (Dagreou, Ablin, Vaiter, Moreau 2022, Algorithm 1 with SAGA's correction of all five terms): SOBA
/// whose every term is  estimate - the same batch's last estimate + the mean of all batches' last estimates.
/// Constant steps then converge to the solution itself. The memory is filled by one pass over all batches at
/// the start, and takes 2 n_i + 3 m numbers per worker and batch; where that is more than kMemoryLimit, the
/// run fails and says so.
class SabaMaster final : public SobaMaster {
 public:
  SabaMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    SobaMaster::persist(archive);
    if (archive.is_loading() && is_prepared()) make_memory();
    for (WorkerMemory& memory : memory_) archive(memory);
  }

 private:
  std::optional<Ending> prepare() override;
  void estimate(Terms& terms) override;
  std::optional<Ending> refuse_large_memory();
  void make_memory();
  void fill_memory();

  struct WorkerMemory {
    GradientMemory upper_gradient_upper, upper_gradient_lower, lower_gradient, hessian_product, cross_product;

    void persist(StateArchive& archive) {
      archive(upper_gradient_upper, upper_gradient_lower, lower_gradient, hessian_product, cross_product);
    }
  };
  std::vector<WorkerMemory> memory_;
};

}  // namespace adbo::detail
