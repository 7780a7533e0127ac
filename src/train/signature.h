// One number that says whether a change moved behaviour, from a fixed workload each (CONTRIBUTING.md).
#pragma once

#include <cstdint>

namespace warptape {

/// Of the step: recorded actions under both rule sets with every option in use. The same on every machine and backend.
std::uint64_t environment_signature();

/// Of a short training on the CPU: experiences, weights, optimiser. The same on every processor: see
/// src/backend/cpu/kernels.h.
std::uint64_t training_signature();

}  // namespace warptape
