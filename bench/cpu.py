#!/usr/bin/env python3
"""Rates of the CPU backend beside those of JAX and of plain matrix products, in one run, taking turns.

cpu.py [--binary build/warptape] [--peer-python PYTHON] [--ceiling build/ceiling] [--turns 3] [--json FILE]

Each turn runs every shape once: warptape, then the peer (bench/peers/jax_peer.py under PYTHON, which has JAX), each
with five timed repeats after a warm-up, then the products (bench/ceiling.cpp says how to build it). A rate is the
median over the turns of those medians. Needs NumPy. warptape runs the classic rules with curiosity, the peer's step. All check their
values: the peers themselves, warptape by its tests of the CPU backend and of the step. What is not given is left out.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Shape(NamedTuple):
    what: str
    size: int  # episodes or batch
    all_outputs: bool
    arguments: str

    def words(self):
        return [*self.arguments.split(), *(["--all-outputs"] if self.all_outputs else [])]


SHAPES = [
    Shape("collect", 128, True, "--episodes 128 --steps 500 --bars 200000"),
    Shape("collect", 4096, True, "--episodes 4096 --steps 50 --bars 200000"),
    Shape("collect", 128, False, "--episodes 128 --steps 500 --bars 200000"),
    Shape("collect", 4096, False, "--episodes 4096 --steps 50 --bars 200000"),
    Shape("learn", 256, False, "--batch 256 --updates 200 --replay 1000000"),
    Shape("learn", 1024, False, "--batch 1024 --updates 50 --replay 1000000"),
]
REPEATS = ["--repeats", "5"]


def output_of(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit code {done.returncode}")
    return done.stdout


def check_values(binary):
    """That warptape computes the right thing: its tests against golden files and the reference of the step."""
    tests = Path(binary).parent / "warptape_tests"
    output_of(str(tests), "--gtest_brief=1", "--gtest_filter=Golden*:*Cpu*:*Collector*:*Gradient*:Learner*:*RoundOutputs*")
    output_of(sys.executable, "tests/reference/compare.py", binary, "--cases", "10")


def machine():
    facts = {"processors": len(os.sched_getaffinity(0)), "system": platform.platform()}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "cpu family", "model", "stepping"):
            facts.setdefault(name.strip().replace(" ", "_"), value.strip())
    facts["commit"] = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
    return facts


def spread(rates):
    return {"median": statistics.median(rates), "min": min(rates), "max": max(rates)}


def measure(args, turn, shape, row):
    """One turn of one shape."""
    words = [shape.what, *shape.words()]
    own = json.loads(output_of(args.binary, "bench", *words, "--set", "env.rules=classic", *REPEATS, "--json"))
    row["unit"], row["build"] = own["unit"], own["build"]
    row["warptape"].append(own["rate_median"])
    if args.peer_python:
        check = [] if turn == 0 else ["--skip-check"]
        peer = json.loads(output_of(args.peer_python, "bench/peers/jax_peer.py", *words, *REPEATS, *check))
        row["peer_is"] = peer["peer"]
        row["peer"].append(peer["rate_median"])


def add_ratios(rows):
    median = {shape: {who: statistics.median(row[who]) for who in ("warptape", "peer", "ceiling") if row[who]}
              for shape, row in rows.items()}
    for shape, row in rows.items():
        own = median[shape]
        if "peer" in own:
            row["of_peer"] = own["warptape"] / own["peer"]
            whole = median.get(shape._replace(all_outputs=True))
            if whole and not shape.all_outputs:
                row["of_peer_with_all_outputs"] = own["warptape"] / whole["peer"]
        if "ceiling" in own:
            row["of_ceiling"] = own["warptape"] / own["ceiling"]
        for who in ("warptape", "peer", "ceiling"):
            row[who] = spread(row[who]) if row[who] else None


def line_of(row):
    figures = [f"{who} {row[who]['median']:.4g}" for who in ("warptape", "peer", "ceiling") if row[who]]
    ratios = [f"{name} {row[name]:.2f}" for name in ("of_peer", "of_peer_with_all_outputs", "of_ceiling")
              if name in row]
    return "  ".join([row["what"], row["arguments"], *figures, *ratios])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/warptape")
    parser.add_argument("--peer-python", help="a Python that has bench/peers/requirements.txt")
    parser.add_argument("--ceiling", help="the program of bench/ceiling.cpp")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", help="where the figures go, beside the table")
    args = parser.parse_args()

    check_values(args.binary)
    rows = {shape: {"what": shape.what, "arguments": " ".join(shape.words()), "warptape": [], "peer": [], "ceiling": []}
            for shape in SHAPES}
    for turn in range(args.turns):
        products = json.loads(output_of(args.ceiling)) if args.ceiling else []
        for shape, row in rows.items():
            print(f"turn {turn + 1} of {args.turns}: {row['what']} {row['arguments']}", file=sys.stderr)
            measure(args, turn, shape, row)
            # The products are those of collection with all outputs, and of an update.
            if shape.all_outputs or shape.what == "learn":
                row["ceiling"] += [p["ceiling"] for p in products if (p["what"], p["size"]) == (shape.what, shape.size)]
    add_ratios(rows)
    for row in rows.values():
        print(line_of(row))
    if args.json:
        found = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": machine(), "turns": args.turns,
                 "values": "checked", "rows": list(rows.values())}
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
