#!/usr/bin/env python3
"""The optimum of planted_signal.py against enumeration and plain accounting, the series against its docstring.

    test_planted_signal.py [build/warptape]     with the program: the optimum is played by it too
"""

import itertools
import json
import math
import sys
import tempfile
from pathlib import Path

import planted_signal
from runs import Costs
from stand_in import run_tests

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else None


def test_signal_tells_the_next_move_as_often_as_said():
    count = 40000
    bars, signals = planted_signal.make_world(count + 1, seed=5)
    rises = [after.close > before.close for before, after in itertools.pairwise(bars)]
    right = sum((signal > 0) == rise for signal, rise in zip(signals, rises)) / count
    assert abs(right - 0.6) < 5 * math.sqrt(0.24 / count)  # five standard errors
    # It tells nothing about the move before it, nor does the signal before it tell about it.
    stale = sum((signal > 0) == rise for signal, rise in zip(signals[1:], rises)) / count
    repeated = sum(a == b for a, b in itertools.pairwise(signals)) / count
    assert abs(stale - 0.5) < 5 * 0.5 / math.sqrt(count)
    assert abs(repeated - 0.5) < 5 * 0.5 / math.sqrt(count)


def test_mean_moves_after_a_signal_are_those_of_the_density():
    for deviation, probability in ((0.01, 0.6), (0.3, 0.9)):
        total, weight = [0.0, 0.0], [0.0, 0.0]
        steps = 200001
        for i in range(steps):  # the midpoint rule over z in [-9, 9]
            z = -9 + 18 * (i + 0.5) / steps
            density = math.exp(-0.5 * z * z)
            move = math.expm1(deviation * z - 0.5 * deviation * deviation)
            for up in (0, 1):
                share = probability if (move > 0) == (up == 1) else 1 - probability
                total[up] += density * share * move
                weight[up] += density * share
        signal = planted_signal.signal_of(deviation, probability)
        # The rule is off by its step's width at the jump where the sign turns: 1e-4 of a density under 0.4.
        assert abs(signal.up_probability - weight[1] / sum(weight)) < 5e-5
        assert abs(signal.mean_after_up / (total[1] / weight[1]) - 1) < 1e-3
        assert abs(signal.mean_after_down / (total[0] / weight[0]) - 1) < 1e-3


def mean_gain(policy, costs, signal, begin):
    """Of a stationary policy, policy[held][s], from an exposure: the mean over many bars of expected gains."""
    size = len(costs.exposures)
    weights = (1 - signal.up_probability, signal.up_probability)
    moves = (signal.mean_after_down, signal.mean_after_up)
    held = [1.0 if i == begin else 0.0 for i in range(size)]
    gain, bars = 0.0, 240
    for bar in range(bars):
        new = [0.0] * size
        for i, s in itertools.product(range(size), (0, 1)):
            wanted = policy[i][s]
            new[wanted] += held[i] * weights[s]
            if bar >= bars // 2:  # behind the transient; an even number of bars averages a policy of period 2 or 3
                change = abs(costs.exposures[wanted] - costs.exposures[i])
                gain += held[i] * weights[s] * (costs.exposures[wanted] * moves[s] - costs.rate * change)
        held = new
    return gain / (bars - bars // 2)


def test_optimum_is_the_best_of_all_tables():
    exposures = (-1.0, 0.0, 0.5)
    signal = planted_signal.signal_of(0.01, 0.6)
    # Costs from none through those where only keeping a position pays to those where nothing does.
    for rate in (0.0, 0.00005, 0.0005, 0.0012, 0.0018, 0.005):
        costs = Costs(exposures, rate)
        optimum = planted_signal.solve(costs, signal)
        rows = list(itertools.product(range(3), repeat=2))
        best = max(mean_gain(policy, costs, signal, 1) for policy in itertools.product(rows, repeat=3))
        # 1e-7: what 120 bars leave of the transient in a gain of at most 2e-3.
        assert abs(optimum.gain - best) < 1e-7, (rate, optimum.gain, best)
        assert abs(mean_gain(optimum.choice, costs, signal, 1) - best) < 1e-7


def test_default_costs_follow_the_signal_and_high_ones_do_not():
    exposures = (-1.0, -0.5, 0.0, 0.5, 1.0)
    signal = planted_signal.signal_of(0.01, 0.6)
    follow = planted_signal.solve(Costs(exposures, 0.00005), signal)
    assert follow.choice == [[0, 4]] * 5
    # By hand: 0.2*E|move| a bar; the signal turns at every second bar, and then 2 are traded. erf(x) is 2x/sqrt(pi) to
    # x^2/3: E|move| = 0.01*sqrt(2/pi) to 4e-6 of it.
    assert abs(follow.gain / (0.2 * 0.01 * math.sqrt(2 / math.pi) - 0.00005) - 1) < 1e-5
    still = planted_signal.solve(Costs(exposures, 0.01), signal)
    assert still.gain == 0
    assert still.choice[2] == [2, 2]


def test_expected_return_compounds_episodes():
    # 0.1 a bar, episodes of 2, 5 bars: 1.2 * 1.2 * 1.1 - 1.
    assert abs(planted_signal.expected_return(0.1, 5, 2) - 0.584) < 1e-12


def test_cheapest_order():
    env = {"order_types": ["market", "ioc"], "urgency_cost": [1, 0.5, 2], "cost_market": 0.0003, "cost_ioc": 0.0002}
    assert planted_signal.cheapest_order(env) == (1, 1)


def chained_return(closes, exposures, rate, episode_length):
    """Cash and units in a chain of episodes; exposure 1 is the units that the equity at an episode's start buys."""
    cash, units, cap = 1.0, 0.0, 1.0 / closes[0]
    for bar, wanted in enumerate(exposures):
        if bar % episode_length == 0:
            cap = (cash + units * closes[bar]) / closes[bar]
        order = wanted * cap - units
        cash -= order * closes[bar] + rate * abs(order) * closes[bar]
        units += order
    return cash + units * closes[-1] - 1.0


def test_run_plays_the_optimum_through_the_program():
    if PROGRAM is None:
        return
    with tempfile.TemporaryDirectory() as name:
        result = Path(name) / "result.json"
        settings = ["train.rounds=1", "collect.episodes=2", "collect.steps=10", "train.updates_per_round=1",
                    "replay.capacity=100", "learn.batch=4", "env.episode_length=60", "env.leverage=10"]
        arguments = [word for s in settings for word in ("--set", s)]
        code = planted_signal.main(["run", PROGRAM, "--bars", "1200", "--seeds", "1", "--json", str(result), *arguments])
        assert code == 0
        one = json.loads(result.read_text(encoding="utf-8"))["seeds"][0]
        bars, signals = planted_signal.make_world(1200, 1)
        # The test split is the last: the optimum is to follow the signal, over the last test_bars moves.
        closes = [bar.close for bar in bars][-one["test_bars"] - 1:]
        exposures = signals[-one["test_bars"] - 1:-1]
        # Leverage lets every order fill. 1e-9: money is float64 on both sides, in another order of operations.
        assert abs(one["optimum"] - chained_return(closes, exposures, 0.00005, 60)) < 1e-9
        assert abs(one["share"] - one["return"] / one["optimum"]) < 1e-12
        assert one["returns"]["flat"] == 0


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
