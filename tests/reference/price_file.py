"""Reading the files of a `simulate` run: bars and recorded actions (domain.md sections 1, 2 and 9)."""

import csv
import datetime
import math
from typing import List, NamedTuple

URGENCY_NAMES = ("patient", "normal", "aggressive")


class Bars(NamedTuple):
    """One segment of bars: parallel lists, float64 prices, times as ISO 8601 UTC text."""

    time: List[str]
    open: List[float]
    high: List[float]
    low: List[float]
    close: List[float]


def utc_text(text):
    """A time as `YYYY-MM-DDTHH:MM:SSZ`. A time without a zone is UTC; whole numbers are Unix seconds or
    milliseconds (from 1e11 on)."""
    text = text.strip()
    if text.lstrip("-").isdigit() and len(text) > 8:
        seconds = int(text) / 1000 if abs(int(text)) >= 10**11 else int(text)
        moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    else:
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.timezone.utc)
        moment = moment.astimezone(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_times(count):
    """Hourly times from 2020 on, for bars that are made up."""
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    hour = datetime.timedelta(hours=1)
    return [(start + i * hour).strftime("%Y-%m-%dT%H:%M:%SZ") for i in range(count)]


def read_bars(path):
    """Bars from a CSV file with the columns time, open, high, low, close (any case, any order).

    A file without open, high and low is close-only: o = h = l = c (domain.md section 1). Bad rows are
    refused, never repaired (domain.md section 8).
    """
    with open(path, newline="", encoding="utf-8-sig") as handle:
        rows = list(csv.reader(handle))
    header = [name.strip().lower() for name in rows[0]]
    for name in ("time", "close"):
        if name not in header:
            raise ValueError(f"{path}: no column {name!r}")
    names = ["open", "high", "low", "close"]
    present = [name in header for name in names[:3]]
    if any(present) and not all(present):
        raise ValueError(f"{path}: open, high and low come together or not at all")
    columns = [header.index(name if all(present) else "close") for name in names]
    time_column = header.index("time")
    bars = Bars([], [], [], [], [])
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        time = utc_text(row[time_column])
        prices = [float(row[column]) for column in columns]
        if not all(math.isfinite(price) and price > 0 for price in prices):
            raise ValueError(f"{path}:{line}: a price is not a finite positive number: {prices}")
        if prices[1] < prices[2]:
            raise ValueError(f"{path}:{line}: high {prices[1]} is below low {prices[2]}")
        if bars.time and time <= bars.time[-1]:
            raise ValueError(f"{path}:{line}: time {time} does not follow {bars.time[-1]}")
        for column, value in zip(bars, [time, *prices]):
            column.append(value)
    if len(bars.time) < 2:
        raise ValueError(f"{path}: two bars are the least that a step needs")
    return bars


def read_actions(path, options):
    """Action indices: one a line without a header, or a CSV with the header exposure,order,urgency."""
    with open(path, newline="", encoding="utf-8-sig") as handle:
        rows = [row for row in csv.reader(handle) if row]
    count = len(options.exposures) * len(options.order_types) * len(options.urgency_cost)
    if rows and not rows[0][0].strip().lstrip("-").isdigit():
        header = [name.strip().lower() for name in rows[0]]
        if sorted(header) != ["exposure", "order", "urgency"]:
            raise ValueError(f"{path}: expected the columns exposure, order, urgency")
        places = [header.index(name) for name in ("exposure", "order", "urgency")]
        return [
            triple_index(*(row[place].strip() for place in places), options, f"{path}:{line}")
            for line, row in enumerate(rows[1:], start=2)
        ]
    actions = []
    for line, row in enumerate(rows, start=1):
        index = int(row[0])
        if len(row) != 1 or not 0 <= index < count:
            raise ValueError(f"{path}:{line}: {','.join(row)} is not an action below {count}")
        actions.append(index)
    return actions


def triple_index(exposure, order, urgency, options, where):
    """The index of an (exposure, order type, urgency) triple, domain.md section 2."""
    urgencies = len(options.urgency_cost)
    if float(exposure) not in options.exposures:
        raise ValueError(f"{where}: exposure {exposure} is not one of {options.exposures}")
    if order not in options.order_types:
        raise ValueError(f"{where}: order {order} is not one of {options.order_types}")
    if urgencies == 3:
        if urgency not in URGENCY_NAMES:
            raise ValueError(f"{where}: urgency {urgency} is not one of {URGENCY_NAMES}")
        urgency_index = URGENCY_NAMES.index(urgency)
    else:
        urgency_index = int(urgency)
        if not 0 <= urgency_index < urgencies:
            raise ValueError(f"{where}: urgency {urgency} is not below {urgencies}")
    exposure_index = options.exposures.index(float(exposure))
    order_index = options.order_types.index(order)
    return (exposure_index * len(options.order_types) + order_index) * urgencies + urgency_index
