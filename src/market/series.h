// Reading all files of a run.
#pragma once

#include <filesystem>
#include <vector>

#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

/// Reads every file as one series and says on standard error what was sorted or dropped. Throws Error: a file given
/// twice, or what read_bars() refuses.
std::vector<Bars> read_series(const std::vector<std::filesystem::path>& files, const DataConfig& options);

}  // namespace warptape
