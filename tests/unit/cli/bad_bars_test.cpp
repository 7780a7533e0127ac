// Section 8 of docs/domain.md for every command that reads bars: each says what is wrong and where, and writes nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "unit/cli/cli_inputs.h"
#include "unit/cli/run_program.h"

namespace warptape {
namespace {

using cli_test::Desk;
using cli_test::Lines;
using cli_test::set_field;

/// A desk on which every command would succeed with good bars.
class BarsDesk : public ::testing::Test {
 protected:
  void SetUp() override {
    desk.put("good.csv", cli_test::bars_csv(cli_test::kBars));
    desk.put("tiny.toml", cli_test::kTinyConfig);
    desk.put("actions.csv", "0\n2\n");
  }

  /// The command over a file of bars, writing to "out".
  std::vector<std::string> reading(const std::string& command, const std::string& bars) {
    if (command == "backtest") {
      if (!desk.has("run")) cli_test::put_trained_run(desk);
      return {"backtest", "--run", "run", "--data", bars, "--out", "out"};
    }
    std::vector<std::string> words = {command, "--data", bars, "--out", "out"};
    if (command != "features") words.insert(words.end(), {"--config", "tiny.toml"});
    if (command == "simulate") words.insert(words.end(), {"--actions", "actions.csv"});
    return words;
  }

