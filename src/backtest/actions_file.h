// Recorded actions: what `simulate` plays.
#pragma once

#include <filesystem>
#include <vector>

#include "warptape/config.h"

namespace warptape {

/// Reads actions: either one index a line, or CSV with the columns exposure, order, urgency (in any order; a column
/// whose list has one entry may be left out). Throws Error naming file, line, column and value.
std::vector<int> read_actions(const std::filesystem::path& file, const EnvConfig& env);

}  // namespace warptape
