#!/usr/bin/env python3
"""Does training find a weak signal and pay for it? A random walk whose next bar a feature tells with probability 0.6.

    planted_signal.py make --bars 8000 --seed 1 --out walk.csv --signal-out signal.csv
    planted_signal.py run build/warptape --json result.json

Prices are a martingale, close(t+1) = close(t)*exp(0.01*z - 0.01^2/2), z standard normal: a bar moves by 1 %, and nothing
in the prices tells where. The agent's one feature (--features-file) is `signal`: +1 or -1, at bar t the sign of the move
to bar t+1 with probability 0.6, the opposite otherwise, independently of all else. (`run --among-builtin` puts it behind
the program's 51 own features, which tell nothing here: harder, since they can be learned by heart.) So the signal is worth
(2*0.6 - 1)*E|move| = 0.16 % a bar, against costs of 0.005 % on what is traded (limit maker, the program's default): to
turn the whole position round costs 0.01 %.

The optimum knows the signal and nothing else. What it may do depends on the exposure held and the signal alone, so it is
a table, found by value iteration for the largest mean gain a bar, as a fraction of the equity at the episode's start
(which is what the world's units are sized by, and why gains add up within an episode of 500 bars). That policy is
played on the test bars by the program's own `simulate --continue`: same accounting, costs, buying power and chain of
episodes as the back-test of the agent. Both have the same luck, so the agent is judged by that realised return; the
expected one is reported beside it. Wanted: 80 % of it. Python 3.11 or newer, standard library alone.
"""

import argparse
import math
import random
import sys
from pathlib import Path
from typing import List, NamedTuple, Sequence, Tuple

import bars as series
import runs

DEVIATION = 0.01
PROBABILITY = 0.6  # that the signal is right
LEAST_SHARE = 0.8  # of the optimum's realised return


# ---- the series -----------------------------------------------------------------------------------------------------


def make_world(count: int, seed: int) -> Tuple[List[series.Bar], List[int]]:
    """The bars, and the signal of each. The last bar has no next one: its signal is a coin's."""
    rng = random.Random(seed)
    bars = series.make_bars(count, rng, series.martingale(rng, DEVIATION))
    signals = []
    for t in range(count):
        rises = bars[t + 1].close > bars[t].close if t + 1 < count else rng.random() < 0.5
        right = rng.random() < PROBABILITY
        signals.append(1 if rises == right else -1)
    return bars, signals


def add_builtin(binary: str, data: Path, feature: Path) -> int:
    """Puts the program's own features of `data` in front of the signal. How many bars at the beginning have none."""
    builtin = feature.with_name(f"builtin-{feature.name}")
    runs.call([binary, "features", "--data", str(data), "--out", str(builtin)])
    head, *rows = builtin.read_text(encoding="utf-8").splitlines()
    signals = series.read_column(feature, "signal")
    warmup = len(signals) - len(rows)
    lines = [f"{head},signal", *(f"{row},{signal}" for row, signal in zip(rows, signals[warmup:], strict=True))]
    series.write_whole(feature, "\n".join(lines) + "\n")
    return warmup


def write_signals(path: Path, bars: Sequence[series.Bar], signals: Sequence[int]) -> None:
    lines = [f"{bar.time},{signal}" for bar, signal in zip(bars, signals, strict=True)]
    series.write_whole(path, "\n".join(["time,signal", *lines]) + "\n")


# ---- the optimum ----------------------------------------------------------------------------------------------------


class Signal(NamedTuple):
    """What a signal tells: how often it is +1, and the mean relative move after +1 and after -1."""

    up_probability: float
    mean_after_up: float
    mean_after_down: float


def signal_of(deviation: float, probability: float) -> Signal:
    """Of a move R = exp(deviation*z - deviation^2/2) - 1. Its mean is 0, so its positive and its negative part have the
    same mean, E|R|/2 = erf(deviation/(2*sqrt(2))) (the value of an at-the-money option); R > 0 is a little less than
    half as likely."""
    half = math.erf(deviation / (2 * math.sqrt(2)))
    rises = 0.5 * math.erfc(0.5 * deviation / math.sqrt(2))
    up = probability * rises + (1 - probability) * (1 - rises)
    gain = (2 * probability - 1) * half
    return Signal(up, gain / up, -gain / (1 - up))


