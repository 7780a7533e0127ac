#!/usr/bin/env python3
"""The bounds of noisy_sine.py against brute force, and the series against what its docstring says."""

import itertools
import json
import math
import random
import statistics
import sys
import tempfile
from pathlib import Path

import bars as series
import noisy_sine
import runs
from stand_in import run_tests, write_program

EXPOSURES = noisy_sine.DEFAULT_EXPOSURES


def traded_equity(equity, held_units, price, wanted, rate):
    """Equity and units after trading to a fraction `wanted` of what is left, the cost found by repeating the trade
    until it no longer changes."""
    cost = 0.0
    for _ in range(100):
        units = wanted * (equity - cost) / price
        cost = rate * abs(units - held_units) * price
    return equity - cost, units


def growing_equity(closes, path, rate, equity=1.0):
    """Plain accounting in cash and units. Sizing anew to an unchanged exposure is free, as the bound has it."""
    units, exposure = 0.0, 0.0
    for bar, wanted in enumerate(path):
        if wanted == exposure:
            units = wanted * equity / closes[bar]
        else:
            held = exposure * equity / closes[bar]
            equity, units = traded_equity(equity, held, closes[bar], wanted, rate)
        equity += units * (closes[bar + 1] - closes[bar])
        exposure = wanted
    return equity


def chained_profit(closes, path, rate, episode_length):
    """Cash and units in a chain of episodes; exposure 1 is the units that the equity at an episode's start buys."""
    cash, units, cap = 1.0, 0.0, 1.0 / closes[0]
    for bar, wanted in enumerate(path):
        if bar % episode_length == 0:
            cap = (cash + units * closes[bar]) / closes[bar]
        order = wanted * cap - units
        cash -= order * closes[bar] + rate * abs(order) * closes[bar]
        units += order
    return cash + units * closes[-1] - 1.0


def short_series(seed, bars):
    rng = random.Random(seed)
    closes = [100.0]
    for _ in range(bars):
        closes.append(closes[-1] * math.exp(rng.gauss(0, 0.003)))
    return closes


def test_bounds_are_the_best_of_all_paths():
    # Rates from far below to far above a bar's move, so that the optimum trades always, sometimes and never.
    for seed, rate in itertools.product(range(3), (0.0, 0.00005, 0.001, 0.01)):
        closes = short_series(seed, 5)
        paths = list(itertools.product(EXPOSURES, repeat=5))
        costs = runs.Costs(EXPOSURES, rate)
        growing = max(growing_equity(closes, path, rate) for path in paths) - 1
        one_episode = max(chained_profit(closes, path, rate, 5) for path in paths)
        two_episodes = max(chained_profit(closes, path, rate, 3) for path in paths)
        # 1e-12: rounding of five steps of values near 1, through a logarithm and back.
        assert abs(noisy_sine.growing_bound(closes, costs) - growing) < 1e-12
        assert abs(noisy_sine.chained_bound(closes, 5, costs) - one_episode) < 1e-12
        # Above the best path by the first trade of the second episode, at most 2 of the base at the rate, but for the
        # growth of the other episode.
        slack = noisy_sine.chained_bound(closes, 3, costs) - two_episodes
        assert -1e-12 < slack <= 2.1 * rate + 1e-12


def test_a_cost_above_every_move_leaves_the_optimum_flat():
    costs = runs.Costs(EXPOSURES, 0.5)
    closes = short_series(1, 30)
    assert noisy_sine.growing_bound(closes, costs) == 0
    assert noisy_sine.chained_bound(closes, 500, costs) == 0


def test_a_rise_and_fall_by_hand():
    closes = [100.0, 110.0, 99.0]
    free = runs.Costs(EXPOSURES, 0.0)
    assert abs(noisy_sine.growing_bound(closes, free) - (1.1 * 1.1 - 1)) < 1e-12
    assert abs(noisy_sine.chained_bound(closes, 500, free) - 0.21) < 1e-12


def test_trade_factor_is_the_worlds_golden_example():
    # docs/domain.md, section 7: 1000 at 0.1 %, flat to long to short, gives 999.000999 and 997.004993.
    opened = 1000 * noisy_sine.trade_factor(0, 1, 0.001)
    assert abs(opened - 999.000999) < 5e-7
    assert abs(opened * noisy_sine.trade_factor(1, -1, 0.001) - 997.004993) < 5e-7


