// Networks, gradients and updates against tests/golden/learner.json: results of a float64 reference in NumPy
// (tests/reference/learner.py), whose inputs are float32 numbers.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/cpu/learner.h"
#include "paths.h"

namespace warptape::cpu {

namespace {

using nlohmann::json;

// Sums of at most 9 float32 products a layer, three layers deep: an error of some 1e-7 of the values, which are of
// order 1. The generator keeps activations away from kinks, Q-values from ties and errors from the Huber corner.
constexpr double kTolerance = 3e-6;

const json& golden() {
  static const json j = json::parse(std::ifstream(std::string(kGoldenDir) + "/learner.json"));
  return j;
}

void flatten(const json& j, std::vector<double>& out) {
  if (!j.is_array()) {
    out.push_back(j.get<double>());
    return;
  }
  for (const json& item : j) flatten(item, out);
}

std::vector<double> numbers(const json& j) {
  std::vector<double> out;
  flatten(j, out);
  return out;
}

/// A network's parameters in the order of files.
std::vector<double> parameters(const json& tensors, const std::vector<std::string>& layers) {
  std::vector<double> out;
  for (const std::string& layer : layers) {
    flatten(tensors.at(layer + ".weight"), out);
    flatten(tensors.at(layer + ".bias"), out);
  }
  return out;
}

const std::vector<std::string> kDueling = {"shared_0",  "shared_1",     "value_fc",
                                           "value_out", "advantage_fc", "advantage_out"};
const std::vector<std::string> kCuriosity = {"fc1", "fc2"};

const auto kNothing = [](const LayerBlock&) {};  // to be done after a block of weights

std::vector<float> inside(std::span<const DenseLayer> layers, const std::vector<double>& files) {
  const std::vector<float> single(files.begin(), files.end());
  std::vector<float> out(layers.back().end());
  transpose_layers(layers, false, single, out);
  return out;
}

/// Compares what lies as the backend has it with numbers in the order of files.
void expect_files_near(std::span<const DenseLayer> layers, std::span<const float> actual,
                       const std::vector<double>& expected, double tolerance, const char* what) {
  ASSERT_EQ(actual.size(), layers.back().end()) << what;
  std::vector<float> files(expected.size());
  transpose_layers(layers, true, actual, files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    ASSERT_NEAR(files[i], expected[i], tolerance) << what << ", parameter " << i;
  }
}

class GoldenDueling : public ::testing::Test {
 protected:
  GoldenDueling() : net_(shape()) {
    const std::vector<double> states = numbers(batch().at("states"));
    const std::vector<double> next = numbers(batch().at("next_states"));
    states_.assign(states.begin(), states.end());
    next_states_.assign(next.begin(), next.end());
    make_experiences();
    online_ = inside(net_.layers(), parameters(at("online"), kDueling));
    target_ = inside(net_.layers(), parameters(at("target"), kDueling));
  }

  static const json& at(const char* key) { return golden().at("dueling").at(key); }
  static const json& batch() { return at("batch"); }
  static double hyper(const char* key) { return golden().at("hyper").at(key).get<double>(); }
  static DuelingShape shape() {
    const json& s = at("shapes");
    return {s.at("states").get<int>(), s.at("shared")[0].get<int>(), s.at("shared")[1].get<int>(),
            s.at("value").get<int>(),  s.at("advantage").get<int>(), s.at("actions").get<int>()};
  }
  int rows() const { return static_cast<int>(experiences_.size()); }
  Market market() const { return {market_rows_.data(), shape().state - kPortfolioNumbers}; }

