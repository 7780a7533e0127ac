#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "config/markdown.h"
#include "warptape/config.h"

namespace warptape {

namespace {

struct ConfigCommand {
  bool markdown = false, toml = false;
  std::string rules = "market";
};

void print_keys() {
  for (const KeyDoc& key : config_keys()) {
    const std::string defaults = key.default_classic == key.default_market
                                     ? key.default_market
                                     : fmt::format("{} classic, {} market", key.default_classic, key.default_market);
    fmt::print("{} = {}\n    {}{}\n    {}; {}\n", key.name, defaults, key.help,
               key.unit.empty() ? "" : fmt::format(" [{}]", key.unit), key.type, key.range);
  }
}

void run_config(const ConfigCommand& command) {
  if (command.markdown) {
    fmt::print("{}", config_markdown());
  } else if (command.toml) {
    fmt::print("{}", to_toml(load_config({}, {"env.rules=" + command.rules})));
  } else {
    print_keys();
  }
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto options = std::make_shared<ConfigCommand>();
  CLI::App* command =
      app.add_subcommand("config", "Every configuration key: default under both rule sets, range, unit, meaning.");
  command->add_flag("--markdown", options->markdown, "print docs/config.md");
  command->add_flag("--toml", options->toml, "print a configuration file with all defaults");
  command->add_option("--rules", options->rules, "whose defaults --toml prints: classic or market")
      ->capture_default_str();
  command->footer("Example: start from all defaults\n  warptape config --toml > mine.toml");
  command->callback([options] { run_config(*options); });
}

}  // namespace warptape
