"""The expected outputs that Flink cannot vouch for, computed again in plain Python from the input data.

For all other examples ``on_flink.py`` asks Flink itself.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

from .examples import DATA, FOLDER
from .render import cell


class Order(NamedTuple):
    """A row of data/orders."""

    order_id: int
    customer: str
    item: str
    amount: float
    ts: datetime


Rows = list[tuple[Any, ...]]
_LINES = (DATA / "orders" / "orders.json").read_text("utf-8").splitlines()
ORDERS = [Order(**{**row, "ts": datetime.fromisoformat(row["ts"])}) for row in map(json.loads, _LINES)]
ITEMS = dict(line.split(";")[:2] for line in (DATA / "items" / "items.csv").read_text("utf-8").splitlines())


def grouped(orders: Iterable[Order], key: Callable[[Order], tuple[Any, ...]]) -> dict[tuple[Any, ...], list[Order]]:
    groups: dict[tuple[Any, ...], list[Order]] = defaultdict(list)
    for order in orders:
        groups[key(order)].append(order)
    return groups


def start(order: Order, minutes: int) -> datetime:
    midnight = order.ts.replace(hour=0, minute=0, second=0)
    size = timedelta(minutes=minutes)
    return midnight + (order.ts - midnight) // size * size


def total(orders: list[Order]) -> float:
    return sum(o.amount for o in orders)


def gaps() -> Rows:
    in_first_minute = [o for o in ORDERS if o.ts.minute % 5 == 0]
    groups = grouped(in_first_minute, lambda o: (start(o, 5),))
    return [(t, t + timedelta(minutes=1), len(g), total(g)) for (t,), g in groups.items()]


def totals(key: str) -> Rows:
    return [(*k, len(g), total(g)) for k, g in grouped(ORDERS, lambda o: (getattr(o, key),)).items()]


def occasional() -> Rows:
    return [(name, n) for name, n, _ in totals("customer") if n < 5]


def categories() -> Rows:
    groups = grouped(ORDERS, lambda o: (ITEMS[o.item], start(o, 10)))
    return [(*k, len(g), total(g)) for k, g in groups.items()]


def per_window() -> Rows:
    return [(*k, len(g)) for k, g in grouped(ORDERS, lambda o: (start(o, 5),)).items()]


def per_minute() -> Rows:
    return [(*k, len(g)) for k, g in grouped(ORDERS, lambda o: (o.item, start(o, 1))).items()]


def ten_minutes() -> Rows:
    groups = grouped(ORDERS, lambda o: (o.item, start(o, 10)))
    return [(*k, len(g), len({start(o, 1) for o in g})) for k, g in groups.items()]


def batch_windows() -> Rows:
    groups = grouped(ORDERS, lambda o: (o.item, start(o, 5)))
    return [(*k, len(g), total(g)) for k, g in groups.items()]


def batch_customers() -> Rows:
    groups = grouped(ORDERS, lambda o: (o.customer,))
    rows = [(*k, len({o.item for o in g}), total(g)) for k, g in groups.items()]
    return sorted(rows, key=lambda row: -row[2])[:2]


def copied(most: int) -> Rows:
    return [(o.order_id, o.item, f"{o.amount:.2f}", o.ts) for o in ORDERS if o.order_id <= most]


EXPECTED: dict[tuple[str, int], Rows] = {
    ("06_hop_with_gaps", 0): gaps(),
    ("14_upsert", 0): totals("customer"),
    ("14_upsert", 1): occasional(),
    ("15_final_state", 0): totals("item"),
    ("17_static_join", 0): categories(),
    ("20_create_table_as", 1): [(o.order_id, o.customer, o.amount, o.ts) for o in ORDERS if o.item == "pen"],
    ("20_create_table_as", 2): per_window(),
    ("23_variables", 0): [(o.order_id, o.item) for o in ORDERS if o.order_id <= 2],
    ("26_file_formats", 0): copied(4),
    ("26_file_formats", 1): copied(3),
    ("26_file_formats", 2): copied(2),
    ("26_file_formats", 3): copied(1),
    ("28_delta", 0): ten_minutes(),
    ("28_delta", 1): per_minute(),
    ("31_batch", 0): batch_windows(),
    ("31_batch", 1): batch_customers(),
    ("31_batch", 2): [(o.order_id, o.item) for o in sorted(ORDERS, key=lambda o: (-o.amount, o.order_id))[:3]],
    ("33_distinct", 0): sorted({(o.customer, o.item) for o in ORDERS if o.amount < 8}),
}


@pytest.mark.parametrize(("example", "number"), EXPECTED)
def test_expected_output(example: str, number: int) -> None:
    text = (FOLDER / f"{example}.out").read_text("utf-8").split("=== ")[1 + number]
    rows = sorted(tuple(v.strip() for v in line.split(" | ")) for line in text.strip().splitlines()[2:])
    assert rows == sorted(tuple(map(cell, row)) for row in EXPECTED[example, number])
