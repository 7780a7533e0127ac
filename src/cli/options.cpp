#include "cli/options.h"

#include <fmt/core.h>

namespace warptape {

void ConfigOptions::add_to(CLI::App& command) {
  std::string names;
  for (const Preset& p : presets()) names += (names.empty() ? "" : ", ") + p.name;
  command.add_option("--preset", preset, "values to begin with, under the file's: " + names);
  command.add_option("--config", file, "configuration file (TOML); `warptape config` lists the keys");
  command.add_option("--set", settings, "key=value, over the file's; may be given often")->type_name("KEY=VALUE");
  command.add_option("--rules", rules, "classic or market: short for --set env.rules=...");
  command.add_option("--seed", seed, "key of every random number: short for --set seed=...");
  command.add_flag("--sort", sort, "put rows in time order: short for --set data.sort=true");
  command.add_option("--on-duplicate", on_duplicate, "refuse or keep-last: short for --set data.on_duplicate=...");
}

std::vector<std::string> ConfigOptions::all_settings() const {
  std::vector<std::string> all = settings;
  if (rules) all.push_back("env.rules=" + *rules);
  if (seed) all.push_back(fmt::format("seed={}", *seed));
  if (sort) all.emplace_back("data.sort=true");
  if (on_duplicate) all.push_back("data.on_duplicate=" + *on_duplicate);
  return all;
}

Config ConfigOptions::load(const std::vector<std::string>& more) const {
  std::vector<std::string> all = all_settings();
  all.insert(all.end(), more.begin(), more.end());
  return load_config(file, all, preset);
}

}  // namespace warptape
