#!/usr/bin/env python3
"""Does an agent learn to leave a random walk alone? Where nothing can be predicted, every trade only costs.

    random_walk.py make --bars 8000 --seed 1 --out walk.csv
    random_walk.py run build/warptape --json result.json

The series is a martingale: close(t+1) = close(t)*exp(0.001*z - 0.001^2/2), z standard normal, so a bar moves by 0.1 %
and no policy's expected return before costs differs from 0. What is judged is the turnover on the test split (traded
notional over mean equity, a year) beside that of the random baseline, which draws an action at every bar and pays the
same costs: the agent should trade under 10 % of it. Python 3.11 or newer, standard library alone.
"""

import argparse
import random
import sys
from pathlib import Path
from typing import List, Sequence

import bars as series
import runs

DEVIATION = 0.001
MOST_TURNOVER = 0.10  # of the random baseline's


def make_bars(count: int, seed: int) -> List[series.Bar]:
    rng = random.Random(seed)
    return series.make_bars(count, rng, series.martingale(rng, DEVIATION))


def judge(metrics_file: Path) -> dict:
    """Turnover as a share of the random baseline's, and what trading returned."""
    turnover = runs.metric_of_policies(metrics_file, "turnover")
    judged = next(iter(turnover))
    if not turnover.get("random"):
        raise series.Failure(f"{metrics_file}: the random baseline has no turnover to compare with")
    return {
        "turnover_share": turnover[judged] / turnover["random"],
        "turnover": turnover[judged],
        "random_turnover": turnover["random"],
        "return": runs.metric_of_policies(metrics_file, "total_return")[judged],
        "time_in_market": runs.metric_of_policies(metrics_file, "time_in_market")[judged],
    }


def run_seed(args: argparse.Namespace, seed: int, folder: Path) -> dict:
    data, run = folder / f"walk-{seed}.csv", folder / f"run-{seed}"
    series.write_bars(data, make_bars(args.bars, seed))
    trained = runs.train(runs.train_command(args, seed, data, run), args.seconds, run)
    found = {"seed": seed, "train_seconds": trained.seconds, "finished": trained.finished}
    for checkpoint in ("best", "last"):
        test = folder / f"test-{seed}-{checkpoint}"
        runs.backtest(args.binary, run, data, test, "--checkpoint", checkpoint)
        found[checkpoint] = judge(test / "metrics.json")
    return {**found, "turnover_share": found["best"]["turnover_share"]}


def print_table(results: Sequence[dict], median: float) -> None:
    print(f"{'seed':>6} {'train s':>8} {'turnover':>12} {'random':>12} {'share':>9} {'last/':>9} {'return':>10}")
    for r in results:
        best, last = r["best"], r["last"]
        print(f"{r['seed']:>6} {r['train_seconds']:>8.1f} {best['turnover']:>12.2f} {best['random_turnover']:>12.2f}"
              f" {runs.percent(best['turnover_share'], 9)} {runs.percent(last['turnover_share'], 9)}"
              f" {runs.percent(best['return'], 10)}{'' if r['finished'] else '  (training cut short)'}")
    print(f"median: {runs.percent(median)} of the random baseline's turnover; wanted: under"
          f" {runs.percent(MOST_TURNOVER)}")


def make_command(args: argparse.Namespace) -> None:
    series.write_bars(args.out, make_bars(args.bars, args.seed))


def run_command(args: argparse.Namespace) -> None:
    results = runs.run_seeds(args, run_seed)
    median = runs.median_of(results, "turnover_share")
    print_table(results, median)
    runs.report(args, {"bars": args.bars, "deviation": DEVIATION}, results,
                {"turnover_share": median, "wanted_below": MOST_TURNOVER, "reached": median < MOST_TURNOVER})


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="random_walk.py", description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write the series as CSV")
    make.add_argument("--bars", type=int, default=8000)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--out", type=Path, required=True)
    make.set_defaults(do=make_command)
    run = commands.add_parser("run", help="train and back-test for each seed, beside the random baseline")
    runs.add_run_options(run)
    run.set_defaults(do=run_command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    return runs.main(parser(), arguments)


if __name__ == "__main__":
    sys.exit(main())
