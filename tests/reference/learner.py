"""A float64 NumPy reference of the networks and the learner (domain.md sections 5 and 6).

Arrays are row-major: states are [B, S], weights [out, in] as in PyTorch's `Linear`. Parameters are dicts from
the names of section 5 to arrays. Gradients come from hand-written backpropagation; `check_gradients` holds
them against finite differences.
"""

import numpy as np

SLOPE = 0.01  # of LeakyReLU, section 5
DUELING_LAYERS = ("shared_0", "shared_1", "value_fc", "value_out", "advantage_fc", "advantage_out")
CURIOSITY_LAYERS = ("fc1", "fc2")
CURIOSITY_COLUMNS = 32  # the model predicts the first min(32, M) market columns, section 4, point 6


def leaky_relu(z):
    return np.where(z > 0, z, SLOPE * z)


def leaky_relu_grad(z):
    return np.where(z > 0, 1.0, SLOPE)


def linear(params, name, x):
    """x [B, in] -> [B, out]."""
    return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]


def linear_backward(params, name, x, dL_dout, grads):
    """Stores the layer's gradients; returns dL/dx."""
    grads[f"{name}.weight"] = dL_dout.T @ x
    grads[f"{name}.bias"] = dL_dout.sum(axis=0)
    return dL_dout @ params[f"{name}.weight"]


# ---- the dueling network, section 5 ------------------------------------------------------------------------


def dueling_forward(params, states):
    """Q [B, A] = V + A - mean(A), and what the backward pass needs."""
    z0 = linear(params, "shared_0", states)
    h0 = leaky_relu(z0)
    z1 = linear(params, "shared_1", h0)
    h1 = leaky_relu(z1)
    zv = linear(params, "value_fc", h1)
    hv = leaky_relu(zv)
    za = linear(params, "advantage_fc", h1)
    ha = leaky_relu(za)
    value = linear(params, "value_out", hv)  # [B, 1]
    advantage = linear(params, "advantage_out", ha)  # [B, A]
    q = value + advantage - advantage.mean(axis=1, keepdims=True)
    return q, dict(x=states, z0=z0, h0=h0, z1=z1, h1=h1, zv=zv, hv=hv, za=za, ha=ha)


def dueling_backward(params, cache, dL_dq):
    """Gradients of all parameters from dL/dQ [B, A]."""
    grads = {}
    dL_dvalue = dL_dq.sum(axis=1, keepdims=True)
    dL_dadvantage = dL_dq - dL_dq.mean(axis=1, keepdims=True)
    dL_dhv = linear_backward(params, "value_out", cache["hv"], dL_dvalue, grads)
    dL_dzv = dL_dhv * leaky_relu_grad(cache["zv"])
    dL_dh1 = linear_backward(params, "value_fc", cache["h1"], dL_dzv, grads)
    dL_dha = linear_backward(params, "advantage_out", cache["ha"], dL_dadvantage, grads)
    dL_dza = dL_dha * leaky_relu_grad(cache["za"])
    dL_dh1 = dL_dh1 + linear_backward(params, "advantage_fc", cache["h1"], dL_dza, grads)
    dL_dz1 = dL_dh1 * leaky_relu_grad(cache["z1"])
    dL_dh0 = linear_backward(params, "shared_1", cache["h0"], dL_dz1, grads)
    dL_dz0 = dL_dh0 * leaky_relu_grad(cache["z0"])
    linear_backward(params, "shared_0", cache["x"], dL_dz0, grads)
    return grads


# ---- double DQN, section 6 -----------------------------------------------------------------------------------


def double_dqn_targets(online, target, next_states, rewards, terminal, gamma):
    """r + gamma * Q_target(s', argmax Q_online(s')) * (1 - terminal). The lowest index wins a tie."""
    best = dueling_forward(online, next_states)[0].argmax(axis=1)
    q_next = dueling_forward(target, next_states)[0][np.arange(len(best)), best]
    return rewards + gamma * q_next * (1 - terminal)


def max_target_q(target, next_states):
    """The collector's `target_q`: max over actions of the target net's Q (section 4, point 8)."""
    return dueling_forward(target, next_states)[0].max(axis=1)


def huber(error):
    """Huber loss with delta 1, elementwise."""
    size = np.abs(error)
    return np.where(size <= 1, 0.5 * size * size, size - 0.5)


def huber_grad(error):
    return np.clip(error, -1.0, 1.0)


def dqn_loss(params, states, actions, targets, weights=None):
    """Mean over the batch of (importance weight *) Huber(Q(s, a) - target). The targets are constants.

    Returns (loss, gradients, q [B, A], td_errors [B] = |target - Q(s, a)|)."""
    batch = np.arange(len(actions))
    weights = np.ones(len(actions)) if weights is None else weights
    q, cache = dueling_forward(params, states)
    error = q[batch, actions] - targets
    loss = (weights * huber(error)).mean()
    dL_dq = np.zeros_like(q)
    dL_dq[batch, actions] = weights * huber_grad(error) / len(actions)
    return loss, dueling_backward(params, cache, dL_dq), q, np.abs(error)


