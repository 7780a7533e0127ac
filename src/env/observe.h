// The three portfolio numbers that follow a bar's market features in the state (docs/domain.md, section 3).
#pragma once

#include "core/hd.h"
#include "env/params.h"
#include "env/portfolio.h"
#include "env/rules.h"

namespace warptape {

inline constexpr int kPortfolioNumbers = 3;

struct Observation {
  float number[kPortfolioNumbers];  // equity/base, position·price/base, and return since entry or the spread
};

template <Rules R>
HD Observation observe(const EnvParams& params, const Portfolio<Money<R>>& f, Money<R> price) {
  using T = Money<R>;
  Observation o{};
  o.number[0] = static_cast<float>(equity_at(f, price) / f.base);
  o.number[1] = static_cast<float>(f.position * price / f.base);
  if constexpr (R.third_number_is_return) {
    const T side = f.position > 0 ? T(1) : T(-1);
    o.number[2] = f.position == 0 ? 0.0f : static_cast<float>(side * (price / f.entry - T(1)));
  } else {
    o.number[2] = static_cast<float>(params.spread);
  }
  return o;
}

}  // namespace warptape
