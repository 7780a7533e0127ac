#include "core/build_info.h"

namespace warptape {

const char* version() {
  return WARPTAPE_VERSION;
}
const char* build() {
  return WARPTAPE_BUILD;
}

}  // namespace warptape
