// `collect`: a round of experiences for other learners, and networks that came from elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "net/safetensors.h"
#include "net/tensor_map.h"
#include "unit/cli/cli_inputs.h"
#include "unit/cli/run_program.h"

namespace warptape {
namespace {

constexpr std::int64_t kEpisodes = 4, kSteps = 30, kState = 54;

class CliCollect : public ::testing::Test {
 protected:
  void SetUp() override {
    desk.put("bars.csv", cli_test::bars_csv(cli_test::kBars));
    desk.put("tiny.toml", cli_test::kTinyConfig);
  }

  std::vector<std::string> words(const std::vector<std::string>& options) const {
    std::vector<std::string> all = {"collect", "--data", "bars.csv", "--config", "tiny.toml",
                                    "--steps", "30",     "--out",    "round.st"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }

  TensorMap collect(const std::vector<std::string>& options = {}) const {
    EXPECT_EQ(desk.run_well(words(options)).err, "");
    return read_safetensors(desk.path() / "round.st");
  }

  cli_test::Desk desk;
};

std::map<std::string, std::string> described(const TensorMap& tensors) {
  std::map<std::string, std::string> all;
  for (const auto& [name, tensor] : tensors.tensors()) all[name] = describe(tensor.dtype, tensor.shape);
  return all;
}

TEST_F(CliCollect, WritesTensorsOfTheDocumentedShapes) {
  std::map<std::string, std::string> expected = {{"state", "F32 [30, 4, 54]"}, {"next_state", "F32 [30, 4, 54]"},
                                                 {"bar", "I32 [30, 4]"},       {"action", "I32 [30, 4]"},
                                                 {"reward", "F32 [30, 4]"},    {"terminal", "U8 [30, 4]"},
                                                 {"truncated", "U8 [30, 4]"}};
  EXPECT_EQ(described(collect()), expected);
  expected["target_q"] = expected["q_selected"] = expected["td_error"] = "F32 [30, 4]";
  expected["reward_components"] = "F32 [30, 4, 4]";
  EXPECT_EQ(described(collect({"--outputs", "all"})), expected);
}

TEST_F(CliCollect, TheNextStateIsTheStateOfTheNextStep) {
  const TensorMap round = collect();
  const auto state = round.get<float>("state"), next = round.get<float>("next_state");
  const auto bar = round.get<std::int32_t>("bar");
  const auto terminal = round.get<std::uint8_t>("terminal"), truncated = round.get<std::uint8_t>("truncated");
  int going_on = 0, ended = 0;
  for (std::int64_t i = 0; i + kEpisodes < kSteps * kEpisodes; ++i) {
    const auto row = static_cast<std::size_t>(i), after = static_cast<std::size_t>(i + kEpisodes);
    if (terminal[row] || truncated[row]) {
      ++ended;
      // The true next state, not the fresh episode's: what the position is worth still stands in it.
      EXPECT_NE(next[row * kState + 51], 1.0f);
      EXPECT_EQ(state[after * kState + 51], 1.0f);
      continue;
    }
    ++going_on;
    EXPECT_EQ(bar[after], bar[row] + 1);
    for (std::size_t column = 0; column < kState; ++column) {
      ASSERT_EQ(next[row * kState + column], state[after * kState + column]) << "row " << row << " column " << column;
    }
  }
  EXPECT_EQ(ended, 4);  // episodes of 20 steps in a round of 30: each slot ends one
  EXPECT_EQ(going_on, 29 * 4 - 4);
}

TEST_F(CliCollect, TheRewardIsTheReturnOfTheStatesEquity) {
  const TensorMap round = collect({"--outputs", "all"});
  const auto state = round.get<float>("state"), next = round.get<float>("next_state");
  const auto reward = round.get<float>("reward"), parts = round.get<float>("reward_components");
  for (std::size_t row = 0; row < kSteps * kEpisodes; ++row) {
    // Under market rules the return is the only term by default; equity over base is column 51, rounded to float32,
    // so the ratio is good to some 1.2e-7.
    EXPECT_NEAR(reward[row], next[row * kState + 51] / state[row * kState + 51] - 1, 5e-7);
    EXPECT_EQ(parts[row * 4], reward[row]);
    EXPECT_EQ(parts[row * 4 + 1] + parts[row * 4 + 2] + parts[row * 4 + 3], 0);
  }
}

TEST_F(CliCollect, TheSeedAloneDecides) {
  collect({"--seed", "5"});
  const std::string once = desk.content("round.st");
  collect({"--seed", "5"});
  EXPECT_TRUE(once == desk.content("round.st"));
  const TensorMap other = collect({"--seed", "6"});
  EXPECT_FALSE(once == desk.content("round.st"));
  EXPECT_EQ(other.size(), 7u);
}

TEST_F(CliCollect, TheRoundNeedsNoReplay) {
  // More experiences than replay.capacity = 1000 of the configuration: nothing is drawn, so nothing need be kept.
  const TensorMap round = collect({"--set", "collect.episodes=40"});
  EXPECT_EQ(round.at("reward").shape, (Shape{30, 40}));
}

// ---- weights ----------------------------------------------------------------------------------------------------

using Floats = std::vector<float>;

/// The network of the tiny configuration with weights of 0: Q is what the last biases say, in every state.
struct Weights {
  std::map<std::string, std::pair<Shape, Floats>> tensors;

