// One process at a time may write a folder.
#pragma once

#include <filesystem>

#include "io/posix.h"

namespace warptape {

/// Locks the folder for as long as the descriptor lives, or the process: it ends with a kill too, and leaves no file.
/// Makes some attempts, 50 ms apart, since a killed process may still be ending; then throws Error saying that
/// `activity` goes on there. The descriptor is invalid, and nothing is locked, on file systems that have no locks.
Descriptor lock_folder(const std::filesystem::path& folder, std::string_view activity, int attempts = 40);

}  // namespace warptape
