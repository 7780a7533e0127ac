"""Training runs of the program as the learning benchmarks need them: train, back-test, read back, report."""

import argparse
import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Callable, List, NamedTuple, Sequence

from bars import Failure, read_column, write_whole

STOP_GRACE_S = 60  # for writing a checkpoint after an interrupt


# ---- the program ----------------------------------------------------------------------------------------------------


def call(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\nexit code {done.returncode}: {done.stderr.strip()[-2000:]}")


def train_command(args: argparse.Namespace, seed: int, data: Path, run: Path, *more: str) -> List[str]:
    settings = [word for setting in args.set for word in ("--set", setting)]
    preset = ["--preset", args.preset] if args.preset else []
    return [args.binary, "train", "--data", str(data), "--out", str(run), "--seed", str(seed), *more, *preset,
            *settings]


class Trained(NamedTuple):
    seconds: float
    finished: bool  # came to its end, was not interrupted


def train(command: Sequence[str], seconds: float | None, run: Path) -> Trained:
    """Trains for at most `seconds`, then interrupts, which keeps the last checkpoint."""
    started = time.monotonic()
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
    return Trained(round(time.monotonic() - started, 3), finished)


def backtest(binary: str, run: Path, data: Path, out: Path, *more: str) -> None:
    """On the test split, of the best checkpoint unless `more` says otherwise."""
    call([binary, "backtest", "--run", str(run), "--data", str(data), "--split", "test", "--out", str(out), *more])


# ---- what it wrote --------------------------------------------------------------------------------------------------


class Costs(NamedTuple):
    """What may be held, as fractions, and the cheapest order's rate on traded notional."""

    exposures: Sequence[float]
    rate: float


def env_of_run(run: Path) -> dict:
    """The table [env] of the run's own configuration."""
    config_file = run / "config.toml"
    with open(config_file, "rb") as stream:
        env = tomllib.load(stream)["env"]
    if env.get("max_position"):
        raise Failure(f"{config_file}: env.max_position is set; this judges in fractions (env.max_exposure)")
    return env


def costs_of_run(run: Path) -> Costs:
    env = env_of_run(run)
    rates = [env[f"cost_{order}"] * urgency for order in env["order_types"] for urgency in env["urgency_cost"]]
    return Costs([e * env["max_exposure"] for e in env["exposures"]], min(rates))


def bars_under(equity_file: Path, data: Path) -> slice:
    """Which rows of `data` the back-test's equity runs over: it starts at the first close and ends at the last."""
    times = [datetime.datetime.fromisoformat(text) for text in read_column(data, "time")]
    wanted = [datetime.datetime.fromisoformat(text) for text in read_column(equity_file, "time")]
    if not wanted or wanted[0] not in times:
        raise Failure(f"{equity_file}: its first time is not one of {data}")
    first = times.index(wanted[0])
    if times[first : first + len(wanted)] != wanted:
        raise Failure(f"{equity_file}: its times are not consecutive bars of {data}")
    return slice(first, first + len(wanted))


def metric_of_policies(metrics_file: Path, metric: str) -> dict:
    """Each policy's value of a metric on the one segment, the judged policy first."""
    segments = json.loads(metrics_file.read_text(encoding="utf-8"))["segments"]
    if len(segments) != 1:
        raise Failure(f"{metrics_file}: {len(segments)} segments; this test has one")
    return {name: p["metrics"][metric]["value"] for name, p in segments[0]["policies"].items()}


# ---- the benchmark around them --------------------------------------------------------------------------------------


def median_of(results: Sequence[dict], key: str):
    values = [r[key] for r in results]
    return None if any(v is None for v in values) else statistics.median(values)


def percent(value, width: int = 0) -> str:
    text = "n/a" if value is None else f"{100 * value:.2f} %"
    return text.rjust(width)


def processor() -> str:
    """The processor's name as Linux has it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def add_run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("binary", help="the warptape program")
    command.add_argument("--bars", type=int, default=8000)
    command.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of series and training [1 2 3]")
    command.add_argument("--seconds", type=float, help="interrupt each training after this long [no limit]")
    command.add_argument("--preset", help="passed on to train")
    command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed on to train")
    command.add_argument("--work", type=Path, help="keep data, runs and tests in this folder [a temporary one]")
    command.add_argument("--json", type=Path, help="write the result here [printed]")


def run_seeds(args: argparse.Namespace, run_seed: Callable[[argparse.Namespace, int, Path], dict]) -> List[dict]:
    with tempfile.TemporaryDirectory(prefix="warptape_learning_") as temporary:
        folder = args.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        return [run_seed(args, seed, folder) for seed in args.seeds]


def report(args: argparse.Namespace, series: dict, results: Sequence[dict], medians: dict) -> None:
    text = json.dumps({
        "series": series,
        "settings": ([f"preset {args.preset}"] if args.preset else []) + args.set,
        "seconds_limit": args.seconds,
        "machine": {"processor": processor(), "processors": os.cpu_count()},
        "seeds": list(results),
        "median": medians,
    }, indent=2)
    if args.json:
        write_whole(args.json, text + "\n")
    else:
        print(text)


def main(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Runs the chosen command's `do`; a failure is one line."""
    args = parser.parse_args(arguments)
    try:
        args.do(args)
    except (Failure, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0
