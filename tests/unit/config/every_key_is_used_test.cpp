// Every configuration key does something: a short training with the key changed must leave something else behind than
// one without the change.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "train/checkpoint.h"
#include "unit/train/train_worlds.h"
#include "warptape/config.h"
#include "warptape/error.h"
#include "warptape/trainer.h"

namespace warptape {
namespace {

namespace fs = std::filesystem;
using Settings = std::vector<std::string>;

/// Where a key's change must show.
struct Use {
  const char* key;
  const char* value;   ///< other than the base's
  Settings with = {};  ///< what the key needs beside it to matter, in both trainings
  const char* bars = "bars.csv";
  const char* not_seen = nullptr;  ///< why nothing may change, for the few keys of which that is the promise
};

/// A line for each key. A key that only matters beside another names that one in its third column.
std::vector<Use> uses() {
  const Settings barrier = {"env.barrier_stop_bps=40"};
  const Settings diversity = {"env.diversity_penalty=0.1"};
  const Settings curious = {"env.curiosity_weight=0.5"};
  return {
      {"env.rules", "classic"},
      {"env.initial_capital", "50000", {"env.max_position=500"}},  // of a cap in fractions all else is scale-free
      {"env.max_exposure", "0.5"},
      {"env.max_position", "100"},
      {"env.leverage", "0.5"},
      {"env.reserve_pct", "50"},
      {"env.lot_size", "300"},
      {"env.spread", "0.01", {"env.rules=classic"}},  // market rules observe another number in its place
      {"env.cost_market", "0.01"},
      {"env.cost_limit_maker", "0.01"},
      {"env.cost_ioc", "0.01"},
      {"env.order_types", "[\"ioc\", \"market\", \"limit_maker\"]"},
      {"env.urgency_cost", "[1, 2, 3]"},
      {"env.exposures", "[-1, -0.25, 0, 0.5, 1]"},
      {"env.episode_length", "25"},
      {"env.barrier_profit_bps", "40"},
      {"env.barrier_stop_bps", "40"},
      {"env.barrier_max_bars", "1", barrier},
      {"env.barrier_ends_episode", "true", barrier},
      {"env.barrier_reward_scale", "1", barrier},
      {"env.diversity_window", "5", diversity},
      {"env.diversity_min_bits", "1.5", diversity},
      {"env.diversity_penalty", "0.1"},
      {"env.risk_threshold", "0.3", {"env.risk_weight=0.5"}},
      {"env.risk_weight", "0.5"},
      {"env.curiosity_cap", "0.001", curious},
      {"env.curiosity_weight", "0.5"},
      {"env.reward_scale", "2"},
      {"data.sort", "true", {}, "unsorted.csv"},
      {"data.on_duplicate", "keep-last", {}, "repeated.csv"},
      {"features.normalise", "false"},
      {"features.clip", "0.5"},
      {"split.train", "0.4"},
      {"split.validation", "0.3"},
      {"split.embargo", "110"},
      {"net.shared_0", "7"},
      {"net.shared_1", "7"},
      {"net.value", "5"},
      {"net.advantage", "5"},
      {"net.curiosity", "5", curious},
      {"collect.episodes", "5"},
      {"collect.steps", "19"},
      {"collect.epsilon_start", "0.5"},
      {"collect.epsilon_end", "0.5"},
      {"collect.epsilon_decay", "1"},
      {"collect.precision", "bfloat16", {"collect.epsilon_start=0", "collect.epsilon_end=0"}},
      {"replay.capacity", "100"},
      {"replay.prioritised", "true"},
      {"replay.alpha", "0.9", {"replay.prioritised=true"}},
      {"replay.beta_start", "0.9", {"replay.prioritised=true"}},
      {"replay.beta_end", "0.5", {"replay.prioritised=true"}},
      {"replay.epsilon", "0.1", {"replay.prioritised=true"}},
      {"learn.batch", "15"},
      {"learn.gamma", "0.5"},
      {"learn.n_step", "2"},
      {"learn.learning_rate", "0.002"},
      {"learn.learning_rate_end", "0.0005"},
      {"learn.optimiser", "adam"},
      {"learn.beta1", "0.8"},
      {"learn.beta2", "0.9"},
      {"learn.epsilon", "0.001"},
      {"learn.weight_decay", "0.5"},
      {"learn.clip_norm", "0.0001"},
      {"learn.huber_delta", "0.0001"},
      {"learn.target_sync", "hard"},
      {"learn.target_every", "2", {"learn.target_sync=hard"}},
      {"learn.tau", "0.5"},
      {"curiosity.every", "2", curious},
      {"curiosity.batches", "1", curious},
      {"curiosity.batch", "9", curious},
      {"curiosity.learning_rate", "0.01", curious},
      {"train.rounds", "4"},
      {"train.updates_per_round", "2"},
      {"train.evaluate_every", "1"},
      {"train.early_stop", "1", {"train.rounds=8", "train.evaluate_every=1"}},
      {"train.alarms", "false", {"learn.learning_rate=0.02", "train.divergence_q=5"}},  // early in what diverges
      {"train.tensorboard", "false"},
      {"train.checkpoint_every", "1"},
      {"train.divergence_q", "0.000001"},
      {"seed", "2"},
      {"threads", "2", {}, "bars.csv", "results do not depend on it"},
  };
}

/// Three rounds of 4 × 20 steps on the first half of 500 rows.
const Settings kBase = {
    "seed=3",
    "threads=1",
    "net.shared_0=8",
    "net.shared_1=8",
    "net.value=4",
    "net.advantage=4",
    "net.curiosity=4",
    "env.episode_length=30",
    "split.train=0.5",
    "split.validation=0.25",
    "collect.episodes=4",
    "collect.steps=20",
    "replay.capacity=200",
    "learn.batch=16",
    "curiosity.batches=2",
    "curiosity.batch=8",
    "train.rounds=3",
    "train.updates_per_round=4",
    "train.evaluate_every=2",
    "train.checkpoint_every=2",
};

/// The lines of a file with row `from` (of the data, from 0) put behind or once more behind its successor.
std::string with_row_again(const std::string& csv, int from, bool keep_first) {
  std::vector<std::size_t> starts = {csv.find('\n') + 1};
  for (int i = 0; i < from + 2; ++i) starts.push_back(csv.find('\n', starts.back()) + 1);
  const std::size_t row = starts[static_cast<std::size_t>(from)], next = starts[static_cast<std::size_t>(from) + 1];
  if (keep_first) return csv.substr(0, next) + csv.substr(row);
  const std::size_t behind = starts[static_cast<std::size_t>(from) + 2];
  return csv.substr(0, row) + csv.substr(next, behind - next) + csv.substr(row, next - row) + csv.substr(behind);
}

/// Whatever a training leaves behind, but for the copies of its configuration.
class EveryKey : public ::testing::Test {
 protected:
  EveryKey() {
    const std::string bars = train_test::csv_text(600, 1);
    testing::put(folder_ / "bars.csv", bars);
    testing::put(folder_ / "unsorted.csv", with_row_again(bars, 300, false));
    testing::put(folder_ / "repeated.csv", with_row_again(bars, 300, true));
  }

