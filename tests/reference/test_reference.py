#!/usr/bin/env python3
"""Proves the reference against numbers worked out by hand: every golden example of domain.md section 7 and
each row of its classic/market table that a recorded run can show.

Run it as `python3 tests/reference/test_reference.py`. Rows of the table that concern collection alone (rows
of zeros past the data, a new round, random starts) have no place in `simulate`; the random numbers are
checked in philox.py.
"""

import contextlib
import io
import os
import tempfile

import numpy as np

import philox
import simulate as command_line
from price_file import utc_times
from reference import COLUMNS, INTEGER_COLUMNS, Bars, read_actions, read_bars
from reference import simulate, td_target, world

F = np.float32
SHORT, FLAT, LONG = 0, 1, 2  # indices into the exposures of `play`


def play(rules, bars, actions, chain=False, first_bar=0, **options):
    """Rows of a run with one order type, one urgency and exposures -1, 0, 1 unless said otherwise.

    `bars` is a list of closes, or of (open, high, low, close). Costs are nil unless given.
    """
    settings = dict(
        exposures=[-1, 0, 1], order_types=["market"], urgency_cost=[1], cost_market=0,
        initial_capital=1000, episode_length=None, risk_weight=0, diversity_penalty=0,
    )  # fmt: skip
    settings.update(options)
    quads = [bar if isinstance(bar, tuple) else (bar,) * 4 for bar in bars]
    columns = [list(map(float, column)) for column in zip(*quads)]
    segment = Bars(utc_times(len(bars)), *columns)
    return list(simulate(world(rules, **settings), segment, actions, first_bar, chain))


def near(value, expected, tolerance=1e-9):
    assert abs(value - expected) <= tolerance * max(1.0, abs(expected)), (value, expected)


def column(rows, name):
    return [getattr(row, name) for row in rows]


# ---- golden examples ------------------------------------------------------------------------------------


def golden_short_barriers():
    row = play("market", [100, 100, 100], [SHORT], barrier_stop_bps=250, barrier_profit_bps=500)[0]
    assert (row.barrier_upper, row.barrier_lower) == (102.5, 95.0)


def golden_reversal():
    rows = play("market", [100] * 4, [LONG, SHORT], cost_market=0.001)
    assert rows[0].equity == 1000
    near(rows[0].next_equity, 999.000999, 1e-9)
    near(rows[1].next_equity, 997.004993, 1e-9)
    near(rows[1].position, -9.970050, 1e-7)
    near(rows[1].cumulative_cost, 1000 - 997.004993, 1e-6)


def golden_halving():
    # 1000 notional at 100 is 10 units; leverage leaves room for the opening cost.
    rows = play("market", [100] * 4, [1, 0], exposures=[0.5, 1], leverage=2, cost_market=0.001)
    near(rows[0].position, 10)
    near(rows[1].position, 5)
    near(rows[1].cost, 0.50)


def golden_gap_through_stop():
    rows = play("market", [100, (85, 86, 84, 85), 85, 85], [LONG, FLAT], barrier_stop_bps=250)
    row = rows[0]
    assert (row.fill_price, row.barrier_label, row.next_equity) == (85.0, -1, 850.0)
    assert (row.position, row.entry_price, row.barrier_lower, row.cash) == (0.0, 0.0, 0.0, 850.0)
    assert (row.terminal, row.truncated, len(rows)) == (0, 0, 2)
    near(row.reward_return, -0.15)


def golden_chain():
    rows = play("market", [100, 110, 121, 133.1], [LONG] * 3, chain=True, episode_length=2)
    for row, equity in zip(rows, (1100, 1210, 1331)):
        near(row.next_equity, equity)
        near(row.position, 10)
        assert row.terminal == 0
    assert column(rows, "truncated") == [0, 1, 1]
    assert column(rows, "cost") == [0, 0, 0]


def golden_td_target():
    at_the_end = play("market", [100, 101], [LONG])[0]
    assert (at_the_end.terminal, at_the_end.truncated) == (0, 1)
    near(td_target(0.01, 0.99, 2, at_the_end.terminal), 1.99)
    ruined = play("market", [100, 250], [SHORT])[0]
    assert (ruined.terminal, ruined.truncated) == (1, 0)
    assert td_target(ruined.reward, 0.99, 2, ruined.terminal) == ruined.reward == -1.0


