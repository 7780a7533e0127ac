// `simulate` as the step's calculator: the golden examples of docs/domain.md, section 7, from CSV to CSV.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/cli/cli_inputs.h"
#include "unit/cli/run_program.h"

namespace warptape {
namespace {

using cli_test::Outcome;

/// Section 9 of docs/domain.md.
constexpr const char* kStepColumns =
    "bar,time,action,price,next_price,position,cash,equity,next_equity,cost,cumulative_cost,entry_price,barrier_upper,"
    "barrier_lower,barrier_label,fill_price,reward,reward_return,reward_risk,reward_diversity,reward_curiosity,"
    "terminal,truncated";

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

/// steps.csv, by row and column name.
class Steps {
 public:
  explicit Steps(const std::string& text) {
    std::istringstream in(text);
    std::getline(in, header);
    columns_ = split(header);
    for (std::string line; std::getline(in, line);) rows_.push_back(split(line));
  }

  std::size_t size() const { return rows_.size(); }
  const std::string& text(std::size_t row, const std::string& column) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == column) return rows_.at(row).at(i);
    }
    throw std::out_of_range("no column " + column);
  }
  double number(std::size_t row, const std::string& column) const {
    return std::strtod(text(row, column).c_str(), nullptr);
  }

  std::string header;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

class CliSimulate : public ::testing::Test {
 protected:
  /// Bars of one price each, a day apart.
  void put_closes(const std::vector<std::string>& closes) {
    std::string text = "time,close\n";
    int day = 0;
    for (const std::string& close : closes) text += fmt::format("{},{}\n", 1577836800 + 86400 * day++, close);
    desk.put("bars.csv", text);
  }

  /// Plays exposures, one order type and one urgency, from capital 1000 and with `settings`.
  Steps play(const std::string& exposures, const std::vector<std::string>& settings = {},
             const std::vector<std::string>& options = {}) {
    desk.put("actions.csv", "exposure\n" + exposures);
    std::vector<std::string> words = {"simulate",    "--data", "bars.csv", "--actions",
                                      "actions.csv", "--out",  "steps.csv"};
    for (const char* setting : {"env.initial_capital=1000", "env.order_types=['market']", "env.urgency_cost=[1]"}) {
      words.insert(words.end(), {"--set", setting});
    }
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), options.begin(), options.end());
    printed = desk.run_well(words);
    return Steps(desk.content("steps.csv"));
  }

  cli_test::Desk desk;
  Outcome printed;
};

TEST_F(CliSimulate, TheHeaderIsThatOfTheDomain) {
  put_closes({"100", "101"});
  EXPECT_EQ(play("1\n").header, kStepColumns);
  EXPECT_EQ(play("1\n", {}, {"--rules", "classic"}).header, kStepColumns);
}

TEST_F(CliSimulate, ARowTellsBarTimeAndAction) {
  put_closes({"100", "101", "102"});
  const Steps steps = play("1\n-0.5\n");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps.text(0, "bar"), "0");
  EXPECT_EQ(steps.text(1, "bar"), "1");
  EXPECT_EQ(steps.text(1, "time"), "2020-01-02T00:00:00Z");
  EXPECT_EQ(steps.text(0, "action"), "4");
  EXPECT_EQ(steps.text(1, "action"), "1");
  EXPECT_EQ(printed.err, "");
}

TEST_F(CliSimulate, BarriersOfAShortAreMirrored) {
  put_closes({"100", "100"});
  const Steps steps = play("-1\n", {"env.barrier_stop_bps=250", "env.barrier_profit_bps=500"});
  EXPECT_EQ(steps.number(0, "barrier_upper"), 102.5);
  EXPECT_EQ(steps.number(0, "barrier_lower"), 95);
  EXPECT_EQ(steps.number(0, "entry_price"), 100);
}

TEST_F(CliSimulate, CostsOfAReversal) {
  put_closes({"100", "100", "100"});
  const Steps steps = play("1\n-1\n", {"env.cost_market=0.001"});
  // The example is given to six decimals.
  EXPECT_NEAR(steps.number(0, "next_equity"), 999.000999, 5e-7);
  EXPECT_NEAR(steps.number(1, "next_equity"), 997.004993, 5e-7);
  EXPECT_NEAR(steps.number(1, "position"), -9.970050, 5e-7);
}

