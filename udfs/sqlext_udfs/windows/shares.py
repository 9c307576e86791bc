"""Do the partial work of several windows once for all of them.

Windows that differ in their aggregates alone have the same partial results. Windows of fewer keys, or of wider slices,
have partial results that are made of those: a minute's count for all keys is a sum of the ten-second counts of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.arrow_numpy import integers
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.panes.columns import PARTIAL, is_partial
from sqlext_udfs.windows.panes.pieces import slicing_of
from sqlext_udfs.windows.panes.slices import Slicing
from sqlext_udfs.windows.specification import WindowSpecification

#: Aggregates whose result is the same to the last bit, however often and in which order results are joined.
_EXACT = frozenset(["count", "sum", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"])


@dataclass(frozen=True)
class Coarser:
    """An operator whose partial results are made of the finer ones of another.

    Attributes:
        operator: joins them.
        slicing: of its windows.
        keys: how many it has.
        buckets: into how many its state is cut.
    """

    operator: WindowOperator
    slicing: Slicing
    keys: int
    buckets: int

    def cut(self, partial: pa.Table) -> pa.Table:
        """Return partial results of finer slices with the coarser slice of each, not joined yet."""
        starts, _ = self.slicing.assign(integers(partial.column(self.keys)))
        return partial.set_column(self.keys, partial.column_names[self.keys], pa.array(starts))


@dataclass(frozen=True)
class Share:
    """What of the partial work of several operators is one operator's.

    Attributes:
        member: the operator's number.
        rows: positions of its input columns among those of all; None where all are its own.
        partials: positions of the columns of its partial results among those of all.
        coarser: joins them further, where its keys are fewer or its slices are wider.
    """

    member: int
    rows: tuple[int, ...] | None = None
    partials: tuple[int, ...] = ()
    coarser: Coarser | None = None

    def of(self, table: pa.Table) -> pa.Table:
        """Return the operator's part of rows, or of partial results; the last column, the bucket, stays the last."""
        if self.rows is None:
            return table
        partial = is_partial(table)
        places = self.partials if partial else self.rows
        names = [f"{PARTIAL if partial else 'c'}{i}" for i in range(len(places))]
        last = table.num_columns - 1
        found = table.select([*places, last]).rename_columns([*names, table.column_names[last]])
        return self.coarser.cut(found) if partial and self.coarser is not None else found


@dataclass(frozen=True)
class Sharing:
    """A window operator that may work with others.

    Attributes:
        specification: what it computes.
        types: of the columns that go in.
        places: of these columns, their positions among those of all.
        buckets: into how many its state is cut.
        coarser: whether its keys are fewer than the first one's, or its slices wider.
    """

    specification: WindowSpecification
    types: tuple[pa.DataType, ...]
    places: tuple[int, ...]
    buckets: int
    coarser: bool = False


def slices_of(of: WindowSpecification) -> Slicing | None:
    """Return the slices of windows of fixed length without gaps between them; None for others."""
    if of.time is None or of.start is not None or of.values:
        return None
    slicing = slicing_of(of.policy.window)
    return slicing if slicing is not None and slicing.step <= slicing.size else None


def is_exact(of: WindowSpecification, types: Sequence[pa.DataType]) -> bool:
    """Return whether its aggregates are the same, however results are joined on the way."""
    return all(_is_exact(call, [types[i] for i in call.inputs]) for call in of.aggregates)


def _is_exact(call: AggregateCall, types: Sequence[pa.DataType]) -> bool:
    # Sums of floating-point numbers are rounded at each step. Of nested values equal ones can look different.
    rounds = call.function == "sum" and any(pa.types.is_floating(of) for of in types)
    return call.function in _EXACT and not rounds and not any(pa.types.is_nested(of) for of in types)


def combined(asked: Sequence[Sharing], types: Sequence[pa.DataType]) -> tuple[WindowOperator, list[Share]] | None:
    """Return an operator that does the partial work of several, and what of it is whose.

    Args:
        asked: operators with the same keys, times and policy, at the same positions, and coarser ones behind them.
        types: of the columns of all of them.

    Returns:
        None where rows must reach one of them as they are.
    """
    calls: list[AggregateCall] = []
    mine: list[list[int]] = []
    for each in asked:
        found = []
        for call in each.specification.aggregates:
            moved = replace(call, inputs=tuple(each.places[i] for i in call.inputs), name="")
            if moved not in calls:
                calls.append(moved)
            found.append(calls.index(moved))
        mine.append(found)
    operator = WindowOperator(replace(asked[0].specification, aggregates=tuple(calls)), types)
    layout, own = operator.partial_layout, [WindowOperator(a.specification, a.types) for a in asked]
    if layout is None or any(each.partial_layout is None for each in own):
        return None
    begin, widths = layout.keys + layout.bounds + 1, layout.aggregation.widths
    starts = [begin + sum(widths[:n]) for n in range(len(widths))]
    shares = []
    for number, (each, chosen, alone) in enumerate(zip(asked, mine, own, strict=True)):
        keys = each.places[: each.specification.keys]
        results = (starts[call] + i for call in chosen for i in range(widths[call]))
        places = (*keys, *range(layout.keys, begin), *results)
        shares.append(Share(number, each.places, places, _coarser(each, alone) if each.coarser else None))
    return operator, shares


def _coarser(of: Sharing, operator: WindowOperator) -> Coarser:
    slicing = slices_of(of.specification)
    assert slicing is not None, "only slices are made of others"
    return Coarser(operator, slicing, of.specification.keys, of.buckets)
