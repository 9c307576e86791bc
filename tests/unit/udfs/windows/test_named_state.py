"""Aggregates are found in state by name: some are added, dropped and reordered while windows are open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.windows.policy import Global, Hop, Policy, Session, Tumble
from sqlext_udfs.windows.triggers.tree import EveryRow, WindowClose
from tests.operator_runs import TIME, VALUE, Row, Run, specification

CALLS = {
    "count": AggregateCall("count"),
    "sum": AggregateCall("sum", (VALUE,)),
    "min": AggregateCall("min", (VALUE,)),
    "bit_or": AggregateCall("bit_or", (VALUE,)),
    "variance": AggregateCall("variance", (VALUE,)),
    "first": AggregateCall("first", (VALUE,)),
    "last": AggregateCall("last", (VALUE,)),
    "max_by": AggregateCall("max_by", (VALUE, TIME)),
    "collect_list": AggregateCall("collect_list", (VALUE,)),
    "percentile": AggregateCall("percentile", (VALUE,)),
    "mode": AggregateCall("mode", (VALUE,)),
    "distinct": AggregateCall("sum", (VALUE,), distinct=True),
    "different": AggregateCall("approx_count_distinct", (VALUE,)),
}
POLICIES = {
    "one pane": (Policy(Tumble(10), WindowClose()), 1),
    "shared slices": (Policy(Hop(20, 10), WindowClose()), 1),
    "sessions": (Policy(Session(5), WindowClose()), 1),
    "lanes": (Policy(Tumble(10), EveryRow()), 2),
    "lanes without windows": (Policy(Global(), EveryRow()), 2),
    "groups": (Policy(Tumble(10), EveryRow()), 3),
}
BEFORE = [Row("a", 3, 1), Row("b", 5, 2), Row("a", 7, 4)]
AFTER = [Row("a", 4, 5), Row("c", 8, 6), Row("a", 6, 7)]


def run(policy: str, names: Sequence[str], named: bool = True) -> Run:
    calls = [CALLS[n] for n in names]
    own, least = POLICIES[policy]
    if named:
        calls = [
            AggregateCall(c.function, c.inputs, c.distinct, c.parameters, n) for n, c in zip(names, calls, strict=True)
        ]
    return Run(specification(own, calls), least=least)


def last_rows(of: Run, rows: Sequence[Row]) -> dict[Any, tuple[Any, ...]]:
    """Return the last results of each key and window."""
    out = [*of.step(rows, watermark=0), *of.step(watermark=100)]
    return {(o.key, o.window): o.results for o in out}


def results(of: Run, names: Sequence[str]) -> dict[str, slice]:
    places, at = {}, 0
    for name in names:
        width = 3 if name == "variance" else 1
        places[name] = slice(at, at + width)
        at += width
    return places


@pytest.mark.parametrize("added", CALLS)
@pytest.mark.parametrize("policy", POLICIES)
def test_aggregates_move(policy: str, added: str) -> None:
    old = ["sum", "collect_list", "count"] if added not in ("sum", "count") else ["min", "collect_list", "last"]
    old = [n for n in old if n != added]
    kept = old[1:]
    new = [added, *reversed(kept)]
    changed, whole, alone = run(policy, new), run(policy, new), run(policy, new)
    begun = run(policy, old)
    begun.step(BEFORE, watermark=0)
    whole.step(BEFORE, watermark=0)
    changed.saved, changed.watermark = begun.saved, begun.watermark
    found, all_rows, later = last_rows(changed, AFTER), last_rows(whole, AFTER), last_rows(alone, AFTER)
    assert {k[0] for k in all_rows} >= {"a", "c"}
    places = results(changed, new)
    for key, values in found.items():
        for name in kept:  # of all rows
            assert values[places[name]] == all_rows[key][places[name]]
        if key in later:  # of the rows that came since
            assert values[places[added]] == later[key][places[added]]
    assert set(found) == set(all_rows)


@pytest.mark.parametrize("policy", POLICIES)
def test_state_without_names_goes_by_places(policy: str) -> None:
    names = ["sum", "count"]
    begun = run(policy, names, named=False)
    begun.step(BEFORE, watermark=0)
    changed, whole = run(policy, names), run(policy, names)
    whole.step(BEFORE, watermark=0)
    changed.saved, changed.watermark = begun.saved, begun.watermark
    assert last_rows(changed, AFTER) == last_rows(whole, AFTER)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_last_aggregate_goes_and_the_first_one_comes(policy: str) -> None:
    """A query that asks for keys alone keeps none."""
    begun, gone, whole = run(policy, ["sum", "count"]), run(policy, []), run(policy, [])
    for each in (begun, whole):
        each.step(BEFORE, watermark=0)
    gone.saved, gone.watermark = begun.saved, begun.watermark
    assert last_rows(gone, AFTER[:1]) == last_rows(whole, AFTER[:1])
    come, alone = run(policy, ["count"]), run(policy, ["count"])
    none = run(policy, [])
    none.step(BEFORE, watermark=0)
    come.saved, come.watermark = none.saved, none.watermark
    found, later = last_rows(come, AFTER), last_rows(alone, AFTER)
    # A session has begun with the rows from before.
    of_keys, of_later = ({key: values for (key, _), values in each.items()} for each in (found, later))
    assert {key: values for key, values in of_keys.items() if key in of_later} == of_later