def test_series_is_a_sine_and_a_walk():
    bars = noisy_sine.make_bars(20001, seed=3)
    walk = [math.log(bar.close / 100) - 0.02 * math.sin(2 * math.pi * t / 50) for t, bar in enumerate(bars)]
    steps = [after - before for before, after in itertools.pairwise(walk)]
    assert abs(walk[0]) < 1e-12
    # Five standard errors: deviation/sqrt(n) of the mean, deviation/sqrt(2n) of the deviation.
    assert abs(statistics.mean(steps)) < 5 * 0.001 / math.sqrt(20000)
    assert abs(statistics.stdev(steps) - 0.001) < 5 * 0.001 / math.sqrt(40000)
    for before, bar in itertools.pairwise(bars):
        assert bar.open == before.close
        assert bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high
        assert bar.volume > 0 and bar.time > before.time
    assert bars[25].time == "2020-01-02T01:00:00Z"
    assert bars == noisy_sine.make_bars(20001, seed=3)
    assert bars != noisy_sine.make_bars(20001, seed=4)


def test_files_come_back_exactly():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bars.csv"
        bars = noisy_sine.make_bars(120, seed=1)
        series.write_bars(file, bars)
        assert series.read_closes(file) == [bar.close for bar in bars]
        equity = Path(folder) / "equity.csv"
        equity.write_text("time,equity\n" + "".join(f"{bar.time},1\n" for bar in bars[40:60]), encoding="utf-8")
        assert runs.bars_under(equity, file) == slice(40, 60)


STAND_IN = '''#!/usr/bin/env python3
"""Stands in for the program: "trains" nothing and "back-tests" a holder over the last 20 bars."""
import csv, json, pathlib, sys, time
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
out = pathlib.Path(options["--out"])
out.mkdir(parents=True)
if sys.argv[1] == "train":
    (out / "last").mkdir()
    (out / "config.toml").write_text("""[env]
max_exposure = 1.0
episode_length = 500
cost_market = 0.0001
cost_ioc = 0.0002
order_types = ["market", "ioc"]
urgency_cost = [1, 0.5]
exposures = [-1, 0, 1]
""")
    time.sleep(float(options.get("--set", "0")))
else:
    rows = list(csv.DictReader(open(options["--data"])))[-20:]
    closes = [float(row["close"]) for row in rows]
    (out / "equity.csv").write_text("time,equity\\n" + "".join(row["time"] + ",1\\n" for row in rows))
    value = closes[-1] / closes[0] - 1
    policies = {"agent": {"metrics": {"total_return": {"value": value}}}}
    (out / "metrics.json").write_text(json.dumps({"segments": [{"policies": policies}]}))
'''


def test_run_judges_what_the_program_writes():
    with tempfile.TemporaryDirectory() as name:
        program, result = write_program(Path(name), STAND_IN), Path(name) / "result.json"
        code = noisy_sine.main(["run", program, "--bars", "300", "--seeds", "1", "2", "5", "--json", str(result)])
        assert code == 0
        found = json.loads(result.read_text(encoding="utf-8"))
        for one in found["seeds"]:
            closes = [bar.close for bar in noisy_sine.make_bars(300, one["seed"])][-20:]
            assert abs(one["return"] - (closes[-1] / closes[0] - 1)) < 1e-12
            assert one["test_bars"] == 19 and one["finished"]
            assert one["cost_rate"] == 0.00005  # market at the urgency of half the cost
            assert one["chained_bound"] >= one["return"] and one["chained_bound"] > 0
            assert one["growing_bound"] >= one["chained_bound"]
        assert found["median"]["return"] == sorted(one["return"] for one in found["seeds"])[1]


def test_run_interrupts_and_judges_the_last_checkpoint():
    with tempfile.TemporaryDirectory() as name:
        program, result = write_program(Path(name), STAND_IN), Path(name) / "result.json"
        arguments = ["run", program, "--bars", "300", "--seeds", "1", "--seconds", "1", "--json", str(result)]
        assert noisy_sine.main([*arguments, "--set", "600"]) == 0
        one = json.loads(result.read_text(encoding="utf-8"))["seeds"][0]
        assert not one["finished"] and one["train_seconds"] < 60


def test_run_says_what_failed():
    with tempfile.TemporaryDirectory() as name:
        program = write_program(Path(name), "#!/bin/sh\necho no such key >&2\nexit 1\n")
        assert noisy_sine.main(["run", program, "--bars", "300"]) == 1


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
