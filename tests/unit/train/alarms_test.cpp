// What the alarms call an explosion and a collapse: sequences made by hand, and trainings that were driven into both.
#include "train/alarms.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/train/train_worlds.h"

namespace warptape {
namespace {

using Names = std::vector<std::string>;

/// Names of the alarms of a round.
Names names_of(const std::vector<Alarm>& alarms) {
  Names names;
  for (const Alarm& alarm : alarms) names.push_back(alarm.name);
  return names;
}

class Alarms : public ::testing::Test {
 protected:
  /// Whether each round of a sequence of mean |Q| begins an alarm.
  std::vector<bool> of_q(const std::vector<double>& sequence) {
    std::vector<bool> begun;
    for (const double abs_q : sequence) {
      RoundReport r = next();
      r.abs_q = abs_q;
      begun.push_back(names_of(check_alarms(config_, r, state_)) == Names{"exploding_q"});
    }
    return begun;
  }

  std::vector<bool> of_share(const std::vector<double>& sequence, double epsilon = 0.05, std::int64_t steps = 500) {
    std::vector<bool> begun;
    for (const double share : sequence) {
      RoundReport r = next();
      r.epsilon = epsilon;
      r.validation_steps = steps;
      r.top_exposure = 0;
      r.top_share = share;
      begun.push_back(names_of(check_alarms(config_, r, state_)) == Names{"one_action"});
    }
    return begun;
  }

  RoundReport next() {
    RoundReport r;
    r.round = ++round_;
    r.epsilon = 1;
    r.largest_reward = largest_reward_;
    return r;
  }

  Config config_ = Config::defaults(RuleSet::kMarket);  // γ 0.99, divergence at 10⁴, ε falls to 0.05
  double largest_reward_ = 0.05;                        // so Q can't be above 0.05/0.01 = 5
  AlarmState state_;
  std::int64_t round_ = 0;
};

TEST_F(Alarms, TheLimitOfQIsWhatRewardsCanAddUpTo) {
  EXPECT_NEAR(exploding_q(config_, 0.05), 5, 1e-12);
  EXPECT_NEAR(exploding_q(config_, 3), 300, 1e-10);
  EXPECT_EQ(exploding_q(config_, 1e-5), 1);  // initial weights alone may give more than 0.001
  EXPECT_EQ(exploding_q(config_, 0), 1);
  EXPECT_EQ(exploding_q(config_, 1e3), 1000);  // a tenth of train.divergence_q
  config_.learn.gamma = 1;                     // no bound
  EXPECT_EQ(exploding_q(config_, 0.05), 1000);
  EXPECT_EQ(exploding_q(config_, 0), 1000);
  config_.learn.gamma = 0;
  EXPECT_EQ(exploding_q(config_, 2), 2);
}

TEST_F(Alarms, AnExplosionIsReportedWhenItBegins) {
  EXPECT_EQ(of_q({0.1, 1, 4.9, 5.1, 50, 500}), (std::vector<bool>{false, false, false, true, false, false}));
}

TEST_F(Alarms, AnExplosionIsReportedAgainOnlyAfterItWasOver) {
  EXPECT_EQ(of_q({1, 6, 4, 6, 2.6, 7, 2.4, 3, 8, 9}),
            (std::vector<bool>{false, true, false, false, false, false, false, false, true, false}));
}

TEST_F(Alarms, LargeQThatFallsIsNone) {
  EXPECT_EQ(of_q({40, 30, 20, 10, 6, 3}), std::vector<bool>(6, false));
}

TEST_F(Alarms, TheLargestRewardOfAllRoundsCounts) {
  largest_reward_ = 0.5;
  EXPECT_EQ(of_q({1}), std::vector<bool>{false});
  largest_reward_ = 0.01;
  EXPECT_EQ(of_q({20, 49, 51}), (std::vector<bool>{false, false, true}));
}

TEST_F(Alarms, AnExplosionSaysWhatRewardsJustify) {
  of_q({1});
  RoundReport r = next();
  r.abs_q = 12.5;
  const auto alarms = check_alarms(config_, r, state_);
  ASSERT_EQ(alarms.size(), 1u);
  for (const char* word : {"12.5", "round 2", "above 5,", "0.05", "learn.gamma = 0.99", "learn.learning_rate"}) {
    EXPECT_NE(alarms[0].text.find(word), std::string::npos) << word << " in " << alarms[0].text;
  }
  config_.learn.gamma = 1;
  state_ = {};
  r.abs_q = 1500;
  const auto unbounded = check_alarms(config_, r, state_);
  ASSERT_EQ(unbounded.size(), 1u);
  EXPECT_NE(unbounded[0].text.find("train.divergence_q = 10000"), std::string::npos) << unbounded[0].text;
}

TEST_F(Alarms, ACollapseIsReportedWhenItBeginsAndAgainAfterItWasOver) {
  EXPECT_EQ(of_share({0.6, 0.99, 0.991, 1, 0.96, 1, 0.95, 0.98, 1}),
            (std::vector<bool>{false, false, true, false, false, false, false, false, true}));
}

TEST_F(Alarms, APolicyThatStillExploresIsNotJudged) {
  EXPECT_EQ(of_share({1, 1}, 0.5), (std::vector<bool>{false, false}));
  EXPECT_EQ(of_share({1, 1}, 0.09), (std::vector<bool>{true, false}));
}

TEST_F(Alarms, RoundsWithoutEvaluationDecideNothing) {
  EXPECT_EQ(of_share({1}), std::vector<bool>{true});
  RoundReport r = next();
  r.epsilon = 0.05;
  EXPECT_EQ(check_alarms(config_, r, state_).size(), 0u);
  EXPECT_EQ(of_share({1}), std::vector<bool>{false});
}

TEST_F(Alarms, FewStepsOrOneExposureAreNoCollapse) {
  EXPECT_EQ(of_share({1}, 0.05, 99), std::vector<bool>{false});
  config_.env.exposures = {1};
  EXPECT_EQ(of_share({1}), std::vector<bool>{false});
  config_.env.exposures = {0, 1};
  EXPECT_EQ(of_share({1}, 0.05, 100), std::vector<bool>{true});
}

TEST_F(Alarms, BothAtOnce) {
  of_q({1});
  RoundReport r = next();
  r.abs_q = 9;
  r.epsilon = 0;
  r.validation_steps = 200;
  r.top_exposure = -0.5;
  r.top_share = 1;
  EXPECT_EQ(names_of(check_alarms(config_, r, state_)), (Names{"exploding_q", "one_action"}));
}

TEST(TopExposureOf, CountsExposuresNotActions) {
  Config c = Config::defaults(RuleSet::kMarket);
  c.env.exposures = {1, 0};
  c.env.order_types = {"market", "ioc"};
  c.env.urgency_cost = {1};  // actions 0 and 1 are exposure 1, 2 and 3 exposure 0
  const auto trace_of = [](const std::vector<int>& actions) {
    Trace trace;
    for (const int action : actions) {
      trace.rows.emplace_back();
      trace.rows.back().action = action;
    }
    return trace;
  };
  TopExposure top = top_exposure(c, {trace_of({0, 2, 3}), trace_of({2, 3})});
  EXPECT_EQ(top.steps, 5);
  EXPECT_EQ(top.exposure, 0);
  EXPECT_EQ(top.share, 0.8);
  top = top_exposure(c, {trace_of({2, 0})});
  EXPECT_EQ(top.exposure, 1);  // first in the configuration
  EXPECT_EQ(top.share, 0.5);
  EXPECT_EQ(top_exposure(c, {trace_of({})}).steps, 0);
}

class TrainerAlarms : public train_test::TrainTest {
 protected:
  TrainerAlarms() {
    config_.env.curiosity_weight = 0;
    config_.env.exposures = {-1, 0, 1};
    config_.env.order_types = {"market"};
    config_.env.urgency_cost = {1};
  }

