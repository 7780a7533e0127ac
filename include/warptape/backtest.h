// A policy or recorded actions played through the training step, one row a step, and what is made of the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warptape {

/// One step as `simulate` prints it (section 9 of docs/domain.md). Position, cash, entry and barriers are those after
/// the step, an exit fill included; `equity` is before the trade at `price`; `next_equity` at `next_price`.
struct StepRow {
  std::int64_t bar = 0;  ///< row index in the segment's bars
  std::int64_t ts_ns = 0;
  std::int32_t action = 0;
  double price = 0, next_price = 0;
  double traded_position = 0;  ///< after the trade, before an exit fill
  double position = 0, cash = 0;
  double equity = 0, next_equity = 0;
  double cost = 0, cumulative_cost = 0;
  double entry_price = 0, barrier_upper = 0, barrier_lower = 0;
  std::int32_t barrier_label = 0;
  double fill_price = 0;  ///< 0: no barrier was filled in this step
  double reward = 0, reward_return = 0, reward_risk = 0, reward_diversity = 0, reward_curiosity = 0;
  bool terminal = false, truncated = false;
};

/// A chain of episodes through one segment.
struct Trace {
  std::string name;  ///< policy and segment, for tables and files
  double initial_capital = 0;
  int digits = 17;  ///< significant digits that the money type carries: 17 float64, 9 float32
  std::vector<StepRow> rows;
};

}  // namespace warptape
