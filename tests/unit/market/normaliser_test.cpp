#include "market/normaliser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "market/dataset.h"
#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

using market_test::error_of;
using market_test::has_all;
using market_test::random_bars;
using nlohmann::json;

/// One segment with the given features [rows, M].
Dataset with_features(int columns, std::vector<float> values) {
  Dataset dataset;
  dataset.features = columns;
  for (int c = 0; c < columns; ++c) dataset.feature_names.push_back("f" + std::to_string(c));
  const std::size_t rows = values.size() / static_cast<std::size_t>(columns);
  dataset.market = std::move(values);
  dataset.open = dataset.high = dataset.low = dataset.close = std::vector<double>(rows, 1);
  dataset.ts_ns.resize(rows);
  dataset.segments = {{"s", 0, static_cast<std::int64_t>(rows)}};
  return dataset;
}

TEST(Normaliser, MeanAndPopulationDeviationByHand) {
  const Dataset train = with_features(2, {2, 10, 4, 10, 4, 10, 4, 30, 5, 10, 5, 10, 7, 10, 9, 30});
  const Normaliser normaliser = fit_normaliser(train, 5);
  EXPECT_EQ(normaliser.clip, 5);
  EXPECT_DOUBLE_EQ(normaliser.mean[0], 5);
  EXPECT_DOUBLE_EQ(normaliser.deviation[0], 2);
  EXPECT_DOUBLE_EQ(normaliser.mean[1], 15);
  EXPECT_DOUBLE_EQ(normaliser.deviation[1], std::sqrt(75.0));
  Dataset scaled = with_features(2, {9, 15, 5, 15 + static_cast<float>(std::sqrt(75.0))});
  apply_normaliser(normaliser, scaled);
  EXPECT_FLOAT_EQ(scaled.market[0], 2);
  EXPECT_FLOAT_EQ(scaled.market[1], 0);
  EXPECT_FLOAT_EQ(scaled.market[2], 0);
  EXPECT_FLOAT_EQ(scaled.market[3], 1);
}

TEST(Normaliser, ScaledTrainingRowsHaveMeanZeroAndDeviationOne) {
  Dataset train = make_dataset({random_bars(700, 1)}, nullptr);
  apply_normaliser(fit_normaliser(train, 1e9), train);
  const std::size_t width = 51;
  const double rows = static_cast<double>(train.bars());
  for (std::size_t c = 0; c < width; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t i = c; i < train.market.size(); i += width) {
      sum += train.market[i];
      squares += static_cast<double>(train.market[i]) * train.market[i];
    }
    // float32 keeps 6e-8 of a value, and the values are of the order of 1.
    EXPECT_NEAR(sum / rows, 0, 1e-6) << train.feature_names[c];
    EXPECT_NEAR(squares / rows, 1, 1e-6) << train.feature_names[c];
  }
}

TEST(Normaliser, AColumnThatDoesNotVaryBecomesZeroEverywhere) {
  std::vector<float> values;
  for (int i = 0; i < 1001; ++i) {
    values.push_back(0.1f);
    values.push_back(1e30f);
    values.push_back(static_cast<float>(i));
  }
  const Normaliser normaliser = fit_normaliser(with_features(3, std::move(values)), 5);
  EXPECT_EQ(normaliser.deviation[0], 0);
  EXPECT_EQ(normaliser.deviation[1], 0);
  EXPECT_GT(normaliser.deviation[2], 0);
  Dataset other = with_features(3, {0.1f, -5, 500, 77, 1e30f, 500});
  apply_normaliser(normaliser, other);
  EXPECT_EQ(other.market, (std::vector<float>{0, 0, 0, 0, 0, 0}));
}

