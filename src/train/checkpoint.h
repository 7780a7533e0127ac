// A run's state on disk: written whole or not at all, and checked when read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "net/tensor_map.h"
#include "train/alarms.h"
#include "train/experiment.h"
#include "train/run_log.h"
#include "warptape/backend.h"
#include "warptape/config.h"

namespace warptape {

/// Everything in a checkpoint that is not a tensor.
struct CheckpointInfo {
  Config config;
  DataRecipe recipe;
  std::string backend;         ///< "cpu"
  std::string version, build;  ///< of the program that wrote it
  std::int64_t round = 0;      ///< rounds done
  std::int64_t updates = 0;    ///< updates done
  std::optional<double> best_return;
  std::int64_t best_round = 0;
  AlarmState alarms;
  LogMark log;
};

/// The configuration without what does not decide the numbers (threads): that must not decide a checkpoint's bytes.
Config deciding_config(Config config);

/// Writes folder/{weights.safetensors, state.safetensors, checkpoint.json, manifest.json}, replacing the folder at
/// once. weights.safetensors: the online network under the names of docs/domain.md section 5, the target network under
/// "target.", curiosity under "curiosity.", configuration, features and normaliser as metadata. The checkpoint that
/// stood there before is kept under `previous`, a name beside `folder`, if one is given.
void write_checkpoint(const std::filesystem::path& folder, const CheckpointInfo& info, const Backend& backend,
                      const std::filesystem::path& previous = {});

/// Verifies the checksums and reads checkpoint.json. Throws Error naming what is damaged.
CheckpointInfo read_checkpoint_info(const std::filesystem::path& folder);

TensorMap read_checkpoint_weights(const std::filesystem::path& folder);
TensorMap read_checkpoint_state(const std::filesystem::path& folder);

}  // namespace warptape
