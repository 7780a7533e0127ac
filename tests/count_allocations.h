// Counts what the whole test program allocates.
#pragma once

#include <optional>

namespace warptape {

/// Calls of operator new so far; nothing where a sanitizer has its own.
std::optional<long> count_allocations();

}  // namespace warptape
