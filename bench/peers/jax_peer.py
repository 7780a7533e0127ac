#!/usr/bin/env python3
"""Rates of the benchmark in JAX on this machine's processor, as JSON, after a check of the values.

jax_peer.py collect [--episodes N] [--steps L] [--bars N] [--all-outputs] [--repeats N]
jax_peer.py learn [--batch B] [--updates N] [--replay ROWS] [--repeats N]
"""

import argparse
import json
import os
import time

import jax

import jax_check
import jax_world


def seconds_of(repeats, work, state):
    """Seconds of each call of `state = work(state)`, after one that compiles and warms up, in rising order."""
    state = jax.block_until_ready(work(state))
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        state = jax.block_until_ready(work(state))
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)


def time_collect(args):
    if not args.skip_check:
        jax_check.check_collect()
    world = jax_world.make_world(args.bars)
    compiled = jax.jit(lambda world, slots: jax_world.collect(world, slots, args.steps, args.all_outputs))
    seconds = seconds_of(args.repeats, lambda state: compiled(world, state[0]),
                         (jax_world.make_slots(args.episodes, args.bars), None))
    return args.episodes * args.steps, seconds


def time_learn(args):
    if not args.skip_check:
        jax_check.check_update()
    world, replay = jax_world.make_world(1), jax_world.make_replay(args.replay)
    compiled = jax.jit(lambda replay, learner: jax_world.learn(replay, learner, args.batch, args.updates))
    seconds = seconds_of(args.repeats, lambda learner: compiled(replay, learner), jax_world.make_learner(world))
    return args.updates, seconds


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    collect = commands.add_parser("collect")
    collect.add_argument("--episodes", type=int, default=128)
    collect.add_argument("--steps", type=int, default=500)
    collect.add_argument("--bars", type=int, default=200000)
    collect.add_argument("--all-outputs", action="store_true", help="target_q and td_error too")
    collect.set_defaults(time=time_collect, unit="experiences/s")
    learn = commands.add_parser("learn")
    learn.add_argument("--batch", type=int, default=256)
    learn.add_argument("--updates", type=int, default=200)
    learn.add_argument("--replay", type=int, default=1000000)
    learn.set_defaults(time=time_learn, unit="updates/s")
    for command in (collect, learn):
        command.add_argument("--repeats", type=int, default=5)
        command.add_argument("--skip-check", action="store_true", help="of the values, for the second run on")
    return parser.parse_args()


def main():
    args = parse()
    amount, seconds = args.time(args)
    shape = {name: value for name, value in vars(args).items() if type(value) is int}
    print(json.dumps({
        "peer": f"JAX {jax.__version__}, jit(scan), float32", "what": args.what, "unit": args.unit,
        "rate_median": amount / seconds[len(seconds) // 2], "rate_min": amount / seconds[-1],
        "rate_max": amount / seconds[0], "processors": len(os.sched_getaffinity(0)), "values_checked": not args.skip_check, **shape
    }, indent=1))


if __name__ == "__main__":
    main()
