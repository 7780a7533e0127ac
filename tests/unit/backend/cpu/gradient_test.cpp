// Gradients of the learner against central differences of a float64 loss that is written down here.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backend/cpu/learner.h"
#include "unit/backend/cpu/test_worlds.h"

namespace warptape::cpu {

namespace {

using cpu_test::Uniform;
using cpu_test::Widths;

// The loss is piecewise quadratic in each parameter, so a central difference has no truncation error away from kinks;
// rounding of a loss of order 1 over 2e-6 leaves 1e-10.
constexpr double kStep = 1e-6;
// No pre-activation so near its kink that a step, or rounding to float32, moves it across.
constexpr double kKinkDistance = 2e-5;
// float32 sums over up to 130 rows and 16 units: 1e-7 of terms of order 1, some dozen of them.
constexpr double kTolerance = 3e-6;

struct Case {
  Widths widths;
  int rows;
  std::uint64_t seed;
};

/// Random weights within ±1.5/√in, in the order of files.
std::vector<float> random_files(std::span<const DenseLayer> layers, Uniform& uniform) {
  const Layer& last = layers.back().file;
  std::vector<float> files(static_cast<std::size_t>(last.bias + last.out));
  for (const DenseLayer& layer : layers) {
    const std::size_t size = static_cast<std::size_t>(layer.out) * (static_cast<std::size_t>(layer.in) + 1);
    for (std::size_t i = 0; i < size; ++i) {
      files[static_cast<std::size_t>(layer.file.weight) + i] =
          static_cast<float>(uniform.around_zero(1.5 / std::sqrt(layer.in)));
    }
  }
  return files;
}

std::vector<float> inside(std::span<const DenseLayer> layers, const std::vector<float>& files) {
  std::vector<float> out(layers.back().end());
  transpose_layers(layers, false, files, out);
  return out;
}

std::vector<float> to_files(std::span<const DenseLayer> layers, const std::vector<float>& in) {
  const Layer& last = layers.back().file;
  std::vector<float> out(static_cast<std::size_t>(last.bias + last.out));
  transpose_layers(layers, true, in, out);
  return out;
}

/// d loss / d parameter by central differences, for every parameter.
template <typename Loss>
std::vector<double> numeric_gradient(std::vector<double> parameters, Loss loss) {
  std::vector<double> gradient;
  for (double& p : parameters) {
    const double kept = p;
    p = kept + kStep;
    const double above = loss(parameters);
    p = kept - kStep;
    const double below = loss(parameters);
    p = kept;
    gradient.push_back((above - below) / (2 * kStep));
  }
  return gradient;
}

class DuelingGradient : public ::testing::TestWithParam<Case> {
 protected:
  DuelingGradient()
      : widths_(GetParam().widths),
        shape_{widths_.state, widths_.shared_0, widths_.shared_1, widths_.value, widths_.advantage, widths_.actions},
        net_(shape_) {
    Uniform uniform(GetParam().seed);
    const int features = widths_.state - kPortfolioNumbers;
    for (int i = 0; i < (GetParam().rows + 1) * features; ++i) {
      market_rows_.push_back(static_cast<float>(uniform.around_zero(1.5)));
    }
    for (int r = 0; r < GetParam().rows; ++r) {
      Experience e{};
      e.bar = r;
      for (float& x : e.now) x = static_cast<float>(uniform.around_zero(1.5));
      for (float& x : e.next) x = static_cast<float>(uniform.around_zero(1.5));
      e.reward = static_cast<float>(uniform.around_zero(2));
      e.action_flags = pack_action(static_cast<int>(uniform() * widths_.actions), r % 4 == 1, r % 4 == 2);
      batch_.push_back(e);
    }
    online_ = random_files(net_.layers(), uniform);
    target_ = random_files(net_.layers(), uniform);
  }

  std::vector<double> state(i32 bar, const float* numbers_of_portfolio) const {
    const int features = widths_.state - kPortfolioNumbers;
    const float* row = market_rows_.data() + static_cast<std::ptrdiff_t>(bar) * features;
    std::vector<double> x(row, row + features);
    x.insert(x.end(), numbers_of_portfolio, numbers_of_portfolio + kPortfolioNumbers);
    return x;
  }

  /// Double-DQN targets, constants for the gradient. The choice of the action must not hang on rounding.
  std::vector<double> targets() const {
    const std::vector<double> online = cpu_test::to_double(online_), target = cpu_test::to_double(target_);
    std::vector<double> out;
    for (const Experience& e : batch_) {
      std::vector<double> q = cpu_test::reference_q(widths_, online, state(e.bar + 1, e.next));
      const std::size_t best = static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin());
      const double next = cpu_test::reference_q(widths_, target, state(e.bar + 1, e.next))[best];
      std::sort(q.begin(), q.end());
      EXPECT_GT(q.back() - q[q.size() - 2], 1e-5) << "two actions are as good: choose another seed";
      out.push_back(e.reward + (is_terminal(e) ? 0.0 : kGamma * next));
    }
    return out;
  }

