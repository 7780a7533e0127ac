#include "backend/cpu/optimiser.h"

#include <cmath>
#include <numeric>

#include "core/check.h"

namespace warptape::cpu {

namespace {
// Inputs of a layer that one task takes; it also fixes the order in which squares are summed. A multiple of 16, so that
// the transposed weights of a block are whole cache lines.
constexpr int kBlockInputs = 32;
}  // namespace

Optimiser::Optimiser(std::span<const DenseLayer> layers, const AdamSettings& settings)
    : settings_(settings),
      blocks_(layer_blocks(layers, kBlockInputs)),
      squares_(blocks_.size()),
      moment1_(layers.back().end()),
      moment2_(layers.back().end()) {}

double Optimiser::measure(ThreadPool& pool, std::span<const float> gradient) {
  CHECK_EQ(gradient.size(), moment1_.size());
  pool.run(static_cast<int>(blocks_.size()), [&](int index, int) {
    const LayerBlock& block = blocks_[static_cast<std::size_t>(index)];
    // Sixteen sums side by side, since one alone waits for itself at every addition.
    constexpr std::size_t kLanes = 16;
    double lanes[kLanes] = {};
    for (std::size_t i = block.begin; i < block.end; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] += static_cast<double>(gradient[i + lane]) * static_cast<double>(gradient[i + lane]);
      }
    }
    squares_[static_cast<std::size_t>(index)] = std::accumulate(lanes, lanes + kLanes, 0.0);
  });
  return std::sqrt(std::accumulate(squares_.begin(), squares_.end(), 0.0));
}

AdamStep Optimiser::next_step(double learning_rate) {
  ++steps_;
  const double power = static_cast<double>(steps_);
  AdamStep s{};
  s.learning_rate = static_cast<float>(learning_rate);
  s.beta1 = static_cast<float>(settings_.beta1);
  s.beta2 = static_cast<float>(settings_.beta2);
  s.epsilon = static_cast<float>(settings_.epsilon);
  s.bias1 = static_cast<float>(1.0 - std::pow(settings_.beta1, power));
  s.root_bias2 = static_cast<float>(std::sqrt(1.0 - std::pow(settings_.beta2, power)));
  s.decay = static_cast<float>(1.0 - learning_rate * settings_.weight_decay);
  return s;
}

float Optimiser::clip_scale(double norm) const {
  return settings_.clip_norm > 0 && norm > settings_.clip_norm ? static_cast<float>(settings_.clip_norm / norm) : 1.0f;
}

void Optimiser::update(const LayerBlock& block, const AdamStep& s, float scale, std::span<const float> gradient,
                       std::span<float> weights) {
  // Local pointers: the compiler can't know that the arrays of two spans and two vectors are four.
  const float* __restrict g = gradient.data();
  float* __restrict w = weights.data();
  float* __restrict m1 = moment1_.data();
  float* __restrict m2 = moment2_.data();
  for (std::size_t i = block.begin; i < block.end; ++i) adam_update(s, g[i] * scale, w[i], m1[i], m2[i]);
}

}  // namespace warptape::cpu
