"""Are jax_world's values right? Compiled float32 against float64 NumPy: the networks and the update against the
reference of the tests, the step against the scalar transcription below."""

import math
import sys
from pathlib import Path

import jax
import numpy as np

import jax_world as jw

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "reference"))
import learner as reference  # noqa: E402  the path comes first

# float32 sums of up to 256 products of size 1 are good to about 1e-5, and an update divides by a root of squares.
TOLERANCE = 2e-4


def named(net, layers):
    """jax_world's layers (weight [in, out]) as the reference's parameters."""
    parameters = {}
    for name, (weight, bias) in zip(layers, net):
        parameters[f"{name}.weight"] = np.asarray(weight, np.float64).T
        parameters[f"{name}.bias"] = np.asarray(bias, np.float64)
    return parameters


def require_near(what, found, wanted, tolerance=TOLERANCE):
    worst = np.abs(np.asarray(found, np.float64) - wanted).max()
    if not worst <= tolerance:
        raise SystemExit(f"the peer's {what} is wrong: off by {worst:.3g}, allowed {tolerance:.3g}")


class Slot:
    """One episode in plain Python."""

    def __init__(self, bar):
        self.bar, self.expiry = bar, 0
        self.begin()

    def begin(self):
        self.cash, self.units, self.upper, self.lower, self.label = jw.CASH, 0.0, 0.0, 0.0, 0
        self.recent, self.steps = [], 0

    def trade(self, price, wanted, cost):
        """Returns whether a position was opened."""
        before = self.units
        if before * wanted < 0:  # through flat: closes, then buys what the cash allows
            cash = self.cash + before * price - abs(before) * price * cost
            bought = min(math.floor(max(cash, 0) / (price * (1 + cost))), abs(wanted))
            self.units = math.copysign(bought, wanted)
            self.cash = cash - self.units * price - bought * price * cost
            return bought > 0
        self.units = wanted
        self.cash -= (wanted - before) * price + abs(wanted - before) * price * cost
        return abs(before) < 1e-3 and wanted != before

    def touch(self, price, opened):
        if opened:
            self.upper, self.lower, self.label = price * jw.PROFIT, price * jw.STOP, 0
            self.expiry = self.bar + jw.EXPIRY
        if abs(self.units) < 1e-3 or self.label != 0:
            return 0
        touched = 1 if price >= self.upper else -1 if price <= self.lower else 0
        self.label = touched if touched else 2 if self.bar >= self.expiry else 0
        return touched

    def penalty(self, category):
        self.recent = (self.recent + [category])[-jw.WINDOW:]
        shares = [self.recent.count(c) / len(self.recent) for c in range(jw.CATEGORIES)]
        bits = -sum(share * math.log2(share) for share in shares if share > 0)
        return -jw.DIVERSITY_PENALTY if len(self.recent) >= 3 and bits < jw.DIVERSITY_BITS else 0.0

    def step(self, price, next_price, action):
        """Returns equity, share of the position, next equity, next share, label, penalty."""
        equity, share = (self.cash + self.units * price) / jw.CASH, self.units * price / jw.CASH
        exposure = action // 9 - 2
        opened = self.trade(price, exposure * jw.EXPOSURE_UNITS, jw.COSTS[action // 3 % 3])
        touched = self.touch(price, opened)
        penalty = self.penalty(0 if exposure < 0 else 1 if exposure == 0 else 2)
        self.steps += 1
        return (equity, share, (self.cash + self.units * next_price) / jw.CASH, self.units * next_price / jw.CASH,
                touched, penalty)


def check_collect(episodes=16, steps=600, bars=3000):
    """Plays the actions of the compiled round through `Slot`, and its states through the reference's networks."""
    world = jw.make_world(bars)
    start = jw.make_slots(episodes, bars)
    _, rows = jax.jit(lambda world, slots: jw.collect(world, slots, steps))(world, start)
    rows = jax.tree.map(np.asarray, rows)
    price, features = np.asarray(world.price, np.float64), np.asarray(world.features, np.float64)
    online, target = (named(net, reference.DUELING_LAYERS) for net in (world.online, world.target))
    curiosity = named(world.curiosity, reference.CURIOSITY_LAYERS)
    q = reference.dueling_forward(online, rows.state.reshape(-1, jw.STATE).astype(np.float64))[0]
    q = q.reshape(steps, episodes, jw.ACTIONS)
    endings = explored = 0
    for n, slot in enumerate(Slot(int(bar)) for bar in start.bar):
        for t in range(steps):
            action = int(rows.action[t, n])
            explored += q[t, n, action] < q[t, n].max() - TOLERANCE
            now, after = features[slot.bar], features[slot.bar + 1]
            equity, share, next_equity, next_share, touched, penalty = slot.step(price[slot.bar], price[slot.bar + 1],
                                                                                action)
            category = 0 if action // 9 < 2 else 1 if action // 9 == 2 else 2
            bonus = reference.curiosity_bonus(curiosity, now[None], [category], after[None], jw.BATCH_REWARD_CAP)[0]
            reward = ((next_equity - equity) / equity * (1 + 0.5 * touched) - max(abs(share) - 0.8, 0) * 0.5 + penalty +
                      bonus)
            done = slot.steps >= jw.LENGTH or touched != 0 or slot.bar + 1 >= bars - 1
            target_q = reference.max_target_q(target, np.r_[after, next_equity, next_share, jw.SPREAD][None])[0]
            error = abs(reward + jw.GAMMA * target_q * (not done) - q[t, n, action])
            where = f"of step {t}, slot {n}"
            require_near(f"state {where}", rows.state[t, n], np.r_[now, equity, share, jw.SPREAD])
            require_near(f"reward {where}", rows.reward[t, n], reward)
            require_near(f"target_q {where}", rows.target_q[t, n], target_q)
            require_near(f"td_error {where}", rows.td_error[t, n], error)
            if bool(rows.done[t, n]) != done:
                raise SystemExit(f"the peer's end of the episode {where} is wrong")
            slot.bar = 0 if slot.bar + 2 >= bars - 1 else slot.bar + 1
            if done:
                endings += 1
                slot.begin()
    share = explored / (episodes * steps)
    if endings == 0 or not 0.07 < share < 0.13:  # 0.1 × 44/45; six standard deviations are 0.02
        raise SystemExit(f"the peer explores {share:.3f} of its steps and ends {endings} episodes")


def check_update(batch=64, rows=500):
    """Two updates against the reference."""
    world, replay = jw.make_world(1), jw.make_replay(rows)
    start = jw.make_learner(world)
    found = jax.jit(lambda replay, learner: jw.learn(replay, learner, batch, 2))(replay, start)
    online, target = (named(net, reference.DUELING_LAYERS) for net in (start.online, start.target))
    adam = reference.Adam(online, jw.LEARNING_RATE, 0.9, 0.999, 1e-8)
    state = np.asarray(replay.state, np.float64)
    key = start.key
    for _ in range(2):
        key, row_key = jax.random.split(key)
        drawn = np.asarray(jax.random.randint(row_key, (batch,), 0, rows - 1))
        wanted = reference.double_dqn_targets(online, target, state[drawn + 1], np.asarray(replay.reward)[drawn],
                                              np.asarray(replay.done)[drawn], jw.GAMMA)
        gradients = reference.dqn_loss(online, state[drawn], np.asarray(replay.action)[drawn], wanted)[1]
        online = adam.step(online, reference.clip_by_global_norm(gradients, jw.CLIP)[0])
        target = reference.polyak(target, online, jw.TAU)
    moved = 0.0
    for what, net, wanted, before in (("online", found.online, online, start.online),
                                      ("target", found.target, target, start.target)):
        was = named(before, reference.DUELING_LAYERS)
        for name, values in named(net, reference.DUELING_LAYERS).items():
            # A step of Adam is at most the learning rate; a gradient near 0 has no sure sign in float32.
            step = jw.LEARNING_RATE * (1 if what == "online" else jw.TAU)
            off = np.abs(values - wanted[name])
            if np.quantile(off, 0.99) > 0.05 * step or off.max() > 5 * step:
                raise SystemExit(f"the peer's {what} {name} is wrong: off by {off.max():.3g} of a step of {step:.3g}")
            moved = max(moved, np.abs(values - was[name]).max())
    if not moved > jw.LEARNING_RATE:
        raise SystemExit(f"the peer's updates move nothing: {moved:.3g}")
