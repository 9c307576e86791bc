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

from sqlext.testing.render import cell

from .examples import DATA, FOLDER


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
PAYMENTS = [
    (row["order_id"], row["method"], datetime.fromisoformat(row["ts"]))
    for row in map(json.loads, (DATA / "payments" / "payments.json").read_text("utf-8").splitlines())
]
PRICES = [
    (row["item"], row["price"], datetime.fromisoformat(row["since"]))
    for row in map(json.loads, (DATA / "prices" / "prices.json").read_text("utf-8").splitlines())
]
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


def new_customers() -> Rows:
    return [row for row in totals("customer") if row[1] < 5]


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


def bills() -> Rows:
    rows: Rows = []
    for (customer,), orders in grouped(ORDERS, lambda o: (o.customer,)).items():
        early = [orders[:n] for n in range(3, len(orders) + 1, 3)]
        rows += [(customer, len(g), total(g), pane, "EARLY") for pane, g in enumerate(early)]
        rows.append((customer, len(orders), total(orders), len(early), "ON_TIME"))
    return rows


def packets() -> Rows:
    rows: Rows = []
    for (customer,), orders in grouped(ORDERS, lambda o: (o.customer,)).items():
        cut = [orders[n : n + 3] for n in range(0, len(orders), 3)]
        timings = ["EARLY" if len(g) == 3 else "ON_TIME" for g in cut]
        rows += [(customer, len(g), total(g), pane, timings[pane]) for pane, g in enumerate(cut)]
    return rows


def quarters() -> Rows:
    rows: Rows = []
    begin = start(ORDERS[0], 15)
    for minutes in (5, 10, 15):
        end = begin + timedelta(minutes=minutes)
        g = [o for o in ORDERS if begin <= o.ts < end]
        items, amounts = {o.item for o in g if o.amount > 4}, {o.amount for o in g}
        rows.append((begin, end, len(g), len({o.customer for o in g}), len(items), sum(amounts)))
    return rows


def buyers() -> Rows:
    groups = grouped(ORDERS, lambda o: (o.item, start(o, 10)))
    return [(*k, len({o.customer for o in g})) for k, g in groups.items()]


def copied(most: int) -> Rows:
    return [(o.order_id, o.item, f"{o.amount:.2f}", o.ts) for o in ORDERS if o.order_id <= most]


def per_item() -> dict[tuple[Any, ...], list[Order]]:
    return grouped(ORDERS, lambda o: (o.item, start(o, 10)))


def panes() -> Rows:
    """A pane for each second order, and one at the end of the window if an order is left."""
    pairs = [(k, i, g[2 * i : 2 * i + 2]) for k, g in per_item().items() for i in range((len(g) + 1) // 2)]
    return [
        (*k, i, "EARLY" if len(two) == 2 else "ON_TIME", len(two) == 1, len(two), total(two)) for k, i, two in pairs
    ]


def changes() -> Rows:
    rows: Rows = []
    for k, g in per_item().items():
        counts = [*range(2, len(g), 2), len(g)]
        rows += [("+U" if i else "+I", *k, n) for i, n in enumerate(counts)]
        rows += [("-U", *k, n) for n in counts[:-1]]
    return rows


def carts() -> Rows:
    gap, rows = timedelta(minutes=2), list[list[Any]]()
    for order in sorted(ORDERS, key=lambda o: (o.customer, o.ts)):
        if rows and rows[-1][0] == order.customer and order.ts <= rows[-1][2]:
            rows[-1][2:] = [order.ts + gap, rows[-1][3] + 1]
        else:
            rows.append([order.customer, order.ts, order.ts + gap, 1])
    return [tuple(row) for row in rows]


def paid_within_five_minutes() -> list[tuple[Order, str | None]]:
    found: list[tuple[Order, str | None]] = []
    for order in ORDERS:
        end = order.ts + timedelta(minutes=5)
        methods = [method for of, method, ts in PAYMENTS if of == order.order_id and order.ts <= ts <= end]
        found += [(order, method) for method in methods or [None]]
    return found


def paid_per_window() -> Rows:
    groups: dict[datetime, list[str | None]] = defaultdict(list)
    for order, method in paid_within_five_minutes():
        groups[start(order, 5)].append(method)
    return [(t, len(methods), sum(m is not None for m in methods)) for t, methods in groups.items()]


def prices_in_force() -> Rows:
    found = []
    for order in ORDERS:
        earlier = [(since, price) for item, price, since in PRICES if item == order.item and since <= order.ts]
        since, price = max(earlier, default=(None, None))
        found.append((order.order_id, order.item, price, since))
    return found


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
    ("37_early_results", 1): [(*k, len(g), total(g)) for k, g in per_item().items()],
    ("37_early_results", 2): panes(),
    ("38_changelog", 1): changes(),
    ("38_changelog", 2): carts(),
    ("41_emit_triggers", 0): bills(),
    ("41_emit_triggers", 1): packets(),
    ("42_cumulate_distinct", 0): quarters(),
    ("42_cumulate_distinct", 1): buyers(),
    ("46_joins", 0): [(o.order_id, o.customer, m) for o in ORDERS for of, m, _ in PAYMENTS if of == o.order_id],
    ("46_joins", 1): [(o.order_id, method) for o, method in paid_within_five_minutes()],
    ("46_joins", 2): paid_per_window(),
    ("46_joins", 4): [(o.order_id, o.item) for o in ORDERS if (o.order_id, "card") in {p[:2] for p in PAYMENTS}],
    ("46_joins", 5): [(o.order_id, o.item) for o, method in paid_within_five_minutes() if method is None],
    ("47_temporal_joins", 0): prices_in_force(),
    ("47_temporal_joins", 2): [(o.order_id, ITEMS[o.item]) for o in ORDERS],
    ("56_database", 0): [(i, len(g)) for (i,), g in grouped(ORDERS[:6], lambda o: (o.item,)).items()],
    ("56_database", 1): [(o.order_id, o.customer, sum(x.customer == o.customer for x in ORDERS)) for o in ORDERS],
    ("58_upsert_kafka", 0): new_customers(),
    ("58_upsert_kafka", 1): [(len(new_customers()), sum(row[1] for row in new_customers()))],
}


@pytest.mark.parametrize(("example", "number"), EXPECTED)
def test_expected_output(example: str, number: int) -> None:
    text = (FOLDER / f"{example}.out").read_text("utf-8").split("=== ")[1 + number]
    rows = sorted(tuple(v.strip() for v in line.split(" | ")) for line in text.strip().splitlines()[2:])
    assert rows == sorted(tuple(map(cell, row)) for row in EXPECTED[example, number])