# ---- the classic/market table of section 7, row by row -----------------------------------------------------


def money():
    # 1000 / 3 units: 333.33334 in float32, 333.33333333333331 in float64.
    classic = play("classic", [3, 3.1, 3.1], [LONG])[0]
    market = play("market", [3, 3.1, 3.1], [LONG])[0]
    assert classic.position == F(333.33334)
    money_columns = [c for c in COLUMNS if c not in INTEGER_COLUMNS and c != "time"]
    assert all(isinstance(getattr(classic, c), F) for c in money_columns)
    assert all(isinstance(getattr(market, c), float) for c in money_columns)
    assert classic.next_equity == F(0) + F(333.33334) * F(3.1)
    assert market.position == 1000 / 3 and market.next_equity == 1000 / 3 * 3.1


def barrier_of_a_short():
    # By a reversal, for classic sets no barrier for a short from flat. 100 * 1.01 and 100 * 0.995 there.
    options = dict(barrier_profit_bps=100, barrier_stop_bps=50)
    closes = [100] * 4
    classic = play("classic", closes, [LONG, SHORT], **options)[1]
    market = play("market", closes, [LONG, SHORT], **options)[1]
    assert classic.position == -10 and market.position == -10
    assert (classic.barrier_upper, classic.barrier_lower) == (F(100) * F(1.01), F(100) * F(0.995))
    assert (market.barrier_upper, market.barrier_lower) == (100.5, 99.0)
    rising = [100, 100, 101.5, 101.5, 101.5]
    assert play("classic", rising, [LONG, SHORT, SHORT], **options)[2].barrier_label == 1
    assert play("market", rising, [LONG, SHORT, SHORT], **options)[1].barrier_label == -1


def short_from_flat():
    options = dict(barrier_profit_bps=100, barrier_stop_bps=50)
    classic = play("classic", [100, 100, 100], [SHORT], **options)[0]
    market = play("market", [100, 100, 100], [SHORT], **options)[0]
    assert (classic.entry_price, classic.barrier_upper, classic.barrier_lower) == (0, 0, 0)
    assert (classic.barrier_label, classic.terminal) == (1, 1)
    assert (market.entry_price, market.barrier_label) == (100, 0)


def covering_a_short():
    # Reversal to short at 100, then cover to a half at 100.2, to flat at 100.1, short again at 100.3.
    options = dict(
        exposures=[-1, -0.5, 0, 1], barrier_profit_bps=100, barrier_stop_bps=50,
        barrier_ends_episode=False,
    )  # fmt: skip
    closes = [100, 100, 100.2, 100.1, 100.3, 100.3]
    actions = [3, 0, 1, 2, 0]
    classic = play("classic", closes, actions, **options)
    upper, lower = F(100) * F(1.01), F(100) * F(0.995)
    assert column(classic, "entry_price") == [F(x) for x in (100, 100, 100.2, 100.1, 100.1)]
    assert column(classic, "barrier_upper") == [upper] * 5
    assert column(classic, "barrier_lower") == [lower] * 5
    assert column(classic, "position")[:4] == [10, -10, -5, 0]
    market = play("market", closes, actions, **options)
    assert column(market, "entry_price") == [100, 100, 100, 0, 100.3]
    assert column(market, "barrier_upper")[:4] == [101, 100.5, 100.5, 0]
    near(market[4].barrier_upper, 100.3 * 1.005)


def buy_cut_to_nothing_while_target_is_flat():
    # Reserve 1 %. Long 9 (cut), reversed at 100: cash 1000 - 10 reserved buys 9; cash 1900, 9 short. At
    # 2500 the equity is 1900 - 22500 = -20600 and its reserve -206: covering would leave -20600, under
    # it, and floor((1900 + 206) / 2500) = 0 units can be bought. The short stays, its barrier goes, so
    # the price of 2500 >= 0 reads as a profit at once.
    options = dict(reserve_pct=1, barrier_ends_episode=False)
    rows = play("classic", [100, 100, 2500, 2500], [LONG, SHORT, FLAT], **options)
    assert column(rows, "position") == [9, -9, -9]
    assert column(rows, "entry_price") == [100, 100, 0]
    assert column(rows, "barrier_upper") == [F(100) * F(1.01), F(100) * F(1.01), 0]
    assert rows[2].barrier_lower == 0 and rows[2].barrier_label == 1