  Weights() {
    const std::pair<const char*, Shape> layers[] = {{"shared_0", {8, kState}}, {"shared_1", {8, 8}},
                                                    {"value_fc", {8, 8}},      {"value_out", {1, 8}},
                                                    {"advantage_fc", {8, 8}},  {"advantage_out", {3, 8}}};
    for (const auto& [name, shape] : layers) {
      tensors[std::string(name) + ".weight"] = {shape, Floats(static_cast<std::size_t>(shape[0] * shape[1]))};
      tensors[std::string(name) + ".bias"] = {{shape[0]}, Floats(static_cast<std::size_t>(shape[0]))};
    }
    tensors["value_out.bias"].second = {1.5f};
    tensors["advantage_out.bias"].second = {0, 0, 3};  // mean 1: Q is 0.5, 0.5, 3.5
  }

  void write(const std::filesystem::path& file) const {
    TensorMap map;
    for (const auto& [name, tensor] : tensors) map.set<float>(name, tensor.first, tensor.second);
    write_safetensors(file, map);
  }
};

TEST_F(CliCollect, ActsByTheWeightsGiven) {
  Weights().write(desk.path() / "mine.st");
  const TensorMap round = collect({"--weights", "mine.st", "--epsilon", "0", "--outputs", "all"});
  const auto action = round.get<std::int32_t>("action");
  const auto reward = round.get<float>("reward"), td_error = round.get<float>("td_error");
  for (std::size_t row = 0; row < kSteps * kEpisodes; ++row) {
    ASSERT_EQ(action[row], 2);
    EXPECT_FLOAT_EQ(round.get<float>("q_selected")[row], 3.5f);
    EXPECT_FLOAT_EQ(round.get<float>("target_q")[row], 3.5f);                        // one network in the file is both
    EXPECT_NEAR(td_error[row], std::fabs(reward[row] + 0.99f * 3.5f - 3.5f), 1e-6);  // no terminal rows
  }
}

TEST_F(CliCollect, TakesTheTargetNetworkWhereTheFileHasOne) {
  Weights weights;
  for (const auto& [name, tensor] : Weights().tensors) weights.tensors["target." + name] = tensor;
  weights.tensors["target.value_out.bias"].second = {10};
  weights.write(desk.path() / "mine.st");
  const TensorMap round = collect({"--weights", "mine.st", "--epsilon", "0", "--outputs", "all"});
  EXPECT_FLOAT_EQ(round.get<float>("q_selected")[0], 3.5f);
  EXPECT_FLOAT_EQ(round.get<float>("target_q")[0], 12);
}

class CliBadWeights : public CliCollect {
 protected:
  void refuse(const std::function<void(Weights&)>& spoil, const std::vector<std::string>& message) {
    Weights weights;
    spoil(weights);
    weights.write(desk.path() / "mine.st");
    refuse_file(message);
  }
  void refuse_file(const std::vector<std::string>& message) {
    desk.expect_refused(words({"--weights", "mine.st"}), message);
    EXPECT_FALSE(desk.has("round.st"));
  }
};

TEST_F(CliBadWeights, WrongShape) {
  refuse(
      [](Weights& w) {
        w.tensors["shared_0.weight"] = {{8, 53}, Floats(8 * 53)};
      },
      {"mine.st", "shared_0.weight", "[8, 54]", "[8, 53]"});
}

TEST_F(CliBadWeights, WrongShapeOfTheSameSize) {
  refuse(
      [](Weights& w) {
        w.tensors["shared_0.weight"].first = {kState, 8};
      },
      {"mine.st", "shared_0.weight", "[8, 54]", "[54, 8]"});
}

TEST_F(CliBadWeights, OtherNumberOfActions) {
  refuse(
      [](Weights& w) {
        w.tensors["advantage_out.weight"] = {{45, 8}, Floats(45 * 8)};
        w.tensors["advantage_out.bias"] = {{45}, Floats(45)};
      },
      {"advantage_out.weight", "advantage_out.bias", "[3]", "[45]"});
}

TEST_F(CliBadWeights, MissingTensor) {
  refuse([](Weights& w) { w.tensors.erase("advantage_out.bias"); }, {"mine.st", "advantage_out.bias: missing"});
}

TEST_F(CliBadWeights, HalfATargetNetwork) {
  refuse([](Weights& w) { w.tensors["target.shared_0.weight"] = w.tensors["shared_0.weight"]; },
         {"mine.st", "target.shared_1.weight: missing"});
}

TEST_F(CliBadWeights, NotANumber) {
  refuse([](Weights& w) { w.tensors["value_fc.bias"].second[3] = std::numeric_limits<float>::quiet_NaN(); },
         {"mine.st", "value_fc.bias", "element 3", "nan"});
}

TEST_F(CliBadWeights, OtherNumberType) {
  TensorMap map;
  for (const auto& [name, tensor] : Weights().tensors) {
    map.set<double>(name, tensor.first, std::vector<double>(tensor.second.size()));
  }
  write_safetensors(desk.path() / "mine.st", map);
  refuse_file({"mine.st", "F32 [8, 54]", "F64 [8, 54]"});
}

TEST_F(CliBadWeights, Truncated) {
  Weights().write(desk.path() / "mine.st");
  std::filesystem::resize_file(desk.path() / "mine.st", desk.content("mine.st").size() - 4);
  refuse_file({"mine.st", "truncated"});
}

TEST_F(CliBadWeights, NotThere) {
  refuse_file({"mine.st", "No such file"});
}

}  // namespace
}  // namespace warptape
