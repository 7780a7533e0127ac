"""The world's options (domain.md section 9) and the action table (domain.md section 2).

`World` has one field for each `env.*` key. Defaults that differ between the two rule sets come from
`PRESETS`; `world("classic")` and `world("market")` build the two starting points.
"""

import dataclasses
import tomllib
from typing import NamedTuple, Optional

SHORT, FLAT, LONG = 0, 1, 2  # categories of an action, domain.md section 2

# The keys whose default depends on the rule set: "[classic / market]" in domain.md section 9.
PRESETS = {
    "classic": dict(
        barrier_profit_bps=100.0,
        barrier_stop_bps=50.0,
        barrier_ends_episode=True,
        barrier_reward_scale=1.0,
        diversity_penalty=0.1,
        risk_weight=0.5,
        curiosity_weight=1.0,
    ),
    "market": dict(
        barrier_profit_bps=0.0,
        barrier_stop_bps=0.0,
        barrier_ends_episode=False,
        barrier_reward_scale=0.0,
        diversity_penalty=0.0,
        risk_weight=0.0,
        curiosity_weight=0.0,
    ),
}


@dataclasses.dataclass
class World:
    """Every `env.*` key of domain.md section 9. The field defaults are those of the market rules."""

    rules: str = "market"
    initial_capital: float = 100000.0
    max_exposure: float = 1.0  # of the base
    max_position: Optional[float] = None  # units; when given it replaces max_exposure
    leverage: float = 1.0  # market rules only
    reserve_pct: float = 0.0  # percent: 10 means 10 %
    lot_size: float = 0.0  # market rules only; 0 is fractional
    spread: float = 0.0001  # a number of the classic state; no part in a trade
    cost_market: float = 0.0001
    cost_limit_maker: float = 0.00005
    cost_ioc: float = 0.00015
    order_types: tuple = ("market", "limit_maker", "ioc")
    urgency_cost: tuple = (1.0, 1.0, 1.0)
    exposures: tuple = (-1.0, -0.5, 0.0, 0.5, 1.0)
    episode_length: Optional[int] = 500  # None: no time limit
    barrier_profit_bps: float = 0.0
    barrier_stop_bps: float = 0.0
    barrier_max_bars: int = 500
    barrier_ends_episode: bool = False
    barrier_reward_scale: float = 0.0
    diversity_window: int = 100
    diversity_min_bits: float = 1.0
    diversity_penalty: float = 0.0
    risk_threshold: float = 0.8
    risk_weight: float = 0.0
    curiosity_cap: float = 0.1
    curiosity_weight: float = 0.0
    reward_scale: float = 1.0


FIELDS = {field.name: field for field in dataclasses.fields(World)}
INTEGERS = {"episode_length", "barrier_max_bars", "diversity_window"}
NUMBER_LISTS = {"urgency_cost", "exposures"}


def world(rules="market", **options):
    """The defaults of a rule set with some options changed."""
    if rules not in PRESETS:
        raise ValueError(f"env.rules: {rules!r} is neither 'classic' nor 'market'")
    for name in options:
        if name not in FIELDS:
            raise ValueError(f"env.{name}: no such configuration key")
    values = dict(PRESETS[rules], rules=rules)
    values.update({name: checked(name, value) for name, value in options.items()})
    return World(**values)


def checked(name, value):
    """One option's value, of the type that its field wants."""
    wrong = ValueError(f"env.{name}: {value!r} does not fit")
    is_number = lambda x: isinstance(x, (int, float)) and not isinstance(x, bool)
    if name in NUMBER_LISTS:
        if not isinstance(value, (list, tuple)) or not value or not all(map(is_number, value)):
            raise wrong
        return tuple(float(x) for x in value)
    if name == "order_types":
        if not isinstance(value, (list, tuple)) or not value:
            raise wrong
        for order in value:
            order_cost_key(order)
        return tuple(value)
    if name == "barrier_ends_episode":
        if not isinstance(value, bool):
            raise wrong
        return value
    if name in INTEGERS:
        if value is None and name == "episode_length":
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong
        return value
    if name == "max_position" and value is None:
        return None
    if not is_number(value):
        raise wrong
    return float(value)


def parse_assignment(text):
    """`env.key=value`, the value as in TOML, gives (key without `env.`, value)."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key.startswith("env."):
        raise ValueError(f"--set {text}: expected env.KEY=VALUE")
    name = key[len("env."):]
    if name not in FIELDS:
        raise ValueError(f"--set {text}: no such configuration key")
    return name, tomllib.loads("value = " + value)["value"]


def order_cost_key(order):
    """The cost key of an order type: market -> cost_market, and so on (domain.md section 9)."""
    key = f"cost_{order}"
    if key not in ("cost_market", "cost_limit_maker", "cost_ioc"):
        raise ValueError(f"env.order_types: {order!r} has no cost rate")
    return key


class Action(NamedTuple):
    """One row of the action table: what the step sees of an action (domain.md section 2)."""

    exposure: float
    order_rate: float  # the order type's cost rate; the cost rate is this times the multiplier
    urgency_multiplier: float
    category: int


def category_of(exposure):
    """short, flat or long by the sign of the exposure (domain.md section 2)."""
    if exposure < 0:
        return SHORT
    return LONG if exposure > 0 else FLAT


def action_table(options):
    """All actions in index order: (exposure * |orders| + order) * |urgencies| + urgency."""
    table = []
    for exposure in options.exposures:
        for order in options.order_types:
            for multiplier in options.urgency_cost:
                rate = getattr(options, order_cost_key(order))
                table.append(Action(exposure, rate, multiplier, category_of(exposure)))
    return table