  /// States as a collector has them: rows 2i and 2i + 1 of a market matrix, and portfolio numbers.
  void make_experiences() {
    const std::size_t size = static_cast<std::size_t>(shape().state);
    const std::size_t features = size - kPortfolioNumbers;
    for (std::size_t i = 0; i < batch().at("actions").size(); ++i) {
      const float* state = states_.data() + i * size;
      const float* next = next_states_.data() + i * size;
      market_rows_.insert(market_rows_.end(), state, state + features);
      market_rows_.insert(market_rows_.end(), next, next + features);
      Experience e{};
      e.bar = static_cast<i32>(2 * i);
      std::copy(state + features, state + size, e.now);
      std::copy(next + features, next + size, e.next);
      e.reward = batch().at("rewards")[i].get<float>();
      // Those that are not terminal count as truncated: truncation must not change a target.
      const bool terminal = batch().at("terminal")[i].get<int>() != 0;
      e.action_flags = pack_action(batch().at("actions")[i].get<int>(), terminal, !terminal);
      experiences_.push_back(e);
    }
  }

  LearnConfig learn_config() const {
    LearnConfig c;
    c.gamma = hyper("gamma");
    return c;
  }

  /// `updates` of the optimiser on the whole batch.
  std::vector<float> train(int updates, double weight_decay) {
    Learner learner(learn_config(), shape(), market(), 1);
    Optimiser optimiser(net_.layers(), {hyper("beta1"), hyper("beta2"), hyper("eps"), weight_decay, hyper("max_norm")});
    std::vector<float> weights = online_;
    std::vector<float> gradient;
    for (int u = 0; u < updates; ++u) {
      learner.gradient(pool_, experiences_, weights, target_, gradient);
      optimiser.step(pool_, gradient, hyper("lr"), weights, kNothing);
    }
    return weights;
  }

