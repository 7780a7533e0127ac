"""One episode under the market rules: domain.md section 4, with the market column of section 7.

Money is float64 (Python floats), in the order of operations that section 7 writes.
"""

import math

from diversity import CategoryRing
from world_config import action_table


class MarketEpisode:
    """The portfolio, resting exits and diversity ring of one slot, and the step that moves them."""

    def __init__(self, options, bars, bar):
        self.options = options
        self.bars = bars
        self.actions = [
            (action.exposure, action.order_rate * action.urgency_multiplier, action.category)
            for action in action_table(options)
        ]
        self.cash = options.initial_capital
        self.position = 0.0
        self.cumulative_cost = 0.0
        self.ring = CategoryRing(options.diversity_window)
        self.ruined = False
        self.clear_entry()
        self.continue_at(bar)

    def continue_at(self, bar):
        """An episode starts at `bar` with the portfolio as it lies ("Chain" in section 7): the base is
        the equity there and the cap is fixed anew; nothing trades."""
        options = self.options
        price = self.bars.close[bar]
        self.base = self.cash + self.position * price
        if options.max_position is not None:
            self.cap = options.max_position
        else:
            self.cap = options.max_exposure * self.base / price
        self.steps = 0

    def clear_entry(self):
        self.entry = 0.0
        self.upper = 0.0
        self.lower = 0.0
        self.opened_at = None
        self.expired = False

    def open_entry(self, bar, price):
        """Entry and barriers of a position opened from flat or by a reversal; 0 is "off".

        For a short the two are mirrored: the stop lies above, the profit below."""
        profit_bps, stop_bps = self.options.barrier_profit_bps, self.options.barrier_stop_bps
        above, below = (profit_bps, stop_bps) if self.position > 0 else (stop_bps, profit_bps)
        self.entry = price
        self.upper = price * (10000 + above) / 10000 if above > 0 else 0.0
        self.lower = price * (10000 - below) / 10000 if below > 0 else 0.0
        self.opened_at = bar
        self.expired = False

    def step(self, bar, action):
        """Plays one action at `bar`; returns the columns of section 9 from `price` on, and events."""
        options = self.options
        exposure, rate, category = self.actions[action]
        price, next_price = self.bars.close[bar], self.bars.close[bar + 1]
        events = set()

        equity = self.cash + self.position * price
        cost = self.trade(bar, exposure * self.cap, price, rate, equity, events)
        held_share = abs(self.position * price / self.base)  # after the trade, before a fill
        label, fill_price, fill_cost = self.watch(bar + 1, events)
        cost += fill_cost
        self.cumulative_cost += cost
        self.ring.push(category)
        next_equity = self.cash + self.position * next_price

        self.ruined = next_equity <= 0.0
        if self.ruined:
            events.add("ruin_with_label" if label else "ruin")
            reward_return, reward_risk, reward_diversity = -options.reward_scale, 0.0, 0.0
        else:
            scale = label * 0.5 * options.barrier_reward_scale
            reward_return = (next_equity - equity) / equity * (1.0 + scale) * options.reward_scale
            reward_risk = -(options.risk_weight * max(0.0, held_share - options.risk_threshold))
            too_uniform = self.ring.too_uniform(options.diversity_min_bits)
            reward_diversity = -options.diversity_penalty if too_uniform else 0.0
        reward_curiosity = 0.0
        reward = reward_return + reward_risk + reward_diversity + reward_curiosity

        self.steps += 1
        out_of_time = options.episode_length is not None and self.steps >= options.episode_length
        out_of_data = bar + 1 == len(self.bars.close) - 1
        terminal = self.ruined or (label != 0 and options.barrier_ends_episode)
        truncated = (out_of_time or out_of_data) and not terminal
        return dict(
            price=price, next_price=next_price, position=self.position, cash=self.cash,
            equity=equity, next_equity=next_equity, cost=cost, cumulative_cost=self.cumulative_cost,
            entry_price=self.entry, barrier_upper=self.upper, barrier_lower=self.lower,
            barrier_label=label, fill_price=fill_price, reward=reward, reward_return=reward_return,
            reward_risk=reward_risk, reward_diversity=reward_diversity,
            reward_curiosity=reward_curiosity,
            terminal=int(terminal), truncated=int(truncated),
        ), events  # fmt: skip

    def trade(self, bar, target, price, rate, equity, events):
        """Brings the position toward the target within buying power and lots; returns the cost."""
        leverage = self.options.leverage
        reserve = equity * (self.options.reserve_pct / 100)
        before = self.position
        held = abs(before)
        reversal = before * target < 0
        per_unit = price * (1 + leverage * rate)

        size = abs(target)
        if reversal or before == 0:
            close_cost = held * price * rate if reversal else 0.0
            limit = max(leverage * (equity - reserve - close_cost) / per_unit, 0.0)
        elif size > held:
            limit = max(held, leverage * (equity - reserve + held * price * rate) / per_unit)
        else:
            limit = math.inf  # buying power never forces a reduction
        if limit < size:
            events.add("power_cut")
            if reserve > 0:
                events.add("reserve_cut")
            size = limit
        size = self.whole_lots(size, events)
        after = math.copysign(size, target) if size > 0 else 0.0

        if reversal:
            events.add("reversal")
            open_cost = size * price * rate
            self.cash += before * price - close_cost
            self.cash -= after * price + open_cost
            self.position = after
            if after == 0:
                self.clear_entry()
            else:
                self.open_entry(bar, price)
            return close_cost + open_cost

        delta = after - before
        if abs(delta) <= 1e-12 * held:
            return 0.0
        cost = abs(delta) * price * rate
        self.cash -= cost
        self.cash -= delta * price
        self.position = after
        if before == 0:
            self.open_entry(bar, price)
        elif after == 0:
            self.clear_entry()
        elif size > held:
            self.entry = (self.entry * held + price * abs(delta)) / (held + abs(delta))
        return cost

    def whole_lots(self, size, events):
        """Toward zero to whole lots, forgiving a last bit of the division."""
        lot = self.options.lot_size
        if lot <= 0:
            return size
        cut = math.floor(size / lot * (1 + 1e-12)) * lot
        if cut < size * (1 - 1e-9):
            events.add("lot_cut")
        elif math.floor(size / lot) * lot < cut:
            events.add("lot_forgiven")
        return cut

    def watch(self, coming, events):
        """The resting exits over the coming bar: (label, fill price, fill cost); zeros without a fill.

        A position opened at bar b is watched over bars b+1 ... b+barrier_max_bars, or always when that
        is 0. The stop counts first; a stop gapped past fills at the open, a profit at its limit."""
        if self.position == 0 or (self.upper == 0 and self.lower == 0):
            return 0, 0.0, 0.0
        max_bars = self.options.barrier_max_bars
        if max_bars > 0 and coming > self.opened_at + max_bars:
            if not self.expired:
                events.add("expiry")
            self.expired = True
            return 0, 0.0, 0.0
        first, high, low = self.bars.open[coming], self.bars.high[coming], self.bars.low[coming]
        label, fill = 0, 0.0
        if self.position > 0:
            if self.lower != 0 and low <= self.lower:
                label, fill = -1, min(first, self.lower)
            elif self.upper != 0 and high >= self.upper:
                label, fill = 1, self.upper
        else:
            if self.upper != 0 and high >= self.upper:
                label, fill = -1, max(first, self.upper)
            elif self.lower != 0 and low <= self.lower:
                label, fill = 1, self.lower
        if label == 0:
            return 0, 0.0, 0.0
        events.add("fill_profit" if label > 0 else "fill_stop")
        if label < 0 and fill == first:
            events.add("gap_long" if self.position > 0 else "gap_short")
        if self.upper != 0 and self.lower != 0 and low <= self.lower and high >= self.upper:
            events.add("both_touched")
        if fill in (high, low) and fill != first:
            events.add("equality_touched")
        events.add("label_profit" if label > 0 else "label_stop")
        cost = abs(self.position) * fill * self.options.cost_market
        self.cash += self.position * fill - cost
        self.position = 0.0
        self.clear_entry()
        return label, fill, cost