class Optimum(NamedTuple):
    """choice[held][signal]: the exposure's index to hold next; signal 0: -1, signal 1: +1."""

    gain: float  # mean of a bar, a fraction of the equity at the episode's start, after costs
    choice: List[List[int]]


def solve(costs: runs.Costs, signal: Signal, tolerance: float = 1e-13) -> Optimum:
    """Relative value iteration for the largest mean gain a bar over all policies that know the exposure held and the
    signal. Holding e for a bar earns e times the mean move after the signal; a change costs rate*|change|."""
    size = len(costs.exposures)
    weights = (1 - signal.up_probability, signal.up_probability)
    moves = (signal.mean_after_down, signal.mean_after_up)
    worth = [0.0] * size  # of an exposure held, before the next signal, relative to the first's

    def value(held: int, s: int, wanted: int) -> float:
        change = abs(costs.exposures[wanted] - costs.exposures[held])
        return costs.exposures[wanted] * moves[s] - costs.rate * change + worth[wanted]

    for _ in range(1_000_000):
        best = [[max(value(held, s, wanted) for wanted in range(size)) for s in (0, 1)] for held in range(size)]
        new = [weights[0] * down + weights[1] * up for down, up in best]
        steps = [after - before for after, before in zip(new, worth, strict=True)]
        if max(steps) - min(steps) < tolerance:  # the mean gain lies between the two
            choice = [[max(range(size), key=lambda wanted: value(held, s, wanted)) for s in (0, 1)]
                      for held in range(size)]
            return Optimum(0.5 * (max(steps) + min(steps)), choice)
        worth = [x - new[0] for x in new]
    raise series.Failure("the optimum's value iteration does not converge")


def expected_return(gain: float, bars: int, episode_length: int) -> float:
    """Of a chain of episodes: gains add up within one and compound from one to the next."""
    growth = 1.0
    for first in range(0, bars, episode_length):
        growth *= 1 + gain * min(episode_length, bars - first)
    return growth - 1


def play_exposures(optimum: Optimum, signals: Sequence[int], flat: int) -> List[int]:
    """The exposures' indices that the optimum holds over these signals, from flat."""
    held, path = flat, []
    for signal in signals:
        held = optimum.choice[held][1 if signal > 0 else 0]
        path.append(held)
    return path


def cheapest_order(env: dict) -> Tuple[int, int]:
    """Indices of the order type and the urgency with the lowest rate."""
    return min(((order, urgency) for order in range(len(env["order_types"]))
                for urgency in range(len(env["urgency_cost"]))),
               key=lambda o: env[f"cost_{env['order_types'][o[0]]}"] * env["urgency_cost"][o[1]])


def realised_return(args: argparse.Namespace, run: Path, data: Path, first: int, path: Sequence[int],
                    out: Path) -> float:
    """Of these exposures at bars first, first + 1, ..., played by the program under the run's own configuration."""
    env = runs.env_of_run(run)
    order, urgency = cheapest_order(env)
    orders, urgencies = len(env["order_types"]), len(env["urgency_cost"])
    actions = out.with_suffix(".txt")
    series.write_whole(actions, "".join(f"{(e * orders + order) * urgencies + urgency}\n" for e in path))
    runs.call([args.binary, "simulate", "--config", str(run / "config.toml"), "--data", str(data), "--actions",
               str(actions), "--first-bar", str(first), "--continue", "--out", str(out)])
    equity = series.read_column(out, "next_equity")
    if len(equity) != len(path):
        raise series.Failure(f"{out}: {len(equity)} steps of {len(path)}: the optimum was ruined")
    return float(equity[-1]) / env["initial_capital"] - 1


# ---- runs -----------------------------------------------------------------------------------------------------------


def ratio(value: float, optimum: float):
    return value / optimum if optimum > 0 else None


