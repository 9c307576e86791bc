"""Know SQLite, by Python's own driver. It has no types for times and decimals: they are texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlext.connectors.jdbc.database import Connection, Conversion, Driver, Row, Settings, quoted, said
from sqlext.connectors.options import OptionError
from sqlext.locations import absolute, is_remote, scheme_of
from sqlext.types import LogicalType

_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT"), "INTEGER"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "REAL"),
    **dict.fromkeys(("CHAR", "VARCHAR", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"), "TEXT"),
    "BINARY": "BLOB",
    "VARBINARY": "BLOB",
}
_HINT = "jdbc:sqlite:/folder/file.db"
#: With Python's 28 digits ``quantize`` would refuse what a DECIMAL(38) holds.
_WIDEST = Context(prec=80)


class Sqlite(Driver):
    """A file of SQLite 3.24 and later: the first with ON CONFLICT."""

    name = "sqlite"
    drivers = ("org.sqlite.JDBC",)
    parameter = "?"
    begin = "BEGIN IMMEDIATE"
    define = ("BEGIN IMMEDIATE",)

    def settings(self, address: str) -> dict[str, str]:
        """Return the file; see ``Driver.settings``."""
        path = absolute(address.removeprefix("file:").partition("?")[0])
        if not path or address.startswith(":"):
            message = f"`{address}` is no file: the processes of a query share a database in a file alone"
            raise OptionError("OPT-005", message, option="url", hint=_HINT)
        if is_remote(path):
            message = f"`{path}` is no file of this machine: it is a URL with the scheme `{scheme_of(path)}`"
            raise OptionError("OPT-005", message, option="url", hint=_HINT)
        return {"database": path}

    def has_room(self, settings: Settings) -> bool:
        """Return whether the file is there; a sink makes it."""
        return Path(settings["database"]).exists()

    def make_room(self, settings: Settings) -> None:
        """Make the file: an empty one is an empty database."""
        file = Path(settings["database"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()

    def connect(self, settings: Settings) -> Connection:
        """Return a connection; see ``Driver.connect``. It waits as long for others as for a server to answer."""
        patience = float(settings.get("connect_timeout", "60"))
        # Who reads must not make a file where none is.
        place = f"file:{quote(settings['database'])}?mode=rw"
        # Without the module's own transactions, which begin unasked.
        return sqlite3.connect(place, uri=True, timeout=patience, isolation_level=None)

    def failures(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""
        return (sqlite3.Error,)

    def refusal(self, error: Exception) -> str | None:
        """Return why a row is refused: constraints, RAISE of a trigger, the types of a STRICT table."""
        return said(error) if isinstance(error, (sqlite3.IntegrityError, sqlite3.DataError)) else None

    def place(self, connection: Connection, table: str) -> str | None:
        """Return a table's quoted name; SQLite does not tell lower from upper case."""
        statement = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE"
        return quoted(table) if connection.execute(statement, (table,)).fetchone() is not None else None

    def columns(self, connection: Connection, place: str) -> dict[str, str]:
        """Return the columns of a table."""
        return {str(row[1]): str(row[2]) for row in connection.execute(f"PRAGMA table_info({place})")}

    def column_type(self, declared: LogicalType) -> str | None:
        """Return the type of a new column."""
        return _TYPES.get(declared.root)

    def fits(self, declared: LogicalType, found: str) -> bool:
        """Return True: each value has a type of its own, so it is known when it is read."""
        return True

    def selected(self, column: str, declared: LogicalType) -> str:
        """Return the column."""
        return column

    def read(self, declared: LogicalType) -> Conversion | None:
        """Return what makes a value of the type of one of SQLite; it raises ValueError for one that is none."""
        if declared.root == "DECIMAL":
            step = Decimal(1).scaleb(-(declared.scale or 0))
            return lambda value: Decimal(str(value)).quantize(step, ROUND_HALF_UP, _WIDEST)
        return _READ.get(declared.root)

    def written(self, declared: LogicalType) -> Conversion | None:
        """Return what makes a value of SQLite."""
        return _WRITTEN.get(declared.root)

    def fetch(self, connection: Connection, statement: str, size: int) -> Iterator[Sequence[Row]]:
        """Yield rows."""
        cursor = connection.execute(statement)
        while rows := cursor.fetchmany(size):
            yield rows


def _whole(value: Any) -> int:
    if int(value) != value:
        raise ValueError(f"{value!r} is no whole number")
    return int(value)


def _moment(value: Any) -> datetime:
    return datetime.fromisoformat(str(value).replace("Z", "+00:00"))


def _wall_clock(value: Any) -> datetime:
    moment = _moment(value)
    if moment.tzinfo is not None:
        raise ValueError(f"{value!r} has a zone")
    return moment


def _instant(value: Any) -> datetime:
    moment = _moment(value)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)


def _instant_text(value: datetime) -> str:
    return f"{value.astimezone(timezone.utc).replace(tzinfo=None).isoformat(' ')}Z"


_READ: Mapping[str, Conversion] = {
    "BOOLEAN": bool,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), _whole),
    **dict.fromkeys(("FLOAT", "DOUBLE"), float),
    **dict.fromkeys(("CHAR", "VARCHAR", "TIME"), str),
    "DATE": lambda value: date.fromisoformat(str(value)),
    "TIMESTAMP": _wall_clock,
    "TIMESTAMP_LTZ": _instant,
}
_WRITTEN: Mapping[str, Conversion] = {
    "BOOLEAN": int,
    **dict.fromkeys(("DECIMAL", "TIME", "DATE"), str),
    "TIMESTAMP": lambda value: value.isoformat(" "),
    "TIMESTAMP_LTZ": _instant_text,
}

SQLITE = Sqlite()
