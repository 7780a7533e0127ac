#include "train/signature.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace warptape {
namespace {

// The environment's signature as the last commit that moved it wrote it down (CONTRIBUTING.md). A change that breaks
// this says so in its message, with the new number, or is mended.
constexpr std::uint64_t kEnvironment = 3873761862;

TEST(Signature, EnvironmentIsTheOneWrittenDown) {
  EXPECT_EQ(environment_signature(), kEnvironment);
}

TEST(Signature, TrainingRepeatsItself) {
  EXPECT_EQ(training_signature(), training_signature());
}

}  // namespace
}  // namespace warptape