  /// The log, the tensors of both checkpoints, the names of all files, and after which rounds a checkpoint stood there;
  /// a refused configuration or training leaves its message.
  std::string outcome(const Settings& settings, const char* bars) {
    const fs::path run = folder_ / ("run" + std::to_string(++runs_));
    std::string seen;
    try {
      TrainOptions options;
      options.config = load_config({}, settings);
      options.data = {folder_ / bars};
      options.out = run;
      options.backend = "cpu";
      train(
          options, [&](const RoundReport&) { seen += fs::exists(run / "last") ? "checkpoint\n" : "none yet\n"; },
          nullptr);
    } catch (const Error& e) {
      return e.what();
    }
    seen += testing::content_of(run / "log.jsonl");
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(run)) {
      // An event file's name holds the time.
      if (entry.path().parent_path().filename() != "tensorboard") {
        names.insert(fs::relative(entry.path(), run).string() + "\n");
      }
    }
    for (const std::string& name : names) seen += name;
    for (const char* checkpoint : {"last", "best"}) {
      for (const TensorMap& map :
           {read_checkpoint_weights(run / checkpoint), read_checkpoint_state(run / checkpoint)}) {
        for (const auto& [name, tensor] : map.tensors()) {
          seen += name + describe(tensor.dtype, tensor.shape);
          seen.append(reinterpret_cast<const char*>(tensor.data().data()), tensor.data().size());
        }
      }
    }
    fs::remove_all(run);
    return seen;
  }

  testing::TempFolder folder_;
  int runs_ = 0;
};

Settings joined(Settings first, const Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_F(EveryKey, IsUsed) {
  std::map<std::pair<Settings, std::string>, std::string> unchanged;  // by context, played once
  for (const Use& use : uses()) {
    const Settings context = joined(kBase, use.with);
    const std::string change = std::string(use.key) + "=" + use.value;
    auto base = unchanged.find({context, use.bars});
    if (base == unchanged.end()) {
      base = unchanged.emplace(std::pair(context, use.bars), outcome(context, use.bars)).first;
    }
    // A change that is refused before anything runs would differ, and say nothing.
    ASSERT_NO_THROW(load_config({}, joined(context, {change}))) << change;
    const bool same = outcome(joined(context, {change}), use.bars) == base->second;
    if (use.not_seen != nullptr) {
      EXPECT_TRUE(same) << change << " changed the outcome of a training, though " << use.not_seen;
    } else {
      EXPECT_FALSE(same) << change
                         << " changes nothing in a training: nobody reads the key, or its line in uses() needs"
                         << " a setting beside it under which it matters";
    }
  }
}

TEST_F(EveryKey, HasALine) {
  std::set<std::string> listed;
  for (const Use& use : uses()) EXPECT_TRUE(listed.insert(use.key).second) << use.key << " has two lines";
  for (const Key& key : all_keys()) {
    EXPECT_EQ(listed.erase(key.name), 1u)
        << "add a line to uses() in " << __FILE__ << ":\n      {\"" << key.name
        << "\", \"<a value other than kBase's and the default>\", {<settings that it needs to matter>}},";
  }
  EXPECT_TRUE(listed.empty()) << *listed.begin() << " has a line in uses(), but is no key";
}

TEST_F(EveryKey, ChangesItsValueInItsLine) {
  for (const Use& use : uses()) {
    const Settings context = joined(kBase, use.with);
    const auto& keys = all_keys();
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == use.key; });
    ASSERT_NE(key, keys.end()) << use.key;
    const Config changed = load_config({}, joined(context, {std::string(use.key) + "=" + use.value}));
    EXPECT_NE(key->get(changed), key->get(load_config({}, context))) << use.key;
  }
}

TEST_F(EveryKey, EqualTrainingsLeaveTheSame) {
  // What EveryKey.IsUsed compares must not differ by itself (times, names of folders).
  EXPECT_EQ(outcome(kBase, "bars.csv"), outcome(kBase, "bars.csv"));
  const std::string base = outcome(kBase, "bars.csv");
  // An agent that stays flat would hide what changes the validation split.
  EXPECT_NE(base.find("\"validation_return\":"), std::string::npos) << base.substr(0, 2000);
  EXPECT_EQ(base.find("\"validation_return\":0.0,"), std::string::npos) << base.substr(0, 2000);
}

}  // namespace
}  // namespace warptape