def flat_for_barriers():
    # 0.0005 units: flat to the classic barrier (never checked), a position to the market's.
    options = dict(barrier_profit_bps=100, barrier_stop_bps=50, max_position=0.0005)
    closes = [100, 200, 200, 200]
    classic = play("classic", closes, [LONG] * 3, **options)
    assert column(classic, "barrier_label") == [0, 0, 0]
    market = play("market", closes, [LONG], **options)[0]
    assert (market.barrier_label, market.fill_price) == (1, 101)


def barriers_at_zero():
    options = dict(barrier_ends_episode=False)
    at_zero_profit = play("classic", [100] * 4, [LONG], barrier_profit_bps=0, **options)[0]
    assert at_zero_profit.barrier_label == 1
    at_zero_stop = play("classic", [100] * 4, [LONG], barrier_stop_bps=0, **options)[0]
    assert at_zero_stop.barrier_label == -1
    # Zero bars: expired at once, so the profit at 102 brings no label any more.
    expired = play("classic", [100, 102, 102, 102], [LONG] * 2, barrier_max_bars=0, **options)
    assert column(expired, "barrier_label") == [0, 0]
    market = play("market", [100, 102, 102], [LONG], barrier_stop_bps=50, barrier_max_bars=0)[0]
    assert (market.barrier_upper, market.barrier_lower, market.barrier_label) == (0, 99.5, 0)
    later = play("market", [100, 102, 99, 99], [LONG] * 2, barrier_stop_bps=50, barrier_max_bars=0)
    assert column(later, "barrier_label") == [0, -1]


def barrier_check():
    options = dict(barrier_profit_bps=200, barrier_stop_bps=200)
    both_touched = [100, (100, 103, 97, 100), 103, 103]
    classic = play("classic", both_touched, [LONG] * 3, **options)
    assert column(classic, "barrier_label") == [0, 0, 1]  # at the close of 103, a bar later
    assert column(classic, "position") == [10, 10, 10] and classic[2].terminal == 1
    market = play("market", both_touched, [LONG, FLAT], **options)
    assert (market[0].barrier_label, market[0].fill_price, market[0].next_equity) == (-1, 98, 980)
    gapped_profit = play("market", [100, (110, 111, 109, 110), 110], [LONG], **options)[0]
    assert (gapped_profit.barrier_label, gapped_profit.fill_price) == (1, 102)
    equal = play("market", [100, (100, 102, 99, 100), 100], [LONG], **options)[0]
    assert (equal.barrier_label, equal.fill_price) == (1, 102)
    short = play("market", [100, (103, 104, 102, 103), 103], [SHORT], **options)[0]
    assert (short.barrier_label, short.fill_price, short.next_equity) == (-1, 103, 970)
    short = play("market", [100, (99, 100, 98, 99), 99], [SHORT], **options)[0]
    assert (short.barrier_label, short.fill_price, short.next_equity) == (1, 98, 1020)
    # The exit pays cost_market on its notional: 10 units less the opening's share.
    paid = play("market", both_touched, [LONG], cost_market=0.001, leverage=2, **options)[0]
    near(paid.cost, 1.0 + 0.98)
    near(paid.next_equity, 1000 - 20 - 1.98)


def watched_bars():
    # Opened at bar 0 and watched over bars 1 and 2: a stop touched at bar 3 is none; prices stay.
    rows = play("market", [100, 100, 100, 90, 90], [LONG] * 4, barrier_stop_bps=500, barrier_max_bars=2)
    assert column(rows, "barrier_label") == [0, 0, 0, 0]
    assert column(rows, "barrier_lower") == [95] * 4
    rows = play("market", [100, 100, 90, 90], [LONG] * 2, barrier_stop_bps=500, barrier_max_bars=2)
    assert column(rows, "barrier_label") == [0, -1]


def adding():
    options = dict(exposures=[0.5, 1], barrier_profit_bps=5000, barrier_stop_bps=5000, leverage=2)
    classic = play("classic", [100, 110, 110, 110], [0, 1], **options)
    assert column(classic, "entry_price") == [100, 110]
    assert column(classic, "barrier_upper") == [150, 150]
    market = play("market", [100, 110, 110, 110], [0, 1], **options)
    assert column(market, "entry_price") == [100, 105]
    assert column(market, "barrier_upper") == [150, 150]
    # Adding to a short: 5 units at 100 and 5 at 90; classic lets the entry lie (0: opened from flat).
    options.update(exposures=[-0.5, -1], barrier_ends_episode=False)
    assert column(play("market", [100, 90, 90, 90], [0, 1], **options), "entry_price") == [100, 95]
    assert column(play("classic", [100, 90, 90, 90], [0, 1], **options), "entry_price") == [0, 0]


