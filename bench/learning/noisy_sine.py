#!/usr/bin/env python3
"""Does training learn? A noisy sine whose hindsight optimum is known, and what share of it an agent captures.

    noisy_sine.py make --bars 8000 --seed 1 --out sine.csv
    noisy_sine.py bound --data sine.csv
    noisy_sine.py run build/warptape --bars 8000 --seconds 180 --json result.json

The series, for bar t = 0, 1, ...: log price(t) = log 100 + 0.02*sin(2*pi*t/50) + w(t), w a random walk from 0 whose
steps are normal with a deviation of 0.001 (0.1 % a bar). So the sine can be predicted and the walk can't: a cycle of 50
bars swings by 4 % up and down, while the walk moves by 0.7 % over it. Python 3.11 or newer, standard library alone.
"""

import argparse
import json
import math
import random
import sys
from pathlib import Path
from typing import List, Sequence

import bars as series
import runs
from runs import Costs

AMPLITUDE = 0.02
PERIOD_BARS = 50
WALK_DEVIATION = 0.001

DEFAULT_EXPOSURES = (-1.0, -0.5, 0.0, 0.5, 1.0)
DEFAULT_COST_RATE = 0.00005  # limit maker, the cheapest order
DEFAULT_COSTS = Costs(DEFAULT_EXPOSURES, DEFAULT_COST_RATE)


# ---- the series -----------------------------------------------------------------------------------------------------


def make_bars(count: int, seed: int) -> List[series.Bar]:
    rng = random.Random(seed)
    walk = 0.0

    def close_at(t: int) -> float:
        nonlocal walk
        walk += rng.gauss(0.0, WALK_DEVIATION) if t > 0 else 0.0
        return 100 * math.exp(AMPLITUDE * math.sin(2 * math.pi * t / PERIOD_BARS) + walk)

    return series.make_bars(count, rng, close_at)


# ---- the hindsight optimum ------------------------------------------------------------------------------------------


def trade_factor(held: float, wanted: float, rate: float) -> float:
    """Equity after a trade over equity before it, where a fraction `held` of the equity before becomes a fraction
    `wanted` of the equity after: E' = E - rate*|wanted*E' - held*E|, solved for E'."""
    sign = (wanted > held) - (wanted < held)
    return (1 + sign * rate * held) / (1 + sign * rate * wanted)


def best_path(bars: int, exposures: Sequence[float], gain, begin: dict | None = None) -> float:
    """The largest sum of gain(bar, held, wanted) over all paths of exposures that start flat (or as `begin` says), by
    dynamic programming: `best[e]` is the best of all paths so far that hold exposure e."""
    best = begin or {0.0: 0.0}
    for bar in range(bars):
        best = {wanted: max(value + gain(bar, held, wanted) for held, value in best.items()) for wanted in exposures}
    return max(best.values())


def growing_bound(closes: Sequence[float], costs: Costs = DEFAULT_COSTS) -> float:
    """The best return (a fraction) with known future closes, where each bar's exposure is a fraction of the equity of
    that bar, gains being reinvested. Only a change of exposure costs: sizing anew to the same fraction is free.

    An upper bound for every policy whose position is one of these fractions at each bar: it sizes anew for free and
    reinvests at once, where the world's units stay as an episode's start sized them. (Units drift between the
    fractions. A long cannot drift above the largest; a losing short can, by what it lost, and only that lies outside
    the bound.) Nobody reaches it without the future, since the walk's moves are in it. What is held at the end counts
    at the last close.
    """

    def gain(bar: int, held: float, wanted: float) -> float:
        growth = trade_factor(held, wanted, costs.rate) * (1 + wanted * (closes[bar + 1] / closes[bar] - 1))
        return math.log(growth) if growth > 0 else -math.inf

    return math.expm1(best_path(len(closes) - 1, costs.exposures, gain))


def chained_bound(closes: Sequence[float], episode_length: int, costs: Costs = DEFAULT_COSTS) -> float:
    """The best return with known future closes in the world as it is: a chain of episodes, in each of which exposure 1
    is the units that the equity at its start buys, so that gains are reinvested from one episode to the next.

    Exact within an episode but for buying power, which only takes away; from one episode to the next the first trade
    is free, since what is carried over need not be one of the new episode's exposures. So it is an upper bound too,
    and a closer one: no policy of this world passes it.
    """
    growth = 1.0
    for first in range(0, len(closes) - 1, episode_length):
        episode = closes[first:first + episode_length + 1]

        def gain(bar: int, held: float, wanted: float) -> float:
            moved = wanted * (episode[bar + 1] - episode[bar]) - costs.rate * abs(wanted - held) * episode[bar]
            return moved / episode[0]

        begin = {0.0: 0.0} if first == 0 else {exposure: 0.0 for exposure in costs.exposures}
        growth *= 1 + best_path(len(episode) - 1, costs.exposures, gain, begin)
    return growth - 1


