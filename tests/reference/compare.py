#!/usr/bin/env python3
"""Differential test: `warptape simulate` against the reference, on random and real prices.

compare.py BINARY [--cases N] [--seed S] [--data-dir DIR]

Every column of every row is compared. Row counts, integers, flags and times must agree exactly, and so must
the float32 money of the classic rules. A failed case prints its command and keeps its files. The last line
counts the cases.
"""

import argparse
import collections
import csv
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import cases
import reference
import simulate as command_line

# Market money is float64 with a fixed order of operations, so equal bits are expected and reported. The test
# allows for an order that domain.md leaves open (the cash of an exit fill, say): a few units in the last
# place per step, which over thousands of steps reach about 1e-12 of the money that moved. 1e-9 is a thousand
# times that, and a thousand times under the smallest mistake that matters (a cost, a lot, a bar).
RELATIVE = 1e-9
# A difference of large numbers (cash when fully invested, the return of a quiet bar) keeps their absolute
# error, so it is measured against their size: `gross` below.
OF_GROSS = 1e-11

DEFAULT_CASES = 60
MONEY = ("cash", "equity", "next_equity", "cost", "cumulative_cost")
REWARDS = ("reward", "reward_return", "reward_risk", "reward_diversity", "reward_curiosity")

# What the default number of cases must have met at least once, by rule set.
REQUIRED = {
    "market": ("fill_stop", "fill_profit", "gap_long", "gap_short", "both_touched", "equality_touched",
               "expiry", "reversal", "reserve_cut", "lot_cut", "lot_forgiven", "power_cut",
               "ruin", "ruin_with_label", "chain", "label_stop", "label_profit"),
    "classic": ("label_stop", "label_profit", "expiry", "reversal", "reserve_cut", "power_cut", "chain",
                "both_touched", "bought_to_flat", "inherited_barrier", "equity_not_positive"),
}  # fmt: skip


def toml_value(value):
    """A Python value as a TOML scalar or array."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(value)


def write_case(case, folder):
    """Writes the case's files; returns the arguments after `simulate`, and the paths in them."""
    data, actions, out = (os.path.join(folder, name) for name in ("bars.csv", "actions.csv", "steps.csv"))
    with open(data, "w", encoding="utf-8") as handle:
        whole = len(case.bars[0]) == 5
        handle.write("time,open,high,low,close\n" if whole else "time,close\n")
        handle.writelines(",".join(bar) + "\n" for bar in case.bars)
    with open(actions, "w", encoding="utf-8") as handle:
        handle.writelines(line + "\n" for line in case.actions)
    arguments = ["--data", data, "--actions", actions, "--rules", case.rules]
    assignments = [f"env.{name}={toml_value(value)}" for name, value in case.options.items()]
    for assignment in assignments:
        arguments += ["--set", assignment]
    if case.chain:
        arguments.append("--continue")
    if case.first_bar:
        arguments += ["--first-bar", str(case.first_bar)]
    return arguments + ["--out", out], assignments, data, actions, out


def reference_rows(case, assignments, data, actions, coverage):
    """The rows that the reference makes of the written files; counts what happened in `coverage`."""
    options = command_line.options_from(case.rules, assignments)
    note = lambda events: coverage.update((case.rules, event) for event in events)
    return list(
        reference.simulate(
            options,
            reference.read_bars(data),
            reference.read_actions(actions, options),
            case.first_bar,
            case.chain,
            on_events=note,
        )
    )


def tolerance(name, row, reward_scale):
    """The absolute part of the market's tolerance for a column (see OF_GROSS)."""
    gross = abs(row.cash) + abs(row.position) * row.price + abs(row.equity)
    if name in MONEY:
        return OF_GROSS * gross
    if name == "position":
        return OF_GROSS * gross / row.price
    if name in REWARDS:
        return OF_GROSS * (1 + gross / abs(row.equity)) * max(1.0, reward_scale)
    return 0.0


def cell_agrees(name, text, expected, row, rules, reward_scale, tally):
    """Whether one printed cell says what the reference says."""
    if name == "time":
        return text == expected
    if name in reference.INTEGER_COLUMNS:
        return text.strip() == str(int(expected))
    value = float(text)
    if rules == "classic":
        value = np.float32(value)
        return bool(value == expected or (np.isnan(value) and np.isnan(expected)))
    tally["cells"] += 1
    if value == expected:
        tally["same bits"] += 1
        return True
    allowed = RELATIVE * max(abs(value), abs(expected)) + tolerance(name, row, reward_scale)
    return abs(value - expected) <= allowed


