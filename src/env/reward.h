// The reward's components (docs/domain.md, section 4.7), each on its own.
#pragma once

#include "core/hd.h"
#include "env/barrier.h"
#include "env/params.h"

namespace warptape {

template <typename T>
struct Reward {
  T ret;        // the return term, with both scales in it; at ruin the whole reward
  T risk;       // <= 0
  T diversity;  // <= 0
};

template <typename T>
HD T return_term(const EnvParams& p, T equity, T next_equity, Label label) {
  const T scale = static_cast<T>(static_cast<i32>(label)) * T(0.5) * static_cast<T>(p.barrier_reward_scale);
  const T ret = equity > 0 ? (next_equity - equity) / equity : T(0);
  // 0 + x: a loss that the label's scale takes away is 0, never -0.
  return T(0) + ret * (T(1) + scale) * static_cast<T>(p.reward_scale);
}

template <typename T>
HD T risk_term(const EnvParams& p, T position, T price, T base) {
  const T exposure = abs_of(position * price / base);
  // 0 - x, not -x: no penalty is 0, never -0.
  return T(0) - static_cast<T>(p.risk_weight) * max_of(exposure - static_cast<T>(p.risk_threshold), T(0));
}

/// Curiosity's bonus from the forward model's mean squared error.
template <typename T>
HD T curiosity_term(const EnvParams& p, float mean_squared_error) {
  return static_cast<T>(p.curiosity_weight) *
         min_of(static_cast<T>(mean_squared_error), static_cast<T>(p.curiosity_cap));
}

/// The sum in the order in which the components are written down; curiosity counts for nothing at ruin.
template <typename T>
HD T total_reward(const Reward<T>& r, bool ruin, T curiosity) {
  return ruin ? r.ret : r.ret + r.risk + r.diversity + curiosity;
}

}  // namespace warptape
