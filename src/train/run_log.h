// log.jsonl: a line a round, the same bytes on every run of the same seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "warptape/trainer.h"

namespace warptape {

/// How far the log was when a checkpoint was written: everything of its round is logged before.
struct LogMark {
  std::uint64_t bytes = 0;
  std::string xxh3_128;  ///< of those bytes; empty: not recorded, the log begins anew

  bool operator==(const LogMark&) const = default;
};

/// Throws Error unless the log begins with what the mark says. A log that isn't there any more is none of its business.
void check_log(const std::filesystem::path& file, const LogMark& mark);

class RunLog {
 public:
  /// Cuts an existing log back to the mark, and goes on after it; without a mark it begins a new one.
  RunLog(const std::filesystem::path& file, const LogMark& mark);

  /// Appends a line. Throws Error (a full disk); half a line may stand then, behind every mark.
  void append(const RoundReport& report);

  /// Flushes the log to the disk: a checkpoint that survives a power failure must not be ahead of its log.
  LogMark mark() const;

 private:
  std::filesystem::path file_;
};

}  // namespace warptape
