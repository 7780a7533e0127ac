// Where the tests find what they read and run. One source file knows, so that a compiler cache serves every checkout.
#pragma once

namespace warptape {

extern const char* const kSourceDir;  ///< the repository's root
extern const char* const kBinary;     ///< the program, as built
extern const char* const kGoldenDir;  ///< tests/golden

}  // namespace warptape