def first_difference(out, expected, case, tally):
    """The first disagreement of a written file with the expected rows, as text; None when there is none."""
    with open(out, newline="", encoding="utf-8") as handle:
        rows = list(csv.reader(handle))
    if not rows or tuple(rows[0]) != reference.COLUMNS:
        return f"header: {','.join(rows[0]) if rows else 'none'}\nexpected: {','.join(reference.COLUMNS)}"
    reward_scale = float(case.options.get("reward_scale", 1.0))
    for number, (cells, row) in enumerate(zip(rows[1:], expected), start=1):
        if len(cells) != len(row):
            return f"row {number}: {len(cells)} cells, expected {len(row)}"
        differing = []
        for name, text, value in zip(reference.COLUMNS, cells, row):
            try:
                agrees = cell_agrees(name, text, value, row, case.rules, reward_scale, tally)
            except ValueError:
                agrees = False
            if not agrees:
                differing.append(f"  {name}: {text}, expected {value!r}")
        if differing:
            ours = reference.csv_text(row, case.rules)
            return "\n".join(
                [f"row {number} (bar {row.bar}):", *differing, f"  theirs {','.join(cells)}", f"  ours   {ours}"]
            )
    if len(rows) - 1 != len(expected):
        return f"{len(rows) - 1} rows, expected {len(expected)}"
    return None


def run_case(binary, case, folder, coverage, tally):
    """Plays a case both ways; returns what is wrong, or None."""
    arguments, assignments, data, actions, out = write_case(case, folder)
    command = [binary, "simulate", *arguments]
    expected = reference_rows(case, assignments, data, actions, coverage)
    coverage[(case.rules, "rows")] += len(expected)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{shlex.join(command)}\n{error}"
    if done.returncode != 0:
        return f"{shlex.join(command)}\nexit code {done.returncode}: {done.stderr.strip()}"
    if not os.path.exists(out):
        return f"{shlex.join(command)}\nwrote no {out}"
    difference = first_difference(out, expected, case, tally)
    return difference and f"{shlex.join(command)}\n{difference}"


def report_coverage(coverage, tally, demand):
    """Prints what the rows went through; returns how many required things never happened."""
    missing = 0
    for rules in ("market", "classic"):
        counts = [f"{coverage[(rules, 'rows')]} rows"]
        for event in REQUIRED[rules]:
            counts.append(f"{coverage[(rules, event)]} {event}")
            if demand and coverage[(rules, event)] == 0:
                missing += 1
                print(f"never happened under {rules} rules: {event}")
        print(f"coverage, {rules}: " + ", ".join(counts))
    if tally["cells"]:
        share = 100 * tally["same bits"] / tally["cells"]
        print(f"market cells with equal bits: {tally['same bits']} of {tally['cells']} ({share:.4f} %)")
    return missing


def main():
    parser = argparse.ArgumentParser(prog="compare.py", description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the warptape program")
    parser.add_argument("--cases", type=int, default=DEFAULT_CASES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", help="real prices: CSV files in DIR/bars, or in DIR itself")
    given = parser.parse_args()

    series = []
    if given.data_dir:
        inner = os.path.join(given.data_dir, "bars")
        series = cases.load_series(inner if os.path.isdir(inner) else given.data_dir)
    print(f"seed {given.seed}, {given.cases} cases, {len(series)} real series")
    started = time.monotonic()
    coverage, tally = collections.Counter(), collections.Counter()
    passed = failed = 0
    folder = tempfile.mkdtemp(prefix="warptape-compare-")
    for number in range(given.cases):
        case = cases.make_case(random.Random(f"{given.seed}/{number}"), number, series)
        place = os.path.join(folder, case.name)
        os.mkdir(place)
        problem = run_case(given.binary, case, place, coverage, tally)
        if problem is None:
            passed += 1
            shutil.rmtree(place)
        else:
            failed += 1
            print(f"FAILED {case.name}\n{problem}\n")
    if failed == 0:
        os.rmdir(folder)
    # Too few cases cannot be asked to meet everything; the default number can.
    if report_coverage(coverage, tally, demand=given.cases >= DEFAULT_CASES):
        failed += 1
    print(f"{time.monotonic() - started:.1f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
