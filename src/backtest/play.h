// Plays actions through the training step along one segment: recorded ones for `simulate`, a policy's for `backtest`
// and for the evaluation during training. There is no second simulator.
#pragma once

#include <cstdint>
#include <functional>

#include "env/observe.h"
#include "env/params.h"
#include "warptape/backtest.h"
#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

/// One segment's bars, borrowed: [count] each.
struct BarView {
  const double* open;
  const double* high;
  const double* low;
  const double* close;
  const std::int64_t* ts_ns;
  std::int64_t count;
};

BarView view_of(const Bars& bars);
BarView view_of(const Dataset& dataset, const Segment& segment);

struct PlayOptions {
  std::int64_t first_bar = 0;
  bool chain = false;  ///< go on after an episode's end, other than ruin (docs/domain.md, section 7)
};

inline constexpr int kNoAction = -1;

/// The action at a bar (index within the view), given the state's portfolio numbers; kNoAction ends the play.
using ActionSource = std::function<int(std::int64_t bar, const Observation& observation)>;

/// One row a step until a terminal or truncated step (without chain), ruin, the last bar or kNoAction. Curiosity counts
/// 0.
Trace play(RuleSet rules, const EnvParams& params, const BarView& bars, const PlayOptions& options,
           const ActionSource& act);

}  // namespace warptape
