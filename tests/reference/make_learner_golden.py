#!/usr/bin/env python3
"""Writes tests/golden/learner.json and tests/golden/philox.json from the references in learner.py and
philox.py.

The file's inputs are float32-representable; its results are float64 with 17 significant digits. The seed is
chosen so that no result hangs on a last bit: the generator refuses a batch with an activation near a kink,
a near tie of Q-values, an error near the Huber corner, or a gradient too small for Adam's first step.
"""

import json
import os
import random

import numpy as np

import learner
import philox

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "golden")
STATES, SHARED, VALUE, ADVANTAGE, ACTIONS, BATCH, MARKET = 9, (7, 6), 5, 4, 5, 11, 6
CURIOSITY_HIDDEN = 4
CATEGORY_OF_ACTION = [0, 0, 1, 2, 2]  # exposures -1, -0.5, 0, 0.5, 1 (domain.md section 2)


def single(value):
    """Rounded to float32, kept as float64."""
    return np.asarray(value, dtype=np.float32).astype(np.float64)


HYPER = {
    name: float(single(value))
    for name, value in dict(
        gamma=0.99, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, max_norm=0.25,
        curiosity_max_norm=0.125, tau=0.005, curiosity_cap=0.1,
    ).items()
}  # fmt: skip


def random_params(rng, shapes, gain):
    """Uniform within gain / sqrt(in), as PyTorch's Linear with gain 1; larger here, for lively values."""
    params, fan_in = {}, 1
    for name, shape in shapes.items():
        fan_in = shape[1] if len(shape) == 2 else fan_in
        params[name] = single(rng.uniform(-gain, gain, shape) / np.sqrt(fan_in))
    return params


def train(loss_and_grads, params, steps, max_norm, weight_decay):
    """`steps` updates on one batch; returns the parameters after each."""
    adam = learner.Adam(
        params, HYPER["lr"], HYPER["beta1"], HYPER["beta2"], HYPER["eps"], weight_decay
    )
    history = []
    for _ in range(steps):
        _, grads = loss_and_grads(params)[:2]
        clipped, norm = learner.clip_by_global_norm(grads, max_norm)
        assert norm > 1.2 * max_norm, "clipping must be active"
        params = adam.step(params, clipped)
        history.append(params)
    return history


def away_from_kinks(cache):
    """Whether no pre-activation lies near the corner of LeakyReLU."""
    return all(np.abs(value).min() > 1e-3 for name, value in cache.items() if name.startswith("z"))


def gradients_are_sizeable(grads):
    """Adam's first step is lr * g / (|g| + eps): a g near eps would turn on float32 rounding."""
    return all(np.abs(grad).min() > 2e-5 for grad in grads.values())


def dueling_case(seed):
    """The dueling network's part, or None when this seed gives a delicate batch."""
    rng = np.random.default_rng(seed)
    shapes = learner.dueling_shapes(STATES, SHARED, VALUE, ADVANTAGE, ACTIONS)
    online, target = random_params(rng, shapes, 2.0), random_params(rng, shapes, 2.0)
    states = single(rng.normal(0, 1, (BATCH, STATES)))
    next_states = single(rng.normal(0, 1, (BATCH, STATES)))
    actions = np.concatenate([np.arange(ACTIONS), rng.integers(0, ACTIONS, BATCH - ACTIONS)])
    rewards = single(rng.normal(0, 1.5, BATCH))
    terminal = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0])
    targets = learner.double_dqn_targets(
        online, target, next_states, rewards, terminal, HYPER["gamma"]
    )
    loss_and_grads = lambda params: learner.dqn_loss(params, states, actions, targets)
    loss, grads, q, td_errors = loss_and_grads(online)

    next_q, next_cache = learner.dueling_forward(online, next_states)
    target_next_q, target_cache = learner.dueling_forward(target, next_states)
    top_two = np.sort(next_q, axis=1)[:, -2:]
    sturdy = (
        away_from_kinks(learner.dueling_forward(online, states)[1])
        and away_from_kinks(next_cache)
        and away_from_kinks(target_cache)
        and (top_two[:, 1] - top_two[:, 0]).min() > 0.01
        and np.abs(td_errors - 1).min() > 0.01
        and 3 <= (td_errors > 1).sum() <= BATCH - 3
        # Double DQN must differ from plain DQN, and not merely where there is no bootstrap.
        and ((next_q.argmax(axis=1) != target_next_q.argmax(axis=1)) & (terminal == 0)).sum() >= 3
        and gradients_are_sizeable(grads)
    )
    if not sturdy:
        return None
    learner.check_gradients(lambda params: loss_and_grads(params)[0], online, grads)
    importance = single(rng.uniform(0.2, 1, BATCH))
    weighted = learner.dqn_loss(online, states, actions, targets, importance)
    learner.check_gradients(
        lambda params: learner.dqn_loss(params, states, actions, targets, importance)[0],
        online,
        weighted[1],
    )
    adam = train(loss_and_grads, online, 3, HYPER["max_norm"], 0.0)
    adamw = train(loss_and_grads, online, 3, HYPER["max_norm"], HYPER["weight_decay"])
    clipped, norm = learner.clip_by_global_norm(grads, HYPER["max_norm"])
    return dict(
        shapes=dict(states=STATES, shared=SHARED, value=VALUE, advantage=ADVANTAGE, actions=ACTIONS),
        online=online, target=target,
        batch=dict(states=states, next_states=next_states, actions=actions, rewards=rewards,
                   terminal=terminal, importance_weights=importance),
        q=q, next_q_online=next_q, next_q_target=target_next_q,
        max_target_q=learner.max_target_q(target, next_states),
        double_dqn_targets=targets, td_errors=td_errors,
        loss=loss, gradients=grads, gradient_norm=norm, clipped_gradients=clipped,
        weighted_loss=weighted[0], weighted_gradients=weighted[1],
        adam_after_1=adam[0], adam_after_3=adam[2],
        adamw_after_1=adamw[0], adamw_after_3=adamw[2],
        polyak_target_after_adam_3=learner.polyak(target, adam[2], HYPER["tau"]),
    )  # fmt: skip


