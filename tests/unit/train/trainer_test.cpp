// A whole training: what it writes, what it refuses before it writes anything, divergence.
#include "warptape/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "backtest/policies.h"
#include "market/csv.h"
#include "net/safetensors.h"
#include "net/shapes.h"
#include "net/tensors.h"
#include "train/checkpoint.h"
#include "train/experiment.h"
#include "unit/train/train_worlds.h"

namespace warptape {

namespace {

using train_test::content_of;
using train_test::json;
using train_test::put;

std::vector<float> online_weights(const std::filesystem::path& checkpoint, const Config& config, int features) {
  const auto specs = dueling_tensors(dueling_shape(config, features));
  std::vector<float> flat(static_cast<std::size_t>(parameter_count(specs)));
  take_network(read_checkpoint_weights(checkpoint), "", specs, flat, checkpoint.string());
  return flat;
}

class Trainer : public train_test::TrainTest {
 protected:
  RawData raw() const { return make_raw_data({read_bars(folder_ / "bars.csv", {})}, {}); }

  /// Whether two files hold the same tensors, metadata aside: it holds the configuration, and with it the threads.
  static void expect_same_tensors(const std::filesystem::path& one, const std::filesystem::path& other) {
    const TensorMap a = read_safetensors(one), b = read_safetensors(other);
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, tensor] : a.tensors()) {
      EXPECT_TRUE(std::ranges::equal(tensor.data(), b.at(name).data())) << name;
    }
  }

  /// That these options are refused, and that there is no trace of the run afterwards.
  std::string refusal_without_trace(const TrainOptions& o) const {
    const std::vector<std::string> before = testing::names_in(folder_.path());
    const std::string message = refusal(o);
    EXPECT_EQ(testing::names_in(folder_.path()), before) << message;
    return message;
  }
};

TEST_F(Trainer, DoesNotDependOnTheNumberOfThreads) {
  config_.collect.episodes = 130;  // three tiles
  config_.collect.steps = 5;
  config_.learn.batch = config_.curiosity.batch = 130;
  for (const int threads : {1, 2, 3}) {
    config_.threads = threads;
    run("threads_" + std::to_string(threads));
  }
  for (const std::string other : {"threads_2", "threads_3"}) {
    EXPECT_EQ(content("threads_1/log.jsonl"), content(other + "/log.jsonl"));
    for (const std::string file : {"last/weights.safetensors", "last/state.safetensors", "best/weights.safetensors"}) {
      expect_same_tensors(folder_ / ("threads_1/" + file), folder_ / (other + "/" + file));
    }
  }
}

