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
    """

    name: str
    drivers: tuple[str, ...]
    parameter: str
    begin: str
    define: tuple[str, ...]

    @abstractmethod
    def settings(self, address: str) -> dict[str, str]:
        """Return what the driver is told by a URL without ``jdbc:name:``.

        Raises:
            OptionError: OPT-005 for a URL that says what the driver does not know.
        """

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

    @abstractmethod
    def fetch(self, connection: Connection, statement: str, size: int) -> Iterator[Sequence[Row]]:
        """Yield the rows of a query, ``size`` at a time."""


def quoted(name: str) -> str:
    """Return a name in the quotes of SQL's standard."""
    return '"' + name.replace('"', '""') + '"'


def name_parts(table: str) -> tuple[str, ...]:
    """Return the parts of option 'table-name': ``schema.table``, each perhaps in quotes already."""
    return tuple(part.strip().strip('"') for part in table.split("."))


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
