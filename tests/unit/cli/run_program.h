// Runs the program as a user does: a process of its own, in a folder of its own, with what it prints caught.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "paths.h"
#include "unit/io/temp_folder.h"

namespace warptape::cli_test {

/// Long enough for a loaded machine and a sanitizer; what comes near it hangs.
inline constexpr std::chrono::seconds kTimeLimit{60};
inline constexpr std::chrono::milliseconds kPoll{1};

struct Outcome {
  int exit_code = -1;  ///< 128 + signal for a program that a signal ended, as shells report it
  std::string out, err;
};

/// The program, started with `arguments` in `folder`; stdout and stderr are files, so never a terminal.
class Process {
 public:
  Process(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {kBinary};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    add_output(actions, STDOUT_FILENO, "out");
    add_output(actions, STDERR_FILENO, "err");
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    const int error = posix_spawn(&pid_, kBinary, &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + words.front());
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (finished()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void send(int signal) {
    if (!finished()) ::kill(pid_, signal);  // once it is waited for, its number may be another's
  }

  bool finished() {
    if (!done_) done_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return done_;
  }

  /// Waits for the end.
  Outcome outcome() {
    const auto deadline = std::chrono::steady_clock::now() + kTimeLimit;
    while (!finished()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the program does not end");
      std::this_thread::sleep_for(kPoll);
    }
    const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    return {code, testing::content_of(printed_ / "out"), testing::content_of(printed_ / "err")};
  }

 private:
  void add_output(posix_spawn_file_actions_t& actions, int descriptor, const char* name) {
    posix_spawn_file_actions_addopen(&actions, descriptor, (printed_ / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
  }

  testing::TempFolder printed_;  // not the program's folder, which tests look through
  pid_t pid_ = -1;
  int status_ = 0;
  bool done_ = false;
};

inline void expect_contains(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << "wanted: " << word << "\nin: " << text;
  }
}

/// A folder in which the program runs; files are named as they lie in it.
class Desk {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  void put(const std::string& name, const std::string& content) const { testing::put(folder_ / name, content); }
  std::string content(const std::string& name) const { return testing::content_of(folder_ / name); }
  bool has(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  Outcome run(const std::vector<std::string>& arguments) const { return Process(path(), arguments).outcome(); }

  /// The run must succeed; what it printed.
  Outcome run_well(const std::vector<std::string>& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }

  /// The run must end as a user's mistake does: an exit code that says so, a message with all the words on stderr,
  /// nothing on stdout, and every file as it was.
  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& words) const {
    const Files before = files();
    const Outcome outcome = run(arguments);
    EXPECT_GT(outcome.exit_code, 0);
    EXPECT_LT(outcome.exit_code, 128) << "ended by a signal";
    EXPECT_EQ(outcome.err.find("this is a bug"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    expect_contains(outcome.err, words);
    EXPECT_EQ(changes(before, files()), (std::vector<std::string>{}));
  }

 private:
  using Files = std::map<std::string, std::string>;

  /// Names of what was written, changed or removed.
  static std::vector<std::string> changes(const Files& before, const Files& after) {
    std::vector<std::string> names;
    for (const auto& [name, content] : after) {
      const auto had = before.find(name);
      if (had == before.end() || had->second != content) names.push_back(name);
    }
    for (const auto& entry : before) {
      if (!after.contains(entry.first)) names.push_back(entry.first);
    }
    return names;
  }

  /// Every file and folder with what is in it.
  Files files() const {
    Files all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      const std::string name = std::filesystem::relative(entry.path(), path()).string();
      all[name] = entry.is_regular_file() ? testing::content_of(entry.path()) : "";
    }
    return all;
  }

  testing::TempFolder folder_;
};

}  // namespace warptape::cli_test
