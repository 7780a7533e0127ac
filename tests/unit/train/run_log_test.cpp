#include "train/run_log.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/io/temp_folder.h"
#include "warptape/error.h"

namespace warptape {

namespace {

RoundReport report_of(std::int64_t round) {
  RoundReport r;
  r.round = round;
  r.loss = 0.1;
  r.seconds_left = 1.5;  // times differ from run to run: not in the log
  r.steps_per_second = 1e6;
  return r;
}

class RunLogTest : public ::testing::Test {
 protected:
  std::string after(const std::string& old, const LogMark& mark) const {
    testing::put(file_, old);
    RunLog log(file_, mark);
    return testing::content_of(file_);
  }

  testing::TempFolder folder_;
  std::filesystem::path file_ = folder_ / "log.jsonl";
};

// XXH3-128 of the twelve bytes {"round":1} and a newline, as the xxHash library's own header gives it.
const LogMark kFirstLine = {12, "811bd5aa2685cadbce695a68be58f897"};

TEST_F(RunLogTest, IsALineARoundWithoutTimes) {
  RunLog log(file_, {});
  log.append(report_of(1));
  RoundReport second = report_of(2);
  second.curiosity_loss = 0.5;
  second.validation_return = -0.25;
  second.best_return = -0.25;
  second.top_exposure = -0.5;
  second.top_share = 0.75;
  second.alarms = {{"exploding_q", "too much"}, {"one_action", "too few"}};
  second.stop = "enough";
  log.append(second);
  EXPECT_EQ(testing::content_of(file_),
            R"({"round":1,"steps":0,"updates":0,"epsilon":0.0,"learning_rate":0.0,"reward":0.0,"step_return":0.0,)"
            R"("largest_reward":0.0,"episodes":0,"ruins":0,"loss":0.1,"q":0.0,"abs_q":0.0,"gradient_norm":0.0})"
            "\n"
            R"({"round":2,"steps":0,"updates":0,"epsilon":0.0,"learning_rate":0.0,"reward":0.0,"step_return":0.0,)"
            R"("largest_reward":0.0,"episodes":0,"ruins":0,"loss":0.1,"q":0.0,"abs_q":0.0,"gradient_norm":0.0,)"
            R"("curiosity_loss":0.5,"validation_return":-0.25,"best_return":-0.25,"top_exposure":-0.5,)"
            R"("top_share":0.75,"alarms":{"exploding_q":"too much","one_action":"too few"},"stop":"enough"})"
            "\n");
}

TEST_F(RunLogTest, ANewRunBeginsAnew) {
  EXPECT_EQ(after("{\"round\":1}\n", {}), "");
}

TEST_F(RunLogTest, AResumedRunKeepsWhatWasLoggedUntilItsCheckpoint) {
  EXPECT_EQ(after("{\"round\":1}\n", kFirstLine), "{\"round\":1}\n");
  EXPECT_EQ(after("{\"round\":1}\n{\"round\":2}\n", kFirstLine), "{\"round\":1}\n");
  EXPECT_EQ(after("{\"round\":1}\n{\"rou", kFirstLine), "{\"round\":1}\n");
}

TEST_F(RunLogTest, RefusesALogThatIsNotTheCheckpoints) {
  for (const char* other : {"{\"round\":1}", "", "{\"round\":2}\n", "{\"round\":2}\n{\"round\":3}\n"}) {
    testing::put(file_, other);
    const std::string message = testing::message_of<Error>([&] { RunLog(file_, kFirstLine); });
    EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
    EXPECT_NE(message.find("first 12 bytes"), std::string::npos) << message;
    EXPECT_EQ(testing::message_of<Error>([&] { check_log(file_, kFirstLine); }), message);
    EXPECT_EQ(testing::content_of(file_), other);
  }
}

TEST_F(RunLogTest, BeginsAtTheCheckpointWhereTheLogIsGone) {
  check_log(file_, kFirstLine);
  RunLog log(file_, kFirstLine);
  EXPECT_EQ(testing::content_of(file_), "");
}

TEST_F(RunLogTest, MarksHowFarItIs) {
  RunLog log(file_, {});
  EXPECT_EQ(log.mark(), (LogMark{0, "99aa06d3014798d86001c324468d497f"}));  // of nothing, as in checksum_test.cpp
  testing::put(file_, "{\"round\":1}\n");
  EXPECT_EQ(log.mark(), kFirstLine);
}

TEST_F(RunLogTest, SaysWhenItCannotBeWritten) {
  RunLog log(file_, {});
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_THROW(log.append(report_of(1)), Error);
}

}  // namespace

}  // namespace warptape
