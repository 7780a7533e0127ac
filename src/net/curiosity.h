// The forward model of curiosity (docs/domain.md, sections 4 and 5; the idea: Pathak et al., "Curiosity-driven
// exploration by self-supervised prediction", ICML 2017): the first market columns and the one-hot category of the
// action → the same columns of the next bar, by way of one hidden layer with leaky_relu.
#pragma once

#include "core/hd.h"
#include "net/layer.h"

namespace warptape {

inline constexpr int kCuriosityFeatures = 32;   // market columns predicted, at most
inline constexpr int kCuriosityCategories = 3;  // short, flat, long

struct CuriosityShape {
  int inputs;  // outputs + 3: features, then the category
  int hidden;
  int outputs;  // min(32, M)
};

HD constexpr CuriosityShape curiosity_shape(int market_features, int hidden) {
  const int features = min_of(kCuriosityFeatures, market_features);
  return {features + kCuriosityCategories, hidden, features};
}

enum CuriosityLayer : int { kCuriosityFc1, kCuriosityFc2 };
inline constexpr int kCuriosityLayers = 2;

/// Layer `index` (a CuriosityLayer) in one flat array: weight, bias of fc1, then of fc2.
HD constexpr Layer curiosity_layer(const CuriosityShape& s, int index) {
  const int in[kCuriosityLayers] = {s.inputs, s.hidden};
  const int out[kCuriosityLayers] = {s.hidden, s.outputs};
  return layer_at(in, out, index);
}

/// Floats of the whole model.
HD constexpr i64 curiosity_parameters(const CuriosityShape& s) {
  const Layer last = curiosity_layer(s, kCuriosityLayers - 1);
  return last.bias + last.out;
}

}  // namespace warptape