TEST_F(Trainer, WritesARunsFolder) {
  const TrainResult result = run("run");
  EXPECT_EQ(testing::names_in(folder_ / "run"),
            (std::vector<std::string>{"best", "config.toml", "last", "log.jsonl", "previous", "tensorboard"}));
  const std::vector<std::string> files = {"checkpoint.json", "manifest.json", "state.safetensors",
                                          "weights.safetensors"};
  EXPECT_EQ(testing::names_in(folder_ / "run/last"), files);
  EXPECT_EQ(testing::names_in(folder_ / "run/best"), files);
  EXPECT_EQ(result.rounds, 6);
  EXPECT_EQ(info("run/last").at("round"), 6);
  EXPECT_EQ(info("run/last").at("updates"), 30);
  EXPECT_EQ(to_toml(parse_config(content("run/config.toml"), "config.toml")), to_toml(config_));

  std::vector<std::string> names;
  const TensorMap weights = read_safetensors(folder_ / "run/last/weights.safetensors");
  for (const auto& [name, tensor] : weights.tensors()) names.push_back(name);
  std::vector<std::string> expected = {"curiosity.fc1.bias", "curiosity.fc1.weight", "curiosity.fc2.bias",
                                       "curiosity.fc2.weight"};
  for (const std::string prefix : {"", "target."}) {
    for (const std::string layer : {"shared_0", "shared_1", "value_fc", "value_out", "advantage_fc", "advantage_out"}) {
      expected.push_back(prefix + layer + ".bias");
      expected.push_back(prefix + layer + ".weight");
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
  EXPECT_EQ(weights.at("shared_0.weight").shape, (Shape{16, 54}));
  EXPECT_EQ(weights.at("advantage_out.weight").shape, (Shape{45, 8}));
}

TEST_F(Trainer, LogsEveryRound) {
  std::vector<RoundReport> reports;
  train(
      options("run"), [&](const RoundReport& r) { reports.push_back(r); }, nullptr);
  const std::vector<json> lines = log("run");
  ASSERT_EQ(lines.size(), 6u);
  ASSERT_EQ(reports.size(), 6u);
  // epsilon falls from 1 to 0.05 over half of six rounds, the learning rate from 3e-4 to 3e-5 over all.
  const std::vector<double> epsilon = {1, 1 - 0.95 / 3, 1 - 2 * 0.95 / 3, 0.05, 0.05, 0.05};
  for (std::size_t i = 0; i < 6; ++i) {
    const json& line = lines[i];
    EXPECT_EQ(line.at("round"), i + 1);
    EXPECT_EQ(line.at("steps"), 400 * (i + 1));
    EXPECT_EQ(line.at("updates"), 5 * (i + 1));
    EXPECT_NEAR(line.at("epsilon").get<double>(), epsilon[i], 1e-12);
    EXPECT_NEAR(line.at("learning_rate").get<double>(), 3e-4 - 4.5e-5 * static_cast<double>(i), 1e-15);
    EXPECT_EQ(line.contains("validation_return"), i % 2 == 1);  // every second round
    EXPECT_TRUE(line.contains("curiosity_loss"));
    EXPECT_EQ(line.at("loss"), reports[i].loss);
    EXPECT_EQ(reports[i].rounds, 6);
    EXPECT_GT(reports[i].steps_per_second, 0);
    EXPECT_GE(reports[i].seconds_left, 0);
  }
  EXPECT_EQ(reports[5].seconds_left, 0);
}

TEST_F(Trainer, CuriosityTrainsWhenItCountsAndIsDue) {
  config_.curiosity.every = 4;
  run("every_4");
  std::vector<bool> trained;
  for (const json& line : log("every_4")) trained.push_back(line.contains("curiosity_loss"));
  EXPECT_EQ(trained, (std::vector<bool>{true, false, false, false, true, false}));
  config_.env.curiosity_weight = 0;
  run("none");
  for (const json& line : log("none")) EXPECT_FALSE(line.contains("curiosity_loss"));
}

TEST_F(Trainer, TheBestCheckpointIsThatOfTheHighestValidationReturn) {
  config_.train.rounds = 10;
  config_.train.evaluate_every = 1;
  config_.learn.learning_rate = 0.01;  // the policy changes from round to round
  config_.env.curiosity_weight = 0;
  int in_the_middle = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    config_.seed = seed;
    const std::string name = "run_" + std::to_string(seed);
    const TrainResult result = run(name);
    double best = -1e300;
    std::int64_t best_round = 0;
    for (const json& line : log(name)) {
      const double value = line.at("validation_return").get<double>();
      if (value > best) best_round = line.at("round").get<std::int64_t>();
      best = std::max(best, value);
      EXPECT_EQ(line.at("best_return"), best);
    }
    in_the_middle += best_round > 1 && best_round < 10 ? 1 : 0;
    EXPECT_EQ(result.best_return, best);
    EXPECT_EQ(result.best_round, best_round);
    const CheckpointInfo found = read_checkpoint_info(folder_ / (name + "/best"));
    EXPECT_EQ(found.round, best_round);
    EXPECT_EQ(found.best_round, best_round);
    EXPECT_EQ(found.best_return, best);
    EXPECT_EQ(info(name + "/last").at("best_round"), best_round);
    EXPECT_EQ(info(name + "/last").at("round"), 10);

    // And its weights, played again, give that return.
    const Dataset validation = prepared_split(raw(), found.recipe, Split::kValidation);
    const auto weights = online_weights(folder_ / (name + "/best"), config_, 51);
    EXPECT_EQ(mean_total_return(play_greedy(found.config, weights, validation)), best);
  }
  EXPECT_GT(in_the_middle, 0) << "every best round was the first or the last: the runs tell nothing";
}

TEST_F(Trainer, OfEqualReturnsTheFirstStaysTheBest) {
  config_.learn.learning_rate = config_.learn.learning_rate_end = 1e-30;  // the policy stays what it was
  const TrainResult result = run("run");
  EXPECT_EQ(log("run")[1].at("validation_return"), log("run")[5].at("validation_return"));
  EXPECT_EQ(result.best_round, 2);
  EXPECT_EQ(info("run/best").at("round"), 2);
}

TEST_F(Trainer, FitsTheNormaliserOnTrainingRowsOnly) {
  run("run");
  const json normaliser = info("run/last").at("normaliser");
  const Dataset all = raw().dataset;  // 800 rows: half are the training split
  ASSERT_EQ(all.bars(), 800);
  for (std::size_t column = 0; column < 51; ++column) {
    long double sum = 0, squares = 0;
    for (std::size_t row = 0; row < 400; ++row) sum += all.market[row * 51 + column];
    const long double mean = sum / 400;
    for (std::size_t row = 0; row < 400; ++row) {
      const long double difference = all.market[row * 51 + column] - mean;
      squares += difference * difference;
    }
    const double deviation = static_cast<double>(std::sqrt(squares / 400));
    // Sums of 400 numbers: 1e-14 of the largest of them, which lies within a few deviations of the mean.
    const double size = std::fabs(static_cast<double>(mean)) + deviation;
    EXPECT_NEAR(normaliser.at("mean")[column].get<double>(), static_cast<double>(mean), 1e-13 * size);
    EXPECT_NEAR(normaliser.at("deviation")[column].get<double>(), deviation, 1e-10 * deviation);
  }
  EXPECT_EQ(normaliser.at("clip"), 5.0);
}

TEST_F(Trainer, NeverSeesWhatComesAfterTheTrainingSplit) {
  run("run");
  // Other prices from the first validation bar on: row 400 of the dataset, bar 500 of the file.
  const std::string text = content("bars.csv"), other = train_test::csv_text(900, 5);
  const auto line_start = [](const std::string& csv, int line) {
    std::size_t at = 0;
    for (int i = 0; i < line; ++i) at = csv.find('\n', at) + 1;
    return at;
  };
  put(folder_ / "bars.csv", text.substr(0, line_start(text, 501)) + other.substr(line_start(other, 501)));
  run("other_future");
  expect_same_tensors(folder_ / "run/last/weights.safetensors", folder_ / "other_future/last/weights.safetensors");
  expect_same_tensors(folder_ / "run/last/state.safetensors", folder_ / "other_future/last/state.safetensors");
  EXPECT_EQ(info("run/last").at("normaliser"), info("other_future/last").at("normaliser"));
  EXPECT_NE(log("run")[1].at("validation_return"), log("other_future")[1].at("validation_return"));
}

TEST_F(Trainer, RefusesASecondRunInTheSameFolder) {
  run("run");
  const std::string log_before = content("run/log.jsonl"), last = content("run/last/weights.safetensors");
  config_.seed = 12;
  EXPECT_NE(refusal(options("run")).find("--resume"), std::string::npos);
  EXPECT_EQ(content("run/log.jsonl"), log_before);
  EXPECT_TRUE(content("run/last/weights.safetensors") == last);
  put(folder_ / "file", "mine");
  EXPECT_NE(refusal(options("file")).find("is a file"), std::string::npos);
  EXPECT_EQ(content("file"), "mine");
}

TEST_F(Trainer, WritesNothingWhenTheInputIsBad) {
  const TrainOptions good = options("run");
  TrainOptions o = good;
  o.data = {folder_ / "missing.csv"};
  EXPECT_NE(refusal_without_trace(o).find("missing.csv"), std::string::npos);
  o = good;
  o.backend = "cuda";
  EXPECT_NE(refusal_without_trace(o), "");
  o.backend = "abacus";
  EXPECT_NE(refusal_without_trace(o).find("abacus"), std::string::npos);
  o = good;
  o.config.env.episode_length = 400;  // needs 401 training bars
  EXPECT_NE(refusal_without_trace(o).find("401 bars"), std::string::npos);
  o = good;
  o.features = {folder_ / "bars.csv", folder_ / "bars.csv"};
  EXPECT_NE(refusal_without_trace(o), "");
  std::string text = content("bars.csv");
  text.replace(text.rfind(','), 1, ",-");
  put(folder_ / "bars.csv", text);
  EXPECT_NE(refusal_without_trace(good).find("volume"), std::string::npos);
  put(folder_ / "bars.csv", train_test::csv_text(120, 1));
  EXPECT_NE(refusal_without_trace(good), "");
}

TEST_F(Trainer, RefusesASplitWithoutValidationBars) {
  config_.split.validation = 0.12;  // 96 of 800 rows, all of them embargoed
  EXPECT_NE(refusal_without_trace(options("run")).find("validation"), std::string::npos);
}

TEST_F(Trainer, StopsWhenItDivergesAndKeepsTheLastCheckpoint) {
  config_.train.rounds = 50;
  config_.train.checkpoint_every = 1;
  config_.learn.learning_rate = config_.learn.learning_rate_end = 0.02;
  config_.learn.tau = 1;
  config_.learn.gamma = 1;
  config_.train.divergence_q = 20;
  const std::string message = refusal(options("run"));
  const std::size_t finished = log("run").size();
  EXPECT_GE(finished, 1u);
  EXPECT_LT(finished, 50u);
  EXPECT_NE(message.find("diverged in round " + std::to_string(finished + 1) + ":"), std::string::npos) << message;
  EXPECT_NE(message.find((folder_ / "run/last").string()), std::string::npos) << message;
  EXPECT_EQ(read_checkpoint_info(folder_ / "run/last").round, static_cast<std::int64_t>(finished));
  for (const float w : online_weights(folder_ / "run/last", config_, 51)) ASSERT_TRUE(std::isfinite(w));
}

TEST_F(Trainer, StopsAtNumbersThatAreNotFinite) {
  config_.env.reward_scale = 1e38;
  config_.learn.huber_delta = 1e38;
  const std::string message = refusal(options("run"));
  EXPECT_NE(message.find("diverged in round 1:"), std::string::npos) << message;
  EXPECT_NE(message.find("no checkpoint"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/last"));
  EXPECT_EQ(log("run").size(), 0u);
}

TEST_F(Trainer, TrainsAndBackTestsOnAUsersFeatures) {
  cpu_test::Uniform uniform(3);
  std::string text = "timestamp,mood,phase,constant\n";
  for (int t = 0; t < 900; ++t) {
    text += fmt::format("{},{},{},7\n", 1577836800 + t * 3600, uniform(), std::sin(t / 12.0));
  }
  put(folder_ / "features.csv", text);
  TrainOptions o = options("run");
  o.features = {folder_ / "features.csv"};
  o.config.split.embargo = 10;
  train(o, nullptr, nullptr);
  const CheckpointInfo found = read_checkpoint_info(folder_ / "run/last");
  EXPECT_EQ(found.recipe.feature_names, (std::vector<std::string>{"mood", "phase", "constant"}));
  EXPECT_EQ(found.recipe.normaliser.deviation[2], 0);

  const RawData data = make_raw_data({read_bars(folder_ / "bars.csv", {})}, o.features);
  EXPECT_EQ(data.dataset.bars(), 900);  // no warm-up is dropped
  check_features(data, found.recipe, "run");
  EXPECT_THROW(check_features(raw(), found.recipe, "run"), Error);
  const Dataset test = prepared_split(data, found.recipe, Split::kTest);
  EXPECT_EQ(test.bars(), 900 - 720 - 10);
  const auto traces = play_greedy(found.config, online_weights(folder_ / "run/last", found.config, 3), test);
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].rows.size(), 169u);
}

}  // namespace

}  // namespace warptape
