"""An independent reference of the trading step, written from docs/domain.md alone.

It shares no code with the product and favours plainness over speed. `simulate` plays recorded actions over
bars and yields the rows of domain.md section 9; classic_rules.py and market_rules.py hold the two rule sets
of section 7, world_config.py the options, price_file.py the input files.
"""

from typing import Any, NamedTuple

import numpy as np

from classic_rules import ClassicEpisode
from market_rules import MarketEpisode
from price_file import Bars, read_actions, read_bars
from world_config import World, action_table, parse_assignment, world

__all__ = [
    "Bars", "COLUMNS", "INTEGER_COLUMNS", "Row", "World", "action_table", "csv_text",
    "parse_assignment", "read_actions", "read_bars", "simulate", "td_target", "world",
]  # fmt: skip

RULE_SETS = {"classic": ClassicEpisode, "market": MarketEpisode}


class Row(NamedTuple):
    """The columns of `simulate` in the order of domain.md section 9. `position`, `cash`, `entry_price` and
    the barriers are those after the step; `equity` is before the trade."""

    bar: int
    time: str
    action: int
    price: Any
    next_price: Any
    position: Any
    cash: Any
    equity: Any
    next_equity: Any
    cost: Any
    cumulative_cost: Any
    entry_price: Any
    barrier_upper: Any
    barrier_lower: Any
    barrier_label: int
    fill_price: Any
    reward: Any
    reward_return: Any
    reward_risk: Any
    reward_diversity: Any
    reward_curiosity: Any
    terminal: int
    truncated: int


COLUMNS = Row._fields
INTEGER_COLUMNS = ("bar", "action", "barrier_label", "terminal", "truncated")


def simulate(options, bars, actions, first_bar=0, chain=False, on_events=None):
    """Yields a Row per step (domain.md section 9, `simulate`; section 7, "Chain").

    Stops at the first terminal or truncated step, at the end of the data or of the actions. With `chain`
    an ended episode is followed by another at the next bar, until ruin. `on_events`, when given, is called
    with the set of things that happened in each step ("reversal", "lot_cut", ...), for coverage counts.
    """
    last = len(bars.close) - 1
    if not 0 <= first_bar < last:
        raise ValueError(f"first bar {first_bar}: a step needs a bar after it, and there are {last + 1}")
    episode = RULE_SETS[options.rules](options, bars, first_bar)
    with np.errstate(over="ignore", invalid="ignore"):
        for bar, action in enumerate(actions, start=first_bar):
            if bar >= last:
                return
            values, events = episode.step(bar, action)
            row = Row(bar=bar, time=bars.time[bar], action=action, **values)
            ended = bool(row.terminal or row.truncated)
            goes_on = ended and chain and not episode.ruined and bar + 1 < last
            if goes_on:
                events.add("chain")
            if on_events is not None:
                on_events(events)
            yield row
            if goes_on:
                episode.continue_at(bar + 1)
            elif ended:
                return


def csv_text(row, rules):
    """A row as CSV text: 17 significant digits for float64 money, 9 for float32 (section 9)."""
    digits = "%.17g" if rules == "market" else "%.9g"
    cells = []
    for name, value in zip(COLUMNS, row):
        if name == "time":
            cells.append(value)
        elif name in INTEGER_COLUMNS:
            cells.append(str(int(value)))
        else:
            cells.append(digits % float(value))
    return ",".join(cells)


def td_target(reward, gamma, max_target_q, terminal):
    """domain.md section 4, point 8: no bootstrap after a terminal step; a truncated one bootstraps."""
    return reward + gamma * max_target_q * (1 - terminal)
