// The learner's formulas on single numbers, against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "learn/adam.h"
#include "learn/huber.h"
#include "learn/schedule.h"
#include "learn/td.h"

namespace warptape {

namespace {

TEST(LearnHuber, IsQuadraticInsideAndLinearOutside) {
  EXPECT_EQ(huber_loss(0.0f, 1.0f), 0.0f);
  EXPECT_EQ(huber_loss(0.5f, 1.0f), 0.125f);
  EXPECT_EQ(huber_loss(-0.5f, 1.0f), 0.125f);
  EXPECT_EQ(huber_loss(3.0f, 1.0f), 2.5f);  // 1·(3 − ½)
  EXPECT_EQ(huber_loss(-3.0f, 1.0f), 2.5f);
  EXPECT_EQ(huber_loss(3.0f, 2.0f), 4.0f);       // 2·(3 − 1)
  EXPECT_EQ(huber_loss(1.0f, 0.25f), 0.21875f);  // ¼·(1 − ⅛)
}

TEST(LearnHuber, BothBranchesMeetAtTheCorner) {
  for (const float delta : {0.25f, 1.0f, 2.0f}) {
    EXPECT_EQ(huber_loss(delta, delta), 0.5f * delta * delta);
    EXPECT_EQ(huber_loss(-delta, delta), 0.5f * delta * delta);
    const float beyond = std::nextafter(delta, 10.0f);
    // A step of one unit in the last place moves the loss by delta times that step: no jump.
    EXPECT_NEAR(huber_loss(beyond, delta), huber_loss(delta, delta), 4 * delta * (beyond - delta));
    EXPECT_EQ(huber_slope(delta, delta), delta);
    EXPECT_EQ(huber_slope(-delta, delta), -delta);
    EXPECT_EQ(huber_slope(beyond, delta), delta);
  }
}

TEST(LearnHuber, SlopeIsTheErrorCutToDelta) {
  EXPECT_EQ(huber_slope(0.25f, 1.0f), 0.25f);
  EXPECT_EQ(huber_slope(-0.25f, 1.0f), -0.25f);
  EXPECT_EQ(huber_slope(7.0f, 1.5f), 1.5f);
  EXPECT_EQ(huber_slope(-7.0f, 1.5f), -1.5f);
}

TEST(LearnSchedule, GoesStraightFromStartToEndAndStays) {
  EXPECT_EQ(linear_schedule(1.0, 0.0, 0, 8), 1.0);
  EXPECT_EQ(linear_schedule(1.0, 0.0, 2, 8), 0.75);
  EXPECT_EQ(linear_schedule(1.0, 0.0, 7, 8), 0.125);
  EXPECT_EQ(linear_schedule(1.0, 0.0, 8, 8), 0.0);
  EXPECT_EQ(linear_schedule(1.0, 0.0, 1000, 8), 0.0);
  EXPECT_EQ(linear_schedule(0.25, 0.75, 4, 8), 0.5);  // rising
  EXPECT_EQ(linear_schedule(0.25, 0.75, 9, 8), 0.75);
}

TEST(LearnSchedule, OfNoLengthIsTheEndAtOnce) {
  EXPECT_EQ(linear_schedule(1.0, 0.05, 0, 0), 0.05);
  EXPECT_EQ(linear_schedule(1.0, 0.05, 3, 0), 0.05);
}

TEST(LearnSchedule, MayEndBetweenRounds) {
  EXPECT_EQ(linear_schedule(1.0, 0.0, 2, 2.5), 1.0 - 2 / 2.5);
  EXPECT_EQ(linear_schedule(1.0, 0.0, 3, 2.5), 0.0);
}

TEST(LearnTdTarget, BootstrapsUnlessTerminal) {
  // docs/domain.md: gamma 0.99, reward 0.01, max target Q 2 gives 1.99 at the last bar, 0.01 after ruin.
  EXPECT_FLOAT_EQ(td_target(0.01f, 0.99f, 2.0f, false), 1.99f);
  EXPECT_EQ(td_target(0.01f, 0.99f, 2.0f, true), 0.01f);
  EXPECT_EQ(td_target(-1.0f, 0.99f, std::numeric_limits<float>::infinity(), true), -1.0f);
}

TEST(LearnArgmax, TheLowestIndexWinsATie) {
  const auto at = [](const std::vector<float>& q) { return argmax(q.data(), static_cast<int>(q.size())); };
  EXPECT_EQ(at({1.0f}), 0);
  EXPECT_EQ(at({1, 3, 2}), 1);
  EXPECT_EQ(at({1, 2, 3}), 2);
  EXPECT_EQ(at({2, 2, 2}), 0);
  EXPECT_EQ(at({1, 5, 5, 5}), 1);
  EXPECT_EQ(at({-3, -1, -1}), 1);
  EXPECT_EQ(at({0.0f, -0.0f}), 0);
  EXPECT_EQ(at({-0.0f, 0.0f}), 0);  // equal numbers, whatever the sign bit
}

/// Update `t` of Adam with betas 0.9 and 0.999.
AdamStep adam_at(int t, float learning_rate, float epsilon, float weight_decay) {
  AdamStep s{};
  s.learning_rate = learning_rate;
  s.beta1 = 0.9f;
  s.beta2 = 0.999f;
  s.epsilon = epsilon;
  s.bias1 = static_cast<float>(1 - std::pow(0.9, t));
  s.root_bias2 = static_cast<float>(std::sqrt(1 - std::pow(0.999, t)));
  s.decay = 1 - learning_rate * weight_decay;
  return s;
}

// float32 carries 6e-8 of each number; 1 − 0.999 as a float is off by 1.6e-5 of itself and so is the second moment,
// its root by half of that: steps of 0.1 and less agree to 1e-6.
constexpr float kAdamTolerance = 1e-6f;

TEST(LearnAdam, ThreeStepsByHand) {
  float weight = 1, m = 0, v = 0;
  // m = 0.05, v = 2.5e-4: both corrected to 0.5 and 0.25, so the step is the learning rate itself.
  adam_update(adam_at(1, 0.1f, 1e-8f, 0), 0.5f, weight, m, v);
  EXPECT_NEAR(weight, 0.9f, kAdamTolerance);
  EXPECT_NEAR(m, 0.05f, kAdamTolerance);
  EXPECT_NEAR(v, 2.5e-4f, 1e-8f);
  // m = 0.02 over 0.19, v = 3.1225e-4 over 0.001999: 0.1 · 0.105263/0.395226.
  adam_update(adam_at(2, 0.1f, 1e-8f, 0), -0.25f, weight, m, v);
  EXPECT_NEAR(weight, 0.8733662987f, kAdamTolerance);
  EXPECT_NEAR(m, 0.02f, kAdamTolerance);
  EXPECT_NEAR(v, 3.1225e-4f, 1e-8f);
  adam_update(adam_at(3, 0.1f, 1e-8f, 0), 1.0f, weight, m, v);
  EXPECT_NEAR(weight, 0.8075551397f, 2 * kAdamTolerance);
}

TEST(LearnAdam, EpsilonStandsOutsideTheRoot) {
  float weight = 1, m = 0, v = 0;
  adam_update(adam_at(1, 0.1f, 0.5f, 0), 0.5f, weight, m, v);
  EXPECT_NEAR(weight, 0.95f, kAdamTolerance);  // 1 − 0.1·0.5/(0.5 + 0.5); inside the root it were 0.94226
}

TEST(LearnAdam, DecayIsDecoupledAndComesFirst) {
  float weight = 2, m = 0, v = 0;
  adam_update(adam_at(1, 0.1f, 1e-8f, 0.01f), 0.5f, weight, m, v);
  EXPECT_NEAR(weight, 1.898f, kAdamTolerance);  // 2·(1 − 0.1·0.01) − 0.1
  EXPECT_NEAR(m, 0.05f, kAdamTolerance);        // the decay is not in the moments
  adam_update(adam_at(2, 0.1f, 1e-8f, 0.01f), -0.25f, weight, m, v);
  EXPECT_NEAR(weight, 1.8694682987f, kAdamTolerance);
}

TEST(LearnAdam, NoGradientMovesNothing) {
  float weight = 1.5f, m = 0, v = 0;
  adam_update(adam_at(1, 0.1f, 1e-8f, 0), 0.0f, weight, m, v);
  EXPECT_EQ(weight, 1.5f);
}

TEST(LearnPolyak, MovesTheTargetByTau) {
  EXPECT_EQ(polyak(1.0f, 3.0f, 0.25f), 1.5f);
  EXPECT_EQ(polyak(1.0f, 3.0f, 1.0f), 3.0f);
  EXPECT_EQ(polyak(-2.0f, -2.0f, 0.005f), -2.0f);
}

}  // namespace

}  // namespace warptape
