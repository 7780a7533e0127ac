// Policies that a back-test plays: the agent and its baselines, all through the same step with the same costs.
#pragma once

#include <span>
#include <vector>

#include "backtest/play.h"
#include "net/dueling.h"
#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

/// The greedy policy of online weights ([out, in] as in files), chained through every segment of a prepared split.
std::vector<Trace> play_greedy(const Config& config, std::span<const float> weights, const Dataset& dataset);

/// Holds the largest long exposure by the cheapest order from the first bar to the last, without barriers.
std::vector<Trace> play_buy_and_hold(const Config& config, const Dataset& dataset);

/// Never trades. Empty when no exposure of the configuration is 0.
std::vector<Trace> play_flat(const Config& config, const Dataset& dataset);

/// Uniform over the actions, drawn by config.seed, segment and bar.
std::vector<Trace> play_random(const Config& config, const Dataset& dataset);

/// Final equity over initial capital less 1, the mean over segments.
double mean_total_return(const std::vector<Trace>& traces);

}  // namespace warptape
