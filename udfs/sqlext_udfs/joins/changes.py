"""Compute what a micro-batch changes on one side of a join: its rows and their counts, before and after."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.joins.rows import JoinRows
from sqlext_udfs.kernel.arrow_numpy import table_of, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered


@dataclass(frozen=True, slots=True)
class SideChange:
    """A side's rows before and after a micro-batch: those that were held, then those that are new.

    Attributes:
        rows: with their counts and matches after the micro-batch.
        keys: groups of equal keys, numbered together with the other side; -1 for a key that matches nothing.
        count, matches: of each row before.
        held: how many of the rows were held.
    """

    rows: JoinRows
    keys: Groups
    count: Ints
    matches: Ints
    held: int

    def touched(self) -> Bools:
        """Return which rows have another count than before."""
        touched: Bools = self.rows.count != self.count
        return touched

    def matched(self, more: Ints) -> SideChange:
        """Return the change with more matches."""
        return replace(self, rows=replace(self.rows, matches=self.rows.matches + more))


def appended(held: JoinRows, new: JoinRows, keys: Groups) -> SideChange:
    """Return a change by new rows, each for itself.

    Args:
        held: the rows before.
        new: the rows that have come.
        keys: of both.
    """
    nothing = np.zeros(len(new), np.int64)
    return SideChange(
        held.with_(new),
        keys,
        np.concatenate([held.count, nothing]),
        np.concatenate([held.matches, nothing]),
        len(held),
    )


def netted(held: JoinRows, signed: JoinRows, keys: Groups) -> SideChange:
    """Return a change by rows that come and go: equal rows become one, and those that cancel out are gone.

    A row that is taken back but is not held changes nothing: its state was forgotten.

    Args:
        held: the rows before, no two of them equal.
        signed: the rows that have come; less than 0 are taken back.
        keys: of both.
    """
    held_keys, new_keys = keys.ids[: len(held)], keys.ids[len(held) :]
    known = np.zeros(keys.count + 1, np.bool_)
    known[new_keys] = True
    # Only a held row whose key comes now can equal a row that comes.
    near = np.flatnonzero(known[held_keys])
    groups = _equal_rows(held.at(near), signed)
    of_held, of_new = groups.ids[: len(near)], groups.ids[len(near) :]
    # Sums of few small numbers: exact as floats.
    change = np.bincount(of_new, signed.count, groups.count).astype(np.int64)
    place = np.full(groups.count, -1, np.int64)
    place[of_held] = near
    old = np.flatnonzero((place >= 0) & (change != 0))
    first = Groups(of_new, groups.count).first()
    # A row whose key matches nothing is not held: what is taken back of it need not be there.
    gone = (change < 0) & (new_keys[first] >= 0)
    new = np.flatnonzero((place < 0) & (change != 0) & ~gone)
    count, time = held.count.copy(), held.time.copy()
    count[place[old]] = np.maximum(count[place[old]] + change[old], 0)
    time[place[old]] = signed.time[first[old]]
    places = first[new]
    added = replace(signed.at(places), count=change[new])
    made = appended(held, added, Groups(np.concatenate([held_keys, new_keys[places]]), keys.count))
    times = np.concatenate([time, added.time])
    return replace(made, rows=replace(made.rows, count=np.concatenate([count, added.count]), time=times))


def key_groups(left: list[JoinRows], right: list[JoinRows], keys: int, *, null_safe: bool) -> tuple[Groups, Groups]:
    """Return the groups of equal keys of the rows of both sides, numbered together.

    Args:
        left, right: rows of both sides.
        keys: how many of their first columns are the key.
        null_safe: whether NULL keys are equal; else they have -1.
    """
    parts = [*left, *right]
    rows = sum(map(len, parts))
    columns = [_normal([p.columns[i] for p in parts]) for i in range(keys)]
    groups = numbered(columns, (), rows)
    ids = groups.ids
    if not null_safe:
        for column in columns:
            if column.null_count:
                ids = np.where(np.asarray(column.is_valid()), ids, -1)
    split = sum(map(len, left))
    return Groups(ids[:split], groups.count), Groups(ids[split:], groups.count)


def _equal_rows(held: JoinRows, signed: JoinRows) -> Groups:
    pairs = zip(held.columns, signed.columns, strict=True)
    return numbered([_normal([a, b]) for a, b in pairs], (), len(held) + len(signed))


def _normal(parts: list[pa.Array]) -> pa.Array:
    return whole(normalised(table_of([pa.concat_arrays(parts)])).column(0))
