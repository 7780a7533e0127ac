// docs/config.md, made from the declaration of the keys.
#pragma once

#include <string>

namespace warptape {

std::string config_markdown();

}  // namespace warptape
