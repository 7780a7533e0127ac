#include "config/markdown.h"

#include <fmt/format.h>

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
  return text;
}

}  // namespace warptape
