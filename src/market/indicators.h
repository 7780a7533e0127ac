// Technical indicators as TA-Lib defines and seeds them (https://ta-lib.org, ta_func/*.c), one value a bar.
//
// Every function returns as many values as it is given bars; a value uses bars up to its own only; bars before the
// look-back is full are 0. A zero denominator gives 0, which is TA-Lib's value too.
// Where TA-Lib takes a number under 1e-14 for zero, only zero itself counts here, so that cheap instruments work alike.
#pragma once

#include <span>
#include <vector>

namespace warptape {

using Series = std::vector<double>;

/// Mean of the last n values.
Series sma(std::span<const double> x, int n);

/// Exponential mean with k = 2/(n+1), seeded at bar `seed_bar` >= n - 1 with the mean of the n values up to it (the
/// plain EMA: seed_bar = n - 1).
Series ema(std::span<const double> x, int n, int seed_bar);

struct Macd {
  Series line, signal, histogram;
};

/// MACD(12, 26, 9): both EMAs start at bar 25, the fast one too (so its seed is the mean of bars 14 to 25).
Macd macd(std::span<const double> close);

/// RSI with Wilder's smoothing, 0 to 100.
Series rsi(std::span<const double> close, int n);

struct Stochastic {
  Series k, d;
};

/// STOCHF(n, 3): the raw %K, 0 to 100, and its mean over 3 bars.
Stochastic stochastic(std::span<const double> high, std::span<const double> low, std::span<const double> close, int n);

/// Average true range with Wilder's smoothing, in price.
Series atr(std::span<const double> high, std::span<const double> low, std::span<const double> close, int n);

struct Directional {
  Series adx, plus_di, minus_di;
};

/// ADX(n), +DI(n), -DI(n), 0 to 100.
Directional directional(std::span<const double> high, std::span<const double> low, std::span<const double> close,
                        int n);

/// CCI(n): (typical price - its mean) / (0.015 · mean absolute deviation), typical price (high + low + close)/3.
Series cci(std::span<const double> high, std::span<const double> low, std::span<const double> close, int n);

/// MFI(n), 0 to 100. As in TA-Lib, a money flow under 1 in all counts as none and gives 0.
Series mfi(std::span<const double> high, std::span<const double> low, std::span<const double> close,
           std::span<const double> volume, int n);

}  // namespace warptape
