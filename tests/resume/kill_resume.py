#!/usr/bin/env python3
"""kill -9 at any moment, --resume, and the run's folder equals that of a run that was never stopped, byte for byte.

    kill_resume.py PROGRAM --data BARS.csv [--kills 20] [--seed 1]
    kill_resume.py PROGRAM --data BARS.csv --fault LIBRARY [--stride 1]

The first form kills at seeded random moments of a run that writes a checkpoint of some megabytes after each round: half
of them anywhere, half of them while a checkpoint is being written. The second goes through every single change that a
short run makes to its folder (LIBRARY is tests/resume/fault.c): it kills the program there, and in another pass it has the
disk full from there on; in a third, a file system without RENAME_EXCHANGE is killed there.

Compared are all files of the run's folder. Left out are only those named in MAY_DIFFER, which hold times of the clock.
"""

import argparse
import errno
import fnmatch
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MAY_DIFFER = ["events.out.tfevents*"]
TIME_LIMIT = 120  # seconds; what comes near it hangs

WORLD = """
seed = 5
threads = 1
[env]
episode_length = 30
curiosity_weight = 0.1
[net]
shared_0 = 16
shared_1 = 16
value = 8
advantage = 8
curiosity = 8
[learn]
batch = 32
target_every = 7
tau = 1
[curiosity]
every = 2
batches = 2
batch = 16
"""

# Some 100 rounds of which the writing of 3 MB is a sizeable part.
RANDOM_SETTINGS = [
    "collect.episodes=64", "collect.steps=20", "replay.capacity=80000", "train.rounds={rounds}",
    "train.updates_per_round=3", "train.evaluate_every=5", "train.checkpoint_every=1",
]
STEP_SETTINGS = [
    "collect.episodes=4", "collect.steps=20", "replay.capacity=400", "train.rounds=5", "train.updates_per_round=2",
    "train.evaluate_every=2", "train.checkpoint_every=2",
]


class Runs:
    def __init__(self, program, data, folder, settings):
        self.program, self.data, self.folder = os.path.abspath(program), os.path.abspath(data), folder
        self.config = os.path.join(folder, "world.toml")
        with open(self.config, "w") as file:
            file.write(WORLD)
        self.settings = settings

    def command(self, out, resume, threads=None):
        words = [self.program, "train", "--data", self.data, "--config", self.config, "--out", self.path(out)]
        for setting in self.settings + (["threads=%d" % threads] if threads else []):
            words += ["--set", setting]
        return words + (["--resume"] if resume else [])

    def path(self, out):
        return os.path.join(self.folder, out)

    def run(self, out, resume=False, threads=None, environment=None):
        return subprocess.run(self.command(out, resume, threads), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=TIME_LIMIT, env=dict(os.environ, **(environment or {})))

    def must_run(self, out, resume=False, threads=None, environment=None):
        result = self.run(out, resume, threads, environment)
        if result.returncode != 0:
            raise SystemExit("%s: exit code %d: %s" % (out, result.returncode, result.stderr))


def tree(folder):
    files = {}
    for base, folders, names in os.walk(folder):
        for name in folders:
            files[os.path.relpath(os.path.join(base, name), folder) + "/"] = b""
        for name in names:
            if any(fnmatch.fnmatch(name, pattern) for pattern in MAY_DIFFER):
                continue
            with open(os.path.join(base, name), "rb") as file:
                files[os.path.relpath(os.path.join(base, name), folder)] = file.read()
    return files


def differences(whole, other):
    return sorted(name for name in set(whole) | set(other) if whole.get(name) != other.get(name))


def is_writing(out):
    try:
        return any(".partial-" in name for name in os.listdir(out))
    except FileNotFoundError:
        return False


