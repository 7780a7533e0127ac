"""The benchmark's world, networks and updates in JAX: what warptape's CPU backend does in a round and in an update.

One step is that of the classic rules (docs/domain.md, sections 2 to 5) with both networks and curiosity, float32, on a
random walk with 51 random features. All arrays are made from fixed seeds.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

FEATURES, PORTFOLIO, ACTIONS = 51, 3, 45
STATE = FEATURES + PORTFOLIO
PREDICTED, CATEGORIES = 32, 3
CASH = 1e5
EXPOSURE_UNITS = 50.0
COSTS = (1e-4, 5e-5, 1.5e-4)  # of market, limit-maker, ioc
SPREAD = 1e-4
LENGTH, EXPIRY, PROFIT, STOP = 500, 500, 1.01, 0.995
WINDOW, DIVERSITY_BITS, DIVERSITY_PENALTY = 100, 1.0, 0.1
EPSILON, GAMMA = 0.1, 0.99
BATCH_REWARD_CAP = 0.1
TAU, CLIP, LEARNING_RATE, HUBER = 0.005, 10.0, 1e-4, 1.0


class World(NamedTuple):
    features: jax.Array  # [bars, FEATURES]
    price: jax.Array  # [bars + 1]
    online: list  # layers of (weight [in, out], bias [out])
    target: list
    curiosity: list


class Slots(NamedTuple):
    """What N episodes carry from step to step; arrays of [N] unless the shape is given."""

    bar: jax.Array
    cash: jax.Array
    units: jax.Array
    upper: jax.Array
    lower: jax.Array
    expiry: jax.Array
    label: jax.Array  # 0 open, 1 profit, -1 stop, 2 expired
    window: jax.Array  # [N, WINDOW]: categories, -1: none
    counts: jax.Array  # [N, CATEGORIES]
    cursor: jax.Array
    steps: jax.Array
    key: jax.Array  # of the random numbers, []


class Experience(NamedTuple):
    state: jax.Array  # [N, STATE]
    action: jax.Array
    reward: jax.Array
    done: jax.Array
    target_q: jax.Array
    td_error: jax.Array


def layer(key, inputs, outputs):
    bound = 1 / math.sqrt(inputs)
    weight_key, bias_key = jax.random.split(key)
    return (jax.random.uniform(weight_key, (inputs, outputs), minval=-bound, maxval=bound),
            jax.random.uniform(bias_key, (outputs,), minval=-bound, maxval=bound))


def dueling_net(key):
    keys = jax.random.split(key, 6)
    return [layer(keys[0], STATE, 256), layer(keys[1], 256, 256), layer(keys[2], 256, 128), layer(keys[3], 128, 1),
            layer(keys[4], 256, 128), layer(keys[5], 128, ACTIONS)]


def make_world(bars):
    key = jax.random.PRNGKey
    moves = 0.001 * jax.random.uniform(key(2), (bars + 1,), minval=-1, maxval=1)
    return World(features=jax.random.uniform(key(1), (bars, FEATURES), minval=-1, maxval=1),
                 price=100 * jnp.exp(jnp.cumsum(moves)), online=dueling_net(key(3)), target=dueling_net(key(4)),
                 curiosity=[layer(key(5), PREDICTED + CATEGORIES, 64), layer(key(6), 64, PREDICTED)])


def make_slots(episodes, bars):
    zero = jnp.zeros(episodes)
    count = jnp.zeros(episodes, jnp.int32)
    bar = jax.random.randint(jax.random.PRNGKey(7), (episodes,), 0, bars - 2000)
    return Slots(bar, zero + CASH, zero, zero, zero, count, zero, jnp.full((episodes, WINDOW), -1),
                 jnp.zeros((episodes, CATEGORIES)), count, count, jax.random.PRNGKey(8))


def leaky(x):
    return jnp.where(x > 0, x, 0.01 * x)


def affine(x, parameters):
    return x @ parameters[0] + parameters[1]


def q_values(net, state):
    """[N, STATE] -> [N, ACTIONS]"""
    hidden = leaky(affine(leaky(affine(state, net[0])), net[1]))
    value = affine(leaky(affine(hidden, net[2])), net[3])
    advantage = affine(leaky(affine(hidden, net[4])), net[5])
    return value + advantage - advantage.mean(-1, keepdims=True)


def pick(table, column):
    return jnp.take_along_axis(table, column[:, None], 1)[:, 0]


def observe(world, bar, cash_share, position_share):
    spread = jnp.full((bar.shape[0], 1), SPREAD)
    return jnp.concatenate([world.features[bar], cash_share[:, None], position_share[:, None], spread], 1)


def trade(s, price, action):
    """Cash and units after the order, and whether it opened a position."""
    wanted = (action // 9 - 2) * EXPOSURE_UNITS
    cost = jnp.array(COSTS)[action // 3 % 3]
    reverses = s.units * wanted < 0
    closed = s.cash + s.units * price - jnp.abs(s.units) * price * cost
    affordable = jnp.floor(jnp.maximum(closed, 0) / (price * (1 + cost)))
    bought = jnp.minimum(affordable, jnp.abs(wanted))
    reversed_units = bought * jnp.sign(wanted)
    change = wanted - s.units
    cash = jnp.where(reverses, closed - reversed_units * price - bought * price * cost,
                     s.cash - jnp.abs(change) * price * cost - change * price)
    opened = (reverses & (bought > 0)) | (~reverses & (jnp.abs(s.units) < 1e-3) & (change != 0))
    return cash, jnp.where(reverses, reversed_units, wanted), opened


def barrier(s, price, units, opened):
    """Upper, lower, expiry, label, and what was touched now: 1, -1 or 0."""
    upper = jnp.where(opened, price * PROFIT, s.upper)
    lower = jnp.where(opened, price * STOP, s.lower)
    expiry = jnp.where(opened, s.bar + EXPIRY, s.expiry)
    label = jnp.where(opened, 0.0, s.label)
    live = (jnp.abs(units) >= 1e-3) & (label == 0)
    touched = jnp.where(live & (price >= upper), 1.0, jnp.where(live & (price <= lower), -1.0, 0.0))
    label = jnp.where(touched != 0, touched, jnp.where(live & (s.bar >= expiry), 2.0, label))
    return upper, lower, expiry, label, touched


def diversity(s, category):
    """Window and counts with the category in, and the penalty."""
    entered = jax.nn.one_hot(category, CATEGORIES)
    left = jax.nn.one_hot(pick(s.window, s.cursor), CATEGORIES)
    counts = s.counts + entered - left
    window = s.window.at[jnp.arange(s.bar.shape[0]), s.cursor].set(category)
    seen = counts.sum(1)
    share = counts / seen[:, None]
    bits = -(share * jnp.log2(jnp.maximum(share, 1e-12))).sum(1)
    return window, counts, jnp.where((seen >= 3) & (bits < DIVERSITY_BITS), -DIVERSITY_PENALTY, 0.0)


def step(world, s):
    """Slots -> (slots, Experience)"""
    bars = world.features.shape[0]
    episodes = s.bar.shape[0]
    key, explore_key, action_key = jax.random.split(s.key, 3)
    price, next_price = world.price[s.bar], world.price[s.bar + 1]
    equity = (s.cash + s.units * price) / CASH
    position_share = s.units * price / CASH
    state = observe(world, s.bar, equity, position_share)
    q = q_values(world.online, state)
    action = jnp.where(jax.random.uniform(explore_key, (episodes,)) < EPSILON,
                       jax.random.randint(action_key, (episodes,), 0, ACTIONS), q.argmax(1))
    q_selected = pick(q, action)

    cash, units, opened = trade(s, price, action)
    upper, lower, expiry, label, touched = barrier(s, price, units, opened)
    exposure = action // 9
    category = jnp.where(exposure <= 1, 0, jnp.where(exposure == 2, 1, 2))
    window, counts, penalty = diversity(s, category)

    next_equity = (cash + units * next_price) / CASH
    next_state = observe(world, s.bar + 1, next_equity, units * next_price / CASH)
    curious = jnp.concatenate([state[:, :PREDICTED], jax.nn.one_hot(category, CATEGORIES)], 1)
    predicted = affine(leaky(affine(curious, world.curiosity[0])), world.curiosity[1])
    error = ((predicted - next_state[:, :PREDICTED])**2).mean(1)
    target_q = q_values(world.target, next_state).max(1)
    reward = ((next_equity - equity) / equity * (1 + 0.5 * touched) -
              jnp.maximum(jnp.abs(position_share) - 0.8, 0) * 0.5 + penalty + jnp.minimum(error, BATCH_REWARD_CAP))

    steps = s.steps + 1
    done = (steps >= LENGTH) | (touched != 0) | (s.bar + 1 >= bars - 1)
    td_error = jnp.abs(reward + GAMMA * target_q * (1 - done) - q_selected)

    def fresh(initial, value):
        return jnp.where(done if value.ndim == 1 else done[:, None], initial, value)

    after = Slots(jnp.where(s.bar + 2 >= bars - 1, 0, s.bar + 1), fresh(CASH, cash), fresh(0.0, units),
                  fresh(0.0, upper), fresh(0.0, lower), expiry, fresh(0.0, label), fresh(-1, window),
                  fresh(0.0, counts), fresh(0, (s.cursor + 1) % WINDOW), fresh(0, steps), key)
    return after, Experience(state, action.astype(jnp.int32), reward, done, target_q, td_error)


def collect(world, slots, steps, all_outputs=True):
    """A round: (slots, Experience of [steps, N]). Without `all_outputs`, target_q and td_error are None, and the
    compiler drops the networks' work for them."""

    def one(s, _):
        s, experience = step(world, s)
        return s, experience if all_outputs else experience._replace(target_q=None, td_error=None)

    return jax.lax.scan(one, slots, None, length=steps)