def shares(total_return: float, growing: float, chained: float) -> dict:
    """What part of the bounds a return is: of the growing one as it stands and in logarithms (growth rates), which
    does not shrink with the length of the series, and of the chained one."""

    def ratio(value: float, bound: float):
        return value / bound if bound > 0 else None

    log_share = ratio(math.log1p(total_return), math.log1p(growing)) if total_return > -1 else None
    return {
        "growing_share": ratio(total_return, growing),
        "growing_log_share": log_share,
        "chained_share": ratio(total_return, chained),
    }


# ---- a training run -------------------------------------------------------------------------------------------------


def run_seed(args: argparse.Namespace, seed: int, folder: Path) -> dict:
    data, run, test = folder / f"sine-{seed}.csv", folder / f"run-{seed}", folder / f"test-{seed}"
    series.write_bars(data, make_bars(args.bars, seed))
    trained = runs.train(runs.train_command(args, seed, data, run), args.seconds, run)
    runs.backtest(args.binary, run, data, test)

    returns = runs.metric_of_policies(test / "metrics.json", "total_return")
    judged = next(iter(returns.values()))
    closes = series.read_closes(data)[runs.bars_under(test / "equity.csv", data)]
    costs = runs.costs_of_run(run)
    growing = growing_bound(closes, costs)
    chained = chained_bound(closes, runs.env_of_run(run)["episode_length"], costs)
    return {
        "seed": seed,
        "test_bars": len(closes) - 1,
        "train_seconds": trained.seconds,
        "finished": trained.finished,
        "cost_rate": costs.rate,
        "return": judged,
        "returns": returns,
        "growing_bound": growing,
        "chained_bound": chained,
        **shares(judged, growing, chained),
    }


SHARES = ("chained_share", "growing_share", "growing_log_share")


def print_table(results: Sequence[dict], medians: dict) -> None:
    print(f"{'seed':>6} {'bars':>6} {'train s':>8} {'return':>12} {'chained':>12} {'share':>9}"
          f" {'growing':>12} {'share':>9} {'log share':>10}")
    for r in results:
        print(f"{r['seed']:>6} {r['test_bars']:>6} {r['train_seconds']:>8.1f} {runs.percent(r['return'], 12)}"
              f" {runs.percent(r['chained_bound'], 12)} {runs.percent(r['chained_share'], 9)}"
              f" {runs.percent(r['growing_bound'], 12)} {runs.percent(r['growing_share'], 9)}"
              f" {runs.percent(r['growing_log_share'], 10)}{'' if r['finished'] else '  (training cut short)'}")
    print(f"median: return {runs.percent(medians['return'])}, share of the chained bound "
          f"{runs.percent(medians['chained_share'])}, of the growing one {runs.percent(medians['growing_share'])}, in logarithms "
          f"{runs.percent(medians['growing_log_share'])}")


# ---- commands -------------------------------------------------------------------------------------------------------


def make_command(args: argparse.Namespace) -> None:
    series.write_bars(args.out, make_bars(args.bars, args.seed))


def bound_command(args: argparse.Namespace) -> None:
    closes = series.read_closes(args.data)
    if len(closes) < 2:
        raise series.Failure(f"{args.data}: {len(closes)} bars; a bound needs at least 2")
    costs = Costs(args.exposures, args.cost)
    print(json.dumps({
        "bars": len(closes) - 1,
        "exposures": list(costs.exposures),
        "cost_rate": costs.rate,
        "growing_bound": growing_bound(closes, costs),
        "chained_bound": chained_bound(closes, args.episode_length, costs),
    }, indent=2))


def run_command(args: argparse.Namespace) -> None:
    results = runs.run_seeds(args, run_seed)
    medians = {key: runs.median_of(results, key) for key in ("return", *SHARES)}
    print_table(results, medians)
    runs.report(args, {"bars": args.bars, "amplitude": AMPLITUDE, "period_bars": PERIOD_BARS,
                       "walk_deviation": WALK_DEVIATION}, results, medians)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="noisy_sine.py", description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True)

    make = commands.add_parser("make", help="write the series as CSV")
    make.add_argument("--bars", type=int, default=8000)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--out", type=Path, required=True)
    make.set_defaults(do=make_command)

    bound = commands.add_parser("bound", help="the hindsight optimum of a CSV of bars")
    bound.add_argument("--data", type=Path, required=True)
    bound.add_argument("--cost", type=float, default=DEFAULT_COST_RATE, help="rate on traded notional [%(default)s]")
    bound.add_argument("--episode-length", type=int, default=500, help="bars of an episode of the chain [%(default)s]")
    bound.add_argument("--exposures", type=float, nargs="+", default=list(DEFAULT_EXPOSURES))
    bound.set_defaults(do=bound_command)

    run = commands.add_parser("run", help="train and back-test for each seed, beside the hindsight optimum")
    runs.add_run_options(run)
    run.set_defaults(do=run_command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    return runs.main(parser(), arguments)


if __name__ == "__main__":
    sys.exit(main())
