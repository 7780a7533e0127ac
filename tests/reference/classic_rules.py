"""One episode under the classic rules: domain.md section 4, with the classic column of section 7.

All money is np.float32 and each operation is rounded in the written order. Beware when editing: a np.float32
combined with a Python float becomes float64, so every number here is wrapped first.
"""

import numpy as np

from diversity import CategoryRing
from world_config import action_table

F = np.float32
ZERO, ONE, HALF = F(0), F(1), F(0.5)
FLAT_BELOW = F(0.001)  # "flat, for barriers" in the table of section 7


class ClassicEpisode:
    """The portfolio, barrier and diversity ring of one slot, and the step that moves them."""

    def __init__(self, options, bars, bar):
        self.options = options
        self.close = [F(price) for price in bars.close]
        self.actions = [
            (F(action.exposure), F(action.order_rate) * F(action.urgency_multiplier), action.category)
            for action in action_table(options)
        ]
        self.capital = F(options.initial_capital)
        self.reserve_share = F(options.reserve_pct) / F(100)
        self.profit_factor = ONE + F(options.barrier_profit_bps) / F(10000)
        self.stop_factor = ONE - F(options.barrier_stop_bps) / F(10000)
        self.ruined = False  # classic episodes go on whatever the equity
        self.continue_at(bar)

    def continue_at(self, bar):
        """A fresh portfolio whose episode starts at `bar` ("Chain" in section 7: classic)."""
        options = self.options
        self.cash = self.capital
        self.base = self.capital
        self.position = ZERO
        self.cumulative_cost = ZERO
        self.ring = CategoryRing(options.diversity_window)
        self.steps = 0
        if options.max_position is not None:
            self.cap = F(options.max_position)
        else:
            self.cap = F(options.max_exposure) * self.base / self.close[bar]
        self.clear_entry()

    def clear_entry(self):
        """A cleared barrier is all zeros."""
        self.entry = ZERO
        self.upper = ZERO
        self.lower = ZERO
        self.expiry_bar = 0
        self.resolved = False

    def set_barrier(self, bar, price):
        """Prices p * (1 +- bps/10000), the same way round for longs and shorts."""
        self.upper = price * self.profit_factor
        self.lower = price * self.stop_factor
        self.expiry_bar = bar + self.options.barrier_max_bars
        self.resolved = False

    def step(self, bar, action):
        """Plays one action at `bar`; returns the columns of section 9 from `price` on, and events."""
        options = self.options
        exposure, rate, category = self.actions[action]
        price, next_price = self.close[bar], self.close[bar + 1]
        events = set()

        equity = self.cash + self.position * price
        held_share = abs(self.position * price / self.base)  # before the trade: classic's penalty
        cost = self.trade(bar, exposure * self.cap, price, rate, equity, events)
        self.cumulative_cost = self.cumulative_cost + cost
        label = self.check_barrier(bar, price, events)
        self.ring.push(category)
        next_equity = self.cash + self.position * next_price

        reward_return = ZERO
        if equity > ZERO:
            scale = F(label) * HALF * F(options.barrier_reward_scale)
            reward_return = (next_equity - equity) / equity * (ONE + scale) * F(options.reward_scale)
        else:
            events.add("equity_not_positive")
        excess = max(ZERO, held_share - F(options.risk_threshold))
        reward_risk = -(F(options.risk_weight) * excess)
        too_uniform = self.ring.too_uniform(options.diversity_min_bits)
        reward_diversity = -F(options.diversity_penalty) if too_uniform else ZERO
        reward_curiosity = ZERO
        reward = reward_return + reward_risk + reward_diversity + reward_curiosity

        self.steps += 1
        out_of_time = options.episode_length is not None and self.steps >= options.episode_length
        out_of_data = bar + 1 == len(self.close) - 1
        labelled = label != 0 and options.barrier_ends_episode
        return dict(
            price=price, next_price=next_price, position=self.position, cash=self.cash,
            equity=equity, next_equity=next_equity, cost=cost, cumulative_cost=self.cumulative_cost,
            entry_price=self.entry, barrier_upper=self.upper, barrier_lower=self.lower,
            barrier_label=label, fill_price=ZERO, reward=reward, reward_return=reward_return,
            reward_risk=reward_risk, reward_diversity=reward_diversity,
            reward_curiosity=reward_curiosity,
            terminal=int(out_of_time or out_of_data or labelled), truncated=0,
        ), events  # fmt: skip

    def trade(self, bar, target, price, rate, equity, events):
        """Section 4, point 2. Returns the cost paid."""
        if (self.position > ZERO and target < ZERO) or (self.position < ZERO and target > ZERO):
            events.add("reversal")
            return self.reverse(bar, target, price, rate, equity, events)
        return self.adjust(bar, target, price, rate, events)

    def reverse(self, bar, target, price, rate, equity, events):
        """Close all, then open what the cash over the reserve can buy, in whole units."""
        close_cost = abs(self.position) * price * rate
        self.cash = self.cash + (self.position * price - close_cost)
        reserve = equity * self.reserve_share
        affordable = max(self.cash - reserve, ZERO)
        units = min(np.floor(affordable / (price * (ONE + rate))), abs(target))
        if units < abs(target):
            events.add("power_cut")
        signed_units = units if target > ZERO else -units
        open_cost = units * price * rate
        self.cash = self.cash - (signed_units * price + open_cost)
        if units > ZERO:
            self.position = signed_units
            self.entry = price
            self.set_barrier(bar, price)
        else:
            self.position = ZERO
            self.clear_entry()
        return close_cost + open_cost

    def adjust(self, bar, target, price, rate, events):
        """Move toward a target that is not of the opposite sign.

        The quirks of section 7 all come from the last lines: only a purchase touches entry and barrier
        (so a short from flat has none, covering moves the entry and clears nothing), and anything that
        is not a purchase clears them when the target is flat (so a purchase cut to nothing does too).
        """
        delta = target - self.position
        if delta == ZERO:
            return ZERO  # nothing is touched: a barrier left behind by covering waits for the next short
        cost = abs(delta) * price * rate  # on the uncut amount
        self.cash = self.cash - cost
        if delta > ZERO and self.reserve_share > ZERO:
            reserve = (self.cash + self.position * price) * self.reserve_share
            if self.cash - delta * price < reserve:
                events.add("reserve_cut")
                delta = min(delta, np.floor(max(self.cash - reserve, ZERO) / price))
        was_flat = abs(self.position) < FLAT_BELOW
        self.cash = self.cash - delta * price
        self.position = self.position + delta
        if delta > ZERO and target == ZERO:
            events.add("bought_to_flat")
        if delta < ZERO and was_flat and self.upper != ZERO:
            events.add("inherited_barrier")
        if delta > ZERO:
            self.entry = price
            if was_flat:
                self.set_barrier(bar, price)
        elif abs(target) < FLAT_BELOW:
            self.clear_entry()
        return cost

    def check_barrier(self, bar, price, events):
        """Section 4, point 3: on the close, after the trade, profit first; resolves once."""
        if abs(self.position) < FLAT_BELOW or self.resolved:
            return 0
        label = 0
        if self.upper <= price <= self.lower:
            events.add("both_touched")
        if price >= self.upper:
            label = 1
        elif price <= self.lower:
            label = -1
        elif bar >= self.expiry_bar:
            events.add("expiry")
        else:
            return 0
        self.resolved = True
        if label:
            events.add("label_profit" if label > 0 else "label_stop")
        return label
