"""Trains with the program and holds the event files that it writes against log.jsonl.

test_events.py PROGRAM
"""

import json
import math
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import event_file

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()

# Four rounds of exploration, a learning rate that lets Q explode, costs that make it right to stay flat.
CONFIG = """
seed = 3
threads = 1
[env]
episode_length = 20
exposures = [-1, 0, 1]
order_types = ["market"]
urgency_cost = [1]
curiosity_weight = 0.1
[split]
train = 0.4
validation = 0.3
[net]
shared_0 = 8
shared_1 = 8
value = 8
advantage = 8
curiosity = 8
[collect]
episodes = 4
steps = 20
[replay]
capacity = 1000
[learn]
batch = 16
tau = 1
learning_rate = 0.05
[curiosity]
every = 2
batches = 1
batch = 16
[train]
rounds = 12
updates_per_round = 10
evaluate_every = 3
checkpoint_every = 5
divergence_q = 1e30
"""

# log.jsonl's name of each tag.
TAGS = {
    "collect/reward": "reward",
    "collect/return": "step_return",
    "collect/largest_reward": "largest_reward",
    "collect/epsilon": "epsilon",
    "collect/steps": "steps",
    "collect/episodes": "episodes",
    "collect/ruins": "ruins",
    "learn/loss": "loss",
    "learn/q": "q",
    "learn/abs_q": "abs_q",
    "learn/gradient_norm": "gradient_norm",
    "learn/learning_rate": "learning_rate",
    "learn/updates": "updates",
    "learn/curiosity_loss": "curiosity_loss",
    "evaluate/validation_return": "validation_return",
    "evaluate/best_return": "best_return",
    "evaluate/top_exposure": "top_exposure",
    "evaluate/top_share": "top_share",
}


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def expected(line):
    """The summary that belongs to a line of the log, the speed aside."""
    values = {tag: float32(line[name]) for tag, name in TAGS.items() if name in line}
    values.update({f"alarm/{name}": text for name, text in line.get("alarms", {}).items()})
    return values


class Events(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "run.toml").write_text(CONFIG)
        walk, lines, close = random.Random(1), ["time,open,high,low,close,volume"], 100.0
        for bar in range(900):
            opened = close
            close = opened * (1 + 0.01 * (0.5 * math.sin(bar / 12) + walk.random() - 0.5))
            high, low = max(opened, close) * 1.001, min(opened, close) * 0.999
            lines.append(f"{1577836800 + 3600 * bar},{opened:.6f},{high:.6f},{low:.6f},{close:.6f},{100 + bar % 7}")
        (self.path / "bars.csv").write_text("\n".join(lines) + "\n")

    def words(self, *more):
        return [PROGRAM, "train", "--data", "bars.csv", "--out", "run", *more]

    def train(self, *more):
        return subprocess.run(self.words(*more), cwd=self.path, check=True, capture_output=True, text=True, timeout=60)

    def files(self):
        return sorted((self.path / "run" / "tensorboard").iterdir())

    def log(self):
        return [json.loads(line) for line in (self.path / "run" / "log.jsonl").read_text().splitlines()]

    def check_against_log(self, count):
        shown, lines = event_file.merged(self.files()), self.log()
        self.assertEqual(len(lines), count)
        self.assertEqual(sorted(shown), [line["round"] for line in lines])
        for line in lines:
            summary = dict(shown[line["round"]])
            self.assertGreater(summary.pop("speed/steps_per_second"), 0)
            self.assertEqual(summary, expected(line))
        return lines

    def test_crc32c_known_answer(self):
        self.assertEqual(event_file.crc32c(b"123456789"), 0xE3069283)

    def test_hold_what_the_log_holds(self):
        before = time.time()
        printed = self.train("--config", "run.toml")
        after = time.time()
        lines = self.check_against_log(12)
        # What the comparison covered.
        named = {name for line in lines for name in line}
        self.assertEqual(named, set(TAGS.values()) | {"round", "alarms"})
        self.assertEqual(sum("curiosity_loss" in line for line in lines), 6)
        self.assertEqual(sum("validation_return" in line for line in lines), 4)
        self.assertTrue(any("exploding_q" in line.get("alarms", {}) for line in lines))
        for line in lines:
            for text in line.get("alarms", {}).values():
                self.assertIn("warning: " + text, printed.stderr)

        (file,) = self.files()
        self.assertRegex(file.name, r"^events\.out\.tfevents\.\d{10}\.[^/]+$")
        events = list(event_file.events(file))
        self.assertEqual(events[0]["file_version"], "brain.Event:2")
        self.assertEqual(events[1]["session_status"], event_file.START)
        times = [event["wall_time"] for event in events]
        self.assertEqual(times, sorted(times))
        self.assertTrue(before <= times[0] and times[-1] <= after)

    def test_a_resumed_run_begins_a_file_that_sorts_last(self):
        self.train("--config", "run.toml", "--time-limit", "0.000001")
        self.train("--resume", "--time-limit", "0.000001")
        self.train("--resume")
        names = [file.name for file in self.files()]
        self.assertEqual(len(names), 3)
        seconds = [int(re.match(r"events\.out\.tfevents\.(\d+)", name)[1]) for name in names]
        self.assertEqual(seconds, sorted(set(seconds)))
        starts = [[e["step"] for e in event_file.events(f) if "session_status" in e] for f in self.files()]
        self.assertEqual(starts, [[1], [2], [3]])
        self.check_against_log(12)

    def test_rounds_past_the_checkpoint_of_a_killed_run_are_dropped(self):
        words = self.words("--config", "run.toml", "--set", "train.rounds=100000")
        process = subprocess.Popen([*words, "--set", "learn.learning_rate=0.0001"], cwd=self.path)
        log = self.path / "run" / "log.jsonl"
        # Checkpoints are five rounds apart: after the second, between two of them as far as one can aim.
        while not log.exists() or (count := log.read_bytes().count(b"\n")) < 12 or count % 5 != 2:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGKILL)
        process.wait()
        steps = [event["step"] for event in event_file.events(self.files()[0])]
        self.train("--resume", "--time-limit", "0.000001")
        kept = json.loads((self.path / "run" / "last" / "checkpoint.json").read_text())["round"] - 1
        self.assertEqual(kept % 5, 0)
        self.assertGreaterEqual(max(steps), kept)
        self.check_against_log(kept + 1)

    def test_a_new_run_in_the_place_of_one_without_checkpoint_removes_its_files(self):
        old = self.path / "run" / "tensorboard"
        old.mkdir(parents=True)
        (old / "events.out.tfevents.1600000000.host.1").write_bytes(b"torn")
        (old / "mine.txt").write_text("not an event file")
        self.train("--config", "run.toml")
        names = [file.name for file in self.files()]
        self.assertEqual(len(names), 2)
        self.assertIn("mine.txt", names)
        self.assertNotIn("events.out.tfevents.1600000000.host.1", names)

    def test_none_are_written_when_switched_off(self):
        self.train("--config", "run.toml", "--set", "train.tensorboard=false")
        self.assertFalse((self.path / "run" / "tensorboard").exists())


if __name__ == "__main__":
    unittest.main()
