#include "market/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "market/features.h"
#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

using market_test::error_of;
using market_test::has_all;
using market_test::kHourNs;
using market_test::kStartNs;
using market_test::random_bars;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A matrix whose value says which bar it is of.
FeatureMatrix numbered(const Bars& bars) {
  FeatureMatrix matrix{{"index"}, 1, {}};
  for (std::int64_t t = 0; t < bars.size(); ++t) matrix.values.push_back(static_cast<float>(t));
  return matrix;
}

Dataset numbered_dataset(const std::vector<Bars>& series) {
  std::vector<FeatureMatrix> matrices;
  for (const Bars& bars : series) matrices.push_back(numbered(bars));
  return make_dataset(series, &matrices);
}

SplitConfig config_of(double train, double validation, std::int64_t embargo) {
  return {train, validation, embargo};
}

/// (segment's name, time) of every row.
std::set<std::pair<std::string, std::int64_t>> rows_of(const Dataset& dataset) {
  std::set<std::pair<std::string, std::int64_t>> rows;
  for (const Segment& segment : dataset.segments) {
    for (std::int64_t i = segment.first; i < segment.first + segment.count; ++i) {
      rows.emplace(segment.name, dataset.ts_ns[static_cast<std::size_t>(i)]);
    }
  }
  return rows;
}

TEST(MakeDataset, DropsTheWarmUpOfEachSeries) {
  const std::vector<Bars> series = {random_bars(150, 1), random_bars(130, 2)};
  const Dataset dataset = make_dataset(series, nullptr);
  EXPECT_EQ(dataset.features, 51);
  EXPECT_EQ(dataset.feature_names, builtin_feature_names());
  ASSERT_EQ(dataset.segments.size(), 2u);
  EXPECT_EQ(dataset.segments[0].name, "series_1");
  EXPECT_EQ(dataset.segments[0].first, 0);
  EXPECT_EQ(dataset.segments[0].count, 50);
  EXPECT_EQ(dataset.segments[1].first, 50);
  EXPECT_EQ(dataset.segments[1].count, 30);
  ASSERT_EQ(dataset.bars(), 80);
  ASSERT_EQ(dataset.market.size(), 80u * 51);
  for (const std::size_t i : {0, 29}) {
    EXPECT_EQ(dataset.close[50 + i], series[1].close[100 + i]);
    EXPECT_EQ(dataset.open[50 + i], series[1].open[100 + i]);
    EXPECT_EQ(dataset.high[50 + i], series[1].high[100 + i]);
    EXPECT_EQ(dataset.low[50 + i], series[1].low[100 + i]);
    EXPECT_EQ(dataset.ts_ns[50 + i], series[1].ts_ns[100 + i]);
    // The first column, ln(c/c1), of the bar itself: features and prices are not shifted against each other.
    EXPECT_FLOAT_EQ(dataset.market[(50 + i) * 51],
                    static_cast<float>(std::log(series[1].close[100 + i] / series[1].close[99 + i])));
  }
}

TEST(MakeDataset, TakesAUsersMatrixWhole) {
  const std::vector<Bars> series = {random_bars(5, 1), random_bars(3, 2)};
  const Dataset dataset = numbered_dataset(series);
  EXPECT_EQ(dataset.features, 1);
  EXPECT_EQ(dataset.market, (std::vector<float>{0, 1, 2, 3, 4, 0, 1, 2}));
  EXPECT_EQ(dataset.close[5], series[1].close[0]);
  EXPECT_EQ(longest_look_back(dataset), 0);
}

TEST(MakeDataset, RefusesTooFewBars) {
  EXPECT_TRUE(has_all(error_of([] {
                        make_dataset({random_bars(200, 1), random_bars(101, 2)}, nullptr);
                      }),
                      {"series_2", "101 bars", "102", "100"}));
  EXPECT_EQ(make_dataset({random_bars(102, 2)}, nullptr).bars(), 2);
  EXPECT_TRUE(has_all(error_of([] { numbered_dataset({random_bars(1, 3)}); }), {"series_3", "1 bar,", "2"}));
}

TEST(MakeDataset, RefusesMatricesOfDifferentColumns) {
  const std::vector<Bars> series = {random_bars(2, 1), random_bars(2, 2)};
  const std::vector<FeatureMatrix> renamed = {{{"a"}, 1, {0, 0}}, {{"b"}, 1, {0, 0}}};
  EXPECT_TRUE(has_all(error_of([&] { make_dataset(series, &renamed); }), {"series_2", "series_1", "'b'", "'a'"}));
  const std::vector<FeatureMatrix> wider = {{{"a"}, 1, {0, 0}}, {{"a", "b"}, 2, {0, 0, 0, 0}}};
  EXPECT_TRUE(has_all(error_of([&] { make_dataset(series, &wider); }), {"series_2", "2 columns against 1"}));
}

