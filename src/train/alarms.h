// Signs in a round's figures that a training goes wrong, each reported once when it begins. A function of the figures
// and of what the rounds before left behind, so that a resumed run reports what one that never stopped does.
#pragma once

#include <cstdint>
#include <vector>

#include "warptape/backtest.h"
#include "warptape/config.h"
#include "warptape/trainer.h"

namespace warptape {

/// What the alarms know of the rounds so far; part of every checkpoint.
struct AlarmState {
  double largest_reward = 0;  ///< largest |reward| of a step
  double abs_q = 0;           ///< mean |Q| of the last round
  bool exploding = false, collapsed = false;
};

/// The exposure that a policy's actions name in most steps, and the part of the steps in which they do. By exposure,
/// not by action: order types and urgencies of one exposure are the same position. The exposure that comes first in the
/// configuration wins a tie.
struct TopExposure {
  std::int64_t steps = 0;  ///< in all
  double exposure = 0, share = 0;
};
TopExposure top_exposure(const Config& config, const std::vector<Trace>& traces);

/// Mean |Q| from which Q-values count as exploding: above max|reward|/(1 − γ), the most that any policy can earn or
/// lose, but at least 1, above what initial weights give on normalised features; and at the latest a tenth of
/// train.divergence_q, which ends the training.
double exploding_q(const Config& config, double largest_reward);

/// The alarms that begin in this round:
/// - "exploding_q": mean |Q| above exploding_q() and risen since the round before. Over when it is below half of that.
/// - "one_action": after exploration, the greedy policy of the validation play wants one exposure in more than 99 % of
///   100 steps or more. Over at an evaluation with 95 % or less. Not for a configuration with only one exposure.
std::vector<Alarm> check_alarms(const Config& config, const RoundReport& report, AlarmState& state);

}  // namespace warptape