def curiosity_case(seed, states, next_states, actions):
    """The curiosity model's part on the market columns of the same batch, or None."""
    rng = np.random.default_rng(seed)
    sizes = {"fc1": (CURIOSITY_HIDDEN, MARKET + 3), "fc2": (MARKET, CURIOSITY_HIDDEN)}
    params = random_params(rng, learner.layer_shapes(sizes), 1.0)
    market = states[:, :MARKET]
    # Next columns near the prediction for some rows, so that the cap binds for some and not for all.
    categories = np.array(CATEGORY_OF_ACTION)[actions]
    inputs = learner.curiosity_input(market, categories)
    prediction, cache = learner.curiosity_forward(params, inputs)
    nearness = np.where(np.arange(BATCH) % 2 == 0, 0.1, 1.0)[:, None]
    next_market = single(prediction + nearness * (next_states[:, :MARKET] - prediction))
    loss_and_grads = lambda weights: learner.curiosity_loss(weights, inputs, next_market)
    loss, grads, prediction = loss_and_grads(params)
    errors = ((prediction - next_market) ** 2).mean(axis=1)
    capped = (errors > HYPER["curiosity_cap"]).sum()
    sturdy = away_from_kinks(cache) and gradients_are_sizeable(grads) and 2 <= capped <= BATCH - 2
    if not sturdy or learner.global_norm(grads) < 2 * HYPER["curiosity_max_norm"]:
        return None
    learner.check_gradients(lambda weights: loss_and_grads(weights)[0], params, grads)
    adam = train(loss_and_grads, params, 3, HYPER["curiosity_max_norm"], 0.0)
    clipped, norm = learner.clip_by_global_norm(grads, HYPER["curiosity_max_norm"])
    return dict(
        shapes=dict(market=MARKET, inputs=MARKET + 3, hidden=CURIOSITY_HIDDEN, outputs=MARKET),
        weights=params,
        batch=dict(market=market, categories=categories, next_market=next_market),
        inputs=inputs, predictions=prediction, squared_errors=errors,
        bonus=learner.curiosity_bonus(params, market, categories, next_market, HYPER["curiosity_cap"]),
        loss=loss, gradients=grads, gradient_norm=norm, clipped_gradients=clipped,
        adam_after_1=adam[0], adam_after_3=adam[2],
    )  # fmt: skip


def first_sturdy(make):
    """The first seed from 0 on whose case is not delicate, and that case."""
    for seed in range(100000):
        case = make(seed)
        if case is not None:
            return seed, case
    raise ValueError("no sturdy batch")


def philox_cases():
    """The published known answers and twenty random cases."""
    philox.check_known_answers()
    rng = random.Random(20)
    pairs = [(counter, key) for counter, key, _ in philox.KNOWN_ANSWERS]
    for _ in range(20):
        words = [rng.getrandbits(32) for _ in range(6)]
        pairs.append((words[:4], words[4:]))
    return [
        dict(counter=list(counter), key=list(key), output=list(philox.philox4x32_10(counter, key)))
        for counter, key in pairs
    ]


def json_text(value, indent=0):
    """JSON with 17 significant digits and one line per innermost list."""
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        items = [f'{pad}"{key}": {json_text(item, indent + 1)}' for key, item in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) and isinstance(value[0], (list, tuple, dict, np.ndarray)):
            items = [pad + json_text(item, indent + 1) for item in value]
            return "[\n" + ",\n".join(items) + "\n" + " " * indent + "]"
        return "[" + ", ".join(json_text(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return f"{float(value):.17g}"


def contents():
    """What the golden files hold, by file name."""
    _, dueling = first_sturdy(dueling_case)
    batch = dueling["batch"]
    _, curiosity = first_sturdy(
        lambda seed: curiosity_case(seed, batch["states"], batch["next_states"], batch["actions"])
    )
    about = (
        "Made by tests/reference/make_learner_golden.py; do not edit. Inputs (weights, batch, hyper) are "
        "float32-representable, results float64. Updates repeat on one batch with fixed targets; gradients "
        "are clipped to the global norm first. td_errors are absolute. Weighted: importance weights inside "
        "the mean over the batch. adamw uses hyper.weight_decay, adam none."
    )
    return {
        "learner.json": dict(about=about, hyper=HYPER, dueling=dueling, curiosity=curiosity),
        "philox.json": dict(generator="philox4x32-10", cases=philox_cases()),
    }


def main():
    os.makedirs(GOLDEN, exist_ok=True)
    for name, value in contents().items():
        path = os.path.join(GOLDEN, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(json_text(value) + "\n")
        print(f"tests/golden/{name}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
