#include "config/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warptape/config.h"

namespace warptape {

std::string config_markdown() {
  std::string text =
      "# Configuration\n\n"
      "Made by `warptape config --markdown`; a test holds it against the program. Keys go into a TOML file "
      "(`--config`)\n"
      "or, one by one, into `--set key=value`. Where the two rule sets differ, both defaults are given.\n\n"
      "| key | default | type | allowed | unit | meaning |\n|---|---|---|---|---|---|\n";
  for (const KeyDoc& key : config_keys()) {
    const std::string defaults =
        key.default_classic == key.default_market
            ? fmt::format("`{}`", key.default_market)
            : fmt::format("classic `{}`, market `{}`", key.default_classic, key.default_market);
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", key.name, defaults, key.type, key.range, key.unit, key.help);
  }
  text +=
      "\n## Presets\n\n"
      "`--preset` names values to begin with: the preset's stand under the file's keys, those under `--set`. A preset "
      "that is\nfor other rules than `env.rules` of the file or of a setting is refused. `warptape config --preset "
      "fast` "
      "prints every key.\n\n"
      "| preset | what | sets |\n|---|---|---|\n";
  for (const Preset& preset : presets()) {
    text += fmt::format("| `{}` | {} | `{}` |\n", preset.name, preset.help, fmt::join(preset.settings, "`, `"));
  }
  return text;
}

}  // namespace warptape
