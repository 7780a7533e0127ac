// Event files' names, and what happens to those that are there. Their content: tests/reference/test_events.py.
#include "train/events.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/io/temp_folder.h"
#include "warptape/error.h"

namespace warptape {
namespace {

TEST(EventFiles, OfAResumedRunSortsLastEvenWhenTheClockWasSetBack) {
  const testing::TempFolder folder;
  testing::put(folder / "events.out.tfevents.4000000000.host.1", "");  // in the year 2096
  const EventFile file(folder.path(), 3);
  const std::vector<std::string> names = testing::names_in(folder.path());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[1].substr(0, 31), "events.out.tfevents.4000000001.") << names[1];
}

TEST(EventFiles, OfANewRunTakeThePlaceOfOlderOnes) {
  const testing::TempFolder folder;
  testing::put(folder / "events.out.tfevents.1600000000.host.1", "");
  testing::put(folder / "notes.txt", "mine");
  const EventFile file(folder.path(), 0);
  const std::vector<std::string> names = testing::names_in(folder.path());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_NE(names[0], "events.out.tfevents.1600000000.host.1");
  EXPECT_EQ(names[1], "notes.txt");
}

TEST(EventFiles, SayWhereTheyCannotBeWritten) {
  const testing::TempFolder folder;
  testing::put(folder / "tensorboard", "a file");
  const std::string message = testing::message_of<Error>([&] { EventFile(folder / "tensorboard", 0); });
  EXPECT_NE(message.find((folder / "tensorboard").string()), std::string::npos) << message;
}

}  // namespace
}  // namespace warptape