TEST_F(CliSimulate, HalvingAPositionCostsItsRate) {
  put_closes({"100", "100", "100"});
  const Steps steps = play("1\n0.5\n", {"env.cost_market=0.001", "env.leverage=2"});
  EXPECT_NEAR(steps.number(0, "position"), 10, 1e-12);
  EXPECT_NEAR(steps.number(1, "cost"), 0.50, 1e-12);  // 5 units at 100, 0.1 %; rounding of a few ulp
}

TEST_F(CliSimulate, AStopGappedPastFillsAtTheOpen) {
  desk.put("bars.csv",
           "time,open,high,low,close\n2020-01-01,100,100,100,100\n2020-01-02,85,86,84,85\n2020-01-03,85,85,85,85\n");
  const Steps steps = play("1\n1\n", {"env.cost_market=0", "env.barrier_stop_bps=250"});
  EXPECT_EQ(steps.number(0, "fill_price"), 85);
  EXPECT_EQ(steps.text(0, "barrier_label"), "-1");
  EXPECT_EQ(steps.number(0, "next_equity"), 850);
  EXPECT_EQ(steps.number(0, "position"), 0);
  EXPECT_EQ(steps.text(0, "terminal"), "0");
  EXPECT_EQ(steps.size(), 2u) << "the episode goes on";
}

TEST_F(CliSimulate, AChainCompounds) {
  put_closes({"100", "110", "121", "133.1"});
  const std::vector<std::string> settings = {"env.cost_market=0", "env.episode_length=2"};
  const Steps steps = play("1\n1\n1\n", settings, {"--continue"});
  ASSERT_EQ(steps.size(), 3u);
  const double equities[] = {1100, 1210, 1331};
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_DOUBLE_EQ(steps.number(row, "next_equity"), equities[row]);
    EXPECT_EQ(steps.number(row, "position"), 10);
  }
  EXPECT_EQ(steps.text(1, "truncated"), "1");
  // Without --continue the first end of an episode is the end.
  EXPECT_EQ(play("1\n1\n1\n", settings).size(), 2u);
}

TEST_F(CliSimulate, FileOfClosesHasBarsOfOnePrice) {
  // From 100 to 80 with a stop at 97.5: with open = close = 80 the fill is 80.
  put_closes({"100", "80"});
  EXPECT_EQ(play("1\n", {"env.barrier_stop_bps=250"}).number(0, "fill_price"), 80);
}

TEST_F(CliSimulate, ClassicShortFromFlatIsLabelledProfitAtOnce) {
  put_closes({"100", "101", "102"});
  const Steps steps = play("-1\n-1\n", {"env.cost_market=0"}, {"--rules", "classic"});
  EXPECT_EQ(steps.text(0, "barrier_label"), "1");
  EXPECT_EQ(steps.number(0, "entry_price"), 0);
  EXPECT_EQ(steps.text(0, "terminal"), "1");
  EXPECT_EQ(steps.size(), 1u);
  // Equity 1000 → 990: return −1 %, times 1 + 0.5 for the label; minus 0.5 · max(0, 0 − 0.8) for no position yet.
  EXPECT_NEAR(steps.number(0, "reward"), -0.015, 1e-9);  // float32: 1e-9 is an ulp of it
}

TEST_F(CliSimulate, MarketMoneyHasSeventeenDigitsAndReadsBackToTheBit) {
  put_closes({"100.1", "33.3", "77.7"});
  const Steps steps = play("1\n-0.5\n", {"env.cost_market=0.0007"});
  EXPECT_EQ(steps.text(0, "price"), "100.09999999999999");  // printf's %.17g of 100.1
  for (std::size_t row = 0; row < 2; ++row) {
    const double position = steps.number(row, "position"), cash = steps.number(row, "cash");
    // Marking to market is one product and one sum: any digit lost would show.
    EXPECT_EQ(cash + position * steps.number(row, "next_price"), steps.number(row, "next_equity"));
    for (const char* column : {"position", "cash", "next_equity", "cost", "reward"}) {
      char again[64];
      std::snprintf(again, sizeof again, "%.17g", steps.number(row, column));
      EXPECT_EQ(steps.text(row, column), again) << column;
    }
  }
  EXPECT_EQ(steps.number(1, "equity"), steps.number(0, "next_equity"));
}

