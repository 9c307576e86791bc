"""Reduce a batch of changes to the last row of each key, and merge that into a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlext.plan.nodes import EXISTS
from sqlext.quoting import identifier
from sqlext.sinks.base import SinkContext
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ARRIVAL = "__arrival"


def existence(context: SinkContext) -> str | None:
    """Return the column of ``one_row_per_key`` that says whether a row is there, or is gone; None: all are there."""
    return EXISTS if context.kind is not None else context.exists


def one_row_per_key(rows: DataFrame, keys: Sequence[str], context: SinkContext) -> DataFrame:
    """Return the last row of every key.

    A batch of an updating query has one row per key of the query; ``keys`` may be others. Then a row that exists goes
    before one that is gone. Of a changelog the net rows count.
    """
    # A batch has one row of each key of the query. Keys with that key among them need no more.
    if context.exists is not None and context.keys and set(context.keys) <= set(keys):
        return rows
    there = existence(context)
    return last_of_each(net_rows(rows, context), keys, [there] if there is not None else [])


def net_rows(rows: DataFrame, context: SinkContext) -> DataFrame:
    """Return what is left of a batch with the order in which it came; of a changelog with ``EXISTS`` for its kinds."""
    from pyspark.sql import functions as f

    # Grows within a partition, where the changes of a key of the query stand in order.
    numbered = rows.withColumn(_ARRIVAL, f.monotonically_increasing_id())
    return numbered if context.kind is None else _net(numbered, context.kind)


def last_of_each(rows: DataFrame, keys: Sequence[str], before: Sequence[str]) -> DataFrame:
    """Return the last one of ``net_rows`` of every key.

    Args:
        before: conditions; the row for which one holds goes before one that came later.
    """
    from pyspark.sql import functions as f

    every = f.struct(*(f.col(identifier(c)) for c in rows.columns if c != _ARRIVAL))
    # ``max_by`` compares a struct field by field: whether the row is there comes before when it came.
    last = f.max_by(every, f.struct(*map(f.expr, before), f.col(_ARRIVAL))).alias("__last")
    return rows.groupBy(*(identifier(k) for k in keys)).agg(last).select("__last.*")


def merge_statement(target: str, source: str, keys: Sequence[str], names: Sequence[str], gone: str | None) -> str:
    """Return the MERGE of a batch.

    Args:
        target: the table, as SQL names it.
        source: the batch, with one row of each key.
        keys: columns that name a row; none: there is one row.
        names: the table's columns, quoted.
        gone: the boolean column of the batch that says whether a row is there; None: all are there.
    """
    # Null-safe: the group of NULL is one row as well.
    on = " AND ".join(f"t.{identifier(k)} <=> s.{identifier(k)}" for k in keys) or "true"
    # MERGE takes the first clause that holds, so the deletion stands before the update.
    exists = f"s.{identifier(gone)}" if gone is not None else "true"
    return (
        f"MERGE INTO {target} t USING {source} s ON {on}\n"
        f"WHEN MATCHED AND NOT {exists} THEN DELETE\n"
        f"WHEN MATCHED THEN UPDATE SET {', '.join(f't.{n} = s.{n}' for n in names)}\n"
        f"WHEN NOT MATCHED AND {exists} THEN INSERT ({', '.join(names)}) "
        f"VALUES ({', '.join(f's.{n}' for n in names)})"
    )


def _net(rows: DataFrame, kind: str) -> DataFrame:
    """Return the rows of a changelog that are left, or are taken back more often than added: each once.

    A batch may add a row, change it and take it away; only what remains of that is to reach the table.
    """
    from pyspark.sql import functions as f

    sign = f"sum(CASE WHEN {identifier(kind)} IN ({INSERT}, {UPDATE_AFTER}) THEN 1 ELSE -1 END)"
    names = [identifier(c) for c in rows.columns if c not in (kind, _ARRIVAL)]
    summed = rows.groupBy(*names).agg(f.expr(sign).alias(EXISTS), f.max(_ARRIVAL).alias(_ARRIVAL))
    return summed.where(f"{EXISTS} <> 0").withColumn(EXISTS, f.col(EXISTS) > 0)
