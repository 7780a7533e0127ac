#include "config/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/io/temp_folder.h"
#include "warptape/config.h"
#include "warptape/error.h"

namespace warptape {
namespace {

TEST(EditDistance, CountsEditsAndSwaps) {
  struct Case {
    const char *a, *b;
    std::size_t edits;
  };
  for (const Case& c : {Case{"", "", 0},
                        {"", "abc", 3},
                        {"abc", "", 3},
                        {"kitten", "sitting", 3},
                        {"ab", "ba", 1},
                        {"seed", "sede", 1},
                        {"abcd", "acbd", 1},
                        {"flaw", "lawn", 2},
                        {"ca", "abc", 3}}) {
    EXPECT_EQ(edit_distance(c.a, c.b), c.edits) << c.a << " " << c.b;
  }
}

TEST(NearestName, BreaksTiesByOrder) {
  EXPECT_EQ(nearest_name("ac", std::vector<std::string>{"ab", "ad"}), "ab");
}

TEST(NearestKey, OfTypicalTypos) {
  struct Typo {
    const char *typed, *meant;
  };
  const std::vector<Typo> typos = {
      // letters left out, doubled, wrong, swapped
      {"env.levrage", "env.leverage"},
      {"env.leverrage", "env.leverage"},
      {"env.laverage", "env.leverage"},
      {"env.leveraeg", "env.leverage"},
      {"learn.gmama", "learn.gamma"},
      {"seeed", "seed"},
      {"thread", "threads"},
      // singular and plural, American spelling, case, hyphens
      {"env.exposure", "env.exposures"},
      {"train.round", "train.rounds"},
      {"learn.optimizer", "learn.optimiser"},
      {"features.normalize", "features.normalise"},
      {"Learn.Batch", "learn.batch"},
      {"train.checkpoint-every", "train.checkpoint_every"},
      // another group or none
      {"lern.batch", "learn.batch"},
      {"learning.gamma", "learn.gamma"},
      {"train.learning_rate", "learn.learning_rate"},
      {"env.episodes", "collect.episodes"},
      {"gamma", "learn.gamma"},
      {"capacity", "replay.capacity"},
      {"leverage", "env.leverage"},
      {"env.seed", "seed"},
      // some of the words
      {"learn.rate", "learn.learning_rate"},
      {"env.stop_bps", "env.barrier_stop_bps"},
      {"env.profit_bps", "env.barrier_profit_bps"},
      {"env.capital", "env.initial_capital"},
  };
  for (const Typo& typo : typos) {
    const std::string message =
        testing::message_of<Error>([&] { parse_config("", "", {std::string(typo.typed) + "=1"}); });
    EXPECT_NE(message.find("there is no configuration key " + std::string(typo.typed) + "; the nearest is " +
                           typo.meant + " "),
              std::string::npos)
        << typo.typed << ", meant " << typo.meant << ": " << message;
  }
}

TEST(NearestPreset, IsNamedWithTheChoices) {
  const std::string message = testing::message_of<Error>([] { parse_config("", "", {}, "fsat"); });
  EXPECT_NE(message.find("--preset fsat"), std::string::npos) << message;
  EXPECT_NE(message.find("nearest is fast"), std::string::npos) << message;
  EXPECT_NE(message.find("classic, market, fast"), std::string::npos) << message;
}

}  // namespace
}  // namespace warptape
