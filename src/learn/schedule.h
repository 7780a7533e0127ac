// Schedules over a training's rounds.
#pragma once

#include "core/hd.h"

namespace warptape {

/// Falls (or rises) linearly from `start` at round 0 to `end` after `length` rounds, then stays.
HD double linear_schedule(double start, double end, double round, double length) {
  if (length <= 0 || round >= length) return end;
  return start + (end - start) * (round / length);
}

}  // namespace warptape