# ---- curiosity, section 4 point 6 and section 5 ---------------------------------------------------------------


def curiosity_input(market, categories):
    """The first min(32, M) market columns, then the one-hot category: [B, min(32, M) + 3]."""
    return np.concatenate([market[:, :CURIOSITY_COLUMNS], np.eye(3)[categories]], axis=1)


def curiosity_forward(params, inputs):
    z1 = linear(params, "fc1", inputs)
    h1 = leaky_relu(z1)
    return linear(params, "fc2", h1), dict(x=inputs, z1=z1, h1=h1)


def curiosity_bonus(params, market, categories, next_market, cap):
    """min(mean squared error over the predicted columns, cap), a number for each row."""
    prediction, _ = curiosity_forward(params, curiosity_input(market, categories))
    error = prediction - next_market[:, :CURIOSITY_COLUMNS]
    return np.minimum((error * error).mean(axis=1), cap)


def curiosity_loss(params, inputs, wanted):
    """Mean squared error over batch and outputs. Returns (loss, gradients, predictions)."""
    prediction, cache = curiosity_forward(params, inputs)
    error = prediction - wanted
    grads = {}
    dL_dout = 2 * error / error.size
    dL_dh1 = linear_backward(params, "fc2", cache["h1"], dL_dout, grads)
    linear_backward(params, "fc1", inputs, dL_dh1 * leaky_relu_grad(cache["z1"]), grads)
    return (error * error).mean(), grads, prediction


# ---- updates, section 6 ----------------------------------------------------------------------------------------


def global_norm(grads):
    """Euclidean norm of all gradients together."""
    return np.sqrt(sum((grad * grad).sum() for grad in grads.values()))


def clip_by_global_norm(grads, max_norm):
    """Scales all gradients by min(1, max_norm / norm). Returns (clipped, norm before)."""
    norm = global_norm(grads)
    scale = min(1.0, max_norm / norm) if norm > 0 else 1.0
    return {name: grad * scale for name, grad in grads.items()}, norm


class Adam:
    """PyTorch's Adam, and AdamW when `weight_decay` is not 0 (decoupled: applied to the weights first).

    eps stands outside the square root, after the bias correction of the second moment.
    """

    def __init__(self, params, lr, beta1, beta2, eps, weight_decay=0.0):
        self.lr, self.beta1, self.beta2, self.eps = lr, beta1, beta2, eps
        self.weight_decay = weight_decay
        self.step_count = 0
        self.m = {name: np.zeros_like(value) for name, value in params.items()}
        self.v = {name: np.zeros_like(value) for name, value in params.items()}

    def step(self, params, grads):
        """Returns the updated parameters."""
        self.step_count += 1
        correction1 = 1 - self.beta1**self.step_count
        correction2 = 1 - self.beta2**self.step_count
        updated = {}
        for name, value in params.items():
            grad = grads[name]
            value = value * (1 - self.lr * self.weight_decay)
            self.m[name] = self.beta1 * self.m[name] + (1 - self.beta1) * grad
            self.v[name] = self.beta2 * self.v[name] + (1 - self.beta2) * grad * grad
            denominator = np.sqrt(self.v[name]) / np.sqrt(correction2) + self.eps
            updated[name] = value - self.lr / correction1 * self.m[name] / denominator
        return updated


def polyak(target, online, tau):
    """target <- (1 - tau) * target + tau * online."""
    return {name: (1 - tau) * target[name] + tau * online[name] for name in target}


# ---- checks ------------------------------------------------------------------------------------------------------


def check_gradients(loss_of, params, grads, step=1e-6, tolerance=1e-7):
    """Holds every gradient against a central difference of `loss_of(params)`.

    With step 1e-6 the difference is good to about 1e-10 (rounding of the loss over the step); a kink of
    LeakyReLU within a step would show, so inputs are to keep away from kinks. Returns the largest error.
    """
    worst = 0.0
    for name, value in params.items():
        for index in np.ndindex(value.shape):
            losses = []
            for sign in (1, -1):
                moved = dict(params)
                moved[name] = value.copy()
                moved[name][index] += sign * step
                losses.append(loss_of(moved))
            numeric = (losses[0] - losses[1]) / (2 * step)
            worst = max(worst, abs(numeric - grads[name][index]))
            assert abs(numeric - grads[name][index]) <= tolerance, (name, index, numeric, grads[name][index])
    return worst


def dueling_shapes(states, shared, value, advantage, actions):
    """Shapes by name: shared is a pair of widths (section 5)."""
    sizes = {
        "shared_0": (shared[0], states), "shared_1": (shared[1], shared[0]),
        "value_fc": (value, shared[1]), "value_out": (1, value),
        "advantage_fc": (advantage, shared[1]), "advantage_out": (actions, advantage),
    }  # fmt: skip
    return layer_shapes(sizes)


def layer_shapes(sizes):
    """{layer: (out, in)} -> {layer.weight: (out, in), layer.bias: (out,)}."""
    shapes = {}
    for name, (outputs, inputs) in sizes.items():
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)
    return shapes
