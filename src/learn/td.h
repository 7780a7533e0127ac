// Double-DQN targets (van Hasselt et al., "Deep reinforcement learning with double Q-learning", AAAI 2016).
#pragma once

#include "core/hd.h"

namespace warptape {

/// r + γ·q_next, without bootstrap where the episode ended for good. A truncated step bootstraps: pass terminal =
/// false.
HD float td_target(float reward, float gamma, float q_next, bool terminal) {
  return terminal ? reward : reward + gamma * q_next;
}

/// Index of the largest of q [n]; the lowest index wins a tie.
HD int argmax(const float* q, int n) {
  int best = 0;
  for (int a = 1; a < n; ++a) {
    if (q[a] > q[best]) best = a;
  }
  return best;
}

}  // namespace warptape