  Desk desk;
};

/// A mistake in a file of bars, and what the message must name.
struct Fault {
  const char* name;
  std::function<void(Lines&)> make;
  std::vector<std::string> words;
};

std::vector<Fault> faults() {
  return {
      {"NoClose", [](Lines& l) { l[0] = "time,open,high,low,settle,volume"; }, {"bad.csv", "close", "settle"}},
      {"NoTime", [](Lines& l) { l[0] = "row,open,high,low,close,volume"; }, {"bad.csv", "time", "row"}},
      {"NoLow", [](Lines& l) { l[0] = "time,open,high,lowest,close,volume"; }, {"bad.csv", "low", "lowest"}},
      {"UnreadableTime",
       [](Lines& l) { set_field(l, 7, 0, "03/04/2020"); },
       {"bad.csv", "line 7", "'time'", "'03/04/"}},
      {"MixedTimes", [](Lines& l) { set_field(l, 5, 0, "soon"); }, {"bad.csv", "line 5", "'time'", "'soon'"}},
      {"OutOfOrder",
       [](Lines& l) { std::swap(l[9], l[10]); },
       {"bad.csv", "line 11", "--sort", "2020-01-01T08:00:00Z"}},
      {"RepeatedTime",
       [](Lines& l) { l.insert(l.begin() + 9, l[9]); },
       {"bad.csv", "10 and 11", "--on-duplicate keep-last", "2020-01-01T08:00:00Z"}},
      {"Nan", [](Lines& l) { set_field(l, 400, 4, "nan"); }, {"bad.csv", "line 400", "'close'", "'nan'"}},
      {"Infinity", [](Lines& l) { set_field(l, 12, 2, "inf"); }, {"bad.csv", "line 12", "'high'", "'inf'"}},
      {"EmptyPrice", [](Lines& l) { set_field(l, 12, 1, ""); }, {"bad.csv", "line 12", "'open'", "empty"}},
      {"ZeroPrice", [](Lines& l) { set_field(l, 13, 3, "0"); }, {"bad.csv", "line 13", "'low'", "'0'"}},
      {"NegativePrice", [](Lines& l) { set_field(l, 13, 4, "-5"); }, {"bad.csv", "line 13", "'close'", "'-5'"}},
      {"HighBelowLow", [](Lines& l) { set_field(l, 14, 2, "50"); }, {"bad.csv", "line 14", "'high'", "50", "low"}},
      {"ShortRow", [](Lines& l) { l[20] = "1577908800,100,101"; }, {"bad.csv", "line 21", "3 fields"}},
      {"NoRows", [](Lines& l) { l.resize(1); }, {"bad.csv", "no rows"}},
      {"Empty", [](Lines& l) { l.clear(); }, {"bad.csv", "empty"}},
  };
}

class CliBadBars : public BarsDesk, public ::testing::WithParamInterface<std::tuple<Fault, const char*>> {};

TEST_P(CliBadBars, AreRefused) {
  const auto& [fault, command] = GetParam();
  Lines lines = cli_test::bar_lines(cli_test::kBars);
  fault.make(lines);
  desk.put("bad.csv", cli_test::joined(lines));
  desk.expect_refused(reading(command, "bad.csv"), fault.words);
  EXPECT_FALSE(desk.has("out"));
}

INSTANTIATE_TEST_SUITE_P(Every, CliBadBars,
                         ::testing::Combine(::testing::ValuesIn(faults()),
                                            ::testing::Values("train", "backtest", "collect", "simulate", "features")),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" + std::get<1>(test.param);
                         });

class CliBars : public BarsDesk, public ::testing::WithParamInterface<const char*> {};

TEST_P(CliBars, AMissingFileIsNamed) {
  desk.expect_refused(reading(GetParam(), "none.csv"), {"none.csv", "No such file"});
}

TEST_P(CliBars, AFolderIsNotAFileOfBars) {
  desk.expect_refused(reading(GetParam(), "."), {"'.'", "directory"});
}

/// The numbers of a safetensors file: its header holds the configuration, which names --sort.
std::string tensor_bytes(const std::string& file) {
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  return file.substr(sizeof header + header);
}

/// What a run over a file made, byte for byte.
std::string made(const Desk& desk) {
  if (desk.has("out/equity.csv")) return desk.content("out/equity.csv");
  if (desk.has("out/last")) return tensor_bytes(desk.content("out/last/weights.safetensors"));
  const std::string file = desk.content("out");
  return file.starts_with("bar,") || file.starts_with("time,") ? file : tensor_bytes(file);
}

TEST_P(CliBars, SortingMendsTheOrderAndSaysHowManyRows) {
  Lines lines = cli_test::bar_lines(cli_test::kBars);
  std::swap(lines[9], lines[10]);
  std::swap(lines[30], lines[31]);
  desk.put("bad.csv", cli_test::joined(lines));
  std::vector<std::string> words = reading(GetParam(), "bad.csv");
  words.push_back("--sort");
  cli_test::expect_contains(desk.run_well(words).err, {"bad.csv", "2 rows", "sorted"});
  const std::string mended = made(desk);
  std::filesystem::remove_all(desk.path() / "out");
  desk.run_well(reading(GetParam(), "good.csv"));
  EXPECT_FALSE(mended.empty());
  EXPECT_TRUE(mended == made(desk)) << "the mended file does not give what the good one gives";
}

TEST_P(CliBars, KeepingTheLastMendsRepeatedTimesAndSaysHowMany) {
  Lines lines = cli_test::bar_lines(cli_test::kBars);
  for (const int row : {50, 20, 8}) {  // from behind, so that the rows before stay where they are
    Lines::value_type wrong = lines[static_cast<std::size_t>(row)];
    lines.insert(lines.begin() + row, wrong);
    for (const int price : {1, 2, 3, 4}) set_field(lines, row + 1, price, "50");
  }
  desk.put("bad.csv", cli_test::joined(lines));
  std::vector<std::string> words = reading(GetParam(), "bad.csv");
  words.insert(words.end(), {"--on-duplicate", "keep-last"});
  cli_test::expect_contains(desk.run_well(words).err, {"bad.csv", "3 rows", "last"});
  const std::string mended = made(desk);
  std::filesystem::remove_all(desk.path() / "out");
  desk.run_well(reading(GetParam(), "good.csv"));
  EXPECT_FALSE(mended.empty());
  EXPECT_TRUE(mended == made(desk)) << "the mended file does not give what the good one gives";
}

INSTANTIATE_TEST_SUITE_P(Every, CliBars, ::testing::Values("train", "backtest", "collect", "simulate", "features"),
                         [](const auto& test) { return std::string(test.param); });

class CliTooFewBars : public BarsDesk {
 protected:
  void refuse(const std::string& command, int bars, const std::vector<std::string>& words) {
    desk.put("few.csv", cli_test::bars_csv(bars));
    desk.expect_refused(reading(command, "few.csv"), words);
  }
};

TEST_F(CliTooFewBars, ForTheLookBack) {
  for (const char* command : {"train", "collect", "features", "backtest"}) {
    refuse(command, 101, {"few.csv", "101 bars", "102 are needed", "100 for the features' look-back"});
  }
}

TEST_F(CliTooFewBars, ForOneEpisode) {
  // 50 bars behind the look-back, 40 % of them to train on: 20, and an episode of 20 steps needs 21.
  refuse("train", 150, {"train split", "20 bars", "21 bars", "env.episode_length"});
  refuse("collect", 150, {"train split", "20 bars", "21 bars", "env.episode_length"});
}

TEST_F(CliTooFewBars, ForValidationBehindTheEmbargo) {
  refuse("train", 300, {"validation split", "embargo of 100"});
}

TEST_F(CliTooFewBars, ForAStep) {
  refuse("simulate", 1, {"few.csv", "1 bar", "at least 2"});
}

}  // namespace
}  // namespace warptape
