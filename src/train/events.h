// Event files of TensorBoard: the figures of log.jsonl and the speed, a scalar a tag, the round as the step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "io/posix.h"
#include "warptape/trainer.h"

namespace warptape {

class EventFile {
 public:
  /// Begins a file in `folder`, which it makes. A run that goes on, after `last_round` > 0, leaves the files of its
  /// earlier processes as they are and tells TensorBoard to drop what they hold of later rounds; a new run removes
  /// them.
  EventFile(const std::filesystem::path& folder, std::int64_t last_round);

  /// Appends the round's scalars, and its alarms as texts, in one write. Throws Error (a full disk).
  void append(const RoundReport& report);

 private:
  void write(std::string_view bytes);

  std::filesystem::path file_;
  Descriptor descriptor_;
};

}  // namespace warptape
