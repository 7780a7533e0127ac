#include "train/signature.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace warptape {
namespace {

// The signatures as the last commit that moved them wrote them down (CONTRIBUTING.md). A change that breaks this says
// so in its message, with the new number, or is mended.
constexpr std::uint64_t kEnvironment = 3873761862;
constexpr std::uint64_t kTraining = 1517086870;

TEST(Signature, EnvironmentIsTheOneWrittenDown) {
  EXPECT_EQ(environment_signature(), kEnvironment);
}

TEST(Signature, TrainingIsTheOneWrittenDown) {
  EXPECT_EQ(training_signature(), kTraining);
  EXPECT_EQ(training_signature(), kTraining) << "the second time";
}

}  // namespace
}  // namespace warptape
