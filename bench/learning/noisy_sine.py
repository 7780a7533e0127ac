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
import csv
import datetime
import json
import math
import os
import platform
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import List, NamedTuple, Sequence

AMPLITUDE = 0.02
PERIOD_BARS = 50
WALK_DEVIATION = 0.001
WICK_DEVIATION = 0.0003
START = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)

DEFAULT_EXPOSURES = (-1.0, -0.5, 0.0, 0.5, 1.0)
DEFAULT_COST_RATE = 0.00005  # limit maker, the cheapest order
STOP_GRACE_S = 60  # for writing a checkpoint after an interrupt


class Failure(Exception):
    """What went wrong, in words for the user."""


# ---- the series -----------------------------------------------------------------------------------------------------


class Bar(NamedTuple):
    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float


def make_bars(count: int, seed: int) -> List[Bar]:
    """Hourly bars of the series. A bar opens at the close before it (the first at its own); high and low lie around
    both by half-normal wicks of 0.03 %; volume is log-normal around 1000."""
    rng = random.Random(seed)
    bars: List[Bar] = []
    walk = 0.0
    for t in range(count):
        walk += rng.gauss(0.0, WALK_DEVIATION) if t > 0 else 0.0
        close = 100 * math.exp(AMPLITUDE * math.sin(2 * math.pi * t / PERIOD_BARS) + walk)
        opened = bars[-1].close if bars else close
        high = max(opened, close) * math.exp(abs(rng.gauss(0.0, WICK_DEVIATION)))
        low = min(opened, close) * math.exp(-abs(rng.gauss(0.0, WICK_DEVIATION)))
        volume = 1000 * rng.lognormvariate(0.0, 0.5)
        moment = (START + datetime.timedelta(hours=t)).strftime("%Y-%m-%dT%H:%M:%SZ")
        bars.append(Bar(moment, opened, high, low, close, volume))
    return bars


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


# ---- the hindsight optimum ------------------------------------------------------------------------------------------


class Costs(NamedTuple):
    """What may be held, as fractions, and the cheapest order's rate on traded notional."""

    exposures: Sequence[float] = DEFAULT_EXPOSURES
    rate: float = DEFAULT_COST_RATE


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


def growing_bound(closes: Sequence[float], costs: Costs = Costs()) -> float:
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


def chained_bound(closes: Sequence[float], episode_length: int, costs: Costs = Costs()) -> float:
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


def costs_of_run(config_file: Path) -> Costs:
    """Exposures and the cheapest order's rate of the run's own configuration."""
    with open(config_file, "rb") as stream:
        env = tomllib.load(stream)["env"]
    if env.get("max_position"):
        raise Failure(f"{config_file}: env.max_position is set; the bound is in fractions (env.max_exposure)")
    rates = [env[f"cost_{order}"] * urgency for order in env["order_types"] for urgency in env["urgency_cost"]]
    return Costs([e * env["max_exposure"] for e in env["exposures"]], min(rates))


def episode_length_of_run(config_file: Path) -> int:
    with open(config_file, "rb") as stream:
        return tomllib.load(stream)["env"]["episode_length"]


