#include "core/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace warptape {
namespace {

u16 half(float x) {
  return bf16_bits(std::bit_cast<u32>(x));
}
float whole(u16 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits) << 16);
}

TEST(Bf16, KnownNumbers) {
  EXPECT_EQ(half(0.0f), 0x0000);
  EXPECT_EQ(half(-0.0f), 0x8000);
  EXPECT_EQ(half(1.0f), 0x3F80);
  EXPECT_EQ(half(-2.0f), 0xC000);
  EXPECT_EQ(half(3.140625f), 0x4049);  // seven bits behind the point: exact
  EXPECT_EQ(half(std::numeric_limits<float>::infinity()), 0x7F80);
  EXPECT_EQ(half(std::numeric_limits<float>::max()), 0x7F80);  // nearer to 2^128 than to the largest below
  EXPECT_TRUE(std::isnan(whole(half(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(whole(bf16_bits(0x7F800001))));  // all of its bits are in the lower half
}

TEST(Bf16, TiesGoToTheEvenNeighbour) {
  const float step = 0x1p-7f;  // between neighbours of 1
  EXPECT_EQ(half(1 + 0.5f * step), 0x3F80);
  EXPECT_EQ(half(1 + 1.5f * step), 0x3F82);
  EXPECT_EQ(half(1 + 0.5f * step + 0x1p-23f), 0x3F81);
  EXPECT_EQ(half(1 + 1.5f * step - 0x1p-23f), 0x3F81);
}

TEST(Bf16, IsTheNearest) {
  for (float x = 1e-30f; x < 1e30f; x *= 1.0173f) {
    for (const float y : {x, -x}) {
      const u16 bits = half(y);
      const double off = std::fabs(double{whole(bits)} - double{y});
      ASSERT_LE(off, std::fabs(double{whole(static_cast<u16>(bits + 1))} - double{y})) << y;
      ASSERT_LE(off, std::fabs(double{whole(static_cast<u16>(bits - 1))} - double{y})) << y;
    }
  }
}

}  // namespace
}  // namespace warptape
