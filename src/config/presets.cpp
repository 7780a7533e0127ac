#include "warptape/config.h"

namespace warptape {

const std::vector<Preset>& presets() {
  // Each names its rule set: a file or setting that names the other one contradicts it and is refused.
  static const std::vector<Preset> all = {
      {"classic", "the defaults of classic rules", {"env.rules=classic"}},
      {"market", "the defaults of market rules", {"env.rules=market"}},
      {"fast",
       "market rules, a first agent within seconds",
       // No other key of env.*: the world is that of the defaults, so figures can be compared with theirs.
       {"env.rules=market", "net.shared_0=64", "net.shared_1=64", "net.value=32", "net.advantage=32",
        "collect.episodes=64", "collect.steps=100", "train.rounds=150", "train.evaluate_every=5"}},
  };
  return all;
}

}  // namespace warptape
