#include "paths.h"

namespace warptape {

const char* const kSourceDir = WARPTAPE_SOURCE_DIR;
const char* const kBinary = WARPTAPE_BINARY;
const char* const kGoldenDir = WARPTAPE_SOURCE_DIR "/tests/golden";

}  // namespace warptape
