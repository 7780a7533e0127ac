#include "backtest/actions_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "warptape/error.h"

namespace warptape {
namespace {

class ActionsFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "warptape_actions_XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<int> read(std::string_view text, const EnvConfig& env = {}) {
    std::ofstream(path(), std::ios::binary) << text;
    return read_actions(path(), env);
  }

  /// Expects an Error whose message has all the words.
  void expect_refused(std::string_view text, std::initializer_list<std::string> words, const EnvConfig& env = {}) {
    try {
      read(text, env);
      FAIL() << "not refused: " << text;
    } catch (const Error& error) {
      const std::string message = error.what();
      for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
    }
  }

  std::filesystem::path path() const { return folder_ / "actions.csv"; }
  std::filesystem::path folder_;
};

using Actions = std::vector<int>;

TEST_F(ActionsFile, OneIndexALine) {
  EXPECT_EQ(read("0\n44\n7\n"), (Actions{0, 44, 7}));
}

TEST_F(ActionsFile, BlankLinesBlanksAndForeignLineEndsDoNoHarm) {
  EXPECT_EQ(read("\n 3 \r\n\r\n\t4\r\n5"), (Actions{3, 4, 5}));
}

// index = (exposure·3 + order)·3 + urgency.
TEST_F(ActionsFile, NamedActions) {
  EXPECT_EQ(read("exposure,order,urgency\n"
                 "-1,market,patient\n"
                 "0,limit_maker,normal\n"
                 "1,ioc,aggressive\n"),
            (Actions{0, (2 * 3 + 1) * 3 + 1, 44}));
}

TEST_F(ActionsFile, ColumnsComeInAnyOrderAmongOthers) {
  EXPECT_EQ(read("time, urgency ,exposure,note,order\n"
                 "2024-01-01, aggressive , 0.5 ,x, market \n"),
            (Actions{3 * 9 + 0 * 3 + 2}));
}

TEST_F(ActionsFile, ExposuresCompareAsNumbers) {
  EXPECT_EQ(read("exposure,order,urgency\n0.50,ioc,patient\n-1.0,ioc,patient\n5e-1,ioc,patient\n"),
            (Actions{33, 6, 33}));
}

TEST_F(ActionsFile, AColumnOfOneChoiceMayBeLeftOut) {
  EnvConfig env;
  env.order_types = {"market"};
  env.urgency_cost = {1};
  EXPECT_EQ(read("exposure\n1\n-0.5\n", env), (Actions{4, 1}));
}

TEST_F(ActionsFile, UrgenciesOtherThanThreeAreNumbered) {
  EnvConfig env;
  env.order_types = {"market"};
  env.urgency_cost = {1, 2};
  EXPECT_EQ(read("exposure,urgency\n-1,1\n0,0\n", env), (Actions{1, 4}));
}

TEST_F(ActionsFile, NamesTheLineOfABadIndex) {
  expect_refused("0\n\n45\n", {"actions.csv:3", "45", "0 … 44"});
  expect_refused("0\n-1\n", {"actions.csv:2", "-1"});
  expect_refused("1.5\n", {"actions.csv:1", "1.5"});
  expect_refused("0\nlong\n", {"actions.csv:2", "long"});
  expect_refused("0\n99999999999999999999\n", {"actions.csv:2", "99999999999999999999"});
  expect_refused("0 1\n", {"actions.csv:1"});
}

TEST_F(ActionsFile, NamesLineColumnAndValueOfABadName) {
  expect_refused("exposure,order,urgency\n0,market,patient\n0.3,market,patient\n",
                 {"actions.csv:3", "exposure", "\"0.3\"", "-0.5"});
  expect_refused("exposure,order,urgency\n0,stop,patient\n", {"actions.csv:2", "order", "\"stop\"", "limit_maker"});
  expect_refused("exposure,order,urgency\n0,market,Patient\n", {"actions.csv:2", "urgency", "\"Patient\""});
  expect_refused("exposure,order,urgency\n,market,patient\n", {"actions.csv:2", "exposure", "\"\""});
  expect_refused("exposure,order,urgency\n0,market\n", {"actions.csv:2", "urgency"});
}

TEST_F(ActionsFile, NamesAMissingColumn) {
  expect_refused("exposure,urgency\n0,patient\n", {"actions.csv:1", "order"});
  expect_refused("hello\n", {"actions.csv:1", "exposure"});
}

TEST_F(ActionsFile, RefusesAFileWithoutActions) {
  expect_refused("", {"actions.csv", "no actions"});
  expect_refused("\n\n", {"no actions"});
  expect_refused("exposure,order,urgency\n", {"no actions"});
}

TEST_F(ActionsFile, RefusesWhatCannotBeRead) {
  EXPECT_THROW(read_actions(folder_ / "absent.csv", {}), Error);
  EXPECT_THROW(read_actions(folder_, {}), Error);
}

}  // namespace
}  // namespace warptape
