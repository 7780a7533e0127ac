// The CPU backend as a whole: the same bytes for any number of threads, a state that goes on where it was saved.
#include "warptape/backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/philox.h"
#include "net/shapes.h"
#include "net/tensor_map.h"
#include "net/tensors.h"
#include "unit/backend/cpu/test_worlds.h"
#include "warptape/error.h"

namespace warptape {

namespace {

const Outputs kAll = {true, true, true};

/// The tensors with bytes of their own: save_state lends only.
TensorMap owned(const TensorMap& lent) {
  TensorMap out;
  for (const auto& [name, tensor] : lent.tensors()) {
    out.add(name, {tensor.dtype, tensor.shape, {tensor.data().begin(), tensor.data().end()}, {}});
  }
  return out;
}

TensorMap state_of(const Backend& backend) {
  TensorMap state;
  backend.save_state(state);
  return owned(state);
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Everything that a backend can show, as bytes by name.
std::vector<std::pair<std::string, std::string>> everything(const Backend& backend) {
  std::vector<std::pair<std::string, std::string>> all = {
      {"online", bytes_of(backend.weights(Network::kOnline))},
      {"target", bytes_of(backend.weights(Network::kTarget))},
      {"curiosity", bytes_of(backend.weights(Network::kCuriosity))}};
  const Experiences e = backend.download();
  all.insert(all.end(), {{"bar", bytes_of(e.bar)},
                         {"portfolio", bytes_of(e.portfolio)},
                         {"next_portfolio", bytes_of(e.next_portfolio)},
                         {"action", bytes_of(e.action)},
                         {"reward", bytes_of(e.reward)},
                         {"terminal", bytes_of(e.terminal)},
                         {"truncated", bytes_of(e.truncated)},
                         {"target_q", bytes_of(e.target_q)},
                         {"q_selected", bytes_of(e.q_selected)},
                         {"td_error", bytes_of(e.td_error)},
                         {"components", bytes_of(e.components)}});
  const TensorMap state = state_of(backend);
  for (const auto& [name, tensor] : state.tensors()) {
    all.emplace_back(name, std::string(reinterpret_cast<const char*>(tensor.data().data()), tensor.data().size()));
  }
  return all;
}

void expect_same(const Backend& one, const Backend& other) {
  const auto a = everything(one), b = everything(other);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    EXPECT_TRUE(a[i].second == b[i].second) << a[i].first << " differs";
  }
}

/// Three tiles of slots, of the batch and of the curiosity batch, the last ones not full.
Config busy_config(RuleSet rules) {
  Config c = cpu_test::small_config(rules, 150, 12);
  c.env.curiosity_weight = 1;
  c.env.barrier_profit_bps = 100;
  c.env.barrier_stop_bps = 50;
  c.learn.batch = 150;
  c.curiosity.batch = 150;
  c.replay.capacity = 150 * 30;  // wraps in the third round
  return c;
}

Dataset busy_dataset() {
  return cpu_test::random_dataset({60, 40, 30}, 6, 9, {0.02, 0.01, 0.01});
}

struct Statistics {
  std::vector<double> numbers;
  void play(Backend& backend, int rounds) {
    for (int r = 0; r < rounds; ++r) {
      const CollectStats c = backend.collect({0.5, kAll});
      const LearnStats l = backend.learn({4, 0.01});
      numbers.insert(numbers.end(), {c.mean_reward, c.mean_return, static_cast<double>(c.episodes), l.loss, l.q,
                                     l.abs_q, l.gradient_norm, backend.train_curiosity().loss});
    }
  }
};

/// A rule set, with one-step returns drawn uniformly or returns of three steps drawn by priority.
struct Mode {
  RuleSet rules;
  bool prioritised;
};

Config busy_config(const Mode& mode) {
  Config c = busy_config(mode.rules);
  c.replay.prioritised = mode.prioritised;
  c.learn.n_step = mode.prioritised ? 3 : 1;
  return c;
}

class CpuBackendRules : public ::testing::TestWithParam<Mode> {};

TEST_P(CpuBackendRules, SameBytesWithAnyNumberOfThreads) {
  Config config = busy_config(GetParam());
  const auto one = make_cpu_backend(config, busy_dataset());
  Statistics expected;
  expected.play(*one, 4);
  for (const int threads : {2, 3}) {
    config.threads = threads;
    const auto other = make_cpu_backend(config, busy_dataset());
    Statistics actual;
    actual.play(*other, 4);
    EXPECT_EQ(actual.numbers, expected.numbers) << threads;
    expect_same(*one, *other);
  }
}

TEST_P(CpuBackendRules, GoesOnFromASavedState) {
  const Config config = busy_config(GetParam());
  const auto whole = make_cpu_backend(config, busy_dataset());
  for (const int rounds : {1, 3}) {  // with a replay half full, and wrapped
    Statistics().play(*whole, rounds);
    const TensorMap state = state_of(*whole);
    TensorMap weights;
    const auto dueling = dueling_tensors(dueling_shape(config, 6));
    put_network(weights, "", dueling, whole->weights(Network::kOnline));
    put_network(weights, "target.", dueling, whole->weights(Network::kTarget));
    put_network(weights, "curiosity.", curiosity_tensors(curiosity_shape(config, 6)),
                whole->weights(Network::kCuriosity));

    const auto resumed = make_cpu_backend(config, busy_dataset());
    Statistics().play(*resumed, 1);  // whatever it held before is to be gone
    for (const Network network : {Network::kOnline, Network::kTarget, Network::kCuriosity}) {
      resumed->sync(network, weights, network_prefix(network), "weights");
    }
    resumed->load_state(state, "state");
    Statistics a, b;
    a.play(*whole, 2);
    b.play(*resumed, 2);
    EXPECT_EQ(a.numbers, b.numbers);
    expect_same(*whole, *resumed);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, CpuBackendRules,
                         ::testing::Values(Mode{RuleSet::kMarket, false}, Mode{RuleSet::kClassic, false},
                                           Mode{RuleSet::kMarket, true}, Mode{RuleSet::kClassic, true}),
                         [](const auto& mode) {
                           return std::string(rule_set_name(mode.param.rules)) +
                                  (mode.param.prioritised ? "_prioritised" : "");
                         });

class CpuBackendState : public ::testing::Test {
 protected:
  explicit CpuBackendState(const std::function<void(Config&)>& change = [](Config&) {})
      : config_([&] {
          Config c = cpu_test::small_config(RuleSet::kMarket, 5, 8);
          change(c);
          return c;
        }()),
        backend_(make_cpu_backend(config_, dataset_)),
        other_(make_cpu_backend(config_, dataset_)) {
    backend_->collect({1.0, {}});
    state_ = state_of(*backend_);
  }

  /// The message with which the changed state is refused; "" when it isn't.
  std::string refusal(const std::string& name, const std::function<void(std::vector<std::byte>&)>& damage) {
    TensorMap changed;
    for (const auto& [key, tensor] : state_.tensors()) {
      Tensor copy = tensor;
      if (key == name) damage(copy.bytes);
      if (key == name) copy.shape = {static_cast<std::int64_t>(copy.bytes.size() / dtype_bytes(copy.dtype))};
      if (key == name && key == "replay.rows") copy.shape = {copy.shape[0] / 36, 36};
      changed.add(key, copy);
    }
    try {
      other_->load_state(changed, "the state");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  template <typename T>
  static auto put_at(std::size_t offset, T value) {
    return [=](std::vector<std::byte>& bytes) { std::memcpy(bytes.data() + offset, &value, sizeof value); };
  }

  Config config_;
  Dataset dataset_ = cpu_test::random_dataset({60}, 3, 4);
  std::unique_ptr<Backend> backend_, other_;
  TensorMap state_;
};

TEST_F(CpuBackendState, IsTakenWhenWhole) {
  EXPECT_EQ(refusal("", [](auto&) {}), "");
}

TEST_F(CpuBackendState, IsRefusedWhenItDoesNotFit) {
  const auto shorten = [](std::vector<std::byte>& bytes) { bytes.resize(bytes.size() - 36 * 4); };
  for (const std::string name : {"slots", "replay.rows", "optimiser.moment1", "curiosity_optimiser.moment2"}) {
    EXPECT_NE(refusal(name, shorten).find(name), std::string::npos) << name;
  }
  // counters: steps taken, rows filled, head, updates of the two optimisers.
  EXPECT_NE(refusal("counters", put_at(8, std::int64_t{1000000})), "");
  EXPECT_NE(refusal("counters", put_at(8, std::int64_t{-1})), "");
  EXPECT_NE(refusal("counters", put_at(16, std::int64_t{1000000})), "");
  EXPECT_NE(refusal("counters", put_at(16, std::int64_t{-5})), "");
}

TEST_F(CpuBackendState, IsRefusedWhenItNamesBarsOrActionsThatDoNotExist) {
  // Rows of 36 bytes: the bar first, the action after three portfolio numbers.
  EXPECT_NE(refusal("replay.rows", put_at(36 * 7, std::int32_t{59})).find("bar 59"), std::string::npos);
  EXPECT_NE(refusal("replay.rows", put_at(36 * 7, std::int32_t{-2})).find("bar -2"), std::string::npos);
  EXPECT_NE(refusal("replay.rows", put_at(36 * 7 + 16, std::uint32_t{45})).find("action 45"), std::string::npos);
  EXPECT_EQ(refusal("replay.rows", put_at(36 * 7, std::int32_t{58})), "");
}

TEST_F(CpuBackendState, IsUnchangedByARefusedOne) {
  const TensorMap before = state_of(*other_);
  refusal("curiosity_optimiser.moment2", [](std::vector<std::byte>& bytes) { bytes.resize(4); });
  const TensorMap after = state_of(*other_);
  for (const auto& [name, tensor] : after.tensors()) {
    EXPECT_TRUE(tensor.bytes == before.at(name).bytes) << name;
  }
}

/// Eight steps of five slots, of which no episode has ended: the newest two steps, rows 30 to 39, may not be drawn.
class CpuBackendMasses : public CpuBackendState {
 protected:
  CpuBackendMasses()
      : CpuBackendState([](Config& c) {
          c.replay.prioritised = true;
          c.learn.n_step = 3;
          c.env.episode_length = 20;
        }) {}

  template <typename T>
  void expect_refused(std::size_t row, T value, const std::string& words) {
    const std::string message = refusal("replay.masses", put_at(4 * row, value));
    EXPECT_NE(message.find("the state: replay.masses"), std::string::npos) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
};

TEST_F(CpuBackendMasses, AreTakenWhenWhole) {
  EXPECT_EQ(refusal("", [](auto&) {}), "");
  EXPECT_EQ(refusal("replay.masses", put_at(4 * 7, 0.125f)), "");
  EXPECT_EQ(refusal("replay.largest_mass", put_at(0, 0.125f)), "");
}

TEST_F(CpuBackendMasses, AreRefusedWhenNoReplayHasThem) {
  expect_refused(7, -1.0f, "holds -1 for row 7");
  expect_refused(7, std::nanf(""), "nan for row 7");
  expect_refused(7, std::numeric_limits<float>::infinity(), "inf for row 7");
  expect_refused(7, 0.0f, "above 0");
  expect_refused(35, 1.0f, "not complete");
  expect_refused(35, std::nanf(""), "not complete");
  for (const float largest : {0.0f, -1.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    EXPECT_NE(refusal("replay.largest_mass", put_at(0, largest)).find("the state: replay.largest_mass"),
              std::string::npos);
  }
  EXPECT_NE(refusal("replay.masses", [](auto& bytes) { bytes.resize(bytes.size() - 4); }).find("replay.masses"),
            std::string::npos);
}

TEST_F(CpuBackendMasses, StandInTheStateOfPrioritisedReplayOnly) {
  EXPECT_TRUE(state_.contains("replay.masses"));
  const auto uniform = make_cpu_backend(cpu_test::small_config(RuleSet::kMarket, 5, 8), dataset_);
  EXPECT_FALSE(state_of(*uniform).contains("replay.masses"));
}

TEST(CpuBackendWeights, StartAsUniformNumbersOfTheSeed) {
  Config config = cpu_test::small_config(RuleSet::kMarket, 2, 2);
  const Dataset dataset = cpu_test::random_dataset({60}, 3, 4);  // 6 inputs
  const auto backend = make_cpu_backend(config, dataset);
  const std::vector<float> online = backend->weights(Network::kOnline);
  EXPECT_EQ(online, backend->weights(Network::kTarget));
  const std::vector<float> curiosity = backend->weights(Network::kCuriosity);
  for (u64 i = 0; i < 6 * 16; ++i) {  // shared_0.weight, then fc1.weight, both of fan-in 6, of streams of their own
    const double u = random_words(config.seed, 0, i, Draw::kInit).word[0] * 0x1p-32;
    ASSERT_NEAR(online[i], (2 * u - 1) / std::sqrt(6.0), 1e-7);
  }
  for (u64 i = 0; i < 6 * 8; ++i) {
    const double u = random_words(config.seed, 1, i, Draw::kInit).word[0] * 0x1p-32;
    ASSERT_NEAR(curiosity[i], (2 * u - 1) / std::sqrt(6.0), 1e-7);
  }
  ++config.seed;
  EXPECT_NE(make_cpu_backend(config, dataset)->weights(Network::kOnline), online);
}

TEST(CpuBackendWeights, SyncTakesNamedTensorsForEachNetwork) {
  const Config config = cpu_test::small_config(RuleSet::kMarket, 2, 2);
  const auto backend = make_cpu_backend(config, cpu_test::random_dataset({60}, 3, 4));
  const auto specs = dueling_tensors(dueling_shape(config, 3));
  std::vector<float> mine(static_cast<std::size_t>(parameter_count(specs)));
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<float>(i) / 1024;
  TensorMap tensors;
  put_network(tensors, "mine.", specs, mine);
  const std::vector<float> online = backend->weights(Network::kOnline);
  backend->sync(Network::kTarget, tensors, "mine.", "mine");
  EXPECT_EQ(backend->weights(Network::kTarget), mine);
  EXPECT_EQ(backend->weights(Network::kOnline), online);
  EXPECT_THROW(backend->sync(Network::kOnline, tensors, "", "mine"), Error);          // no such names
  EXPECT_THROW(backend->sync(Network::kCuriosity, tensors, "mine.", "mine"), Error);  // another network's
  EXPECT_EQ(backend->weights(Network::kOnline), online);
}

TEST(CpuBackendData, IsTheBackendsOwn) {
  const Config config = cpu_test::small_config(RuleSet::kMarket, 3, 30);
  auto dataset = std::make_unique<Dataset>(cpu_test::random_dataset({60}, 3, 4));
  const auto one = make_cpu_backend(config, *dataset), other = make_cpu_backend(config, *dataset);
  one->collect({0.5, kAll});
  dataset->market.assign(dataset->market.size(), 0.0f);
  dataset.reset();
  other->collect({0.5, kAll});
  expect_same(*one, *other);
}

}  // namespace

}  // namespace warptape