  ThreadPool pool_{1};
  DuelingNet net_;
  std::vector<float> states_, next_states_, market_rows_, online_, target_;
  std::vector<Experience> experiences_;
};

TEST_F(GoldenDueling, QValues) {
  DuelingActivations act(shape(), rows());
  const auto expect_q = [&](const std::vector<float>& weights, const std::vector<float>& x, const char* key) {
    net_.forward(weights.data(), rows(), x.data(), act.at(0));
    const std::vector<double> expected = numbers(at(key));
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(rows() * shape().actions));
    for (int i = 0; i < rows() * shape().actions; ++i) {
      EXPECT_NEAR(net_.q(act.at(0), i / shape().actions, i % shape().actions), expected[static_cast<std::size_t>(i)],
                  kTolerance)
          << key << i;
    }
  };
  expect_q(online_, states_, "q");
  expect_q(online_, next_states_, "next_q_online");
  expect_q(target_, next_states_, "next_q_target");
}

TEST_F(GoldenDueling, TargetsOneRowAtATime) {
  Learner learner(learn_config(), shape(), market(), 1);
  const std::vector<double> td_errors = numbers(at("td_errors"));
  const std::vector<double> q = numbers(at("q"));
  std::vector<float> gradient;
  for (std::size_t i = 0; i < experiences_.size(); ++i) {
    const LearnStats stats = learner.gradient(pool_, {experiences_[i]}, online_, target_, gradient);
    const double error = td_errors[i];
    EXPECT_NEAR(stats.loss, error <= 1 ? error * error / 2 : error - 0.5, kTolerance) << i;
    const std::size_t chosen =
        i * static_cast<std::size_t>(shape().actions) + batch().at("actions")[i].get<std::size_t>();
    EXPECT_NEAR(stats.q, q[chosen], kTolerance) << i;
    EXPECT_NEAR(stats.abs_q, std::abs(q[chosen]), kTolerance) << i;
  }
}

TEST_F(GoldenDueling, LossAndGradientOfTheBatch) {
  Learner learner(learn_config(), shape(), market(), 1);
  std::vector<float> gradient;
  const LearnStats stats = learner.gradient(pool_, experiences_, online_, target_, gradient);
  EXPECT_NEAR(stats.loss, at("loss").get<double>(), kTolerance);
  expect_files_near(net_.layers(), gradient, parameters(at("gradients"), kDueling), kTolerance, "gradient");
}

TEST_F(GoldenDueling, LossAndGradientUnderImportanceWeights) {
  Learner learner(learn_config(), shape(), market(), 1);
  std::vector<Transition> batch;
  for (std::size_t i = 0; i < experiences_.size(); ++i) {
    Transition t = n_step_transition(make_ring(1, 1), &experiences_[i], 0, 1, static_cast<float>(hyper("gamma")));
    t.weight = this->batch().at("importance_weights")[i].get<float>();
    batch.push_back(t);
  }
  std::vector<float> gradient;
  const LearnStats stats = learner.gradient(pool_, batch, online_, target_, gradient);
  EXPECT_NEAR(stats.loss, at("weighted_loss").get<double>(), kTolerance);
  expect_files_near(net_.layers(), gradient, parameters(at("weighted_gradients"), kDueling), kTolerance, "gradient");
}

TEST_F(GoldenDueling, GradientNormBeforeClipping) {
  Learner learner(learn_config(), shape(), market(), 1);
  std::vector<float> gradient;
  learner.gradient(pool_, experiences_, online_, target_, gradient);
  Optimiser optimiser(net_.layers(), {0.9, 0.999, 1e-8, 0, hyper("max_norm")});
  EXPECT_NEAR(optimiser.step(pool_, gradient, hyper("lr"), online_, kNothing), at("gradient_norm").get<double>(),
              kTolerance);
}

TEST_F(GoldenDueling, ClippedGradientIsWhatTheMomentsTake) {
  Learner learner(learn_config(), shape(), market(), 1);
  std::vector<float> gradient;
  learner.gradient(pool_, experiences_, online_, target_, gradient);
  // With beta1 = 0 the first moment is the gradient itself.
  Optimiser optimiser(net_.layers(), {0.0, 0.999, 1e-8, 0, hyper("max_norm")});
  optimiser.step(pool_, gradient, hyper("lr"), online_, kNothing);
  expect_files_near(net_.layers(), optimiser.moment1(), parameters(at("clipped_gradients"), kDueling), kTolerance,
                    "clipped gradient");
}

// A weight of order 1 is off by 6e-8 a step, and Adam's first steps have the size of the learning rate (1e-3) whatever
// the gradient; the generator leaves out gradients so small that their rounding would turn a step.
constexpr double kUpdateTolerance = 1e-6;

TEST_F(GoldenDueling, WeightsAfterUpdatesByAdam) {
  expect_files_near(net_.layers(), train(1, 0), parameters(at("adam_after_1"), kDueling), kUpdateTolerance, "Adam 1");
  expect_files_near(net_.layers(), train(3, 0), parameters(at("adam_after_3"), kDueling), kUpdateTolerance, "Adam 3");
}

TEST_F(GoldenDueling, WeightsAfterUpdatesByAdamW) {
  const double decay = hyper("weight_decay");
  expect_files_near(net_.layers(), train(1, decay), parameters(at("adamw_after_1"), kDueling), kUpdateTolerance,
                    "AdamW 1");
  expect_files_near(net_.layers(), train(3, decay), parameters(at("adamw_after_3"), kDueling), kUpdateTolerance,
                    "AdamW 3");
}

TEST_F(GoldenDueling, PolyakTargetAfterThreeUpdates) {
  const std::vector<float> online = train(3, 0);
  std::vector<float> target = target_;
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = polyak(target[i], online[i], static_cast<float>(hyper("tau")));
  }
  expect_files_near(net_.layers(), target, parameters(at("polyak_target_after_adam_3"), kDueling), kUpdateTolerance,
                    "target");
}

