"""Sinks: what takes the rows of a query, batch by batch, exactly once.

``writeStream.foreachBatch(sink.write)`` hands every micro-batch to a sink. Spark may run a batch again: after a
failure, and after a restart when the driver died before Spark wrote its commit log. Every sink that keeps rows
therefore knows what it has committed, by the batch's number, in the same place as the rows:
a file sink by a redo log beside its files, a Delta sink by the table's own transaction log. What only passes rows
on (kafka, print, another Spark format) does so at least once.

A sink is a plain value that can be pickled: Spark Connect runs ``write`` on the server, where the session is the
batch's own, ``df.sparkSession``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlext.catalog.model import Options
from sqlext.connectors.spec import WriteSpec
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import EXISTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.execution.sink_plain import CollectSink

Mode = Literal["append", "upsert", "final-state"]


@dataclass(frozen=True)
class SinkContext:
    """What a sink needs to know of the query that writes to it.

    Attributes:
        run_id: the query's name and an id made with its checkpoint. A new checkpoint counts its batches from 0 again:
            under the same id they would be taken for repetitions and dropped.
        mode: ``append`` rows; ``upsert`` the rows of a key; ``final-state``: fold an updating result by key and write
            its rows once, at the end.
        overwrite: whether what is there goes (batch only).
        keys: hidden columns of an updating result that name a row; none for a result of one row.
        exists: boolean column of an updating result, false where the row of that key is gone.
        properties: table properties for a Delta table that the sink creates.
    """

    run_id: str
    mode: Mode = "append"
    overwrite: bool = False
    keys: tuple[str, ...] = ()
    exists: str | None = None
    properties: Options = ()

    @property
    def identity(self) -> str:
        """A name for folders and files, as unique as ``run_id`` and safe in any path."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", self.run_id).strip("-")[:40]
        return f"{slug}-{hashlib.sha256(self.run_id.encode()).hexdigest()[:12]}"


class Sink:
    """Takes the batches of one query. ``open`` comes first, ``finish`` when a bounded query has ended."""

    _client: SparkSession | None = None

    def open(self, spark: SparkSession) -> None:
        """Make ready, on the client, before the query starts; refuse here what would fail later."""
        object.__setattr__(self, "_client", spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Take a batch. May be called again with the same ``batch_id`` and the same rows."""
        raise NotImplementedError

    def finish(self) -> None:
        """Do what is left when the query has ended by itself. May be called again."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client's session behind: it cannot go where Spark Connect runs ``write``."""
        return {k: v for k, v in self.__dict__.items() if k != "_client"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def open_sink(
    spark: SparkSession,
    spec: WriteSpec,
    *,
    run_id: str,
    mode: Mode = "append",
    keys: tuple[str, ...] = (),
    updating: bool = False,
    overwrite: bool = False,
    properties: Mapping[str, str] | Options = (),
) -> Sink:
    """Return the sink of a table, ready to write. See ``SinkContext`` for the arguments.

    Raises:
        SqlExtError: SINK-090 the sink cannot write in that mode, SINK-091 what is there has other columns,
            SINK-092 the path is a file, SINK-093 a type that the format cannot hold.
    """
    exists = EXISTS if updating else None
    sink = _sink(spec, SinkContext(run_id, mode, overwrite, keys, exists, tuple(dict(properties).items())))
    sink.open(spark)
    return sink


def collect_sink(keys: tuple[str, ...] = (), updating: bool = False) -> CollectSink:
    """Return a sink that keeps the rows in this process: for SELECT at top level."""
    from sqlext.execution.sink_plain import CollectSink

    return CollectSink(SinkContext("select", keys=keys, exists=EXISTS if updating else None))


def _sink(spec: WriteSpec, context: SinkContext) -> Sink:
    """Return the sink. Imports wait until they are needed: pyarrow is not light."""
    if spec.connector == "filesystem":
        from sqlext.execution.sink_files import file_sink

        return file_sink(spec, context)
    if spec.connector == "delta":
        from sqlext.execution.sink_delta import DeltaSink

        return DeltaSink(spec, context)
    from sqlext.execution.sink_kafka import KafkaSink
    from sqlext.execution.sink_plain import BlackholeSink, PrintSink, SparkFormatSink

    passing = {"kafka": KafkaSink, "print": PrintSink, "blackhole": BlackholeSink, "spark": SparkFormatSink}
    return passing[spec.connector](spec, context)


def refuse_mode(spec: WriteSpec, context: SinkContext, *possible: Mode) -> None:
    """Refuse a mode that the sink has no meaning for."""
    if context.mode not in possible:
        what = {"upsert": "updates", "final-state": "a final state"}
        asked = what.get(context.mode, context.mode)
        raise SqlExtError("SINK-090", f"connector '{spec.connector}' (`{spec.name}`) does not take {asked}")


def session_zone(spark: SparkSession) -> str:
    """Return the time zone of a session."""
    return spark.conf.get("spark.sql.session.timeZone") or "UTC"
