// Proportional prioritisation (Schaul et al., "Prioritized experience replay", ICLR 2016): masses, importance weights,
// and the nodes of the tree of sums in which a draw finds its row.
#pragma once

#include "core/hd.h"
#include "core/philox.h"

namespace warptape {

/// The least mass of a row that may be drawn. 0 is the mass of one that may not.
inline constexpr float kSmallestMass = 1e-30f;

/// (|TD error| + ε)^α, to which a row's probability is proportional; the error is finite.
HD float priority_mass(float td_error, float epsilon, float alpha) {
  return max_of(kSmallestMass, power_of(abs_of(td_error) + epsilon, alpha));
}

/// (N·P(i))^−β over its largest value in the batch: N and Σ mass cancel, and the smallest mass of the batch has the
/// largest weight.
HD float importance_weight(float mass, float smallest_of_batch, float beta) {
  return power_of(smallest_of_batch / mass, beta);
}

/// Where the draw of place `place` of `batch` falls in [0, total]: uniform, to 53 bits, within the place's share.
HD double stratified_target(const Philox4& words, u32 place, u32 batch, double total) {
  const double u = unit_interval(words.word[0]) + static_cast<double>(words.word[1] >> 11) * 0x1p-53;
  return (static_cast<double>(place) + u) / static_cast<double>(batch) * total;
}

/// Children of a node: 16 float leaves fill a cache line, 16 double sums two.
inline constexpr int kFanout = 16;

/// Sum of a node's children, in an order of its own so that four lanes may add: the same bits on every target.
template <typename T>
HD double node_sum(const T* mass) {
  double lane[4] = {};
  for (int c = 0; c < kFanout; c += 4) {
    for (int j = 0; j < 4; ++j) lane[j] += static_cast<double>(mass[c + j]);
  }
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/// The child into which `target` falls, and the target within it. Never one of mass 0: the sums are rounded, so a
/// target may lie past the last child, and counts as in the last that has mass. The node's sum must not be 0.
template <typename T>
HD int pick_child(const T* mass, double& target) {
  int last = 0;
  for (int c = 0; c < kFanout; ++c) {
    const double m = static_cast<double>(mass[c]);
    if (m <= 0) continue;
    if (target < m) return c;
    last = c;
    target -= m;
  }
  target = static_cast<double>(mass[last]);  // past the end of that child's own children, too
  return last;
}

}  // namespace warptape