TEST(Splits, CutOneSeriesAtItsFractionsAndCountTheEmbargo) {
  const Dataset dataset = numbered_dataset({random_bars(1000, 1)});
  const SplitBounds bounds = split_bounds(dataset, config_of(0.7, 0.15, 20));
  EXPECT_EQ(bounds.embargo, 20);
  EXPECT_EQ(bounds.train_end_ns, kStartNs + 700 * kHourNs);
  EXPECT_EQ(bounds.validation_begin_ns, kStartNs + 720 * kHourNs);
  EXPECT_EQ(bounds.validation_end_ns, kStartNs + 850 * kHourNs);
  EXPECT_EQ(bounds.test_begin_ns, kStartNs + 870 * kHourNs);
  const Dataset train = take_split(dataset, bounds, Split::kTrain);
  const Dataset validation = take_split(dataset, bounds, Split::kValidation);
  const Dataset test = take_split(dataset, bounds, Split::kTest);
  EXPECT_EQ(train.bars(), 700);
  EXPECT_EQ(train.market.back(), 699);
  EXPECT_EQ(validation.bars(), 130);
  EXPECT_EQ(validation.market.front(), 720);
  EXPECT_EQ(validation.market.back(), 849);
  EXPECT_EQ(test.bars(), 130);
  EXPECT_EQ(test.market.front(), 870);
  EXPECT_EQ(test.market.back(), 999);
  EXPECT_EQ(take_split(dataset, bounds, Split::kAll).market, dataset.market);
  EXPECT_EQ(validation.close.front(), dataset.close[720]);
  EXPECT_EQ(validation.ts_ns.front(), bounds.validation_begin_ns);
}

TEST(Splits, TheEmbargoIsAtLeastTheLookBackOfBuiltInFeatures) {
  const Dataset dataset = make_dataset({random_bars(1100, 1)}, nullptr);
  EXPECT_EQ(longest_look_back(dataset), 100);
  EXPECT_EQ(split_bounds(dataset, config_of(0.5, 0.25, 0)).embargo, 100);
  EXPECT_EQ(split_bounds(dataset, config_of(0.5, 0.25, 130)).embargo, 130);
  const SplitBounds bounds = split_bounds(dataset, config_of(0.5, 0.25, 0));
  EXPECT_EQ(take_split(dataset, bounds, Split::kTrain).bars(), 500);  // of the 1000 behind the warm-up
  EXPECT_EQ(take_split(dataset, bounds, Split::kValidation).bars(), 150);
  EXPECT_EQ(take_split(dataset, bounds, Split::kTest).bars(), 150);
}

TEST(Splits, CutAllSegmentsAtTheSameTime) {
  // 600 hours, and 200 that begin 300 hours later: of the 800 bars, half lie before hour 350 (350 and 50 of them).
  const std::vector<Bars> series = {random_bars(600, 1), random_bars(200, 2, 300)};
  const Dataset dataset = numbered_dataset(series);
  const SplitBounds bounds = split_bounds(dataset, config_of(0.5, 0.25, 10));
  EXPECT_EQ(bounds.train_end_ns, kStartNs + 350 * kHourNs);
  EXPECT_EQ(bounds.validation_end_ns, kStartNs + 450 * kHourNs);
  const Dataset train = take_split(dataset, bounds, Split::kTrain);
  ASSERT_EQ(train.segments.size(), 2u);
  EXPECT_EQ(train.segments[0].count, 350);
  EXPECT_EQ(train.segments[1].count, 50);
  EXPECT_EQ(train.segments[1].first, 350);
  const Dataset validation = take_split(dataset, bounds, Split::kValidation);
  ASSERT_EQ(validation.segments.size(), 2u);
  EXPECT_EQ(validation.segments[0].count, 90);
  EXPECT_EQ(validation.segments[1].count, 90);
  const Dataset test = take_split(dataset, bounds, Split::kTest);
  EXPECT_EQ(test.segments[0].count, 140);
  EXPECT_EQ(test.segments[1].count, 40);
}

