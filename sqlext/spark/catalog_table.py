"""Keep the catalog in a Delta table of Spark's own catalog, such as Unity Catalog: ``main.streaming.sqlext``.

The rows are those of ``sqlext_catalog.store``, and one commit of Delta is one statement. The row of the format has a
token, which each commit renews. A commit is one MERGE that replaces all rows if the token is the one that was read. So
of two commits made from the same rows one fails: by the token, or by Delta's own detection of conflicts.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple

from sqlext.errors import SqlExtError
from sqlext.spark.quiet import quiet
from sqlext.spark.sessions import own_session, platform_rules
from sqlext_catalog.rows import Row
from sqlext_catalog.snapshot import NEVER_COMMITTED, ChangeFunction, Snapshot
from sqlext_catalog.store import FORMAT_KIND, Version, after_changes, objects_of, rows_of, to_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MAX_ATTEMPTS = 20
#: Delta keeps it with a commit.
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_MERGE = """
MERGE INTO {table} AS t USING {new} AS s ON t.kind = 'format' AND s.kind = 'format'
WHEN MATCHED AND t.comment = '{token}' THEN UPDATE SET *
WHEN MATCHED THEN UPDATE SET name = raise_error('another commit was faster')
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE THEN DELETE
"""


class _Read(NamedTuple):
    snapshot: Snapshot
    token: str | None
    time: datetime | None  # of the commit: a table that was made anew may have reached the same version


class TableStore:
    """A catalog in a table. Nothing is created before the first commit. An instance belongs to one thread.

    Args:
        spark: any session of the Spark whose catalog has the table.
        name: ``catalog.schema.table`` or ``schema.table``; the schema exists.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        # A session of its own: no setting of ours is seen in the user's.
        self._spark = own_session(spark, self)
        self._name = name
        self._quoted = ".".join(f"`{part}`" for part in name.split("."))
        self._read: _Read | None = None

    def another(self) -> TableStore:
        """Return the same store, for use in another thread."""
        return TableStore(self._spark, self._name)

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the catalog as it is now, or as it was at a version.

        Raises:
            SqlExtError: CAT-030 if it cannot be read, CAT-034 there is no such version.
        """
        if version == NEVER_COMMITTED:
            return Snapshot.empty()
        now = self._now()
        newest = _version(now)
        if version is None or version == newest:
            return now.snapshot if now else Snapshot.empty()
        if not 0 <= version <= newest:
            raise SqlExtError("CAT-034", f"the catalog has no version {version}; the newest is {newest}")
        return self._at(version).snapshot

    def commit(self, change: ChangeFunction, operation: str) -> Snapshot:
        """Apply what ``change`` says in one atomic step and return the snapshot after it.

        Raises:
            SqlExtError: what ``change`` raises; CAT-033 if others are always faster, CAT-035 if it cannot be written.
        """
        for _ in range(_MAX_ATTEMPTS):
            now = self._now()
            before = now.snapshot if now else Snapshot.empty()
            changes = change(before)
            if not changes:
                return before
            if self._try_commit(now, rows_of(after_changes(before, changes)), operation):
                return self.snapshot()
            time.sleep(random.uniform(0, 0.25))  # noqa: S311
        message = f"the catalog in {self._name} is being changed by others all the time"
        raise SqlExtError(
            "CAT-033", f"{message}; gave up after {_MAX_ATTEMPTS} attempts", hint="run the statement again"
        )

    def history(self) -> list[Version]:
        """Return the commits, newest first."""
        if not self._spark.catalog.tableExists(self._quoted):
            return []
        rows = self._spark.sql(f"DESCRIBE HISTORY {self._quoted}").collect()
        return [Version(r.version, r.userMetadata or r.operation, r.timestamp.astimezone(timezone.utc)) for r in rows]

    def _now(self) -> _Read | None:
        """Return what the table holds now, None if there is none."""
        with _reading(self._name):
            if not self._spark.catalog.tableExists(self._quoted):
                self._read = None
                return None
            (newest,) = self._spark.sql(f"DESCRIBE HISTORY {self._quoted} LIMIT 1").collect()
        if self._read is None or (self._read.snapshot.version, self._read.time) != (newest.version, newest.timestamp):
            self._read = self._at(newest.version, newest.timestamp)
        return self._read

    def _at(self, version: int, time: datetime | None = None) -> _Read:
        with _reading(self._name):
            frame = self._spark.sql(f"SELECT * FROM {self._quoted} VERSION AS OF {version}")
            rows: list[Row] = frame.toArrow().to_pylist()
            (token,) = (row["comment"] for row in rows if row["kind"] == FORMAT_KIND)
            return _Read(Snapshot(objects_of(rows, self._name), version), token, time)

    def _try_commit(self, now: _Read | None, rows: list[Row], operation: str) -> bool:
        """Return whether the commit was made; False if another one was made before it."""
        token = uuid.uuid4().hex
        tokened = [row | {"comment": token} if row["kind"] == FORMAT_KIND else row for row in rows]
        try:
            with quiet(), self._said(operation):
                frame = self._spark.createDataFrame(to_table(tokened))
                if now is None:
                    frame.write.format("delta").saveAsTable(self._quoted)
                else:
                    self._spark.sql(_MERGE.format(table=self._quoted, token=now.token, new="{new}"), new=frame)
        except Exception as error:
            # A lost race, and whatever Spark cannot do: whether the table has a newer version tells them apart.
            after = self._now()
            if _version(after) == _version(now):
                message = f"cannot write the catalog in {self._name}: {_first_line(error)}"
                raise SqlExtError("CAT-035", message) from error
            return after is not None and after.token == token
        return True

    @contextmanager
    def _said(self, operation: str) -> Iterator[None]:
        """Have Delta keep the operation with the commits of the block, where the platform takes the setting."""
        said = platform_rules(self._spark).settable({_METADATA: operation})
        for key, value in said.items():
            self._spark.conf.set(key, value)
        try:
            yield
        finally:
            for key in said:
                self._spark.conf.unset(key)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn whatever Spark raises into one error that names the table."""
    try:
        with quiet():
            yield
    except SqlExtError:
        raise
    except Exception as error:
        message = f"the catalog in {name} cannot be read: {_first_line(error)}"
        hint = "it must be a Delta table that sqlext has made; name another one, which is made"
        raise SqlExtError("CAT-030", message, hint=hint) from error


def _version(read: _Read | None) -> int:
    return read.snapshot.version if read is not None else NEVER_COMMITTED


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
