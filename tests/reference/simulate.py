#!/usr/bin/env python3
"""The reference's own `warptape simulate`: recorded actions over a price file (domain.md section 9).

simulate.py --data FILE.csv --actions FILE.csv [--rules classic|market] [--set key=value]...
            [--continue] [--first-bar K] --out steps.csv
"""

import argparse
import sys

import reference


def options_from(rules, assignments):
    """The world of a command line. There is no time limit unless `env.episode_length` is given."""
    values = dict(reference.parse_assignment(text) for text in assignments)
    named = values.pop("rules", None)
    if rules and named and rules != named:
        raise ValueError(f"--rules {rules} and env.rules={named} disagree")
    values.setdefault("episode_length", None)
    return reference.world(rules or named or "market", **values)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="simulate.py", description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="CSV: time,open,high,low,close[,volume]")
    parser.add_argument("--actions", required=True, help="indices, or CSV exposure,order,urgency")
    parser.add_argument("--rules", choices=("classic", "market"))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--continue", dest="chain", action="store_true", help="chain episodes")
    parser.add_argument("--first-bar", type=int, default=0, help="where the first action acts")
    parser.add_argument("--out", required=True)
    given = parser.parse_args(arguments)
    try:
        options = options_from(given.rules, given.set)
        bars = reference.read_bars(given.data)
        actions = reference.read_actions(given.actions, options)
        rows = list(reference.simulate(options, bars, actions, given.first_bar, given.chain))
    except (ValueError, OSError) as error:
        print(f"simulate.py: {error}", file=sys.stderr)
        return 1
    with open(given.out, "w", encoding="utf-8") as out:
        out.write(",".join(reference.COLUMNS) + "\n")
        for row in rows:
            out.write(reference.csv_text(row, options.rules) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
