#include "core/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "paths.h"

namespace warptape {
namespace {

using Words = std::tuple<u32, u32, u32, u32>;

Words words(const Philox4& p) {
  return {p.word[0], p.word[1], p.word[2], p.word[3]};
}

nlohmann::json golden() {
  std::ifstream file(std::string(kGoldenDir) + "/philox.json");
  return nlohmann::json::parse(file);
}

TEST(Philox, GivesTheKnownAnswers) {
  const nlohmann::json known = golden();
  ASSERT_GE(known["cases"].size(), 3u);
  for (const auto& one : known["cases"]) {
    Philox4 counter{};
    Philox4 expected{};
    for (std::size_t i = 0; i < 4; ++i) {
      counter.word[i] = one["counter"][i].get<u32>();
      expected.word[i] = one["output"][i].get<u32>();
    }
    const Philox4 got = philox4x32_10(counter, one["key"][0].get<u32>(), one["key"][1].get<u32>());
    EXPECT_EQ(words(got), words(expected)) << one.dump();
  }
}

// The published vectors of the generator's authors (Random123, kat_vectors), so that the file is not the only witness.
TEST(Philox, GivesTheAuthorsVectors) {
  EXPECT_EQ(words(philox4x32_10({{0, 0, 0, 0}}, 0, 0)), Words(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_EQ(words(philox4x32_10({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u)),
            Words(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

// Section 6 of docs/domain.md: counter words (slot, step low, step high, draw), key = seed.
TEST(Philox, TheCounterIsSlotStepLowStepHighDraw) {
  const u64 seed = 0x299f31d0a4093822u;
  const u64 step = 0x13198a2e85a308d3u;
  EXPECT_EQ(words(random_words(seed, 0x243f6a88u, step, static_cast<Draw>(0x03707344u))),
            Words(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(Philox, EverySeedSlotStepAndDrawHasItsOwnWords) {
  constexpr Draw kDraws[] = {Draw::kExplore, Draw::kStart,     Draw::kClassic, Draw::kInit,
                             Draw::kReplay,  Draw::kCuriosity, Draw::kPolicy,  Draw::kMadeUp};
  constexpr u64 kHigh = u64{1} << 32;
  std::set<Words> seen;
  std::size_t count = 0;
  for (const u64 seed : {u64{0}, u64{1}, kHigh, kHigh + 1}) {
    for (const u32 slot : {0u, 1u, 262143u}) {
      for (const u64 step : {u64{0}, u64{1}, kHigh - 1, kHigh, kHigh + 1}) {
        for (const Draw draw : kDraws) {
          seen.insert(words(random_words(seed, slot, step, draw)));
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Philox, UnitIntervalIsTheWordOverTwoToThe32) {
  EXPECT_EQ(unit_interval(0), 0.0);
  EXPECT_EQ(unit_interval(1), std::ldexp(1.0, -32));
  EXPECT_EQ(unit_interval(0x80000000u), 0.5);
  EXPECT_EQ(unit_interval(0xFFFFFFFFu), 1.0 - std::ldexp(1.0, -32));
  EXPECT_LT(unit_interval(0xFFFFFFFFu), 1.0);
}

TEST(Philox, BelowStaysBelow) {
  EXPECT_EQ(below(0, 45), 0u);
  EXPECT_EQ(below(0xFFFFFFFFu, 45), 44u);
  EXPECT_EQ(below(0xFFFFFFFFu, 1), 0u);
  EXPECT_EQ(below(0xFFFFFFFFu, 0xFFFFFFFFu), 0xFFFFFFFEu);
  // Thirds of 2^32 = 3·1431655765 + 1: a word belongs to the next third from 1431655766 on.
  EXPECT_EQ(below(1431655765u, 3), 0u);
  EXPECT_EQ(below(1431655766u, 3), 1u);
  EXPECT_EQ(below(2863311530u, 3), 1u);
  EXPECT_EQ(below(2863311531u, 3), 2u);
}

}  // namespace
}  // namespace warptape