def call(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\nexit code {done.returncode}: {done.stderr.strip()[-2000:]}")


def train(command: Sequence[str], seconds: float | None, run: Path) -> bool:
    """Trains for at most `seconds`, then interrupts, which keeps the last checkpoint. Whether it came to its end."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        finished = True
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            finished = False
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=STOP_GRACE_S)
            except subprocess.TimeoutExpired:
                pass
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        errors.seek(0)
        message = errors.read().strip()[-2000:]
    if finished and process.returncode != 0:
        raise Failure(f"{' '.join(command)}\nexit code {process.returncode}: {message}")
    if not finished and not ((run / "best").is_dir() or (run / "last").is_dir()):
        raise Failure(f"{' '.join(command)}\nno checkpoint after {seconds} s: raise --seconds or lower the work")
    return finished


def closes_under(equity_file: Path, data: Path) -> List[float]:
    """The closes of exactly the bars that the back-test's equity runs over."""
    times = [datetime.datetime.fromisoformat(text) for text in read_column(data, "time")]
    wanted = [datetime.datetime.fromisoformat(text) for text in read_column(equity_file, "time")]
    if not wanted or wanted[0] not in times:
        raise Failure(f"{equity_file}: its first time is not one of {data}")
    first = times.index(wanted[0])
    if times[first : first + len(wanted)] != wanted:
        raise Failure(f"{equity_file}: its times are not consecutive bars of {data}")
    return read_closes(data)[first : first + len(wanted)]


def total_returns(metrics_file: Path) -> dict:
    """Each policy's total return on the one segment, the judged policy first."""
    segments = json.loads(metrics_file.read_text(encoding="utf-8"))["segments"]
    if len(segments) != 1:
        raise Failure(f"{metrics_file}: {len(segments)} segments; this test has one")
    return {name: p["metrics"]["total_return"]["value"] for name, p in segments[0]["policies"].items()}


def run_seed(args: argparse.Namespace, seed: int, folder: Path) -> dict:
    data, run, test = folder / f"sine-{seed}.csv", folder / f"run-{seed}", folder / f"test-{seed}"
    write_bars(data, make_bars(args.bars, seed))
    settings = [word for setting in args.set for word in ("--set", setting)]
    started = time.monotonic()
    command = [args.binary, "train", "--data", str(data), "--out", str(run), "--seed", str(seed), *settings]
    finished = train(command, args.seconds, run)
    train_seconds = time.monotonic() - started
    call([args.binary, "backtest", "--run", str(run), "--data", str(data), "--split", "test", "--out", str(test)])

    returns = total_returns(test / "metrics.json")
    judged = next(iter(returns.values()))
    closes = closes_under(test / "equity.csv", data)
    costs = costs_of_run(run / "config.toml")
    growing = growing_bound(closes, costs)
    chained = chained_bound(closes, episode_length_of_run(run / "config.toml"), costs)
    return {
        "seed": seed,
        "test_bars": len(closes) - 1,
        "train_seconds": round(train_seconds, 3),
        "finished": finished,
        "cost_rate": costs.rate,
        "return": judged,
        "returns": returns,
        "growing_bound": growing,
        "chained_bound": chained,
        **shares(judged, growing, chained),
    }


SHARES = ("chained_share", "growing_share", "growing_log_share")


def median_of(results: Sequence[dict], key: str):
    values = [r[key] for r in results]
    return None if any(v is None for v in values) else statistics.median(values)


def percent(value, width: int = 0) -> str:
    text = "n/a" if value is None else f"{100 * value:.2f} %"
    return text.rjust(width)


def print_table(results: Sequence[dict], medians: dict) -> None:
    print(f"{'seed':>6} {'bars':>6} {'train s':>8} {'return':>12} {'chained':>12} {'share':>9}"
          f" {'growing':>12} {'share':>9} {'log share':>10}")
    for r in results:
        print(f"{r['seed']:>6} {r['test_bars']:>6} {r['train_seconds']:>8.1f} {percent(r['return'], 12)}"
              f" {percent(r['chained_bound'], 12)} {percent(r['chained_share'], 9)}"
              f" {percent(r['growing_bound'], 12)} {percent(r['growing_share'], 9)}"
              f" {percent(r['growing_log_share'], 10)}{'' if r['finished'] else '  (training cut short)'}")
    print(f"median: return {percent(medians['return'])}, share of the chained bound "
          f"{percent(medians['chained_share'])}, of the growing one {percent(medians['growing_share'])}, in logarithms "
          f"{percent(medians['growing_log_share'])}")


# ---- commands -------------------------------------------------------------------------------------------------------


def make_command(args: argparse.Namespace) -> None:
    write_bars(args.out, make_bars(args.bars, args.seed))


def bound_command(args: argparse.Namespace) -> None:
    closes = read_closes(args.data)
    if len(closes) < 2:
        raise Failure(f"{args.data}: {len(closes)} bars; a bound needs at least 2")
    costs = Costs(args.exposures, args.cost)
    print(json.dumps({
        "bars": len(closes) - 1,
        "exposures": list(costs.exposures),
        "cost_rate": costs.rate,
        "growing_bound": growing_bound(closes, costs),
        "chained_bound": chained_bound(closes, args.episode_length, costs),
    }, indent=2))


def processor() -> str:
    """The processor's name as Linux has it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def run_command(args: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="noisy_sine_") as temporary:
        folder = args.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = [run_seed(args, seed, folder) for seed in args.seeds]
    medians = {key: median_of(results, key) for key in ("return", *SHARES)}
    print_table(results, medians)
    text = json.dumps({
        "series": {"bars": args.bars, "amplitude": AMPLITUDE, "period_bars": PERIOD_BARS,
                   "walk_deviation": WALK_DEVIATION},
        "settings": args.set,
        "seconds_limit": args.seconds,
        "machine": {"processor": processor(), "processors": os.cpu_count()},
        "seeds": results,
        "median": medians,
    }, indent=2)
    if args.json:
        write_whole(args.json, text + "\n")
    else:
        print(text)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    run.add_argument("binary", help="the warptape program")
    run.add_argument("--bars", type=int, default=8000)
    run.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of series and training [1 2 3]")
    run.add_argument("--seconds", type=float, help="interrupt each training after this long [no limit]")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed on to train")
    run.add_argument("--work", type=Path, help="keep data, runs and tests in this folder [a temporary one]")
    run.add_argument("--json", type=Path, help="write the result here [printed]")
    run.set_defaults(do=run_command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    try:
        args.do(args)
    except (Failure, OSError) as error:
        print(f"noisy_sine.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
