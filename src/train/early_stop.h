// When a training ends before its last round because the validation return no longer improves.
#pragma once

#include <cstdint>

#include "warptape/config.h"

namespace warptape {

/// Evaluations since the one that found the best return. They follow from the round numbers alone (one every
/// `evaluate_every` rounds), so a resumed run needs nothing recorded to count on. Rounds are counted from 1.
inline std::int64_t evaluations_since_best(std::int64_t round, std::int64_t best_round, std::int64_t evaluate_every) {
  return round / evaluate_every - best_round / evaluate_every;
}

/// Whether train.early_stop ends the training after `round`; never after the last, which ends it anyway.
inline bool stops_early(const TrainConfig& config, std::int64_t round, std::int64_t best_round) {
  return config.early_stop > 0 && round < config.rounds &&
         evaluations_since_best(round, best_round, config.evaluate_every) >= config.early_stop;
}

}  // namespace warptape
