// The dueling Q-network (Wang et al., "Dueling network architectures for deep reinforcement learning", ICML 2016):
// where its parameters lie and the arithmetic of its head (docs/domain.md, section 5). A shared trunk of two layers
// feeds two streams of two layers each; every layer but the two last is followed by leaky_relu.
#pragma once

#include "core/hd.h"
#include "net/layer.h"

namespace warptape {

struct DuelingShape {
  int state;               // S = M + 3
  int shared_0, shared_1;  // widths of the trunk
  int value, advantage;    // hidden widths of the streams
  int actions;             // A
};

enum DuelingLayer : int { kShared0, kShared1, kValueFc, kValueOut, kAdvantageFc, kAdvantageOut };
inline constexpr int kDuelingLayers = 6;

/// Layer `index` (a DuelingLayer) in one flat array: weight, bias of shared_0, then of shared_1, and so on.
HD constexpr Layer dueling_layer(const DuelingShape& s, int index) {
  const int in[kDuelingLayers] = {s.state, s.shared_0, s.shared_1, s.value, s.shared_1, s.advantage};
  const int out[kDuelingLayers] = {s.shared_0, s.shared_1, s.value, 1, s.advantage, s.actions};
  return layer_at(in, out, index);
}

/// Floats of the whole network.
HD constexpr i64 dueling_parameters(const DuelingShape& s) {
  const Layer last = dueling_layer(s, kDuelingLayers - 1);
  return last.bias + last.out;
}

/// mean(A), summed in the order of the actions.
HD constexpr float mean_advantage(const float* advantage, int actions) {  // [A]
  float sum = 0.0f;
  for (int a = 0; a < actions; ++a) sum += advantage[a];
  return sum / static_cast<float>(actions);
}

/// Q of one action = V + A − mean(A), left to right.
HD constexpr float combine(float value, float advantage, float mean) {
  return value + advantage - mean;
}

/// Q of all actions of one state; `q` may be `advantage`.
HD constexpr void combine_all(float value, const float* advantage, int actions, float* q) {  // [A] -> [A]
  const float mean = mean_advantage(advantage, actions);
  for (int a = 0; a < actions; ++a) q[a] = combine(value, advantage[a], mean);
}

}  // namespace warptape
