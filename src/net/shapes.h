// Network shapes out of a configuration and the number of market features.
#pragma once

#include "net/curiosity.h"
#include "net/dueling.h"
#include "warptape/backend.h"
#include "warptape/config.h"

namespace warptape {

/// S = features + 3; A from the lists of env.
DuelingShape dueling_shape(const Config& config, int features);
CuriosityShape curiosity_shape(const Config& config, int features);

/// What precedes a network's tensor names in a file: "", "target.", "curiosity.".
const char* network_prefix(Network network);

}  // namespace warptape
