// Gradients of tiles summed in a fixed order, clipped by their global norm, and applied by Adam; the same numbers
// whatever the number of threads.
#pragma once

#include <span>
#include <vector>

#include "backend/cpu/thread_pool.h"
#include "learn/adam.h"
#include "warptape/config.h"

namespace warptape::cpu {

struct AdamSettings {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;  ///< decoupled (AdamW); 0: plain Adam
  double clip_norm = 0;     ///< 0: no clipping
};

class Optimiser {
 public:
  Optimiser(std::size_t parameters, const AdamSettings& settings);

  /// Sums `tiles` gradients [tiles][parameters] in tile order, clips, and updates weights. Returns the norm before
  /// clipping.
  double step(ThreadPool& pool, int tiles, const std::vector<std::vector<float>>& gradients, double learning_rate,
              std::span<float> weights);

  std::vector<float>& moment1() { return moment1_; }
  std::vector<float>& moment2() { return moment2_; }
  const std::vector<float>& moment1() const { return moment1_; }
  const std::vector<float>& moment2() const { return moment2_; }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  AdamSettings settings_;
  std::vector<float> gradient_, moment1_, moment2_;
  std::int64_t steps_ = 0;
};

}  // namespace warptape::cpu
