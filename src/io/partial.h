// What is being built beside its final name: NAME.partial-<pid>, locked by the process that builds it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "io/posix.h"

namespace warptape {

enum class PartialKind : std::uint8_t { kFile, kFolder };

/// A new, empty file (open for writing) or folder. The lock tells it from one that a killed process left behind: it
/// ends with the process, however that ends, and holds across containers that share a disk, where ids of processes
/// don't.
struct Partial {
  std::filesystem::path path;
  Descriptor descriptor;
};

/// Creates NAME.partial-<pid> beside `target`; throws Error (no such folder, not writable, ...) naming `target`.
Partial create_partial(const std::filesystem::path& target, PartialKind kind);

/// Removes what killed processes left behind beside `target`. What cannot be removed stays, without an error; so does
/// everything on file systems that have no locks.
void remove_stale_partials(const std::filesystem::path& target);

}  // namespace warptape
