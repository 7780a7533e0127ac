"""Random cases for compare.py: options, prices and actions that reach every branch of the step.

Everything follows from one `random.Random`, so a seed names its cases for good. Costs and percentages are
short decimals, and classic urgency multipliers powers of two: what is tested is domain.md's order of float32
operations, not whether a rate was rounded before or after it was multiplied.
"""

import csv
import os
from typing import NamedTuple

from price_file import URGENCY_NAMES, utc_text, utc_times

# One family a case, in turn. Each bends the options toward what its name says.
FAMILIES = (
    "market-plain", "classic-chain", "market-barriers", "classic-barriers", "market-levered",
    "classic-reserve", "market-ruin", "classic-no-end", "market-chain", "classic-plain",
    "market-lots", "classic-ruin", "market-expiry", "market-reserve", "market-barriers",
    "market-everything", "market-grid", "classic-grid",
    "market-stopped-ruin", "classic-zero",
)  # fmt: skip


class Case(NamedTuple):
    name: str
    rules: str
    options: dict  # env.* keys without the prefix
    bars: list  # (time, open, high, low, close) as texts; close-only rows are (time, close)
    actions: list  # lines of the actions file
    first_bar: int
    chain: bool


def make_case(rng, number, series):
    """The case `number`. `series` are real ones from `load_series`, perhaps none."""
    family = FAMILIES[number % len(FAMILIES)]
    rules, kind = family.split("-", 1)
    if series and kind not in ("ruin", "stopped-ruin", "grid") and rng.random() < 0.5:
        bars, volatility = real_bars(rng, series)
    else:
        bars, volatility = made_up_bars(rng, kind)
    price = float(bars[0][-1])
    options = random_options(rng, rules, kind, price, volatility)
    first_bar = rng.choice([0, 0, 0, 1, 17, len(bars) // 3])
    chain = kind in ("chain", "everything") or (kind != "plain" and rng.random() < 0.5)
    count = len(bars) - first_bar - rng.choice([1, 0, -5, 200])  # too few, just enough, too many
    indices = random_actions(rng, kind, options, max(2, count))
    lines = as_triples(indices, options) if rng.random() < 0.4 else [str(index) for index in indices]
    return Case(f"{number:03d}-{family}", rules, options, bars, lines, first_bar, chain)


def random_options(rng, rules, kind, price, volatility):
    """Values for the env.* keys. `volatility` is the typical move of a bar, for sensible barriers."""
    pick = rng.choice
    capital = pick([1000.0, 12345.5, 100000.0])
    units = capital / price
    options = dict(
        initial_capital=capital,
        exposures=pick([
            [-1, -0.5, 0, 0.5, 1], [-1, 0, 1], [0, 1], [-1.5, -0.3, 0, 0.7, 1.2, 2],
            [1, -1, 0], [-1, 1],
        ]),
        order_types=pick([
            ["market", "limit_maker", "ioc"], ["market"], ["ioc", "market"], ["limit_maker"],
        ]),
        urgency_cost=pick([[1, 1, 1], [0.5, 1, 2], [1], [0.25, 4]]),
        cost_market=pick([0, 0.0001, 0.001, 0.01]),
        cost_limit_maker=pick([0, 0.00005, 0.0004]),
        cost_ioc=pick([0, 0.00015, 0.002]),
        barrier_profit_bps=float(round(volatility * pick([0.3, 2, 5, 30]) * 10000) or 1),
        barrier_stop_bps=float(min(9000, round(volatility * pick([0.3, 2, 5, 30]) * 10000)) or 1),
        barrier_max_bars=pick([0, 1, 3, 20, 500]),
        barrier_ends_episode=rng.random() < 0.3,
        barrier_reward_scale=pick([0, 0.5, 1.0]),
        diversity_window=pick([3, 10, 100]),
        diversity_min_bits=pick([0.5, 1.0, 1.3]),
        diversity_penalty=pick([0, 0.1, 0.02]),
        risk_threshold=pick([0, 0.25, 0.8]),
        risk_weight=pick([0, 0.5, 3]),
        reward_scale=pick([1.0, 100.0, 0.5]),
        reserve_pct=pick([0, 0, 5, 12.5]),
    )  # fmt: skip
    if rng.random() < 0.3:
        # 0.0015 units: half of it is flat to the classic barrier, which begins at 0.001.
        options["max_position"] = pick([0.0015] + [float(f"{units * share:.3g}") for share in (0.2, 0.9, 3)])
    else:
        options["max_exposure"] = pick([0.3, 0.9, 1.0, 1.7, 4.0])
    if rng.random() < 0.5:
        options["episode_length"] = pick([1, 2, 7, 50, 500])
    for off in ("barrier_profit_bps", "barrier_stop_bps"):
        if rng.random() < 0.2:
            options[off] = 0.0
    if rules == "market":
        options["leverage"] = pick([0.5, 1.0, 1.0, 3.0, 10.0])
        options["urgency_cost"] = pick([[1, 1, 1], [0.7, 1, 1.9], [1.1], [0.3, 3]])
        options["lot_size"] = pick([0, 0, float(f"{units / pick([3, 40, 1000]):.2g}")])
    bend(rng, rules, kind, volatility, options)
    return options


def bend(rng, rules, kind, volatility, options):
    """What a family's name promises."""
    pick = rng.choice
    both = [-1, -0.5, 0, 0.5, 1]
    if kind in ("plain", "reserve", "lots", "levered", "ruin", "stopped-ruin"):
        # The world's own default for these, so that a run is not over after its first label.
        for name in ("barrier_profit_bps", "barrier_stop_bps", "barrier_max_bars"):
            del options[name]
        options["barrier_ends_episode"] = False
        options.pop("episode_length", None)
    if kind in ("chain", "everything"):
        options["episode_length"] = pick([1, 7, 50, 333])
    if kind in ("barriers", "expiry", "no-end"):
        options["barrier_ends_episode"] = kind == "barriers" and rules == "classic" and pick([True, False])
        options["exposures"] = both
        options.pop("episode_length", None)
        if rules == "market":
            for name in ("barrier_profit_bps", "barrier_stop_bps"):
                options[name] = float(max(1, round(volatility * pick([0.5, 1, 2, 4]) * 10000)))
            options["barrier_max_bars"] = pick([0, 20, 500])
    if kind == "grid":
        # Whole prices of about 20 and barriers on them, so that equality is met; lots that divide a target up to a
        # last bit (0.3 / 0.1 is just under 3).
        options["barrier_profit_bps"] = pick([2500.0, 5000.0])
        options["barrier_stop_bps"] = pick([2500.0, 5000.0])
        options["barrier_max_bars"] = pick([20, 500])
        options["barrier_ends_episode"] = False
        options["exposures"] = [-1, -0.7, -0.3, 0, 0.3, 0.6, 1]
        options["max_position"] = 1.0
        options.pop("max_exposure", None)
        options.pop("episode_length", None)
        if rules == "market":
            options["lot_size"] = 0.1
    if kind == "expiry":
        options["barrier_max_bars"] = pick([1, 3, 9])
    if kind == "reserve":
        options["reserve_pct"] = pick([5, 12.5, 40])
        options["exposures"] = both
    if kind == "lots":
        options["lot_size"] = options["lot_size"] or 0.25
    if kind == "levered":
        options["leverage"] = pick([3.0, 7.5])
        options["max_exposure"] = pick([2.0, 4.0])
        options.pop("max_position", None)
    if kind in ("ruin", "stopped-ruin"):
        options["exposures"] = both
        options["max_exposure"] = 4.0
        options.pop("max_position", None)
        if rules == "market":
            options["leverage"] = 10.0
            options["lot_size"] = options["reserve_pct"] = 0
    if kind == "stopped-ruin":
        options["barrier_stop_bps"] = 2600.0  # at four times the equity it ruins
        options["exposures"] = [-1, 1]
        options["cost_market"] = options["cost_ioc"] = 0.0001
    if kind == "zero":
        options["barrier_profit_bps"] = options["barrier_stop_bps"] = 0.0  # touched both at once
        options["barrier_ends_episode"] = False


def made_up_bars(rng, kind):
    """A random walk with gaps between bars and, for some, jumps. Returns (bars, typical move of a bar)."""
    start, decimals = rng.choice([(1.1, 5), (100.0, 2), (100.0, 4), (30000.0, 1)])
    volatility = rng.choice([0.0005, 0.003, 0.01])
    if kind == "grid":
        start, decimals, volatility = 20.0, 0, 0.05
    often = {"ruin": 0.01, "stopped-ruin": 0.02, "everything": 0.004}
    jump_chance = often.get(kind, rng.choice([0, 0, 0.002]))
    close_only = kind not in ("barriers", "expiry", "grid") and rng.random() < 0.15
    gap = rng.choice([0.2, 0.8])
    count = rng.randint(2000, 3500)
    bars, last_close, tick = [], start, 10.0**-decimals
    for time in utc_times(count):
        opened = last_close * (1 + rng.gauss(0, volatility * gap))
        close = opened * (1 + rng.gauss(0, volatility))
        if rng.random() < jump_chance:
            close *= rng.choice([0.6, 0.85, 1.2, 1.7])
        close += 0.001 * volatility * (start - close)  # a pull home, so that prices stay in range
        high = max(opened, close) * (1 + abs(rng.gauss(0, volatility * 0.5)))
        low = min(opened, close) * (1 - abs(rng.gauss(0, volatility * 0.5)))
        prices = [f"{max(price, 5 * tick):.{decimals}f}" for price in (opened, high, low, close)]
        bars.append((time, prices[3]) if close_only else (time, *prices))
        last_close = float(prices[3])
    return bars, volatility


def load_series(folder):
    """Price files of a folder that have a readable header; others are passed over."""
    series = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".csv"):
            continue
        with open(os.path.join(folder, name), newline="", encoding="utf-8-sig") as handle:
            rows = csv.reader(handle)
            header = [cell.strip().lower() for cell in next(rows)]
            wanted = ["time" if "time" in header else "date", "open", "high", "low", "close"]
            if all(cell in header for cell in wanted):
                places = [header.index(cell) for cell in wanted]
                series.append([[row[place] for place in places] for row in rows if len(row) == len(header)])
    return [rows for rows in series if len(rows) > 2000 and well_formed(rows[:200])]


def well_formed(rows):
    """Whether the rows are ascending in time and consistent, so that no reader has cause to refuse them."""
    last = ""
    for time, *prices in rows:
        try:
            text = utc_text(time)
            opened, high, low, close = map(float, prices)
        except ValueError:
            return False
        if text <= last or not 0 < low <= min(opened, close) <= max(opened, close) <= high < 1e9:
            return False
        last = text
    return True


def real_bars(rng, series):
    """A stretch of a real series, prices as written. Returns (bars, typical move of a bar)."""
    for _ in range(100):
        rows = rng.choice(series)
        count = min(rng.randint(1500, 3000), len(rows))
        start = rng.randrange(len(rows) - count + 1)
        part = rows[start : start + count]
        if well_formed(part):
            break
    else:
        raise ValueError("no stretch of the real series is well formed")
    closes = [float(row[4]) for row in part]
    moves = [abs(after / before - 1) for before, after in zip(closes, closes[1:])]
    volatility = max(0.0002, sum(moves) / len(moves))
    return [(utc_text(time), *prices) for time, *prices in part], volatility


def random_actions(rng, kind, options, count):
    """Action indices, some held for a while, some different on every bar."""
    total = len(options["exposures"]) * len(options["order_types"]) * len(options["urgency_cost"])
    longest = rng.choice([1, 4, 40]) if "ruin" not in kind else 15
    if kind == "grid":
        longest = 40  # time to reach a barrier
    indices = []
    while len(indices) < count:
        indices += [rng.randrange(total)] * rng.randint(1, longest)
    return indices[:count]


def as_triples(indices, options):
    """The lines of an actions file that names exposure, order type and urgency (domain.md section 2)."""
    orders, urgencies = len(options["order_types"]), len(options["urgency_cost"])
    lines = ["exposure,order,urgency"]
    for index in indices:
        urgency = index % urgencies
        order = options["order_types"][index // urgencies % orders]
        exposure = options["exposures"][index // urgencies // orders]
        lines.append(f"{exposure},{order},{URGENCY_NAMES[urgency] if urgencies == 3 else urgency}")
    return lines
