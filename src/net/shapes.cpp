#include "net/shapes.h"

#include "env/observe.h"

namespace warptape {

DuelingShape dueling_shape(const Config& config, int features) {
  const std::size_t actions =
      config.env.exposures.size() * config.env.order_types.size() * config.env.urgency_cost.size();
  return {features + kPortfolioNumbers,           static_cast<int>(config.net.shared_0),
          static_cast<int>(config.net.shared_1),  static_cast<int>(config.net.value),
          static_cast<int>(config.net.advantage), static_cast<int>(actions)};
}

CuriosityShape curiosity_shape(const Config& config, int features) {
  return curiosity_shape(features, static_cast<int>(config.net.curiosity));
}

const char* network_prefix(Network network) {
  switch (network) {
    case Network::kOnline:
      return "";
    case Network::kTarget:
      return "target.";
    case Network::kCuriosity:
      return "curiosity.";
  }
  return "";
}

}  // namespace warptape
