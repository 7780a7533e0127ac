#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "config/markdown.h"
#include "warptape/config.h"

namespace warptape {

namespace {

struct ConfigCommand {
  bool markdown = false, toml = false;
  ConfigOptions config;
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
  } else if (command.toml || !command.config.empty()) {
    fmt::print("{}", to_toml(command.config.load()));
  } else {
    print_keys();
  }
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto options = std::make_shared<ConfigCommand>();
  CLI::App* command = app.add_subcommand(
      "config",
      "Every configuration key: default under both rule sets, range, unit, meaning. With --preset, --config, --set or\n"
      "another option that gives values: the configuration that comes of them, as a file.");
  options->config.add_to(*command);
  CLI::Option* markdown = command->add_flag("--markdown", options->markdown, "print docs/config.md");
  command
      ->add_flag("--toml", options->toml,
                 "print a configuration file with all values, of the defaults if none is given")
      ->excludes(markdown);
  command->footer(
      "Examples: start from all defaults; see what a preset sets\n"
      "  warptape config --toml > mine.toml\n"
      "  warptape config --preset fast --set seed=2");
  command->callback([options] { run_config(*options); });
}

}  // namespace warptape
