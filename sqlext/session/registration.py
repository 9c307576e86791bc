"""Register DataFrames as temporary tables, with time attributes where they are named.

======== ==========================================
CAT-001  the table's name is taken by another temporary one
DDL-001  two columns of one name
TIME-010 the rowtime names no column
TIME-011 the rowtime is no timestamp
TIME-015 the watermark's delay is no duration, or below zero
TIME-016 a watermark without a rowtime
OPT-016  a table of a DataFrame that this session does not have
OPT-017  a static DataFrame that is to be bounded
ENV-013  no DataFrame of Spark
======== ==========================================
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from sqlext.connectors.dataframe import BOUNDED, KEY, RegisteredFrame
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.quoting import identifier, seconds_interval
from sqlext.settings import parse_duration
from sqlext.spark.reading.frames import Frames
from sqlext.spark.sessions import check_frame
from sqlext.spark.types import logical_type
from sqlext.types import TIMESTAMP3, TIMESTAMP_LTZ3, LogicalType
from sqlext_catalog import ddl
from sqlext_catalog.model import Column, ObjectName, Options, Table, Watermark
from sqlext_catalog.session_catalog import SessionCatalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A watermark's delay: a text such as ``5 seconds``, or a timedelta.
Delay: TypeAlias = "str | timedelta"


@dataclass(frozen=True)
class FrameTable:
    """A DataFrame that is to be a table, with its time attributes; see ``Session.register``."""

    name: ObjectName
    frame: DataFrame
    rowtime: str | None = None
    watermark: Delay | None = None
    proctime: str | None = None
    bounded: bool = False


def register_frame(wanted: FrameTable, catalog: SessionCatalog, frames: Frames, *, replace: bool) -> None:
    """Make a DataFrame a temporary table.

    Raises:
        SqlExtError: see the table of codes above.
    """
    check_frame(wanted.frame)
    key = uuid.uuid4().hex
    change = ddl.create(frame_table(wanted, key), "replace" if replace else "error")
    # Before the DataFrame is kept: a name that is refused must not hold one.
    catalog.apply(change, f"REGISTER {wanted.name}")
    frames.add(key, wanted.frame)
    # Tables go by DROP, which knows nothing of DataFrames: those without a table are let go here.
    tables = (r for r in catalog.snapshot().relations() if isinstance(r, Table))
    frames.keep_only({t.option(KEY) for t in tables})


def frame_table(wanted: FrameTable, key: str) -> Table:
    """Return the table that a DataFrame becomes, under a key of the session's; raises as ``register_frame``."""
    name, frame, rowtime, bounded = wanted.name, wanted.frame, wanted.rowtime, wanted.bounded
    if bounded and not frame.isStreaming:
        hint = "leave out bounded=True: a static DataFrame is read as it stands"
        raise SqlExtError("OPT-017", f"`{name.name}` is no stream: it has neither an end nor none", hint=hint)
    columns = [Column(f.name, logical_type(f.dataType)) for f in frame.schema.fields]
    if rowtime is not None:
        type_ = _rowtime_type(columns, rowtime)
        columns = [Column(c.name, type_) if c.name == rowtime else c for c in columns]
    if wanted.proctime is not None:
        columns.append(Column(wanted.proctime, TIMESTAMP_LTZ3.not_null(), "computed", "PROCTIME()"))
    _refuse_twins(columns)
    mark = Watermark(rowtime, _expression(rowtime, wanted.watermark)) if rowtime is not None else None
    if mark is None and wanted.watermark is not None:
        raise SqlExtError("TIME-016", "a watermark needs a rowtime", hint="say which column: rowtime='ts'")
    return Table(name, tuple(columns), mark, options=_options(frame, key, bounded), temporary=True)


def _rowtime_type(columns: Sequence[Column], rowtime: str) -> LogicalType:
    """Return the type of a rowtime: the column's, with the milliseconds in which event time is counted."""
    column = next((c for c in columns if c.name == rowtime), None)
    if column is None:
        names = [c.name for c in columns]
        hint = did_you_mean(rowtime, names) or f"it has {', '.join(names) or 'none'}"
        raise SqlExtError("TIME-010", f"rowtime `{rowtime}` is no column of the DataFrame", hint=hint)
    if column.type is None or not column.type.is_timestamp:
        raise SqlExtError(
            "TIME-011",
            f"a rowtime is a timestamp, and `{rowtime}` is {column.type or 'of a type that SQL does not know'}",
            hint=f"df.withColumn('{rowtime}', to_timestamp('{rowtime}'))",
        )
    return TIMESTAMP3 if column.type.root == "TIMESTAMP" else TIMESTAMP_LTZ3


def _expression(rowtime: str, delay: Delay | None) -> str:
    """Return the watermark as CREATE TABLE would have it."""
    millis = 0 if delay is None else _millis(delay)
    return f"{identifier(rowtime)} - {seconds_interval(millis)}" if millis else identifier(rowtime)


def _millis(delay: Delay) -> int:
    millis = int(delay / timedelta(milliseconds=1)) if isinstance(delay, timedelta) else parse_duration(delay)
    if millis is None or millis < 0:
        message = f"'{delay}' is no delay of a watermark"
        raise SqlExtError("TIME-015", message, hint="it is a number with a unit, `5 seconds` or `10 min`, zero or more")
    return millis


def _refuse_twins(columns: Sequence[Column]) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            hint = "give one of them another name: df.withColumnRenamed(...), or another proctime='...'"
            raise SqlExtError("DDL-001", f"there are two columns `{column.name}`", hint=hint)
        seen.add(column.name)


def _options(frame: DataFrame, key: str, bounded: bool) -> Options:
    read = (BOUNDED, str(bounded).lower()) if frame.isStreaming else ("scan.mode", "snapshot")
    return ("connector", RegisteredFrame.name), (KEY, key), read
