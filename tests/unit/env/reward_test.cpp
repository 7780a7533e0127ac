#include "env/reward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "env_test_tools.h"

namespace warptape {
namespace {

using env_test::closes;
using env_test::MarketWorld;
using env_test::plain_market;

EnvParams weighted(double risk, double curiosity, double scale = 1) {
  EnvConfig config = plain_market();
  config.risk_weight = risk;
  config.risk_threshold = 0.8;
  config.curiosity_weight = curiosity;
  config.curiosity_cap = 0.1;
  config.barrier_reward_scale = 1;
  config.reward_scale = scale;
  return make_params(config);
}

TEST(RewardTerms, TheReturnWithBothScales) {
  const EnvParams p = weighted(0, 0, 2);
  EXPECT_DOUBLE_EQ(return_term(p, 1000.0, 1050.0, Label::kNone), 0.1);
  EXPECT_DOUBLE_EQ(return_term(p, 1000.0, 1050.0, Label::kProfit), 0.15);
  EXPECT_DOUBLE_EQ(return_term(p, 1000.0, 950.0, Label::kStop), -0.05);
  EXPECT_EQ(return_term(p, 0.0, 50.0, Label::kNone), 0.0);
  EXPECT_EQ(return_term(p, -10.0, 50.0, Label::kProfit), 0.0);
}

TEST(RewardTerms, TheExposurePenaltyIsTheSameForBothSides) {
  const EnvParams p = weighted(0.5, 0);
  EXPECT_DOUBLE_EQ(risk_term(p, 12.0, 100.0, 1000.0), -0.2);
  EXPECT_DOUBLE_EQ(risk_term(p, -12.0, 100.0, 1000.0), -0.2);
  EXPECT_EQ(risk_term(p, 8.0, 100.0, 1000.0), 0.0) << "at the threshold";
  EXPECT_FALSE(std::signbit(risk_term(p, 0.0, 100.0, 1000.0))) << "never -0";
}

TEST(RewardTerms, CuriosityIsCappedBeforeItIsWeighed) {
  const EnvParams p = weighted(0, 3);
  EXPECT_FLOAT_EQ(curiosity_term<float>(p, 0.04f), 0.12f);
  EXPECT_FLOAT_EQ(curiosity_term<float>(p, 7.0f), 0.3f);
}

TEST(RewardTerms, TheSumAndRuin) {
  const Reward<double> r{0.5, -0.25, -0.125};
  EXPECT_EQ(total_reward(r, false, 0.0625), 0.1875);
  EXPECT_EQ(total_reward(r, true, 0.0625), 0.5);
}

// Long, long, short lack a bit of entropy; with a second short it is exactly one.
TEST(RewardTerms, TheDiversityPenaltyComesFromTheThirdActionOn) {
  EnvConfig config = plain_market();
  config.diversity_penalty = 0.1;
  MarketWorld world(config, closes({100, 100, 100, 100, 100, 100}));
  EXPECT_EQ(world.to(1).reward.diversity, 0.0);
  EXPECT_EQ(world.to(0.5).reward.diversity, 0.0);
  EXPECT_EQ(world.to(-1).reward.diversity, -0.1) << "0.918 bits";
  EXPECT_EQ(world.to(-0.5).reward.diversity, 0.0) << "one bit";
  EXPECT_EQ(world.to(0).reward.diversity, 0.0);
}

}  // namespace
}  // namespace warptape