def buying_power():
    options = dict(max_position=50, cost_market=0.001, barrier_ends_episode=False)
    # Classic from flat without a reserve: unchecked. Market: 1000 / (100 * 1.001), and the same short.
    assert play("classic", [100] * 3, [LONG], **options)[0].position == 50
    near(play("market", [100] * 3, [LONG], **options)[0].position, 9.990009990009990)
    near(play("market", [100] * 3, [SHORT], **options)[0].position, -9.990009990009990)
    # Leverage 3, reserve 10 %: 3 * 900 / (100 * 1.003).
    levered = play("market", [100] * 3, [LONG], leverage=3, reserve_pct=10, **options)[0]
    near(levered.position, 2700 / 100.3)
    # Price falls to 90: the limit falls under what is held, which forces no reduction.
    rows = play("market", [100, 90, 90, 90], [LONG, LONG], leverage=3, max_position=30)
    assert column(rows, "position") == [30, 30]
    # Adding: 5 held of 1000 at 100, rate 1 %: equity 995 after the first cost of 5; then at most
    # (995 + 5) / (100 * 1.01) units in all, bought with what is left.
    options = dict(exposures=[0.5, 1], max_position=10, cost_market=0.01)
    rows = play("market", [100] * 4, [0, 1], **options)
    near(rows[1].position, 1000 / 101)
    near(rows[1].equity - rows[1].cost, rows[1].position * 100)


def lots():
    options = dict(barrier_ends_episode=False, exposures=[-1, -0.5, 0, 0.5, 1])
    # Classic: 15.5 units from flat stand as they are; reversed to a short: floor(1000 / 100) = 10.
    rows = play("classic", [100] * 4, [4, 0], max_position=15.5, **options)
    assert column(rows, "position") == [15.5, -10]
    # Market with lots of 0.4: 9.5 -> 9.2 long; half of 9.5 = 4.75 -> 4.4; reversed -9.5 -> -9.2.
    rows = play("market", [100] * 5, [4, 3, 0], max_position=9.5, lot_size=0.4, **options)
    for row, units in zip(rows, (9.2, 4.4, -9.2)):
        near(row.position, units)
    # 0.3 / 0.1 is a last bit under 3: forgiven.
    assert play("market", [100] * 3, [4], max_position=0.3, lot_size=0.1, **options)[0].position > 0.29


def exposure_penalty():
    options = dict(risk_weight=0.5, risk_threshold=0.8, barrier_profit_bps=0, barrier_stop_bps=5000)
    options.update(barrier_ends_episode=False)
    classic = play("classic", [100] * 4, [LONG, LONG], **options)
    near(classic[0].reward_risk, 0)
    near(classic[1].reward_risk, -0.1, 1e-7)
    market = play("market", [100] * 4, [LONG, LONG], **options)
    near(market[0].reward_risk, -0.1)
    filled = play("market", [100, (40, 41, 39, 40), 40], [LONG], **options)[0]
    assert filled.position == 0
    near(filled.reward_risk, -0.1)  # before the fill


def cost_of_a_cut_purchase():
    # 10 units wanted, cost 10 (1 % of 1000); equity then 990, reserve 495: floor(495 / 100) = 4 bought.
    options = dict(reserve_pct=50, cost_market=0.01, barrier_ends_episode=False)
    classic = play("classic", [100] * 3, [LONG], **options)[0]
    assert (classic.position, classic.cost, classic.cash) == (4, 10, 590)
    market = play("market", [100] * 3, [LONG], **options)[0]
    near(market.position, 500 / 101)
    near(market.cost, 500 / 101)


def time_limit_and_end_of_data():
    for rules, flags in (("classic", (1, 0)), ("market", (0, 1))):
        limited = play(rules, [100] * 9, [FLAT] * 8, episode_length=3)
        assert len(limited) == 3 and (limited[2].terminal, limited[2].truncated) == flags
        ended = play(rules, [100] * 4, [FLAT] * 9)
        assert len(ended) == 3 and (ended[2].terminal, ended[2].truncated) == flags
        out_of_actions = play(rules, [100] * 9, [FLAT] * 2)
        assert len(out_of_actions) == 2
        assert (out_of_actions[1].terminal, out_of_actions[1].truncated) == (0, 0)


