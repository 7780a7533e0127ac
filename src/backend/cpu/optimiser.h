// A gradient clipped by its global norm and applied by Adam, over the blocks of a network's layers; the same numbers
// whatever the number of threads.
#pragma once

#include <span>
#include <vector>

#include "backend/cpu/floats.h"
#include "backend/cpu/layers.h"
#include "backend/cpu/thread_pool.h"
#include "learn/adam.h"

namespace warptape::cpu {

struct AdamSettings {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;  ///< decoupled (AdamW); 0: plain Adam
  double clip_norm = 0;     ///< 0: no clipping
};

class Optimiser {
 public:
  Optimiser(std::span<const DenseLayer> layers, const AdamSettings& settings);

  /// Clips `gradient` and updates `weights`, both flat arrays of the layers. Then, block by block, after(block): what
  /// has to follow the weights. Returns the norm before clipping.
  template <typename After>
  double step(ThreadPool& pool, std::span<const float> gradient, double learning_rate, std::span<float> weights,
              const After& after) {
    const double norm = measure(pool, gradient);
    const AdamStep s = next_step(learning_rate);
    const float scale = clip_scale(norm);
    pool.run(static_cast<int>(blocks_.size()), [&](int index, int) {
      const LayerBlock& block = blocks_[static_cast<std::size_t>(index)];
      update(block, s, scale, gradient, weights);
      after(block);
    });
    return norm;
  }

  Floats& moment1() { return moment1_; }
  Floats& moment2() { return moment2_; }
  const Floats& moment1() const { return moment1_; }
  const Floats& moment2() const { return moment2_; }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  double measure(ThreadPool& pool, std::span<const float> gradient);
  AdamStep next_step(double learning_rate);
  float clip_scale(double norm) const;
  void update(const LayerBlock& block, const AdamStep& s, float scale, std::span<const float> gradient,
              std::span<float> weights);

  AdamSettings settings_;
  std::vector<LayerBlock> blocks_;
  std::vector<double> squares_;  // [blocks]
  Floats moment1_, moment2_;
  std::int64_t steps_ = 0;
};

}  // namespace warptape::cpu
