#include "market/random_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/philox.h"

namespace warptape {

Dataset random_walk(std::int64_t bars, int features, double move, std::uint64_t seed) {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  Dataset d;
  d.features = features;
  double price = 100;
  for (std::int64_t bar = 0; bar < bars; ++bar) {
    const auto uniform = [&](int column) {
      return 2 * unit_interval(
                     random_words(seed, static_cast<u32>(column), static_cast<u64>(bar), Draw::kMadeUp).word[0]) -
             1;
    };
    for (int f = 0; f < features; ++f) d.market.push_back(static_cast<float>(uniform(f)));
    const double open = price * (1 + 0.2 * move * uniform(features));
    price *= 1 + move * uniform(features + 1);
    d.open.push_back(open);
    d.high.push_back(std::max(open, price) * (1 + 0.25 * move * (1 + uniform(features + 2))));
    d.low.push_back(std::min(open, price) * (1 - 0.25 * move * (1 + uniform(features + 3))));
    d.close.push_back(price);
    d.ts_ns.push_back(bar * kHourNs);
  }
  for (int f = 0; f < features; ++f) d.feature_names.push_back(fmt::format("feature_{}", f));
  d.segments.push_back({"random-walk", 0, bars});
  return d;
}

}  // namespace warptape
