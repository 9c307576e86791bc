"""Keep the DataFrames that a session's tables stand for."""

from __future__ import annotations

import uuid
from collections.abc import Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.spark.sessions import settled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Frames:
    """The registered DataFrames of a session, by the key that their tables have in an option."""

    _known: dict[str, DataFrame] = field(default_factory=dict)

    def add(self, key: str, frame: DataFrame) -> None:
        """Keep a DataFrame."""
        self._known[key] = frame

    def keep_only(self, keys: Set[str | None]) -> None:
        """Let those go that no table has any more."""
        for key in self._known.keys() - keys:
            del self._known[key]

    def opened(self, key: str, spark: SparkSession) -> DataFrame:
        """Return a DataFrame as one of ``spark``.

        A view is all that one Spark session can hand to another; it is gone again when this returns.

        Raises:
            SqlExtError: OPT-016 if there is none of that key.
        """
        frame = self._known.get(key)
        if frame is None:
            message = "this table is a DataFrame that was registered in another session"
            raise SqlExtError("OPT-016", message, hint="register it here: session.register(df, name, ...)")
        if frame.sparkSession is spark:
            return frame
        name = f"sqlext_{uuid.uuid4().hex}"
        frame.createGlobalTempView(name)
        try:
            return settled(spark.table(f"global_temp.{name}"))
        finally:
            # In SQL: the method of the same name takes a DataFrame that the user has cached out of the cache.
            spark.sql(f"DROP VIEW IF EXISTS global_temp.{name}")
