// Inputs for tests of the program: bars, a configuration that trains in a blink, a run that was trained with it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "unit/cli/run_program.h"

namespace warptape::cli_test {

/// A CSV file, line by line; line 1 is the header, as in messages.
using Lines = std::vector<std::string>;

inline std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Hourly bars from 2020-01-01T00:00:00Z on (as seconds since 1970): two waves around 100, each bar opening where the
/// last one closed.
inline Lines bar_lines(int count) {
  const auto close_of = [](int bar) { return 100 + 5 * std::sin(0.37 * bar) + 3 * std::sin(0.051 * bar); };
  Lines lines = {"time,open,high,low,close,volume"};
  for (int bar = 0; bar < count; ++bar) {
    const double open = close_of(std::max(bar - 1, 0)), close = close_of(bar);
    lines.push_back(fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f},{}", 1577836800 + 3600 * bar, open,
                                std::max(open, close) * 1.001, std::min(open, close) * 0.999, close,
                                100 + bar * 37 % 101));
  }
  return lines;
}

inline std::string bars_csv(int count) {
  return joined(bar_lines(count));
}

/// Replaces a field (0: time … 5: volume) of a line, counted from 1.
inline void set_field(Lines& lines, int line, int field, const std::string& value) {
  std::string& text = lines.at(static_cast<std::size_t>(line - 1));
  std::size_t begin = 0;
  for (int i = 0; i < field; ++i) begin = text.find(',', begin) + 1;
  const std::size_t end = std::min(text.find(',', begin), text.size());
  text.replace(begin, end - begin, value);
}

/// Enough for the features' look-back of 100, the embargoes of 100 and three splits of the configuration below.
inline constexpr int kBars = 900;

/// Three actions, layers of eight, rounds of 80 experiences.
inline constexpr const char* kTinyConfig = R"(
seed = 3
threads = 1
[env]
episode_length = 20
exposures = [-1, 0, 1]
order_types = ["market"]
urgency_cost = [1]
[split]
train = 0.4
validation = 0.3
[net]
shared_0 = 8
shared_1 = 8
value = 8
advantage = 8
curiosity = 8
[collect]
episodes = 4
steps = 20
[replay]
capacity = 1000
[learn]
batch = 16
[train]
rounds = 1
updates_per_round = 2
evaluate_every = 1
checkpoint_every = 1
alarms = false
)";

/// Puts the folder "run" on a desk: one round over bars_csv(kBars) named bars.csv. It is trained once a process.
inline void put_trained_run(const Desk& desk) {
  static const Desk trained;
  if (!trained.has("run")) {
    trained.put("bars.csv", bars_csv(kBars));
    trained.put("tiny.toml", kTinyConfig);
    trained.run_well({"train", "--data", "bars.csv", "--config", "tiny.toml", "--out", "run"});
  }
  std::filesystem::copy(trained.path() / "run", desk.path() / "run", std::filesystem::copy_options::recursive);
}

}  // namespace warptape::cli_test
