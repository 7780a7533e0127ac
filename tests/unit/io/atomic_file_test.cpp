#include "io/atomic_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "core/check.h"
#include "unit/io/temp_folder.h"
#include "warptape/error.h"

namespace warptape {
namespace {

using testing::content_of;
using testing::message_of;
using testing::names_in;
using testing::put;
using testing::TempFolder;
using Names = std::vector<std::string>;

// For tests of permissions, which do not bind root.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    if (::geteuid() == 0) dropped_ = ::seteuid(65534) == 0;
  }
  ~WithoutPrivileges() {
    if (dropped_ && ::seteuid(0) != 0) std::abort();
  }
  bool bound() const { return ::geteuid() != 0; }

 private:
  bool dropped_ = false;
};

// Files may not grow past `bytes` while it lives: a write fails half way, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// Runs `work` in a process that then ends as if killed: no destructor runs.
void in_killed_process(const std::function<void()>& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(ReadFile, GivesEveryByte) {
  const TempFolder folder;
  const std::string content("a\0b\r\n\xff", 6);
  put(folder / "x", content);
  EXPECT_EQ(read_file(folder / "x"), content);
  put(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
}

TEST(ReadFile, NamesTheFileAndTheReason) {
  const TempFolder folder;
  EXPECT_EQ(message_of<Error>([&] { read_file(folder / "none"); }),
            "cannot read '" + (folder / "none").string() + "': No such file or directory");
  EXPECT_EQ(message_of<Error>([&] { read_file(folder.path()); }),
            "cannot read '" + folder.path().string() + "': Is a directory");
}

TEST(ReadFile, ReadsPipesToo) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "seed = 7", 8), 8);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])), "seed = 7");
  ::close(ends[0]);
}

TEST(InputFile, TellsAShortFileFromAWholeOne) {
  const TempFolder folder;
  put(folder / "x", "12345");
  InputFile input(folder / "x");
  EXPECT_EQ(input.size(), 5u);
  char bytes[8];
  input.read_exactly(bytes, 3);
  EXPECT_EQ(std::string(bytes, 3), "123");
  EXPECT_NE(message_of<Error>([&] { input.read_exactly(bytes, 8); }).find("ends 6 bytes early"), std::string::npos);
}

TEST(WriteFile, ReplacesTheContentAndLeavesNothingElse) {
  const TempFolder folder;
  write_file_atomically(folder / "x", "first");
  EXPECT_EQ(content_of(folder / "x"), "first");
  write_file_atomically(folder / "x", "");
  EXPECT_EQ(content_of(folder / "x"), "");
  EXPECT_EQ(names_in(folder.path()), Names{"x"});
}

TEST(WriteFile, WritesIntoTheWorkingFolder) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_file_atomically("bare", "x");
  std::filesystem::current_path(before);
  EXPECT_EQ(content_of(folder / "bare"), "x");
}

TEST(WriteFile, KeepsThePermissionsOfWhatItReplaces) {
  const TempFolder folder;
  put(folder / "x", "old");
  ASSERT_EQ(::chmod((folder / "x").c_str(), 0640), 0);
  write_file_atomically(folder / "x", "new");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(WriteFile, FollowsASymbolicLink) {
  const TempFolder folder;
  put(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "real"), "new");
}

TEST(WriteFile, SaysThatTheFolderIsMissing) {
  const TempFolder folder;
  const std::string file = (folder / "none/x").string();
  EXPECT_EQ(message_of<Error>([&] { write_file_atomically(file, "x"); }),
            "cannot write '" + file + "': there is no folder '" + (folder / "none").string() + "'; create it first");
}

