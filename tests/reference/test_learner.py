#!/usr/bin/env python3
"""Checks learner.py by hand-worked numbers, and that the files in tests/golden are what it makes today.

Run it as `python3 tests/reference/test_learner.py`. Gradients are held against finite differences whenever
the golden values are made, so also here.
"""

import json
import os

import numpy as np

import learner
import make_learner_golden as golden


def near(value, expected, tolerance=1e-12):
    value, expected = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
    assert value.shape == expected.shape, (value.shape, expected.shape)
    assert np.all(np.abs(value - expected) <= tolerance * np.maximum(1, np.abs(expected))), (value, expected)


def dueling_head():
    # All widths 1, weights 1, biases 0 but for the advantage's: x = -2 gives -0.02 after one LeakyReLU,
    # -0.0002 after two, -0.000002 after three. V = -2e-6; A = (1, 4, 0) with mean 5/3.
    params = {
        name: np.ones(shape) if name.endswith("weight") else np.zeros(shape)
        for name, shape in learner.dueling_shapes(1, (1, 1), 1, 1, 3).items()
    }
    params["advantage_out.weight"] = np.zeros((3, 1))
    params["advantage_out.bias"] = np.array([1.0, 4.0, 0.0])
    q, _ = learner.dueling_forward(params, np.array([[-2.0]]))
    near(q, [[-2e-6 + 1 - 5 / 3, -2e-6 + 4 - 5 / 3, -2e-6 - 5 / 3]])


def losses():
    near(learner.huber(np.array([0.5, -1.0, 3.0])), [0.125, 0.5, 2.5])
    near(learner.huber_grad(np.array([0.5, -1.0, -3.0])), [0.5, -1.0, -1.0])


def clipping():
    grads = {"a": np.array([3.0]), "b": np.array([[4.0]])}
    clipped, norm = learner.clip_by_global_norm(grads, 1.0)
    near([norm, clipped["a"][0], clipped["b"][0, 0]], [5, 0.6, 0.8])
    near(learner.clip_by_global_norm(grads, 10.0)[0]["a"], [3])


def adam():
    # Gradient 2, then 1: m = 0.2 then 0.28, corrected by 0.1 and 0.19; v = 0.004 then 0.004996,
    # corrected by 0.001 and 0.001999. The first step is lr whatever the gradient.
    rule = learner.Adam({"w": np.array([1.0])}, 0.1, 0.9, 0.999, 1e-8)
    first = rule.step({"w": np.array([1.0])}, {"w": np.array([2.0])})
    near(first["w"], [1 - 0.1 * 2 / (2 + 1e-8)])
    second = rule.step(first, {"w": np.array([1.0])})
    near(second["w"], first["w"] - 0.1 * (0.28 / 0.19) / ((0.004996 / 0.001999) ** 0.5 + 1e-8))
    # AdamW: the decay acts on the weight first, 1 - 0.1 * 0.01, and not on the gradient.
    decayed = learner.Adam({"w": np.array([1.0])}, 0.1, 0.9, 0.999, 1e-8, weight_decay=0.01)
    near(decayed.step({"w": np.array([1.0])}, {"w": np.array([2.0])})["w"], [0.999 - 0.1 * 2 / (2 + 1e-8)])
    near(learner.polyak({"w": np.array([1.0])}, {"w": np.array([3.0])}, 0.25)["w"], [1.5])


def same(made, stored, where):
    """Equal to 1e-12: matrix products may sum in another order in another build of NumPy."""
    if isinstance(made, dict):
        assert list(made) == list(stored), where
        for key, value in made.items():
            same(value, stored[key], f"{where}.{key}")
    elif not isinstance(made, str):
        near(made, stored)
    else:
        assert made == stored, where


def golden_files():
    for name, made in golden.contents().items():
        with open(os.path.join(golden.GOLDEN, name), encoding="utf-8") as handle:
            stored = json.load(handle)
        if name == "philox.json":
            assert made == stored
        else:
            same(made, stored, name)


TESTS = [dueling_head, losses, clipping, adam, golden_files]

if __name__ == "__main__":
    for test in TESTS:
        test()
        print(f"ok  {test.__name__}")
    print(f"{len(TESTS)} passed, 0 failed")