def run_seed(args: argparse.Namespace, seed: int, folder: Path) -> dict:
    data, feature = folder / f"walk-{seed}.csv", folder / f"signal-{seed}.csv"
    run, test = folder / f"run-{seed}", folder / f"test-{seed}"
    bars, signals = make_world(args.bars, seed)
    series.write_bars(data, bars)
    write_signals(feature, bars, signals)
    if args.among_builtin:
        warmup = add_builtin(args.binary, data, feature)
        bars, signals = bars[warmup:], signals[warmup:]
        series.write_bars(data, bars)
    features = ["--features-file", str(feature)]
    trained = runs.train(runs.train_command(args, seed, data, run, *features), args.seconds, run)
    runs.backtest(args.binary, run, data, test, *features)

    returns = runs.metric_of_policies(test / "metrics.json", "total_return")
    judged = next(iter(returns.values()))
    rows = runs.bars_under(test / "equity.csv", data)
    costs = runs.costs_of_run(run)
    if 0.0 not in costs.exposures:
        raise series.Failure("env.exposures has no 0: the optimum is worked out from flat")
    optimum = solve(costs, signal_of(DEVIATION, PROBABILITY))
    path = play_exposures(optimum, signals[rows.start:rows.stop - 1], costs.exposures.index(0.0))
    realised = realised_return(args, run, data, rows.start, path, folder / f"optimum-{seed}.csv")
    return {
        "seed": seed,
        "test_bars": len(path),
        "train_seconds": trained.seconds,
        "finished": trained.finished,
        "cost_rate": costs.rate,
        "return": judged,
        "returns": returns,
        "optimum": realised,
        "optimum_expected": expected_return(optimum.gain, len(path), runs.env_of_run(run)["episode_length"]),
        "optimum_gain_a_bar": optimum.gain,
        "share": ratio(judged, realised),
        "log_share": ratio(math.log1p(judged), math.log1p(realised)) if min(judged, realised) > -1 else None,
    }


SHARES = ("share", "log_share")


def print_table(results: Sequence[dict], medians: dict) -> None:
    print(f"{'seed':>6} {'bars':>6} {'train s':>8} {'return':>12} {'optimum':>12} {'(expected)':>12} {'share':>9}"
          f" {'log share':>10}")
    for r in results:
        print(f"{r['seed']:>6} {r['test_bars']:>6} {r['train_seconds']:>8.1f} {runs.percent(r['return'], 12)}"
              f" {runs.percent(r['optimum'], 12)} {runs.percent(r['optimum_expected'], 12)}"
              f" {runs.percent(r['share'], 9)} {runs.percent(r['log_share'], 10)}"
              f"{'' if r['finished'] else '  (training cut short)'}")
    print(f"median share of the optimum's realised return: {runs.percent(medians['share'])}, in logarithms"
          f" {runs.percent(medians['log_share'])}; wanted: {runs.percent(LEAST_SHARE)}")


def make_command(args: argparse.Namespace) -> None:
    bars, signals = make_world(args.bars, args.seed)
    series.write_bars(args.out, bars)
    write_signals(args.signal_out, bars, signals)


def run_command(args: argparse.Namespace) -> None:
    results = runs.run_seeds(args, run_seed)
    medians = {key: runs.median_of(results, key) for key in ("return", "optimum", *SHARES)}
    print_table(results, medians)
    reached = medians["share"] is not None and medians["share"] >= LEAST_SHARE
    runs.report(args, {"bars": args.bars, "deviation": DEVIATION, "probability": PROBABILITY,
                       "among_builtin": args.among_builtin}, results,
                {**medians, "wanted": LEAST_SHARE, "reached": reached})


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="planted_signal.py", description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write the bars and the signal as CSV")
    make.add_argument("--bars", type=int, default=8000)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--out", type=Path, required=True)
    make.add_argument("--signal-out", type=Path, required=True)
    make.set_defaults(do=make_command)
    run = commands.add_parser("run", help="train and back-test for each seed, beside the optimum")
    runs.add_run_options(run)
    run.add_argument("--among-builtin", action="store_true", help="the signal among the 51 features of the program")
    run.set_defaults(do=run_command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    return runs.main(parser(), arguments)


if __name__ == "__main__":
    sys.exit(main())