class Replay(NamedTuple):
    state: jax.Array  # [rows, STATE]; the next state is the next row
    action: jax.Array
    reward: jax.Array
    done: jax.Array


class Learner(NamedTuple):
    online: list
    target: list
    moments: optax.OptState
    key: jax.Array


OPTIMISER = optax.chain(optax.clip_by_global_norm(CLIP), optax.adam(LEARNING_RATE))


def make_replay(rows):
    key = jax.random.PRNGKey
    return Replay(jax.random.normal(key(9), (rows, STATE)), jax.random.randint(key(10), (rows,), 0, ACTIONS),
                  jax.random.normal(key(11), (rows,)), (jax.random.uniform(key(12), (rows,)) < 0.01).astype(jnp.float32))


def make_learner(world):
    return Learner(world.online, world.target, OPTIMISER.init(world.online), jax.random.PRNGKey(13))


def batch_loss(online, target, replay, rows):
    """Mean Huber loss of double DQN on the rows."""
    state, following = replay.state[rows], replay.state[rows + 1]
    chosen = jax.lax.stop_gradient(q_values(online, following)).argmax(1)
    wanted = replay.reward[rows] + GAMMA * (1 - replay.done[rows]) * pick(q_values(target, following), chosen)
    return optax.huber_loss(pick(q_values(online, state), replay.action[rows]), wanted, delta=HUBER).mean()


def update(replay, batch, learner):
    key, row_key = jax.random.split(learner.key)
    rows = jax.random.randint(row_key, (batch,), 0, replay.reward.shape[0] - 1)
    gradient = jax.grad(batch_loss)(learner.online, learner.target, replay, rows)
    change, moments = OPTIMISER.update(gradient, learner.moments, learner.online)
    online = optax.apply_updates(learner.online, change)
    target = jax.tree.map(lambda t, o: t + TAU * (o - t), learner.target, online)
    return Learner(online, target, moments, key)


def learn(replay, learner, batch, updates):
    return jax.lax.scan(lambda c, _: (update(replay, batch, c), None), learner, None, length=updates)[0]