def label_and_the_episode():
    closes = [100, 102, 102, 102, 102]
    options = dict(barrier_profit_bps=100, barrier_stop_bps=5000)
    classic = play("classic", closes, [LONG] * 4, **options)
    assert column(classic, "terminal") == [0, 1]
    going_on = play("classic", closes, [LONG] * 3, barrier_ends_episode=False, **options)
    assert column(going_on, "barrier_label") == [0, 1, 0]
    assert column(going_on, "position") == [10, 10, 10]
    market = play("market", closes, [LONG, FLAT, FLAT], **options)
    assert column(market, "terminal") == [0, 0, 0] and market[0].position == 0
    ending = play("market", closes, [LONG, FLAT], barrier_ends_episode=True, **options)
    assert len(ending) == 1 and (ending[0].terminal, ending[0].truncated) == (1, 0)


def chains():
    # Classic: a fresh portfolio after the label; market: the portfolio goes on, the base is new.
    options = dict(barrier_profit_bps=100, barrier_stop_bps=5000, cost_market=0.001)
    closes = [100, 200, 200, 200]
    classic = play("classic", closes, [LONG] * 3, chain=True, **options)
    assert column(classic, "terminal") == [0, 1, 1]
    assert column(classic, "position") == [10, 10, 5]
    near(classic[2].equity, 1000)
    near(classic[2].cumulative_cost, 1.0, 1e-6)
    options = dict(episode_length=1, cost_market=0.001, leverage=2)
    market = play("market", [100, 200, 200, 200], [LONG, FLAT, LONG], chain=True, **options)
    near(market[0].next_equity, 1999)
    near(market[1].next_equity, 1999 - 2)
    near(market[2].position, 1997 / 200)
    near(market[2].cumulative_cost, 1 + 2 + 1.997)
    ruin = play("market", [100, 250, 250, 250], [SHORT] * 3, chain=True)
    assert len(ruin) == 1 and ruin[0].terminal == 1


def equity_at_or_under_zero():
    # 10 short at 100: at 250 the equity is -500.
    classic = play("classic", [100, 250, 260, 260], [SHORT] * 2, barrier_ends_episode=False)
    assert classic[0].next_equity == -500 and classic[1].equity == -500
    assert (classic[1].reward_return, classic[1].terminal) == (0, 0)
    market = play("market", [100, 250, 260], [SHORT] * 2, reward_scale=3, diversity_penalty=0.1,
                  risk_weight=1)  # fmt: skip
    assert len(market) == 1
    assert (market[0].reward, market[0].reward_return, market[0].terminal) == (-3, -3, 1)
    assert (market[0].reward_risk, market[0].reward_diversity) == (0, 0)
    # Exactly 0 is ruin. Label and fill stay: a stop at 110 gapped to 200.
    assert play("market", [100, 200, 200], [SHORT])[0].terminal == 1
    filled = play("market", [100, (200, 201, 199, 200), 200], [SHORT], barrier_stop_bps=1000)[0]
    assert (filled.barrier_label, filled.fill_price, filled.reward) == (-1, 200, -1)


# ---- what the table leaves to the sections before it ----------------------------------------------------


def diversity():
    # Long, long: under three entries. A third long: 0 bits. Then shorts: 3 of 4, 3 of 5 under 1 bit
    # (0.811, 0.971), 3 of 6 exactly 1 bit: no penalty.
    actions = [LONG] * 3 + [SHORT] * 3
    for rules in ("classic", "market"):
        rows = play(rules, [100] * 9, actions, diversity_penalty=0.1, barrier_ends_episode=False)
        for row, penalty in zip(rows, [0, 0, -0.1, -0.1, -0.1, 0]):
            near(row.reward_diversity, penalty, 1e-7)
    # A window of 3: (L, L, S), (L, S, S): 0.918 bits; (S, S, F) likewise; (S, F, L): 1.585 bits.
    rows = play("market", [100] * 9, [LONG, LONG, SHORT, SHORT, FLAT, LONG], diversity_window=3,
                diversity_penalty=0.1)  # fmt: skip
    assert column(rows, "reward_diversity") == [0, 0, -0.1, -0.1, -0.1, 0]


