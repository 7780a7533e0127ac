"""Made-up bars as CSV: what the learning benchmarks train on, and how they read it back."""

import csv
import datetime
import math
import os
import random
from pathlib import Path
from typing import Callable, List, NamedTuple, Sequence

WICK_DEVIATION = 0.0003
START = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


class Failure(Exception):
    """What went wrong, in words for the user."""


class Bar(NamedTuple):
    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float


def make_bars(count: int, rng: random.Random, close_at: Callable[[int], float]) -> List[Bar]:
    """Hourly bars with the closes `close_at(0)`, `close_at(1)`, ..., called in this order, before the bar's other
    draws from `rng`. A bar opens at the close before it (the first at its own); high and low lie around both by
    half-normal wicks of 0.03 %; volume is log-normal around 1000."""
    bars: List[Bar] = []
    for t in range(count):
        close = close_at(t)
        opened = bars[-1].close if bars else close
        high = max(opened, close) * math.exp(abs(rng.gauss(0.0, WICK_DEVIATION)))
        low = min(opened, close) * math.exp(-abs(rng.gauss(0.0, WICK_DEVIATION)))
        volume = 1000 * rng.lognormvariate(0.0, 0.5)
        moment = (START + datetime.timedelta(hours=t)).strftime("%Y-%m-%dT%H:%M:%SZ")
        bars.append(Bar(moment, opened, high, low, close, volume))
    return bars


def martingale(rng: random.Random, deviation: float) -> Callable[[int], float]:
    """Closes from 100 on whose next value's expectation is the last: each step is exp(deviation*z - deviation^2/2), z
    standard normal."""
    close = 100.0

    def close_at(t: int) -> float:
        nonlocal close
        if t > 0:
            close *= math.exp(rng.gauss(0.0, deviation) - 0.5 * deviation * deviation)
        return close

    return close_at


def write_whole(path: Path, text: str) -> None:
    """The file holds all of the text, or what it held before."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_bars(path: Path, bars: Sequence[Bar]) -> None:
    lines = ["time,open,high,low,close,volume"]
    lines += [f"{b.time},{b.open!r},{b.high!r},{b.low!r},{b.close!r},{b.volume!r}" for b in bars]
    write_whole(path, "\n".join(lines) + "\n")


def read_column(path: Path, name: str) -> List[str]:
    with open(path, newline="", encoding="utf-8-sig") as stream:
        rows = csv.DictReader(stream)
        if name not in (rows.fieldnames or []):
            raise Failure(f"{path}: no column '{name}'; the header has {rows.fieldnames}")
        return [row[name] for row in rows]


def read_closes(path: Path) -> List[float]:
    closes = []
    for line, text in enumerate(read_column(path, "close"), start=2):
        try:
            close = float(text)
        except (TypeError, ValueError):
            close = math.nan
        if not (math.isfinite(close) and close > 0):
            raise Failure(f"{path}, line {line}, column 'close': {text!r} is not a price above 0")
        closes.append(close)
    return closes