def kill_at_random(runs, kills, seed):
    rng = random.Random(seed)
    begin = time.monotonic()
    runs.must_run("whole")
    whole_seconds = time.monotonic() - begin
    whole = tree(runs.path("whole"))
    out = runs.path("killed")
    counts = {"before the first checkpoint": 0, "while a checkpoint was written": 0, "elsewhere": 0}
    for kill in range(kills):
        threads = rng.choice([1, 2])
        # After `kill` of them, the run has come about as far as that part of its length.
        anywhere = kill % 2 == 0
        wait = rng.uniform(0, 2 * whole_seconds / kills) if kill > 0 else rng.uniform(0, 0.1)
        process = subprocess.Popen(runs.command("killed", kill > 0, threads), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        time.sleep(wait)
        if not anywhere:
            while process.poll() is None and not is_writing(out):
                time.sleep(0.0002)
            time.sleep(rng.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.wait()
        message = process.stderr.read().decode()
        process.stderr.close()
        if process.returncode not in (0, -signal.SIGKILL):
            raise SystemExit("kill %d: the program ended by itself: %s" % (kill, message))
        if is_writing(out):
            counts["while a checkpoint was written"] += 1
        elif not os.path.isdir(os.path.join(out, "last")):
            counts["before the first checkpoint"] += 1
        else:
            counts["elsewhere"] += 1
    runs.must_run("killed", resume=True, threads=1)
    wrong = differences(whole, tree(out))
    print("%d kills of a run of %.1f s with %d rounds, checkpoints of %.1f MB: %s" %
          (kills, whole_seconds, len(whole["log.jsonl"].splitlines()),
           sum(len(b) for n, b in whole.items() if n.startswith("last/")) / 1e6,
           ", ".join("%d %s" % (n, what) for what, n in counts.items())))
    print("compared: %d files and folders, of which differ: %s" % (len(whole), wrong or "none"))
    return not wrong


def kill_at_every_step(runs, library, stride, exchange):
    environment = {"LD_PRELOAD": os.path.abspath(library)}
    if not exchange:
        environment["FAULT_NO_EXCHANGE"] = "1"
    count_file = runs.path("count")

    def fault(out, at, error):
        return dict(environment, FAULT_FOLDER=runs.path(out), FAULT_AT=str(at), FAULT_ERROR=error,
                    FAULT_COUNT=count_file)

    never = 10**9
    runs.must_run("whole", environment=fault("whole", never, "kill"))
    with open(count_file) as file:
        steps = int(file.read())
    whole = tree(runs.path("whole"))
    bad = 0
    at = 1
    while at <= steps:
        shutil.rmtree(runs.path("killed"), ignore_errors=True)
        first = runs.run("killed", environment=fault("killed", at, "kill"))
        # Killed again on the way, somewhere in the first steps: tidying up is interrupted too.
        second = runs.run("killed", resume=True, environment=fault("killed", 1 + at * 7 % 23, "kill"))
        last = runs.run("killed", resume=True, environment=environment)
        wrong = differences(whole, tree(runs.path("killed")))
        ended = first.returncode == -signal.SIGKILL and second.returncode in (0, -signal.SIGKILL)
        if wrong or last.returncode != 0 or not ended:
            bad += 1
            print("step %d of %d: %d, %d, %d; differ: %s %s" % (at, steps, first.returncode, second.returncode,
                                                                last.returncode, wrong, last.stderr))
        at += stride
    print("killed %s at %d of %d steps, %d wrong" % ("with RENAME_EXCHANGE" if exchange else "without RENAME_EXCHANGE",
                                                     (steps + stride - 1) // stride, steps, bad))
    return bad == 0


def full_disk_at_every_step(runs, library, stride):
    environment = {"LD_PRELOAD": os.path.abspath(library)}
    count_file = runs.path("count")
    runs.must_run("whole", environment=dict(environment, FAULT_FOLDER=runs.path("whole"), FAULT_AT=str(10**9),
                                            FAULT_ERROR=str(errno.ENOSPC), FAULT_COUNT=count_file))
    with open(count_file) as file:
        steps = int(file.read())
    whole = tree(runs.path("whole"))
    bad = 0
    for at in range(1, steps + 1, stride):
        shutil.rmtree(runs.path("full"), ignore_errors=True)
        full = runs.run("full", environment=dict(environment, FAULT_FOLDER=runs.path("full"), FAULT_AT=str(at),
                                                 FAULT_ERROR=str(errno.ENOSPC)))
        sentence = full.returncode == 1 and "No space left on device" in full.stderr and full.stderr.count("\n") == 1
        again = runs.run("full", resume=True)
        wrong = differences(whole, tree(runs.path("full")))
        if wrong or not sentence or again.returncode != 0:
            bad += 1
            print("step %d of %d: %d (%s), %d; differ: %s %s" % (at, steps, full.returncode, full.stderr.strip(),
                                                                 again.returncode, wrong, again.stderr))
    print("full disk at %d of %d steps, %d wrong" % (len(range(1, steps + 1, stride)), steps, bad))
    return bad == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", required=True)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", help="the library that is built of fault.c")
    parser.add_argument("--stride", type=int, default=1, help="every how manieth step")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warptape-resume-") as folder:
        if options.fault:
            runs = Runs(options.program, options.data, folder, STEP_SETTINGS)
            good = kill_at_every_step(runs, options.fault, options.stride, exchange=True)
            shutil.rmtree(runs.path("whole"))
            good &= kill_at_every_step(runs, options.fault, options.stride, exchange=False)
            shutil.rmtree(runs.path("whole"))
            good &= full_disk_at_every_step(runs, options.fault, options.stride)
        else:
            settings = [setting.format(rounds=options.rounds) for setting in RANDOM_SETTINGS]
            good = kill_at_random(Runs(options.program, options.data, folder, settings), options.kills, options.seed)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
