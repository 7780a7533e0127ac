// What made this program: recorded in checkpoints and shown by `warptape info`.
#pragma once

namespace warptape {

/// "0.1.0"
const char* version();
/// "GNU 12.2.0 Release": compiler and build type. With the version it decides whether a resume gives the same bytes.
const char* build();

}  // namespace warptape
