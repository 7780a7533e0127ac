// Every number of the world as the step sees it: EnvConfig without strings and vectors.
#pragma once

#include "core/hd.h"
#include "env/actions.h"

namespace warptape {

inline constexpr int kMaxDiversityWindow = 256;

struct EnvParams {
  double initial_capital;
  double max_exposure;    // of the base; used when max_position is 0
  double max_position;    // units; 0: unset
  double leverage;        // times equity
  double reserve_pct;     // percent of equity
  double lot_size;        // units; 0: fractional
  double spread;          // the classic state's third number
  double exit_cost_rate;  // what a barrier's fill pays on its notional: the market order's rate
  double barrier_profit_bps;
  double barrier_stop_bps;
  double barrier_reward_scale;
  double diversity_min_bits;
  double diversity_penalty;
  double risk_threshold;
  double risk_weight;
  double curiosity_cap;
  double curiosity_weight;
  double reward_scale;
  i32 barrier_max_bars;
  i32 episode_length;  // steps; 0: no limit (recorded actions only)
  i32 diversity_window;
  i32 barrier_ends_episode;
  ActionTables actions;
  double count_log2_count[kMaxDiversityWindow + 1];  // c·log2 c, made on the host: no backend's log2 decides a reward
};

}  // namespace warptape