  /// The rounds in which the run's log has the alarm.
  std::vector<std::int64_t> rounds_of(const std::string& run, const std::string& alarm) const {
    std::vector<std::int64_t> rounds;
    for (const auto& line : log(run)) {
      if (line.contains("alarms") && line.at("alarms").contains(alarm)) rounds.push_back(line.at("round"));
    }
    return rounds;
  }
};

/// A trade costs a tenth of its notional where a bar moves by half a percent: to stay flat is right.
class TrainerCollapse : public TrainerAlarms {
 protected:
  TrainerCollapse() {
    config_.env.cost_market = 0.1;
    config_.train.rounds = 30;
    config_.train.updates_per_round = 40;
    config_.learn.learning_rate = 5e-3;
    config_.learn.learning_rate_end = 1e-3;
    config_.learn.tau = 0.02;
  }
};

TEST_F(TrainerCollapse, IsReportedOnceAfterExploration) {
  run("run");
  const auto rounds = rounds_of("run", "one_action");
  ASSERT_EQ(rounds.size(), 1u);
  EXPECT_GT(rounds[0], 15);  // epsilon falls over half of the rounds
  const auto line = log("run")[static_cast<std::size_t>(rounds[0] - 1)];
  EXPECT_EQ(line.at("top_exposure"), 0.0);
  EXPECT_GT(line.at("top_share").get<double>(), 0.99);
  const std::string text = line.at("alarms").at("one_action");
  EXPECT_NE(text.find("exposure 0 in 100.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing to trade"), std::string::npos) << text;
  EXPECT_TRUE(rounds_of("run", "exploding_q").empty());
}

TEST_F(TrainerCollapse, OfAResumedRunIsReportedInTheSameRoundAndNotAgain) {
  run("whole");
  ASSERT_EQ(rounds_of("whole", "one_action").size(), 1u);
  run_rounds(options("cut"), 1);
  TrainOptions o = options("cut");
  o.resume = true;
  for (int r = 1; r < 30; ++r) run_rounds(o, 1);
  EXPECT_TRUE(content("whole/log.jsonl") == content("cut/log.jsonl"));
  EXPECT_TRUE(content("whole/last/checkpoint.json") == content("cut/last/checkpoint.json"));
}

TEST_F(TrainerCollapse, CanBeSwitchedOff) {
  config_.train.alarms = false;
  run("run");
  EXPECT_TRUE(rounds_of("run", "one_action").empty());
}

TEST_F(TrainerAlarms, AnExplosionIsReportedBeforeTheTrainingStops) {
  config_.train.rounds = 200;
  config_.learn.learning_rate = config_.learn.learning_rate_end = 0.05;
  config_.learn.tau = 1;
  config_.learn.gamma = 0.999;
  config_.train.divergence_q = 1e4;
  const std::string message = refusal(options("run"));
  const auto rounds = rounds_of("run", "exploding_q");
  ASSERT_FALSE(rounds.empty()) << message;
  const auto lines = log("run");
  const auto& line = lines[static_cast<std::size_t>(rounds[0] - 1)];
  EXPECT_LT(line.at("abs_q").get<double>(), 1000) << "late";
  EXPECT_LT(rounds[0] + 2, static_cast<std::int64_t>(lines.size())) << message;
}

TEST_F(TrainerAlarms, AHealthyTrainingHasNone) {
  config_.train.rounds = 20;
  run("run");
  EXPECT_TRUE(rounds_of("run", "exploding_q").empty());
}

}  // namespace
}  // namespace warptape
