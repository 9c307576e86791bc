"""Define what the connector must know of a kind of database; its drivers follow Python's DB-API 2."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlext.types import LogicalType

#: What a driver is told, by its own names.
Settings = Mapping[str, str]
#: Of a DB-API 2 driver.
Connection = Any
Row = tuple[Any, ...]
#: Makes one value of another; NULL is not asked.
Conversion = Callable[[Any], Any]


class Driver(ABC):
    """A kind of database: pure functions, and what it takes to open a connection.

    Attributes:
        name: in URLs, ``jdbc:name:``.
        drivers: the classes that option 'driver' may name. They are Java's, and none is loaded.
        parameter: how a statement writes one.
        begin: begins a transaction that writes.
        define: begins one that may create tables, one writer after the other.
        short_text: the type of a text of at most 200 characters, where lower and upper case differ.
        files: settings that name a file of this machine.
    """

    name: str
    drivers: tuple[str, ...]
    parameter: str
    begin: str
    define: tuple[str, ...]
    short_text: str = "varchar(200)"
    files: tuple[str, ...] = ()

    @abstractmethod
    def settings(self, address: str) -> dict[str, str]:
        """Return what the driver is told by a URL without ``jdbc:name:``.

        Raises:
            OptionError: OPT-005 for a URL that says what the driver does not know.
        """

    def has_room(self, settings: Settings) -> bool:
        """Return whether the database is there, as far as that can be told without a connection."""
        return True

    def make_room(self, settings: Settings) -> None:
        """Make what must be there before somebody can connect, where a table may be created; a server is there."""
        return

    @abstractmethod
    def connect(self, settings: Settings) -> Connection:
        """Return a connection where each statement is its own transaction, unless ``begin`` began one. UTC.

        Raises:
            SqlExtError: ENV-011 where the driver is not installed.
        """

    @abstractmethod
    def failures(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""

    @abstractmethod
    def refusal(self, error: Exception) -> str | None:
        """Return why a row is refused, of what the driver raised for it; None where it is not for the row."""

    @abstractmethod
    def place(self, connection: Connection, table: str) -> str | None:
        """Return a table's quoted name as it is there; None where it is not."""

    @abstractmethod
    def columns(self, connection: Connection, place: str) -> dict[str, str]:
        """Return the columns of a table, by a quoted name: name -> type as the database calls it."""

    @abstractmethod
    def column_type(self, declared: LogicalType) -> str | None:
        """Return the type that a column is created with; None for one that cannot be held."""

    @abstractmethod
    def fits(self, declared: LogicalType, found: str) -> bool:
        """Return whether a column of a type that is there can be declared so."""

    @abstractmethod
    def selected(self, column: str, declared: LogicalType) -> str:
        """Return the expression that reads a quoted column. TIME is read as text."""

    @abstractmethod
    def read(self, declared: LogicalType) -> Conversion | None:
        """Return what makes a value for Arrow of one that is read; None if nothing is to do."""

    @abstractmethod
    def written(self, declared: LogicalType) -> Conversion | None:
        """Return what makes a parameter of a value of Arrow; None if nothing is to do."""

    def key_type(self, declared: LogicalType) -> str | None:
        """Return the type that a column of a PRIMARY KEY is created with."""
        return self.column_type(declared)

    def on_conflict(self, keys: Sequence[str], rest: Sequence[str]) -> str:
        """Return the end of an INSERT that replaces the row of its key; names are in quotes."""
        update = f"UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in rest)}" if rest else "NOTHING"
        return f"ON CONFLICT ({', '.join(keys)}) DO {update}"

    def on_later(self, table: str, key: str, column: str) -> str:
        """Return the end of an INSERT that counts a row where the column grows, or its key is new."""
        return (
            f"ON CONFLICT ({key}) DO UPDATE SET {column} = excluded.{column} WHERE {table}.{column} < excluded.{column}"
        )

    def why_no_key(
        self, connection: Connection, place: str, keys: Sequence[str], insert: str, width: int
    ) -> str | None:
        """Return why the row of a key cannot be found; None where it can.

        Args:
            keys: names, in quotes.
            insert: the statement that replaces a row.
            width: how many parameters it has.
        """
        # Most databases say so when they plan the statement.
        try:
            connection.execute(f"EXPLAIN {insert}", [None] * width)
        except self.failures() as error:
            return " ".join(str(error).split())
        return None

    @abstractmethod
    def fetch(self, connection: Connection, statement: str, size: int) -> Iterator[Sequence[Row]]:
        """Yield the rows of a query, ``size`` at a time."""


def quoted(name: str) -> str:
    """Return a name in the quotes of SQL's standard."""
    return '"' + name.replace('"', '""') + '"'


def said(error: Exception) -> str:
    """Return what a database says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def name_parts(table: str) -> tuple[str, ...]:
    """Return the parts of option 'table-name': ``schema.table``, each perhaps in quotes of a database."""
    return tuple(part.strip().strip('"`') for part in table.split("."))


@contextmanager
def transaction(connection: Connection, *begin: str) -> Iterator[Connection]:
    """Commit what the block does, or nothing of it."""
    for statement in begin:
        connection.execute(statement)
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