class GoldenCuriosity : public ::testing::Test {
 protected:
  GoldenCuriosity() : net_(shape()) {
    const std::vector<double> now = numbers(batch().at("market"));
    const std::vector<double> next = numbers(batch().at("next_market"));
    const std::size_t features = static_cast<std::size_t>(shape().outputs);
    for (std::size_t i = 0; i < batch().at("categories").size(); ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i * features), end = static_cast<std::ptrdiff_t>((i + 1) * features);
      market_rows_.insert(market_rows_.end(), now.begin() + row, now.begin() + end);
      market_rows_.insert(market_rows_.end(), next.begin() + row, next.begin() + end);
      Experience e{};
      e.bar = static_cast<i32>(2 * i);
      e.action_flags = pack_action(batch().at("categories")[i].get<int>(), false, false);
      experiences_.push_back(e);
    }
    // Actions 0, 1, 2 are short, flat, long here.
    tables_.count = kCategories;
    for (int c = 0; c < kCategories; ++c) tables_.category[c] = static_cast<u8>(c);
    weights_ = inside(net_.layers(), parameters(at("weights"), kCuriosity));
  }

  static const json& at(const char* key) { return golden().at("curiosity").at(key); }
  static const json& batch() { return at("batch"); }
  static double hyper(const char* key) { return golden().at("hyper").at(key).get<double>(); }
  static CuriosityShape shape() {
    const json& s = at("shapes");
    return {s.at("inputs").get<int>(), s.at("hidden").get<int>(), s.at("outputs").get<int>()};
  }
  CuriosityLearner learner() const {
    return {CuriosityConfig{}, shape(), {market_rows_.data(), shape().outputs}, tables_, 1};
  }

  ThreadPool pool_{1};
  CuriosityNet net_;
  ActionTables tables_{};
  std::vector<float> market_rows_, weights_;
  std::vector<Experience> experiences_;
};

TEST_F(GoldenCuriosity, PredictionsAndErrors) {
  const int rows = static_cast<int>(experiences_.size());
  CuriosityActivations act(shape(), rows);
  const Market market{market_rows_.data(), shape().outputs};
  for (int r = 0; r < rows; ++r) {
    const Experience& e = experiences_[static_cast<std::size_t>(r)];
    net_.fill_row(market, e.bar, static_cast<Category>(action_of(e)), r, act.at(0));
  }
  std::vector<float> errors(static_cast<std::size_t>(rows));
  net_.forward(weights_.data(), rows, act.at(0), errors.data());
  const std::vector<double> inputs = numbers(at("inputs")), predictions = numbers(at("predictions"));
  const std::vector<double> squared = numbers(at("squared_errors"));
  for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(act.at(0).input[i], inputs[i]) << i;
  const std::size_t outputs = static_cast<std::size_t>(shape().outputs);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    EXPECT_NEAR(act.at(static_cast<int>(i / outputs)).prediction[i % outputs], predictions[i], kTolerance) << i;
  }
  for (std::size_t i = 0; i < squared.size(); ++i) EXPECT_NEAR(errors[i], squared[i], kTolerance) << i;
}

TEST_F(GoldenCuriosity, LossAndGradient) {
  CuriosityLearner curiosity = learner();
  std::vector<float> gradient;
  const double loss = curiosity.gradient(pool_, experiences_, weights_, gradient);
  EXPECT_NEAR(loss, at("loss").get<double>(), kTolerance);
  expect_files_near(net_.layers(), gradient, parameters(at("gradients"), kCuriosity), kTolerance, "gradient");
}

TEST_F(GoldenCuriosity, WeightsAfterUpdatesByAdam) {
  CuriosityLearner curiosity = learner();
  Optimiser optimiser(net_.layers(), {hyper("beta1"), hyper("beta2"), hyper("eps"), 0, hyper("curiosity_max_norm")});
  std::vector<float> gradient;
  for (int u = 1; u <= 3; ++u) {
    curiosity.gradient(pool_, experiences_, weights_, gradient);
    const double norm = optimiser.step(pool_, gradient, hyper("lr"), weights_, kNothing);
    if (u == 1) {
      EXPECT_NEAR(norm, at("gradient_norm").get<double>(), kTolerance);
      expect_files_near(net_.layers(), weights_, parameters(at("adam_after_1"), kCuriosity), kUpdateTolerance, "1");
    }
  }
  expect_files_near(net_.layers(), weights_, parameters(at("adam_after_3"), kCuriosity), kUpdateTolerance, "3");
}

}  // namespace

}  // namespace warptape::cpu
