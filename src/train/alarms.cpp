#include "train/alarms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "env/make_params.h"

namespace warptape {

namespace {

// Initial weights on standardised features give a mean |Q| of a few hundredths, whatever the rewards.
constexpr double kLeastExplodingQ = 1;
constexpr double kPartOfDivergence = 0.1;
constexpr double kNoLongerExploding = 0.5;

// From so many steps on, one step is at most 1 %.
constexpr std::int64_t kLeastSteps = 100;
constexpr double kCollapsedShare = 0.99;
constexpr double kNoLongerCollapsedShare = 0.95;
// A policy that still explores this much more than it will in the end is not judged.
constexpr double kLittleExploration = 0.05;

std::string exploding_text(const Config& config, const RoundReport& r, double largest_reward) {
  const double justified = largest_reward / (1 - config.learn.gamma);
  const std::string beyond =
      r.abs_q > justified
          ? fmt::format("above {:.3g}, the most that rewards of up to {:.3g} add up to at learn.gamma = {}", justified,
                        largest_reward, config.learn.gamma)
          : fmt::format("and train.divergence_q = {} ends the training", config.train.divergence_q);
  return fmt::format(
      "Q-values explode: mean |Q| is {:.3g} in round {}, {}. What helps: a smaller learn.learning_rate, a slower "
      "target "
      "network (learn.tau, learn.target_every), a smaller learn.gamma or learn.clip_norm; features.normalise = true",
      r.abs_q, r.round, beyond);
}

std::string collapsed_text(const RoundReport& r) {
  return fmt::format(
      "the greedy policy wants exposure {} in {:.1f} % of the validation steps of round {}: it collapsed to one "
      "action, "
      "or there is nothing to trade after costs and this is right. What helps if it is not: longer exploration "
      "(collect.epsilon_decay, collect.epsilon_end), more train.updates_per_round, a smaller learn.learning_rate, "
      "other "
      "features, env.cost_* that are not higher than your costs",
      *r.top_exposure, 100 * *r.top_share, r.round);
}

bool only_one_exposure(const Config& config) {
  const std::vector<double>& all = config.env.exposures;
  return std::all_of(all.begin(), all.end(), [&](double exposure) { return exposure == all.front(); });
}

}  // namespace

TopExposure top_exposure(const Config& config, const std::vector<Trace>& traces) {
  const ActionTables actions = make_params(config.env).actions;
  TopExposure top;
  std::map<double, std::int64_t> steps;
  for (const Trace& trace : traces) {
    for (const StepRow& row : trace.rows) ++steps[actions.exposure[row.action]];
    top.steps += static_cast<std::int64_t>(trace.rows.size());
  }
  std::int64_t most = 0;
  for (const double exposure : config.env.exposures) {
    const std::int64_t count = steps[exposure];
    if (count <= most) continue;
    most = count;
    top.exposure = exposure;
  }
  if (most > 0) top.share = static_cast<double>(most) / static_cast<double>(top.steps);
  return top;
}

double exploding_q(const Config& config, double largest_reward) {
  const double justified = largest_reward / (1 - config.learn.gamma);  // infinite, or 0/0, where γ is 1
  const double limit = justified >= kLeastExplodingQ || config.learn.gamma == 1 ? justified : kLeastExplodingQ;
  const double latest = kPartOfDivergence * config.train.divergence_q;
  return limit < latest ? limit : latest;
}

std::vector<Alarm> check_alarms(const Config& config, const RoundReport& report, AlarmState& state) {
  std::vector<Alarm> begun;
  state.largest_reward = std::max(state.largest_reward, report.largest_reward);
  const double limit = exploding_q(config, state.largest_reward);
  const bool rising = report.round > 1 && report.abs_q > state.abs_q;
  if (!state.exploding && rising && report.abs_q > limit) {
    state.exploding = true;
    begun.push_back({"exploding_q", exploding_text(config, report, state.largest_reward)});
  } else if (report.abs_q < kNoLongerExploding * limit) {
    state.exploding = false;
  }
  state.abs_q = report.abs_q;

  const bool explored = report.epsilon <= config.collect.epsilon_end + kLittleExploration;
  if (!report.top_share || !explored || only_one_exposure(config)) return begun;
  if (!state.collapsed && report.validation_steps >= kLeastSteps && *report.top_share > kCollapsedShare) {
    state.collapsed = true;
    begun.push_back({"one_action", collapsed_text(report)});
  } else if (*report.top_share <= kNoLongerCollapsedShare) {
    state.collapsed = false;
  }
  return begun;
}

}  // namespace warptape
