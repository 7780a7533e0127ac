// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019) on one parameter, as PyTorch defines them.
#pragma once

#include "core/hd.h"

namespace warptape {

/// What all parameters of one update share; made by adam_step().
struct AdamStep {
  float learning_rate;
  float beta1, beta2;
  float epsilon;
  float bias1;       // 1 - beta1^t
  float root_bias2;  // sqrt(1 - beta2^t)
  float decay;       // 1 - learning_rate·weight_decay, 1 for plain Adam
};

/// Moves one weight and its two moments.
HD void adam_update(const AdamStep& s, float gradient, float& weight, float& moment1, float& moment2) {
  moment1 = s.beta1 * moment1 + (1.0f - s.beta1) * gradient;
  moment2 = s.beta2 * moment2 + (1.0f - s.beta2) * gradient * gradient;
  const float denominator = root_of(moment2) / s.root_bias2 + s.epsilon;
  weight = weight * s.decay - s.learning_rate / s.bias1 * (moment1 / denominator);
}

/// Target networks that follow slowly: target += τ·(online − target).
HD float polyak(float target, float online, float tau) {
  return target + tau * (online - target);
}

}  // namespace warptape