TEST(Normaliser, TheSmallestChangeOfAFloatCounts) {
  std::vector<float> values(10'000, 1.0f);
  values[5000] = std::nextafter(1.0f, 2.0f);
  EXPECT_GT(fit_normaliser(with_features(1, std::move(values)), 5).deviation[0], 0);
}

TEST(Normaliser, Clips) {
  const Normaliser normaliser{{0}, {1}, 5};
  Dataset dataset = with_features(1, {4.5f, 6, -7, 1e30f, -1e30f, -5});
  apply_normaliser(normaliser, dataset);
  EXPECT_EQ(dataset.market, (std::vector<float>{4.5f, 5, -5, 5, -5, -5}));
}

TEST(Normaliser, OfTheTrainingSplitIsBlindToValidationAndTest) {
  std::vector<Bars> series = {random_bars(1000, 1), random_bars(800, 2, 100)};
  const SplitConfig config{0.6, 0.2, 100};
  const Dataset dataset = make_dataset(series, nullptr);
  const SplitBounds bounds = split_bounds(dataset, config);
  const Normaliser clean = fit_normaliser(take_split(dataset, bounds, Split::kTrain), 5);
  for (Bars& bars : series) {
    for (std::size_t t = 0; t < bars.close.size(); ++t) {
      if (bars.ts_ns[t] < bounds.train_end_ns) continue;
      bars.open[t] = bars.high[t] = bars.low[t] = bars.close[t] = t % 2 == 0 ? 1e6 : 1e-6;
      bars.volume[t] = 1e12;
    }
  }
  const Dataset garbage = make_dataset(series, nullptr);
  const SplitBounds same = split_bounds(garbage, config);
  EXPECT_EQ(same.train_end_ns, bounds.train_end_ns);
  const Dataset train = take_split(garbage, same, Split::kTrain);
  const Normaliser blind = fit_normaliser(train, 5);
  EXPECT_EQ(blind.mean, clean.mean);
  EXPECT_EQ(blind.deviation, clean.deviation);
  EXPECT_EQ(train.market, take_split(dataset, bounds, Split::kTrain).market);
}

TEST(Normaliser, JsonKeepsEveryBit) {
  Normaliser normaliser;
  market_test::Uniform uniform(5);
  for (int i = 0; i < 200; ++i) {
    normaliser.mean.push_back((uniform() - 0.5) * std::pow(10, 600 * uniform() - 300));
    normaliser.deviation.push_back(i % 10 == 0 ? 0 : uniform() * std::pow(10, 600 * uniform() - 300));
  }
  normaliser.mean[0] = 1.0 / 3;
  normaliser.clip = 0.1 + 0.2;
  const std::string text = normaliser_to_json(normaliser).dump();
  const Normaliser read = normaliser_from_json(json::parse(text), "normaliser.json");
  ASSERT_EQ(read.mean.size(), 200u);
  EXPECT_EQ(std::memcmp(read.mean.data(), normaliser.mean.data(), 200 * sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(read.deviation.data(), normaliser.deviation.data(), 200 * sizeof(double)), 0);
  EXPECT_EQ(read.clip, 0.30000000000000004);
}

TEST(Normaliser, JsonIsChecked) {
  const auto refused = [](const char* text) {
    return error_of([&] { normaliser_from_json(json::parse(text), "n.json"); });
  };
  EXPECT_TRUE(has_all(refused("[]"), {"n.json", "object"}));
  EXPECT_TRUE(has_all(refused(R"({"deviation": [1], "clip": 5})"), {"n.json", "'mean'"}));
  EXPECT_TRUE(has_all(refused(R"({"mean": [1, 2], "deviation": [1], "clip": 5})"), {"2 means", "1 deviations"}));
  EXPECT_TRUE(has_all(refused(R"({"mean": [1, "x"], "deviation": [1, 1], "clip": 5})"), {"'mean'[1]", "\"x\""}));
  EXPECT_TRUE(has_all(refused(R"({"mean": [1], "deviation": [-1], "clip": 5})"), {"'deviation'[0]", "-1"}));
  EXPECT_TRUE(has_all(refused(R"({"mean": [1], "deviation": [1], "clip": 0})"), {"'clip'"}));
  EXPECT_TRUE(has_all(refused(R"({"mean": [1], "deviation": [1]})"), {"'clip'"}));
}

}  // namespace
}  // namespace warptape
