// The folder of a run: what is in it, and which of its checkpoints a resumed run can go on from.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "train/checkpoint.h"
#include "warptape/config.h"

namespace warptape {

inline constexpr const char* kConfigName = "config.toml";
inline constexpr const char* kLogName = "log.jsonl";
inline constexpr const char* kLast = "last";          ///< the newest checkpoint
inline constexpr const char* kPrevious = "previous";  ///< the one before it
inline constexpr const char* kBest = "best";

/// Whether `out` holds a checkpoint, intact or not, under any of the three names.
bool holds_checkpoint(const std::filesystem::path& out);

/// The configuration that the run goes on with: config.toml's or, where that is lost, a checkpoint's. None where
/// neither was written yet: a run that was killed before its first checkpoint has the file, one killed before that has
/// nothing.
std::optional<Config> run_config(const std::filesystem::path& out);

/// Throws Error naming the first key, of those that decide the numbers, in which `wanted` differs from the run's own.
void require_run_config(const Config& wanted, const std::filesystem::path& out);

/// Throws Error where a checkpoint is of no use to the run.
using CheckpointCheck = std::function<void(const CheckpointInfo&, const std::string& origin)>;

/// The checkpoint out/name: whole, of the configuration in config.toml, of the log in log.jsonl, accepted by `check`.
/// None where `name` is last and the run was killed before its first checkpoint. Otherwise throws Error, which names
/// another checkpoint of the run to go on from, if there is one that is all that.
std::optional<CheckpointInfo> find_checkpoint(const std::filesystem::path& out, const std::string& name,
                                              const CheckpointCheck& check);

/// Puts in order what a killed process left behind. Only for the process that has locked the folder.
void tidy_run_folder(const std::filesystem::path& out);

/// out/last becomes the checkpoint out/name, and a damaged last is gone: whatever comes now, --resume goes on from
/// here.
void make_last(const std::filesystem::path& out, const std::string& name);

}  // namespace warptape
