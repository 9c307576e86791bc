"""One sink more of a job: a database, or a topic that gets each record once."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kills.rows import Row

Found = list[tuple[Any, ...]]


class Sink:
    """A table that a job writes, and what it must have.

    Attributes:
        name: of the table; table: declares it; insert: fills it; environment: what a driver has to know.
    """

    name = ""
    table = ""
    insert = ""
    environment: dict[str, str] = {}  # noqa: RUF012 (it is never changed)

    def found(self) -> Found:
        """Return its rows as another program sees them, sorted."""
        raise NotImplementedError

    def wanted(self, rows: Sequence[Row]) -> Found:
        """Return the rows that it must have, sorted."""
        raise NotImplementedError


@dataclass
class Appended(Sink):
    """Takes the rows as they come."""

    def __post_init__(self) -> None:
        self.name = "kept"
        self.insert = "INSERT INTO kept SELECT k, id, v FROM events;\n"
        self.table = f"CREATE TABLE IF NOT EXISTS kept (k STRING, id INT, v INT) WITH ({self._options()});\n"

    def _options(self) -> str:
        raise NotImplementedError

    def wanted(self, rows: Sequence[Row]) -> Found:
        """Return each row."""
        return sorted((row.key, row.id, row.number) for row in rows)


@dataclass
class Sqlite(Appended):
    """A table of SQLite."""

    file: Path

    def _options(self) -> str:
        return f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{self.file}', 'table-name' = 'kept'"

    def found(self) -> Found:
        """Return its rows."""
        with closing(sqlite3.connect(self.file)) as connection:
            return sorted(connection.execute("SELECT k, id, v FROM kept"))


@dataclass
class Totals(Sink):
    """Totals by key in a table of SQLite, changed row by row."""

    file: Path

    def __post_init__(self) -> None:
        self.name = "sums"
        self.table = (
            "CREATE TABLE IF NOT EXISTS sums (k STRING, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)\n"
            f"WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{self.file}', 'table-name' = 'sums');\n"
        )
        self.insert = "INSERT INTO sums SELECT k, COUNT(*), SUM(CAST(v AS BIGINT)) FROM events GROUP BY k;\n"

    def found(self) -> Found:
        """Return its rows."""
        with closing(sqlite3.connect(self.file)) as connection:
            return sorted(connection.execute("SELECT k, n, s FROM sums"))

    def wanted(self, rows: Sequence[Row]) -> Found:
        """Return how many rows each key has, and their sum."""
        counts = Counter(row.key for row in rows)
        return sorted((key, n, sum(row.number for row in rows if row.key == key)) for key, n in counts.items())


@dataclass
class Postgresql(Appended):
    """A table of PostgreSQL."""

    url: str

    def __post_init__(self) -> None:
        super().__post_init__()
        from tests.postgresql_server import PASSWORD

        self.environment = {"PG_PASSWORD": PASSWORD}

    def _options(self) -> str:
        from tests.postgresql_server import USER

        login = f"'username' = '{USER}', 'password' = 'env:PG_PASSWORD'"
        return f"'connector' = 'jdbc', 'url' = '{self.url}', 'table-name' = 'kept', {login}"

    def found(self) -> Found:
        """Return its rows."""
        import psycopg

        from tests.postgresql_server import PASSWORD, USER

        where = self.url.removeprefix("jdbc:").replace("//", f"//{USER}:{PASSWORD}@")
        with psycopg.connect(where) as connection:
            return sorted(connection.execute("SELECT k, id, v FROM kept").fetchall())


@dataclass
class Topic(Appended):
    """A topic that gets each record once, as readers of committed records see it."""

    broker: str
    topic: str
    writers: int = field(default=2)

    def _options(self) -> str:
        return (
            f"'connector' = 'kafka', 'topic' = '{self.topic}', 'properties.bootstrap.servers' = '{self.broker}',\n"
            "'format' = 'json', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'kills',\n"
            f"'sink.parallelism' = '{self.writers}'"
        )

    def found(self) -> Found:
        """Return its records."""
        from tests.kafka_broker import committed_values

        return sorted(tuple(json.loads(value).values()) for value in committed_values(self.broker, self.topic))
