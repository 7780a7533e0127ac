// The Huber loss (Huber 1964; PyTorch's HuberLoss) of one temporal-difference error.
#pragma once

#include "core/hd.h"

namespace warptape {

HD float huber_loss(float error, float delta) {
  const float size = abs_of(error);
  return size <= delta ? 0.5f * error * error : delta * (size - 0.5f * delta);
}

/// d loss / d error.
HD float huber_slope(float error, float delta) {
  return max_of(-delta, min_of(error, delta));
}

}  // namespace warptape
