// What the tests of market/ share: files that vanish, the words of an Error, series made up.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "warptape/dataset.h"
#include "warptape/error.h"

namespace warptape::market_test {

/// A file of a given name and text in a folder of its own, removed at the end.
class TextFile {
 public:
  explicit TextFile(std::string_view text, const std::string& name = "bars.csv") {
    std::string folder = (std::filesystem::temp_directory_path() / "warptape_test_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_, path_;
};

/// The message of the Error that a call throws; "" when it throws none.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Whether every one of the words stands in the message.
inline bool has_all(const std::string& message, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (message.find(word) == std::string::npos) return false;
  }
  return !message.empty();
}

/// Uniform in [0, 1), the same on every machine.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}
  double operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

inline constexpr std::int64_t kHourNs = 3'600'000'000'000;
inline constexpr std::int64_t kStartNs = 1'577'836'800'000'000'000;  // 2020-01-01T00:00:00Z

/// Hourly bars from 2020 on, `offset` hours later: a random walk of close around 100 with wicks and volume.
inline Bars random_bars(std::int64_t count, std::uint64_t seed, std::int64_t offset = 0) {
  Uniform uniform(seed);
  Bars bars;
  bars.name = "series_" + std::to_string(seed);
  double close = 100;
  for (std::int64_t t = 0; t < count; ++t) {
    const double open = close * (1 + 0.001 * (uniform() - 0.5));
    close = open * (1 + 0.02 * (uniform() - 0.5));
    bars.ts_ns.push_back(kStartNs + (t + offset) * kHourNs);
    bars.open.push_back(open);
    bars.close.push_back(close);
    bars.high.push_back(std::max(open, close) * (1 + 0.005 * uniform()));
    bars.low.push_back(std::min(open, close) * (1 - 0.005 * uniform()));
    bars.volume.push_back(std::floor(1000 * uniform()));
    bars.row.push_back(t + 2);
  }
  return bars;
}

}  // namespace warptape::market_test
