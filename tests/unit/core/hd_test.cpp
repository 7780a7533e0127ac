#include "core/hd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/check.h"

namespace warptape {
namespace {

TEST(Hd, FloorsTowardMinusInfinity) {
  EXPECT_EQ(floor_of(2.75f), 2.0f);
  EXPECT_EQ(floor_of(-2.25f), -3.0f);
  EXPECT_EQ(floor_of(2.75), 2.0);
  EXPECT_EQ(floor_of(-2.25), -3.0);
  EXPECT_EQ(floor_of(1e300), 1e300);  // too large for any integer type
  EXPECT_EQ(floor_of(std::nextafter(3.0, 0.0)), 2.0);
}

TEST(Hd, RootIsCorrectlyRounded) {
  EXPECT_EQ(root_of(0.0f), 0.0f);
  EXPECT_EQ(root_of(9.0f), 3.0f);
  EXPECT_EQ(root_of(2.0f), 1.41421354f);  // the float nearest to 1.414213562...
}

// A tie gives the first, on every target.
TEST(Hd, SmallerLargerAndSize) {
  EXPECT_EQ(min_of(1.0, 2.0), 1.0);
  EXPECT_EQ(min_of(2.0, 1.0), 1.0);
  EXPECT_EQ(max_of(1, 2), 2);
  EXPECT_EQ(max_of(2, 1), 2);
  EXPECT_FALSE(std::signbit(max_of(0.0, -0.0)));
  EXPECT_EQ(abs_of(-3.5f), 3.5f);
  EXPECT_EQ(abs_of(3.5f), 3.5f);
  EXPECT_EQ(abs_of(std::numeric_limits<i64>::min() + 1), std::numeric_limits<i64>::max());
}

TEST(Check, ReadsAloudWithBothValues) {
  const int bars = 3;
  EXPECT_NO_THROW(CHECK_EQ(bars, 3));
  EXPECT_NO_THROW(CHECK(bars > 0));
  try {
    CHECK_LT(bars, 2);
    FAIL() << "nothing was thrown";
  } catch (const Bug& bug) {
    const std::string message = bug.what();
    EXPECT_NE(message.find("bars < 2"), std::string::npos) << message;
    EXPECT_NE(message.find("(3 against 2)"), std::string::npos) << message;
    EXPECT_NE(message.find("hd_test.cpp:"), std::string::npos) << message;
  }
  EXPECT_THROW(CHECK(bars == 4), Bug);
  EXPECT_THROW(CHECK_LE(bars, 2), Bug);
  EXPECT_THROW(CHECK_GE(bars, 4), Bug);
}

}  // namespace
}  // namespace warptape
