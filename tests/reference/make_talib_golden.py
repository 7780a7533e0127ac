"""Writes the golden files of the 51 built-in features: bars made up, values by TA-Lib and numpy.

    pip install TA-Lib numpy
    python tests/reference/make_talib_golden.py

writes tests/golden/features_bars.csv and tests/golden/features_expected.csv (rows from bar 100 on), which
tests/unit/market/features_golden_test.cpp compares with. Nothing of warptape is used here.

Prices lie on a grid of 1/64 and volumes are whole, so that TA-Lib's running sums, which add and take away, are exact:
otherwise its bands over a flat stretch would be rounding noise.
"""

import datetime
import pathlib

import numpy as np
import talib
from numpy.lib.stride_tricks import sliding_window_view

BARS = 400
WARM_UP = 100
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
FLAT = slice(180, 225)  # open = high = low = close, longer than every look-back but 60 and 100
NO_VOLUME = slice(290, 315)


def make_times():
    """Hourly bars of a five-day week, from a Wednesday 21:00 UTC on, with weekends left out."""
    times, now = [], datetime.datetime(2024, 2, 28, 21)
    while len(times) < BARS:
        if now.weekday() < 5:
            times.append(now)
        now += datetime.timedelta(hours=1)
    return times


def make_bars():
    rng = np.random.default_rng(20240228)
    grid = 64.0
    steps = rng.normal(0, 0.6, BARS) + 0.25 * np.sin(np.arange(BARS) / 17)
    close = np.round((100 + np.cumsum(steps)) * grid) / grid
    gaps = np.round(rng.normal(0, 0.1, BARS) * grid) / grid
    open_ = np.concatenate([[100.0], close[:-1]]) + gaps
    wicks = np.round(rng.exponential(0.4, (2, BARS)) * grid) / grid
    volume = np.floor(rng.lognormal(7, 0.8, BARS))
    close[FLAT] = close[FLAT.start]
    open_[FLAT] = close[FLAT.start]
    wicks[:, FLAT] = 0
    volume[NO_VOLUME] = 0
    volume[[130, 131, 205, 340]] = 0
    high = np.maximum(open_, close) + wicks[0]
    low = np.minimum(open_, close) - wicks[1]
    return open_, high, low, close, volume


def ratio(numerator, denominator):
    """Elementwise, 0 where the denominator is 0."""
    out = np.zeros_like(numerator, dtype=float)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def windows(x, n):
    """[bars, n]: the last n values up to each bar; not a number where there are fewer."""
    out = np.full((len(x), n), np.nan)
    out[n - 1 :] = sliding_window_view(x, n)
    return out


def z_score(x, n):
    last = windows(x, n)
    return ratio(x - last.mean(axis=1), last.std(axis=1))


def returns_and_shape(o, h, l, c):
    columns = {}
    for n in (1, 2, 3, 5, 10, 20, 60):
        columns[f"log_return_{n}"] = np.concatenate([np.zeros(n), np.log(c[n:]) - np.log(c[:-n])])
    columns["range"] = (h - l) / c
    columns["body"] = (c - o) / c
    columns["upper_wick"] = (h - np.maximum(o, c)) / c
    columns["lower_wick"] = (np.minimum(o, c) - l) / c
    columns["gap"] = (o - np.roll(c, 1)) / c
    return columns


def volatility(o, h, l, c, log_return):
    columns = {}
    for n in (5, 10, 20, 60):
        columns[f"volatility_{n}"] = windows(log_return, n).std(axis=1, ddof=1)
    log_range, log_body = np.log(h / l), np.log(c / o)
    columns["parkinson_20"] = np.sqrt(windows(log_range**2, 20).mean(axis=1) / (4 * np.log(2)))
    per_bar = 0.5 * log_range**2 - (2 * np.log(2) - 1) * log_body**2
    columns["garman_klass_20"] = np.sqrt(windows(per_bar, 20).mean(axis=1))
    return columns


def indicators(h, l, c):
    columns = {}
    for n in (5, 10, 20, 50, 100):
        columns[f"close_over_sma_{n}"] = c / talib.SMA(c, n) - 1
    for n in (12, 26, 50):
        columns[f"close_over_ema_{n}"] = c / talib.EMA(c, n) - 1
    line, signal, histogram = talib.MACD(c, 12, 26, 9)
    columns.update(macd_line=line / c, macd_signal=signal / c, macd_histogram=histogram / c)
    for n in (7, 14, 28):
        columns[f"rsi_{n}"] = talib.RSI(c, n)
    columns["stochastic_k_14"], columns["stochastic_d_14"] = talib.STOCHF(h, l, c, 14, 3, 0)
    columns["atr_14"] = talib.ATR(h, l, c, 14) / c
    upper, middle, lower = talib.BBANDS(c, 20, 2, 2, 0)
    columns["bollinger_b_20"] = ratio(c - lower, upper - lower)
    columns["bollinger_bandwidth_20"] = (upper - lower) / middle
    columns["adx_14"] = talib.ADX(h, l, c, 14)
    columns["plus_di_14"] = talib.PLUS_DI(h, l, c, 14)
    columns["minus_di_14"] = talib.MINUS_DI(h, l, c, 14)
    columns["cci_20"] = talib.CCI(h, l, c, 20)
    columns["close_zscore_20"] = z_score(c, 20)
    columns["close_zscore_60"] = z_score(c, 60)
    return columns


def volume_columns(h, l, c, v):
    return {
        "log_volume_zscore_20": z_score(np.log1p(v), 20),
        "volume_ratio_5_20": ratio(windows(v, 5).mean(axis=1), windows(v, 20).mean(axis=1)),
        "obv_slope_20": ratio(talib.LINEARREG_SLOPE(talib.OBV(c, v), 20), windows(v, 20).mean(axis=1)),
        "mfi_14": talib.MFI(h, l, c, v, 14),
    }


def calendar(times):
    hour = np.array([2 * np.pi * (t.hour + t.minute / 60) / 24 for t in times])
    day = np.array([2 * np.pi * t.weekday() / 7 for t in times])
    return {"hour_sin": np.sin(hour), "hour_cos": np.cos(hour), "weekday_sin": np.sin(day), "weekday_cos": np.cos(day)}


def main():
    times = make_times()
    o, h, l, c, v = make_bars()
    columns = returns_and_shape(o, h, l, c)
    columns.update(volatility(o, h, l, c, columns["log_return_1"]))
    columns.update(indicators(h, l, c))
    columns.update(volume_columns(h, l, c, v))
    columns.update(calendar(times))
    assert len(columns) == 51
    assert all(np.isfinite(values[WARM_UP:]).all() for values in columns.values())

    GOLDEN.mkdir(exist_ok=True)
    with open(GOLDEN / "features_bars.csv", "w", encoding="utf-8", newline="\n") as out:
        out.write("time,open,high,low,close,volume\n")
        for t, *row in zip(times, o, h, l, c, v):
            out.write(t.strftime("%Y-%m-%dT%H:%M:%SZ") + "".join(f",{value:.10g}" for value in row) + "\n")
    with open(GOLDEN / "features_expected.csv", "w", encoding="utf-8", newline="\n") as out:
        out.write("bar," + ",".join(columns) + "\n")
        for t in range(WARM_UP, BARS):
            out.write(str(t) + "".join(f",{values[t] + 0.0:.10g}" for values in columns.values()) + "\n")


if __name__ == "__main__":
    main()
