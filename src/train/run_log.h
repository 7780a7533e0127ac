// log.jsonl: a line a round, the same bytes on every run of the same seed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "warptape/trainer.h"

namespace warptape {

class RunLog {
 public:
  /// Keeps the lines of rounds up to `last_round` of an existing log and goes on after them; 0 begins a new one.
  RunLog(const std::filesystem::path& file, std::int64_t last_round);

  /// Appends a line and flushes it. Throws Error (a full disk).
  void append(const RoundReport& report);

 private:
  std::filesystem::path file_;
};

}  // namespace warptape
