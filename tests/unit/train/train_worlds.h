// What the tests of training share: made-up bars in files, a configuration that trains in a moment, runs.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "unit/backend/cpu/test_worlds.h"
#include "unit/io/temp_folder.h"
#include "warptape/error.h"
#include "warptape/trainer.h"

namespace warptape::train_test {

using nlohmann::json;
using testing::content_of;
using testing::message_of;
using testing::put;
using testing::TempFolder;

/// Hourly bars: a slow wave in noise, with volume. `wild` is the largest relative change of a close.
inline std::string csv_text(std::int64_t bars, std::uint64_t seed, double wild = 0.01) {
  cpu_test::Uniform uniform(seed);
  std::string text = "timestamp,open,high,low,close,volume\n";
  double close = 100;
  for (std::int64_t t = 0; t < bars; ++t) {
    const double open = close;
    close = open * (1 + wild * (0.5 * std::sin(static_cast<double>(t) / 12) + uniform() - 0.5));
    const double high = std::max(open, close) * (1 + 0.002 * uniform());
    const double low = std::min(open, close) * (1 - 0.002 * uniform());
    text += fmt::format("{},{:.10f},{:.10f},{:.10f},{:.10f},{}\n", 1577836800 + t * 3600, open, high, low, close,
                        static_cast<int>(1000 * uniform()));
  }
  return text;
}

/// Six rounds of 8 × 50 steps on 900 bars: 800 rows behind the warm-up, 400 of them to train on.
inline Config small_config() {
  Config c = Config::defaults(RuleSet::kMarket);
  c.seed = 11;
  c.threads = 1;
  c.net = {16, 16, 8, 8, 8};
  c.collect.episodes = 8;
  c.collect.steps = 50;
  c.env.episode_length = 40;
  c.env.curiosity_weight = 0.5;
  c.split.train = 0.5;
  c.split.validation = 0.3;
  c.replay.capacity = 1000;
  c.collect.epsilon_start = 1;
  c.collect.epsilon_end = 0.05;
  c.collect.epsilon_decay = 0.5;
  c.learn.batch = 32;
  c.learn.learning_rate = 3e-4;
  c.learn.learning_rate_end = 3e-5;
  c.curiosity.batches = 2;
  c.curiosity.batch = 32;
  c.train.rounds = 6;
  c.train.updates_per_round = 5;
  c.train.evaluate_every = 2;
  c.train.checkpoint_every = 3;
  return c;
}

/// A folder with bars, and runs beside them.
class TrainTest : public ::testing::Test {
 protected:
  TrainTest() { put(folder_ / "bars.csv", csv_text(900, 1)); }

  TrainOptions options(const std::string& run) const {
    TrainOptions o;
    o.config = config_;
    o.data = {folder_ / "bars.csv"};
    o.out = folder_ / run;
    o.backend = "cpu";
    return o;
  }

  TrainResult run(const std::string& name) const { return train(options(name), nullptr, nullptr); }
  /// Stops after so many rounds of this process.
  static TrainResult run_rounds(const TrainOptions& o, int rounds) {
    return train(o, nullptr, [left = rounds]() mutable { return --left == 0; });
  }
  static std::string refusal(const TrainOptions& o) {
    return message_of<Error>([&] { train(o, nullptr, nullptr); });
  }

  std::string content(const std::string& name) const { return content_of(folder_ / name); }
  json info(const std::string& checkpoint) const { return json::parse(content(checkpoint + "/checkpoint.json")); }
  std::vector<json> log(const std::string& run) const {
    std::vector<json> lines;
    const std::string text = content(run + "/log.jsonl");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      lines.push_back(json::parse(text.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }

  TempFolder folder_;
  Config config_ = small_config();
};

}  // namespace warptape::train_test