  /// Mean Huber loss with a corner at kDelta.
  double loss(std::span<const double> parameters, const std::vector<double>& wanted, double* nearest_kink) const {
    double sum = 0;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const Experience& e = batch_[i];
      const auto q = cpu_test::reference_q(widths_, parameters, state(e.bar, e.now), nearest_kink);
      const double error = std::fabs(q[static_cast<std::size_t>(action_of(e))] - wanted[i]);
      sum += error < kDelta ? error * error / 2 : kDelta * (error - kDelta / 2);
    }
    return sum / static_cast<double>(batch_.size());
  }

  static constexpr double kGamma = 0.9375, kDelta = 0.75;  // float32 numbers

  Widths widths_;
  DuelingShape shape_;
  DuelingNet net_;
  std::vector<float> market_rows_, online_, target_;
  std::vector<Experience> batch_;
};

TEST_P(DuelingGradient, OfTheMeanHuberLossIsItsDerivative) {
  LearnConfig config;
  config.gamma = kGamma;
  config.huber_delta = kDelta;
  Learner learner(config, shape_, {market_rows_.data(), widths_.state - kPortfolioNumbers}, 1);
  ThreadPool pool(1);
  std::vector<float> gradient;
  const LearnStats stats =
      learner.gradient(pool, batch_, inside(net_.layers(), online_), inside(net_.layers(), target_), gradient);

  const std::vector<double> wanted = targets();
  double nearest_kink = 1e300;
  EXPECT_NEAR(stats.loss, loss(cpu_test::to_double(online_), wanted, &nearest_kink), kTolerance);
  ASSERT_GT(nearest_kink, kKinkDistance) << "choose another seed";
  const std::vector<double> expected = numeric_gradient(
      cpu_test::to_double(online_), [&](std::span<const double> p) { return loss(p, wanted, nullptr); });
  const std::vector<float> actual = to_files(net_.layers(), gradient);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], kTolerance) << i;
}

// One tile, a tile and one row, two tiles and a bit; layers of one unit; the default number of actions.
INSTANTIATE_TEST_SUITE_P(Shapes, DuelingGradient,
                         ::testing::Values(Case{{7, 6, 5, 4, 3, 5}, 9, 1}, Case{{4, 1, 1, 1, 1, 2}, 5, 2},
                                           Case{{9, 5, 8, 3, 6, 4}, 65, 3}, Case{{5, 4, 4, 3, 3, 3}, 130, 4},
                                           Case{{6, 16, 7, 8, 4, 45}, 11, 5}, Case{{8, 3, 2, 2, 2, 3}, 1, 6}));

class CuriosityGradient : public ::testing::TestWithParam<Case> {};

TEST_P(CuriosityGradient, OfTheMeanSquaredErrorIsItsDerivative) {
  const int features = GetParam().widths.state, hidden = GetParam().widths.shared_0;
  const CuriosityShape shape = curiosity_shape(features, hidden);
  Uniform uniform(GetParam().seed);
  std::vector<float> market((static_cast<std::size_t>(GetParam().rows) + 1) * static_cast<std::size_t>(features));
  for (float& x : market) x = static_cast<float>(uniform.around_zero(1.5));
  ActionTables tables{};
  tables.count = 4;
  const std::vector<int> categories = {2, 0, 1, 2};
  for (std::size_t a = 0; a < categories.size(); ++a) tables.category[a] = static_cast<u8>(categories[a]);
  std::vector<Experience> batch(static_cast<std::size_t>(GetParam().rows));
  for (std::size_t r = 0; r < batch.size(); ++r) {
    batch[r].bar = static_cast<i32>(r);
    batch[r].action_flags = pack_action(static_cast<int>(r % 4), false, r % 3 == 0);
  }
  const CuriosityNet net(shape);
  const std::vector<float> weights = random_files(net.layers(), uniform);

  const auto loss = [&](std::span<const double> p, double* nearest_kink) {
    double sum = 0;
    for (std::size_t r = 0; r < batch.size(); ++r) {
      const std::size_t width = static_cast<std::size_t>(features);
      const std::span<const float> now(market.data() + r * width, width), next(now.data() + width, width);
      sum += cpu_test::reference_curiosity_error(hidden, p, now, next, categories[r % 4], nearest_kink);
    }
    return sum / static_cast<double>(batch.size());
  };
  ThreadPool pool(1);
  CuriosityLearner learner(CuriosityConfig{}, shape, {market.data(), features}, tables, 1);
  std::vector<float> gradient;
  const double actual_loss = learner.gradient(pool, batch, inside(net.layers(), weights), gradient);

  double nearest_kink = 1e300;
  EXPECT_NEAR(actual_loss, loss(cpu_test::to_double(weights), &nearest_kink), kTolerance);
  ASSERT_GT(nearest_kink, kKinkDistance) << "choose another seed";
  const std::vector<double> expected =
      numeric_gradient(cpu_test::to_double(weights), [&](std::span<const double> p) { return loss(p, nullptr); });
  const std::vector<float> actual = to_files(net.layers(), gradient);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], kTolerance) << i;
}

// Fewer market columns than the model takes, as many, more.
INSTANTIATE_TEST_SUITE_P(Shapes, CuriosityGradient,
                         ::testing::Values(Case{{3, 5, 0, 0, 0, 0}, 9, 1}, Case{{32, 4, 0, 0, 0, 0}, 65, 2},
                                           Case{{40, 6, 0, 0, 0, 0}, 20, 3}, Case{{1, 1, 0, 0, 0, 0}, 1, 4}));

}  // namespace

}  // namespace warptape::cpu
