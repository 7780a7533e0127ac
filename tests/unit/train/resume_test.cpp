// A stopped run goes on with the numbers of one that never stopped, and refuses what is not its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "io/checksum.h"
#include "unit/train/train_worlds.h"

namespace warptape {

namespace {

using train_test::put;

const std::vector<std::string> kFiles = {"last/weights.safetensors",
                                         "last/state.safetensors",
                                         "last/checkpoint.json",
                                         "best/weights.safetensors",
                                         "log.jsonl",
                                         "config.toml"};

class TrainerResume : public train_test::TrainTest {
 protected:
  TrainOptions resumed(const std::string& run) const {
    TrainOptions o = options(run);
    o.resume = true;
    return o;
  }

  void expect_same_run(const std::string& one, const std::string& other) const {
    for (const std::string& file : kFiles) {
      ASSERT_FALSE(content(one + "/" + file).empty()) << file;
      EXPECT_TRUE(content(one + "/" + file) == content(other + "/" + file)) << file;
    }
  }

  /// A run stopped after three rounds of six.
  void stop_halfway(const std::string& run) const {
    const TrainResult result = run_rounds(options(run), 3);
    ASSERT_TRUE(result.interrupted);
    ASSERT_EQ(result.rounds, 3);
  }
};

TEST_F(TrainerResume, GivesTheBytesOfARunThatNeverStopped) {
  EXPECT_FALSE(run("whole").interrupted);
  stop_halfway("halves");
  const TrainResult result = train(resumed("halves"), nullptr, nullptr);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.rounds, 6);
  expect_same_run("whole", "halves");
}

TEST_F(TrainerResume, InEveryRoundToo) {
  config_.env.rules = RuleSet::kClassic;  // slots keep more between rounds there
  run("whole");
  run_rounds(options("pieces"), 1);
  for (int r = 1; r < 5; ++r) EXPECT_EQ(run_rounds(resumed("pieces"), 1).rounds, r + 1);
  train(resumed("pieces"), nullptr, nullptr);
  expect_same_run("whole", "pieces");
}

TEST_F(TrainerResume, WithPrioritiesAndReturnsOfSeveralSteps) {
  config_.replay.prioritised = true;
  config_.learn.n_step = 3;
  for (const RuleSet rules : {RuleSet::kMarket, RuleSet::kClassic}) {
    config_.env.rules = rules;
    const std::string name = rule_set_name(rules), whole = name + "_whole", pieces = name + "_pieces";
    run(whole);
    run_rounds(options(pieces), 1);
    run_rounds(resumed(pieces), 2);
    train(resumed(pieces), nullptr, nullptr);
    expect_same_run(whole, pieces);
  }
}

TEST_F(TrainerResume, AfterAKillLosesTheRoundsSinceTheCheckpointOnly) {
  run("whole");
  // Stopped after round 4 by something harsher than the callback: the checkpoint of round 3 stands, the log is ahead
  // of it, with half a line at its end.
  const auto die = [](const RoundReport& report) {
    if (report.round == 5) throw std::runtime_error("killed");
  };
  EXPECT_THROW(train(options("killed"), die, nullptr), std::runtime_error);
  EXPECT_EQ(info("killed/last").at("round"), 3);
  const std::string log = content("killed/log.jsonl");
  put(folder_ / "killed" / "log.jsonl", log + R"({"round": 6, "st)");
  train(resumed("killed"), nullptr, nullptr);
  expect_same_run("whole", "killed");
}

TEST_F(TrainerResume, OfAFinishedRunChangesNothing) {
  const TrainResult first = run("run");
  std::vector<std::string> before;
  for (const std::string& file : kFiles) before.push_back(content("run/" + file));
  const TrainResult again = train(resumed("run"), nullptr, nullptr);
  EXPECT_EQ(again.rounds, 6);
  EXPECT_EQ(again.best_return, first.best_return);
  EXPECT_EQ(again.best_round, first.best_round);
  for (std::size_t i = 0; i < kFiles.size(); ++i) EXPECT_TRUE(content("run/" + kFiles[i]) == before[i]) << kFiles[i];
}

TEST_F(TrainerResume, GoesOnWithTheRunsOwnConfiguration) {
  run("whole");
  stop_halfway("halves");
  TrainOptions o = resumed("halves");
  o.config.learn.learning_rate = 0.5;
  o.config.seed = 99;
  o.config.train.rounds = 4;
  train(o, nullptr, nullptr);
  expect_same_run("whole", "halves");
}

TEST_F(TrainerResume, RefusesOtherBars) {
  stop_halfway("run");
  const std::string text = content("bars.csv");
  std::string changed = text;
  const std::size_t digit = text.rfind(',') - 1;  // a close's last digit
  changed[digit] = changed[digit] == '1' ? '2' : '1';
  put(folder_ / "bars.csv", changed);
  std::string message = refusal(resumed("run"));
  EXPECT_NE(message.find("checksum"), std::string::npos) << message;
  put(folder_ / "bars.csv", train_test::csv_text(901, 1));
  EXPECT_NE(refusal(resumed("run")).find("901 bars"), std::string::npos);
  put(folder_ / "bars.csv", text);
  put(folder_ / "more.csv", train_test::csv_text(900, 2));
  TrainOptions two = resumed("run");
  two.data.push_back(folder_ / "more.csv");
  EXPECT_NE(refusal(two).find("1 files of bars, 2 were given"), std::string::npos);
  EXPECT_EQ(refusal(resumed("run")), "");
}

/// A features file of columns a and b for the bars of csv_text(900, …).
std::string features_text(std::uint64_t seed, const std::string& header = "timestamp,a,b") {
  cpu_test::Uniform uniform(seed);
  std::string text = header + "\n";
  for (int t = 0; t < 900; ++t) text += fmt::format("{},{},{}\n", 1577836800 + t * 3600, uniform(), uniform());
  return text;
}

TEST_F(TrainerResume, RefusesOtherFeatures) {
  put(folder_ / "features.csv", features_text(1));
  TrainOptions o = options("run");
  o.features = {folder_ / "features.csv"};
  run_rounds(o, 3);
  o.resume = true;
  put(folder_ / "features.csv", features_text(2));  // other values
  EXPECT_NE(refusal(o), "");
  put(folder_ / "features.csv", features_text(1, "timestamp,b,a"));
  EXPECT_NE(refusal(o).find("features"), std::string::npos);
  TrainOptions none = o;
  none.features.clear();
  EXPECT_NE(refusal(none).find("features"), std::string::npos);
  put(folder_ / "features.csv", features_text(1));
  EXPECT_EQ(refusal(o), "");
}

TEST_F(TrainerResume, RefusesDamagedCheckpoints) {
  stop_halfway("run");
  const std::string log_before = content("run/log.jsonl");
  for (const std::string file : {"weights.safetensors", "state.safetensors", "checkpoint.json", "manifest.json"}) {
    const std::filesystem::path path = folder_ / "run" / "last" / file;
    const std::string whole = train_test::content_of(path);
    std::string flipped = whole;
    flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
    for (const std::string& damaged :
         {flipped, whole.substr(0, whole.size() - 2), whole.substr(0, whole.size() / 2), std::string(), whole + "x"}) {
      put(path, damaged);
      const std::string message = refusal(resumed("run"));
      EXPECT_NE(message.find((folder_ / "run/last").string()), std::string::npos) << file << ": " << message;
    }
    std::filesystem::remove(path);
    EXPECT_NE(refusal(resumed("run")), "") << file;
    put(path, whole);
  }
  EXPECT_EQ(content("run/log.jsonl"), log_before);
  EXPECT_EQ(refusal(resumed("run")), "");
}

TEST_F(TrainerResume, RefusesAFolderWithoutARun) {
  EXPECT_NE(refusal(resumed("nothing")), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nothing"));
}

TEST_F(TrainerResume, RefusesAnotherProgramsCheckpoint) {
  stop_halfway("run");
  const std::filesystem::path last = folder_ / "run/last";
  const train_test::json mine = info("run/last");
  EXPECT_EQ(mine.at("backend"), "cpu");
  for (const char* key : {"build", "version", "backend"}) {
    train_test::json other = mine;
    other[key] = "another";
    put(last / "checkpoint.json", other.dump());
    std::filesystem::remove(last / kManifestName);
    write_manifest(last);  // a whole checkpoint, but not this program's
    EXPECT_NE(refusal(resumed("run")).find("another"), std::string::npos) << key;
  }
}

}  // namespace

}  // namespace warptape