TEST(Splits, NoRowIsInTwoAndNoBarOfTheEmbargoInAny) {
  const Dataset dataset = numbered_dataset({random_bars(500, 1), random_bars(377, 2, 55), random_bars(90, 3, 333)});
  const SplitBounds bounds = split_bounds(dataset, config_of(0.6, 0.2, 25));
  std::map<std::pair<std::string, std::int64_t>, int> seen;
  std::size_t total = 0;
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    for (const auto& row : rows_of(take_split(dataset, bounds, split))) {
      ++seen[row];
      ++total;
    }
  }
  for (const auto& [row, count] : seen) EXPECT_EQ(count, 1) << row.first;
  // Three segments lose 25 bars behind each of the two cuts, as all three reach across both.
  EXPECT_EQ(total, 500u + 377 + 90 - 3 * 2 * 25);
  const Dataset train = take_split(dataset, bounds, Split::kTrain);
  const std::int64_t last_train = *std::max_element(train.ts_ns.begin(), train.ts_ns.end());
  EXPECT_LT(last_train, bounds.train_end_ns);
  EXPECT_LE(last_train + 25 * kHourNs, bounds.validation_begin_ns);
}

TEST(Splits, LeaveOutASegmentThatHasNoStepInIt) {
  // The second series begins at hour 90 of 100, behind both cuts of 0.5 and 0.8.
  const Dataset dataset = numbered_dataset({random_bars(100, 1), random_bars(5, 2, 90)});
  const SplitBounds bounds = split_bounds(dataset, config_of(0.5, 0.3, 4));
  EXPECT_EQ(take_split(dataset, bounds, Split::kTrain).segments.size(), 1u);
  const Dataset test = take_split(dataset, bounds, Split::kTest);
  ASSERT_EQ(test.segments.size(), 1u);  // one bar is left of the second behind its embargo: too few for a step
  EXPECT_EQ(test.segments[0].name, "series_1");
}

TEST(Splits, RefuseTooFewBarsAndSayWhatToChange) {
  const Dataset dataset = numbered_dataset({random_bars(100, 1)});
  const SplitBounds bounds = split_bounds(dataset, config_of(0.7, 0.15, 20));
  EXPECT_TRUE(has_all(error_of([&] { take_split(dataset, bounds, Split::kTrain, 501); }),
                      {"train", "70 bars", "501", "split.train", "env.episode_length"}));
  EXPECT_EQ(take_split(dataset, bounds, Split::kTrain, 70).bars(), 70);
  EXPECT_TRUE(has_all(error_of([&] { take_split(dataset, bounds, Split::kValidation); }),
                      {"validation", "0 bars", "embargo of 20", "split.validation", "split.embargo"}));
  EXPECT_TRUE(has_all(error_of([&] { take_split(dataset, bounds, Split::kTest); }), {"test", "split.embargo"}));
}

TEST(Splits, FractionsAtTheirEnds) {
  const Dataset dataset = numbered_dataset({random_bars(100, 1)});
  const SplitBounds bounds = split_bounds(dataset, config_of(1.0, 0, 5));
  EXPECT_EQ(bounds.train_end_ns, kNever);
  EXPECT_EQ(bounds.validation_begin_ns, kNever);
  EXPECT_EQ(bounds.test_begin_ns, kNever);
  EXPECT_EQ(take_split(dataset, bounds, Split::kTrain).bars(), 100);
  EXPECT_TRUE(has_all(error_of([&] { split_bounds(dataset, config_of(0.8, 0.3, 5)); }), {"split.train", "0.8"}));
  EXPECT_TRUE(has_all(error_of([&] { split_bounds(dataset, config_of(-0.1, 0.3, 5)); }), {"split.train", "-0.1"}));
}

TEST(Splits, NamesAreReadBack) {
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest, Split::kAll}) {
    EXPECT_EQ(parse_split(split_name(split)), split);
  }
  EXPECT_STREQ(split_name(Split::kValidation), "validation");
  EXPECT_TRUE(has_all(error_of([] { parse_split("valid"); }), {"'valid'", "validation"}));
}

TEST(UsableStarts, AnEpisodeOfStepsCoversOneBarMore) {
  const Dataset dataset = numbered_dataset({random_bars(10, 1), random_bars(4, 2)});
  EXPECT_EQ(usable_starts(dataset, 9), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(usable_starts(dataset, 3), (std::vector<std::int64_t>{7, 1}));
  EXPECT_EQ(usable_starts(dataset, 10), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(error_of([&] { require_usable_starts(dataset, 9); }), "");
  EXPECT_TRUE(
      has_all(error_of([&] { require_usable_starts(dataset, 10); }),
              {"too few bars for the look-back plus one episode", "series_1", "10 bars", "11", "env.episode_length"}));
}

}  // namespace
}  // namespace warptape
