// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "warptape/config.h"

namespace warptape {

/// --preset, --config, --set, --rules, --seed, --sort, --on-duplicate: a configuration in the making.
struct ConfigOptions {
  std::optional<std::string> preset;
  std::optional<std::filesystem::path> file;
  std::vector<std::string> settings;
  std::optional<std::string> rules;
  std::optional<std::uint64_t> seed;
  bool sort = false;
  std::optional<std::string> on_duplicate;

  void add_to(CLI::App& command);
  /// Whether none of them was given.
  bool empty() const { return !preset && !file && all_settings().empty(); }
  /// All settings as key=value, the options that stand for a key last.
  std::vector<std::string> all_settings() const;
  /// Preset, then file, then settings, then `more`.
  Config load(const std::vector<std::string>& more = {}) const;
};

}  // namespace warptape
