"""Do the partial work of windows that differ in their aggregates alone once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.panes.columns import PARTIAL, is_partial
from sqlext_udfs.windows.specification import WindowSpecification


@dataclass(frozen=True)
class Share:
    """What of the partial work of several operators is one operator's.

    Attributes:
        member: the operator's number.
        rows: positions of its input columns among those of all; None where all are its own.
        partials: positions of the columns of its partial results among those of all.
    """

    member: int
    rows: tuple[int, ...] | None = None
    partials: tuple[int, ...] = ()

    def of(self, table: pa.Table) -> pa.Table:
        """Return the operator's part of rows, or of partial results; the last column, the bucket, stays the last."""
        if self.rows is None:
            return table
        partial = is_partial(table)
        places = self.partials if partial else self.rows
        names = [f"{PARTIAL if partial else 'c'}{i}" for i in range(len(places))]
        last = table.num_columns - 1
        return table.select([*places, last]).rename_columns([*names, table.column_names[last]])


@dataclass(frozen=True)
class Sharing:
    """A window operator that may work with others.

    Attributes:
        specification: what it computes.
        types: of the columns that go in.
        places: of these columns, their positions among those of all.
    """

    specification: WindowSpecification
    types: tuple[pa.DataType, ...]
    places: tuple[int, ...]


def combined(asked: Sequence[Sharing], types: Sequence[pa.DataType]) -> tuple[WindowOperator, list[Share]] | None:
    """Return an operator that does the partial work of several, and what of it is whose.

    Args:
        asked: operators with the same keys, times and policy, at the same positions.
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
    layout = operator.partial_layout
    if layout is None or any(WindowOperator(a.specification, a.types).partial_layout is None for a in asked):
        return None
    begin, widths = layout.keys + layout.bounds + 1, layout.aggregation.widths
    starts = [begin + sum(widths[:n]) for n in range(len(widths))]
    shares = [
        Share(
            number,
            each.places,
            (*range(begin), *(starts[call] + i for call in chosen for i in range(widths[call]))),
        )
        for number, (each, chosen) in enumerate(zip(asked, mine, strict=True))
    ]
    return operator, shares