TEST(WriteFile, RefusesAFolder) {
  const TempFolder folder;
  EXPECT_EQ(message_of<Error>([&] { write_file_atomically(folder.path(), "x"); }),
            "cannot write '" + folder.path().string() + "': Is a directory");
  EXPECT_THROW(write_file_atomically(folder / "slash/", "x"), Error);
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST(WriteFile, SaysThatTheFolderIsNotWritable) {
  const TempFolder folder;
  put(folder / "x", "old");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  {
    const WithoutPrivileges without;
    if (!without.bound()) GTEST_SKIP() << "this machine has no user whom permissions bind";
    const std::string message = message_of<Error>([&] { write_file_atomically(folder / "x", "new"); });
    EXPECT_NE(message.find((folder / "x").string() + "': Permission denied; change its permissions"), std::string::npos)
        << message;
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(content_of(folder / "x"), "old");
}

TEST(WriteFile, KeepsTheOldContentWhenTheDiskIsFull) {
  const TempFolder folder;
  put(folder / "x", "old");
  {
    const FileSizeLimit limit(100000);
    EXPECT_NE(message_of<Error>([&] {
                write_file_atomically(folder / "x", std::string(300000, 'n'));
              }).find((folder / "x").string() + "': File too large"),
              std::string::npos);
  }
  EXPECT_EQ(content_of(folder / "x"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"x"});
}

TEST(WriteFile, WritesThroughADeviceAndSaysThatItIsFull) {
  // /dev/full refuses every write with ENOSPC; a rename would have replaced the device.
  EXPECT_EQ(message_of<Error>([] { write_file_atomically("/dev/full", "x"); }),
            "cannot write '/dev/full': No space left on device; free some space, or write to another disk");
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(AtomicFile, StandsUnderItsNameOnlyOnceCommitted) {
  const TempFolder folder;
  std::string expected;
  {
    AtomicFile file(folder / "x");
    // Below, at and above the buffer's size, so that their order shows when it breaks.
    for (const std::size_t size : {1u, 65535u, 65536u, 3u, 200000u, 7u, 65536u}) {
      const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
      file.write(piece.data(), piece.size());
      expected += piece;
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
    file.commit();
    EXPECT_THROW(file.write("more"), Bug);
  }
  EXPECT_TRUE(content_of(folder / "x") == expected);
  EXPECT_EQ(names_in(folder.path()), Names{"x"});
}

TEST(AtomicFile, DiscardsWhatWasNotCommitted) {
  const TempFolder folder;
  {
    AtomicFile file(folder / "x");
    file.write("half");
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST(AtomicFile, TwoWritersDoNotMix) {
  const TempFolder folder;
  AtomicFile first(folder / "x"), second(folder / "x");
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(content_of(folder / "x"), "first");
  second.commit();
  EXPECT_EQ(content_of(folder / "x"), "second");
}

TEST(AtomicFile, RemovesWhatAKilledProcessLeft) {
  const TempFolder folder;
  in_killed_process([&] {
    auto* file = new AtomicFile(folder / "x");
    file->write(std::string(200000, 'h'));
  });
  ASSERT_EQ(names_in(folder.path()).size(), 1u);
  put(folder / "x.partial-mine", "not a number: a user's own file");
  put(folder / "xy.partial-1", "of another name");
  write_file_atomically(folder / "x", "whole");
  EXPECT_EQ(names_in(folder.path()), (Names{"x", "x.partial-mine", "xy.partial-1"}));
}

TEST(AtomicFolder, StandsUnderItsNameOnlyOnceCommitted) {
  const TempFolder folder;
  {
    AtomicFolder run(folder / "last");
    EXPECT_EQ(run.path().string(), (folder / "last").string() + ".partial-" + std::to_string(::getpid()));
    put(run.path() / "weights", "1");
    std::filesystem::create_directory(run.path() / "sub");
    put(run.path() / "sub" / "deep", "2");
    EXPECT_FALSE(std::filesystem::exists(folder / "last"));
    run.commit();
  }
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
  EXPECT_EQ(content_of(folder / "last/weights"), "1");
  EXPECT_EQ(content_of(folder / "last/sub/deep"), "2");
}

TEST(AtomicFolder, ReplacesTheWholeOldFolder) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "last");
  put(folder / "last/old", "old");
  {
    AtomicFolder run(folder / "last/");
    put(run.path() / "new", "new");
    EXPECT_EQ(names_in(folder / "last"), Names{"old"});
    run.commit();
  }
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
  EXPECT_EQ(names_in(folder / "last"), Names{"new"});
}

TEST(AtomicFolder, DiscardsWhatWasNotCommitted) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "last");
  put(folder / "last/old", "old");
  {
    AtomicFolder run(folder / "last");
    put(run.path() / "new", "half");
  }
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
  EXPECT_EQ(content_of(folder / "last/old"), "old");
}

TEST(AtomicFolder, TheNameStandsAtEveryInstant) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "last");
  std::atomic<bool> over = false;
  std::atomic<int> looks = 0, gaps = 0;
  std::thread watcher([&] {
    while (!over) {
      gaps += !std::filesystem::is_directory(folder / "last");
      ++looks;
    }
  });
  while (looks == 0) std::this_thread::yield();
  for (int round = 0; round < 20; ++round) {
    AtomicFolder run(folder / "last");
    put(run.path() / "round", std::to_string(round));
    run.commit();
  }
  over = true;
  watcher.join();
  EXPECT_EQ(gaps, 0);
  EXPECT_EQ(content_of(folder / "last/round"), "19");
}

