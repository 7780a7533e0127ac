#!/usr/bin/env python3
"""The series and the judgement of random_walk.py against numbers worked out by hand."""

import itertools
import json
import math
import statistics
import sys
import tempfile
from pathlib import Path

import random_walk
from bars import Failure
from stand_in import run_tests, write_program


def test_series_is_a_martingale():
    count, deviation = 40000, 0.001
    bars = random_walk.make_bars(count + 1, seed=2)
    steps = [after.close / before.close - 1 for before, after in itertools.pairwise(bars)]
    assert bars[0].close == 100
    # Five standard errors, of the mean and of the deviation.
    assert abs(statistics.mean(steps)) < 5 * deviation / math.sqrt(count)
    assert abs(statistics.stdev(steps) - deviation) < 5 * deviation / math.sqrt(2 * count)
    # Nothing to predict: the correlation of a step with the last, whose standard error is 1/sqrt(count).
    assert abs(statistics.correlation(steps[1:], steps[:-1])) < 5 / math.sqrt(count)
    for before, bar in itertools.pairwise(bars):
        assert bar.open == before.close
        assert bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high
    assert bars == random_walk.make_bars(count + 1, seed=2)
    assert bars != random_walk.make_bars(count + 1, seed=3)


# Turnovers by checkpoint; the third seed's agent, whose folder names it, trades more.
STAND_IN = '''#!/usr/bin/env python3
import json, pathlib, sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
out = pathlib.Path(options["--out"])
out.mkdir(parents=True)
def policy(turnover):
    values = {"turnover": turnover, "total_return": -0.25, "time_in_market": 0.5}
    return {"metrics": {name: {"value": value} for name, value in values.items()}}
if sys.argv[1] == "backtest":
    agent = {"best": 40, "last": 100}[options["--checkpoint"]] * (10 if options["--run"].endswith("3") else 1)
    policies = {"agent": policy(agent), "flat": policy(0), "random": policy(1000)}
    (out / "metrics.json").write_text(json.dumps({"segments": [{"policies": policies}]}))
'''


def test_run_compares_turnovers_by_checkpoint():
    with tempfile.TemporaryDirectory() as name:
        program, result = write_program(Path(name), STAND_IN), Path(name) / "result.json"
        assert random_walk.main(["run", program, "--bars", "10", "--json", str(result)]) == 0
        found = json.loads(result.read_text(encoding="utf-8"))
        assert [r["best"]["turnover_share"] for r in found["seeds"]] == [0.04, 0.04, 0.4]
        assert [r["last"]["turnover_share"] for r in found["seeds"]] == [0.1, 0.1, 1.0]
        assert found["seeds"][0]["best"]["return"] == -0.25
        assert found["median"] == {"turnover_share": 0.04, "wanted_below": 0.1, "reached": True}


def test_a_baseline_without_trades_is_refused():
    with tempfile.TemporaryDirectory() as name:
        metrics = Path(name) / "metrics.json"
        policies = {p: {"metrics": {"turnover": {"value": 0}}} for p in ("agent", "random")}
        metrics.write_text(json.dumps({"segments": [{"policies": policies}]}), encoding="utf-8")
        try:
            random_walk.judge(metrics)
        except Failure as failure:
            assert "random baseline" in str(failure)
        else:
            raise AssertionError("taken")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
