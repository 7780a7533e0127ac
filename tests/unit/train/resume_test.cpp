// A stopped run goes on with the numbers of one that never stopped, and refuses what is not its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "io/checksum.h"
#include "io/folder_lock.h"
#include "unit/train/train_worlds.h"

namespace warptape {

namespace {

using train_test::put;

const std::vector<std::string> kFiles = {"last/weights.safetensors",
                                         "last/state.safetensors",
                                         "last/checkpoint.json",
                                         "previous/weights.safetensors",
                                         "previous/state.safetensors",
                                         "previous/checkpoint.json",
                                         "best/weights.safetensors",
                                         "best/state.safetensors",
                                         "best/checkpoint.json",
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

/// The sentence with which a resume is refused; a test failure where it is not.
std::string refusal_of(const TrainOptions& options) {
  try {
    train(options, nullptr, nullptr);
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

TEST_F(TrainerResume, RefusesADamagedCheckpointAndOffersTheOneBefore) {
  config_.train.checkpoint_every = 1;
  run("whole");
  stop_halfway("run");
  config_.seed += 1;
  stop_halfway("stranger");
  config_.seed -= 1;
  std::uint64_t state = 12345;  // of a generator of places: x·6364136223846793005 + 1442695040888963407 (Knuth)
  const auto below = [&](std::size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % n;
  };
  const auto expect_offer = [&](const std::string& what) {
    const std::string sentence = refusal_of(resumed("run"));
    EXPECT_NE(sentence.find("last"), std::string::npos) << what << ": " << sentence;
    EXPECT_NE(sentence.find("(round 2) is intact: go on from it with --resume --from previous"), std::string::npos)
        << what << ": " << sentence;
  };
  for (const char* name : {"weights.safetensors", "state.safetensors", "checkpoint.json", "manifest.json"}) {
    const std::filesystem::path file = folder_ / "run" / "last" / name;
    const std::string good = content(std::string("run/last/") + name);
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, below(good.size()), good.size() - 1}) {
      put(file, good.substr(0, length));
      expect_offer(std::string(name) + " cut");
    }
    for (int flip = 0; flip < 12; ++flip) {
      std::string bad = good;
      char& byte = bad[below(bad.size())];
      byte = static_cast<char>(byte ^ (1 << below(8)));
      put(file, bad);
      expect_offer(std::string(name) + " with a bit flipped");
    }
    put(file, content(std::string("stranger/last/") + name));
    expect_offer(std::string(name) + " of another run");
    std::filesystem::remove(file);
    expect_offer(std::string(name) + " removed");
    put(file, good);
  }
  std::filesystem::remove_all(folder_ / "run" / "last");
  std::filesystem::copy(folder_ / "stranger" / "last", folder_ / "run" / "last");
  expect_offer("a checkpoint of another run");

  TrainOptions from_previous = resumed("run");
  from_previous.resume_from = "previous";
  train(from_previous, nullptr, nullptr);
  expect_same_run("whole", "run");
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

TEST_F(TrainerResume, BeginsARunThatWasKilledBeforeItsFirstCheckpoint) {
  run("whole");
  const auto die_in = [&](const std::string& run, std::int64_t round) {
    EXPECT_THROW(train(
                     resumed(run),
                     [&](const RoundReport& report) {
                       if (report.round == round) throw std::runtime_error("killed");
                     },
                     nullptr),
                 std::runtime_error);
  };
  die_in("early", 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "early/last"));
  train(resumed("early"), nullptr, nullptr);
  expect_same_run("whole", "early");

  die_in("later", 3);  // there is a best, of round 2, but no last
  EXPECT_TRUE(std::filesystem::exists(folder_ / "later/best"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "later/last"));
  TrainOptions o = resumed("later");
  o.config.seed = 99;  // its own configuration counts, as for every resumed run
  train(o, nullptr, nullptr);
  expect_same_run("whole", "later");

  train(resumed("nothing"), nullptr, nullptr);
  expect_same_run("whole", "nothing");
}

TEST_F(TrainerResume, RemovesWhatAKilledProcessLeft) {
  run("whole");
  stop_halfway("killed");
  const std::filesystem::path killed = folder_ / "killed";
  for (const char* left : {"last.partial-1", "best.partial-1", "previous.partial-1-2"}) {
    std::filesystem::create_directory(killed / left);
    put(killed / left / "weights.safetensors", "half");
  }
  put(killed / "config.toml.partial-1", "half");
  put(killed / "log.jsonl.partial-1", "half");
  train(resumed("killed"), nullptr, nullptr);
  EXPECT_EQ(testing::names_in(killed), testing::names_in(folder_ / "whole"));
  expect_same_run("whole", "killed");
}

TEST_F(TrainerResume, OneProcessAtATime) {
  stop_halfway("run");
  const Descriptor lock = lock_folder(folder_ / "run", "training");
  const std::string before = content("run/log.jsonl");
  EXPECT_NE(refusal(resumed("run")).find("another process is training there"), std::string::npos);
  EXPECT_EQ(content("run/log.jsonl"), before);
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