TEST(AtomicFolder, RemovesWhatAKilledProcessLeftButNotWhatIsAlive) {
  const TempFolder folder;
  in_killed_process([&] {
    auto* run = new AtomicFolder(folder / "last");
    put(run->path() / "half", "half");
  });
  ASSERT_EQ(names_in(folder.path()).size(), 1u);
  const std::string left = names_in(folder.path())[0];

  AtomicFolder alive(folder / "last");
  put(alive.path() / "from", "alive");
  EXPECT_FALSE(std::filesystem::exists(folder / left));
  AtomicFolder other(folder / "last");
  EXPECT_NE(other.path(), alive.path());
  EXPECT_EQ(content_of(alive.path() / "from"), "alive");
  alive.commit();
  EXPECT_EQ(content_of(folder / "last/from"), "alive");
}

TEST(AtomicFolder, FollowsASymbolicLink) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "disk/real");
  std::filesystem::create_symlink("disk/real", folder / "last");
  AtomicFolder run(folder / "last");
  put(run.path() / "new", "new");
  run.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "last"));
  EXPECT_EQ(content_of(folder / "disk/real/new"), "new");
  EXPECT_EQ(names_in(folder / "disk"), Names{"real"});
}

TEST(AtomicFolder, SaysWhyItCannotBeBuilt) {
  const TempFolder folder;
  put(folder / "file", "x");
  EXPECT_NE(message_of<Error>([&] { AtomicFolder run(folder / "file"); }).find("a file of that name is in the way"),
            std::string::npos);
  EXPECT_NE(message_of<Error>([&] { AtomicFolder run(folder / "none/last"); }).find("there is no folder"),
            std::string::npos);
  EXPECT_THROW(AtomicFolder(folder / ".."), Error);
  EXPECT_THROW(AtomicFolder("/"), Error);
  EXPECT_THROW(AtomicFolder(""), Error);
  EXPECT_EQ(names_in(folder.path()), Names{"file"});
}

TEST(SwapByTwoRenames, ReplacesTheFolder) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "last");
  std::filesystem::create_directory(folder / "fresh");
  put(folder / "last/old", "");
  put(folder / "fresh/new", "");
  EXPECT_EQ(detail::swap_by_two_renames(folder / "fresh", folder / "last"), 0);
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
  EXPECT_EQ(names_in(folder / "last"), Names{"new"});
}

TEST(SwapByTwoRenames, NeedsNoOldFolder) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "fresh");
  EXPECT_EQ(detail::swap_by_two_renames(folder / "fresh", folder / "last"), 0);
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
}

TEST(SwapByTwoRenames, PutsTheOldFolderBackWhenItFails) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "last");
  EXPECT_EQ(detail::swap_by_two_renames(folder / "none", folder / "last"), ENOENT);
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
}

TEST(RestoreInterruptedSwap, PutsTheOldFolderBackAndTouchesNothingElse) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "last.partial-previous");
  put(folder / "last.partial-previous/old", "");
  restore_interrupted_swap(folder / "last");  // killed between the renames
  EXPECT_EQ(names_in(folder.path()), Names{"last"});
  EXPECT_EQ(names_in(folder / "last"), Names{"old"});

  // Killed after them, or the work of a live writer: a reader cannot tell.
  std::filesystem::create_directory(folder / "last.partial-previous");
  restore_interrupted_swap(folder / "last");
  EXPECT_EQ(names_in(folder.path()), (Names{"last", "last.partial-previous"}));
  restore_interrupted_swap(folder / "none");
}

}  // namespace
}  // namespace warptape