def label_in_the_reward():
    # +4 % at a label of +1: 0.04 * (1 + 0.5) * reward_scale 2.
    options = dict(barrier_profit_bps=400, barrier_reward_scale=1, reward_scale=2)
    row = play("market", [100, 105, 105], [LONG], **options)[0]
    near(row.reward_return, 0.12)
    # Classic, bar 1: label at 105, then 105 -> 110.25 earns 5 % * 1.5 * 2.
    rows = play("classic", [100, 105, 110.25, 110.25], [LONG] * 2, **options)
    near(rows[1].reward_return, 0.15, 1e-6)


def files_and_command_line():
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("bars.csv"), "w", encoding="utf-8") as out:
            out.write("Time,Close\n2020-01-01 00:00:00,100\n2020-01-01T01:00:00Z,110\n"
                      "2020-01-01T04:00:00+02:00,121\n2020-01-01 03:00,133.1\n")  # fmt: skip
        with open(path("actions.csv"), "w", encoding="utf-8") as out:
            out.write("exposure,order,urgency\n1,market,patient\n1.0,ioc,aggressive\n-0.5,ioc,normal\n")
        bars = read_bars(path("bars.csv"))
        assert bars.time[1:3] == ["2020-01-01T01:00:00Z", "2020-01-01T02:00:00Z"]
        assert bars.open == bars.close == [100, 110, 121, 133.1]
        # exposure 4 of 5, order 0, urgency 0 -> (4 * 3 + 0) * 3 + 0; and so on.
        assert read_actions(path("actions.csv"), world("market")) == [36, 44, 16]
        for rules, price in (("market", "133.09999999999999"), ("classic", "133.100006")):
            arguments = ["--data", path("bars.csv"), "--actions", path("actions.csv"), "--continue",
                         "--rules", rules, "--set", "env.exposures=[-1, -0.5, 0, 0.5, 1]",
                         "--set", 'env.order_types=["market", "limit_maker", "ioc"]',
                         "--first-bar", "1", "--out", path("steps.csv")]  # fmt: skip
            assert command_line.main(arguments) == 0
            with open(path("steps.csv"), encoding="utf-8") as handle:
                lines = handle.read().splitlines()
            assert lines[0] == ",".join(COLUMNS) and len(lines) == 3
            assert lines[2].split(",")[:5] == ["2", "2020-01-01T02:00:00Z", "44", "121", price]
        with contextlib.redirect_stderr(io.StringIO()) as complaint:
            assert command_line.main(arguments + ["--set", "env.exposure=[1]"]) == 1
        assert "env.exposure" in complaint.getvalue()


def default_options():
    classic, market = world("classic"), world("market")
    assert (classic.barrier_profit_bps, market.barrier_profit_bps) == (100, 0)
    assert (classic.barrier_stop_bps, market.barrier_stop_bps) == (50, 0)
    assert (classic.barrier_ends_episode, market.barrier_ends_episode) == (True, False)
    assert (classic.diversity_penalty, market.diversity_penalty) == (0.1, 0)
    assert (classic.risk_weight, market.risk_weight) == (0.5, 0)
    assert classic.episode_length == market.episode_length == 500


def random_numbers():
    philox.check_known_answers()
    # LCG from 0: 1013904223 = 0x3C6EF35F; its low 23 bits are 0x6EF35F = 7271263.
    assert philox.classic_lcg(0) == (1013904223, 7271263 / 8388607)


TESTS = [
    golden_short_barriers, golden_reversal, golden_halving, golden_gap_through_stop, golden_chain,
    golden_td_target, money, barrier_of_a_short, short_from_flat, covering_a_short,
    buy_cut_to_nothing_while_target_is_flat, flat_for_barriers, barriers_at_zero, barrier_check,
    watched_bars, adding, buying_power, lots, exposure_penalty, cost_of_a_cut_purchase,
    time_limit_and_end_of_data, label_and_the_episode, chains, equity_at_or_under_zero, diversity,
    label_in_the_reward, files_and_command_line, default_options, random_numbers,
]  # fmt: skip

if __name__ == "__main__":
    for test in TESTS:
        test()
        print(f"ok  {test.__name__}")
    print(f"{len(TESTS)} passed, 0 failed")
