#include "backtest/policies.h"

#include <algorithm>

#include "backend/cpu/greedy_policy.h"
#include "core/check.h"
#include "core/philox.h"
#include "env/make_params.h"
#include "net/shapes.h"

namespace warptape {

namespace {

/// An action source for each segment: (segment, bar, observation) -> action.
template <typename Act>
std::vector<Trace> play_segments(const Config& config, const EnvParams& params, const Dataset& dataset, Act act) {
  std::vector<Trace> traces;
  for (std::size_t s = 0; s < dataset.segments.size(); ++s) {
    const Segment& segment = dataset.segments[s];
    traces.push_back(play(config.env.rules, params, view_of(dataset, segment), {0, true},
                          [&](std::int64_t bar, const Observation& o) { return act(s, bar, o); }));
    traces.back().name = segment.name;
  }
  return traces;
}

/// The action with the wanted exposure and the lowest cost rate; the lowest index wins a tie.
int cheapest_action(const ActionTables& tables, double exposure) {
  int best = -1;
  for (int a = 0; a < tables.count; ++a) {
    if (tables.exposure[a] == exposure && (best < 0 || tables.cost_rate[a] < tables.cost_rate[best])) best = a;
  }
  return best;
}

EnvParams without_barriers(const Config& config) {
  EnvParams params = make_params(config.env);
  // Classic barriers of 0 bps fire at once, so they are put out of reach instead: a profit that no price comes to, a
  // stop below zero.
  params.barrier_profit_bps = config.env.rules == RuleSet::kClassic ? 1e12 : 0;
  params.barrier_stop_bps = config.env.rules == RuleSet::kClassic ? 1e12 : 0;
  return params;
}

}  // namespace

std::vector<Trace> play_greedy(const Config& config, std::span<const float> weights, const Dataset& dataset) {
  const cpu::Market market{dataset.market.data(), dataset.features};
  cpu::GreedyPolicy policy(dueling_shape(config, dataset.features), weights, market);
  return play_segments(config, make_params(config.env), dataset,
                       [&](std::size_t segment, std::int64_t bar, const Observation& o) {
                         return policy.act(static_cast<i32>(dataset.segments[segment].first + bar), o);
                       });
}

std::vector<Trace> play_buy_and_hold(const Config& config, const Dataset& dataset) {
  const EnvParams params = without_barriers(config);
  const double most = *std::max_element(config.env.exposures.begin(), config.env.exposures.end());
  const int action = cheapest_action(params.actions, most);
  return play_segments(config, params, dataset, [&](std::size_t, std::int64_t, const Observation&) { return action; });
}

std::vector<Trace> play_flat(const Config& config, const Dataset& dataset) {
  const EnvParams params = make_params(config.env);
  const int action = cheapest_action(params.actions, 0.0);
  if (action < 0) return {};
  return play_segments(config, params, dataset, [&](std::size_t, std::int64_t, const Observation&) { return action; });
}

std::vector<Trace> play_random(const Config& config, const Dataset& dataset) {
  const EnvParams params = make_params(config.env);
  return play_segments(config, params, dataset, [&](std::size_t segment, std::int64_t bar, const Observation&) {
    const Philox4 words = random_words(config.seed, static_cast<u32>(segment), static_cast<u64>(bar), Draw::kPolicy);
    return static_cast<int>(below(words.word[0], static_cast<u32>(params.actions.count)));
  });
}

double mean_total_return(const std::vector<Trace>& traces) {
  CHECK(!traces.empty());
  double sum = 0;
  for (const Trace& trace : traces) {
    sum += trace.rows.empty() ? 0.0 : trace.rows.back().next_equity / trace.initial_capital - 1.0;
  }
  return sum / static_cast<double>(traces.size());
}

}  // namespace warptape
