"""Find the database of a URL, and connect to it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlext.connectors.jdbc.database import Connection, Driver, said
from sqlext.connectors.jdbc.mysql import MARIADB, MYSQL
from sqlext.connectors.jdbc.postgresql import POSTGRESQL
from sqlext.connectors.jdbc.sqlite import SQLITE
from sqlext.connectors.options import OptionError
from sqlext.errors import SqlExtError
from sqlext.secrets import remember_options
from sqlext.settings import parse_duration
from sqlext_catalog.secrets import resolve_secret

DATABASES: Mapping[str, Driver] = {d.name: d for d in (POSTGRESQL, MYSQL, MARIADB, SQLITE)}
#: Flink's default of 'connection.max-retry-timeout'.
_PATIENCE = "60 s"


@dataclass(frozen=True)
class Address:
    """A table of a database.

    Attributes:
        database: its kind.
        settings: what the driver is told, secrets resolved.
        table: as option 'table-name' has it.
        url: for messages.
    """

    database: Driver
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    table: str
    url: str

    def __str__(self) -> str:
        return f"table `{self.table}` of {self.url}"

    @contextmanager
    def connected(self, retries: int = 0) -> Iterator[Connection]:
        """Give a connection to the block, and close it.

        Args:
            retries: how often connecting is tried again, after one second, then two, as Flink waits.

        Raises:
            SqlExtError: RUN-070 for whatever the driver raises, ENV-011 where it is not installed.
        """
        failures = self.database.failures()
        connection = None
        try:
            connection = self._connect(retries, failures)
            yield connection
        except failures as error:
            raise SqlExtError("RUN-070", f"{self}: {said(error)}") from error
        finally:
            if connection is not None:
                connection.close()

    def _connect(self, retries: int, failures: tuple[type[Exception], ...]) -> Connection:
        for number in range(retries):
            try:
                return self.database.connect(dict(self.settings))
            except failures:
                time.sleep(number + 1)
        return self.database.connect(dict(self.settings))


def database_of(url: str) -> tuple[Driver, str]:
    """Return the kind of database of a URL, and the URL without ``jdbc:name:``.

    Raises:
        OptionError: OPT-005 for one that is not known.
    """
    scheme, _, rest = url.partition(":")
    name, _, address = rest.partition(":")
    if scheme != "jdbc" or not address:
        hint = "jdbc:postgresql://host:5432/database, jdbc:mysql://host:3306/database, or jdbc:sqlite:/folder/file.db"
        raise OptionError("OPT-005", f"`{url}` is no URL of a database", option="url", hint=hint)
    if name not in DATABASES:
        raise OptionError(
            "OPT-005",
            f"connector 'jdbc' knows {', '.join(DATABASES)}, not {name}",
            option="url",
            hint="'connector' = 'spark', 'format' = 'jdbc', 'scan.mode' = 'snapshot' reads and appends to any database "
            "whose Java driver Spark has (spark.jars), by Spark's options 'url' and 'dbtable'",
        )
    return DATABASES[name], address


def place_of(options: Mapping[str, str]) -> Address:
    """Return where a table lies, by its options; raises as ``database_of`` and ``Driver.settings``."""
    database, address = database_of(options["url"])
    patience = parse_duration(options.get("connection.max-retry-timeout", _PATIENCE)) or 0
    settings = {"connect_timeout": str(max(patience // 1000, 1)), **database.settings(address)}
    login = {"user": options.get("username"), "password": options.get("password")}
    remember_options(options.items())
    settings |= {name: resolve_secret(value) for name, value in login.items() if value is not None}
    return Address(database, tuple(settings.items()), options["table-name"], options["url"])