TEST_F(CliSimulate, ClassicMoneyHasNineDigitsAndReadsBackToTheBit) {
  put_closes({"100.1", "33.3", "77.7"});
  const Steps steps =
      play("1\n0.5\n", {"env.cost_market=0.0007", "env.barrier_stop_bps=9999", "env.barrier_profit_bps=9999"},
           {"--rules", "classic"});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps.text(0, "price"), "100.099998");  // printf's %.9g of the float nearest to 100.1
  for (std::size_t row = 0; row < 2; ++row) {
    const auto number = [&](const char* column) { return std::strtof(steps.text(row, column).c_str(), nullptr); };
    const float product = number("position") * number("next_price");
    EXPECT_EQ(number("cash") + product, number("next_equity"));
    for (const char* column : {"position", "cash", "next_equity", "cost", "reward"}) {
      char again[64];
      std::snprintf(again, sizeof again, "%.9g", static_cast<double>(number(column)));
      EXPECT_EQ(steps.text(row, column), again) << column;
    }
  }
}

TEST_F(CliSimulate, ThereIsNoTimeLimitUnlessOneIsGiven) {
  desk.put("bars.csv", cli_test::bars_csv(700));
  std::string exposures;
  for (int i = 0; i < 650; ++i) exposures += "1\n";
  EXPECT_EQ(play(exposures).size(), 650u);  // beyond the 500 that episodes have by default

  const Steps limited = play(exposures, {"env.episode_length=500"});  // the default, but asked for
  EXPECT_EQ(limited.size(), 500u);
  EXPECT_EQ(limited.text(499, "truncated"), "1");
  EXPECT_EQ(limited.text(498, "truncated"), "0");

  desk.put("limit.toml", "[env]\nepisode_length = 30\n");
  EXPECT_EQ(play(exposures, {}, {"--config", "limit.toml"}).size(), 30u);
}

TEST_F(CliSimulate, TheEndOfTheDataTruncatesAndTheEndOfTheActionsDoesNot) {
  put_closes({"100", "101", "102", "103"});
  const Steps all = play("1\n1\n1\n1\n1\n");  // two more than there are steps
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.text(2, "truncated"), "1");
  EXPECT_EQ(all.text(2, "terminal"), "0");
  EXPECT_EQ(all.text(1, "truncated"), "0");

  const Steps two = play("1\n1\n");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two.text(1, "truncated"), "0");
  EXPECT_EQ(two.text(1, "terminal"), "0");
}

TEST_F(CliSimulate, RuinIsTerminalAndEndsTheChain) {
  put_closes({"100", "50", "50", "50"});
  const Steps steps = play("1\n1\n1\n", {"env.cost_market=0", "env.leverage=2", "env.max_exposure=2"}, {"--continue"});
  ASSERT_EQ(steps.size(), 1u);  // 20 units bought with 1000 borrowed, gone at 50
  EXPECT_EQ(steps.number(0, "next_equity"), 0);
  EXPECT_EQ(steps.text(0, "terminal"), "1");
  EXPECT_EQ(steps.text(0, "truncated"), "0");
  EXPECT_EQ(steps.number(0, "reward"), -1);
}

TEST_F(CliSimulate, BeginsAtTheFirstBarAskedFor) {
  put_closes({"100", "101", "102", "103"});
  const Steps steps = play("1\n", {}, {"--first-bar", "2"});
  EXPECT_EQ(steps.text(0, "bar"), "2");
  EXPECT_EQ(steps.number(0, "price"), 102);
  EXPECT_EQ(steps.text(0, "truncated"), "1");
}

TEST_F(CliSimulate, ActionsByNameAndByIndexAreTheSame) {
  desk.put("bars.csv", cli_test::bars_csv(5));
  const std::vector<std::string> words = {"simulate",    "--data", "bars.csv", "--actions",
                                          "actions.csv", "--out",  "steps.csv"};
  desk.put("actions.csv", "order,urgency,exposure\nlimit_maker,aggressive,-0.50\nioc,patient,1\n");
  desk.run_well(words);
  const std::string named = desk.content("steps.csv");
  desk.put("actions.csv", "14\n42\n");  // (1·3 + 1)·3 + 2 and (4·3 + 2)·3 + 0
  desk.run_well(words);
  EXPECT_EQ(named, desk.content("steps.csv"));
  EXPECT_EQ(Steps(named).text(0, "action"), "14");
}

}  // namespace
}  // namespace warptape
