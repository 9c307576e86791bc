"""Find the rows of a batch that a database refuses, and keep them there until their dead letters are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sqlext.connectors.jdbc.database import Connection, Driver, Row, quoted
from sqlext.connectors.jdbc.statements import Target


class DeniedRow(NamedTuple):
    """A row that a database refuses, as JSON, and what it says."""

    text: str
    why: str


class Parameters(NamedTuple):
    """The parameters of a statement, and the row that they are of, as JSON."""

    values: Row
    text: str


def run_for_each(
    connection: Connection, database: Driver, statement: str, rows: Sequence[Parameters]
) -> list[DeniedRow]:
    """Run a statement for rows within a transaction; return those that the database refuses, the others are done.

    The rows are halved until the refused ones stand alone: for one of ``n`` rows that takes ``2 log n`` statements.
    """
    if not rows:
        return []
    try:
        with _undone_if_it_fails(connection):
            connection.cursor().executemany(statement, [row.values for row in rows])
        return []
    except database.failures() as error:
        why = database.refusal(error)
        if why is None:
            raise
    if len(rows) == 1:
        return [DeniedRow(rows[0].text, why)]
    middle = len(rows) // 2
    # One after the other: of two rows of one key the first is written.
    halves = rows[:middle], rows[middle:]
    return [row for half in halves for row in run_for_each(connection, database, statement, half)]


@contextmanager
def _undone_if_it_fails(connection: Connection) -> Iterator[None]:
    """Take back what the block did if it fails, and nothing else of the transaction."""
    name = quoted("sqlext")
    connection.execute(f"SAVEPOINT {name}")
    try:
        yield
    except BaseException:
        connection.execute(f"ROLLBACK TO SAVEPOINT {name}")
        connection.execute(f"RELEASE SAVEPOINT {name}")
        raise
    connection.execute(f"RELEASE SAVEPOINT {name}")


def keep(connection: Connection, target: Target, query: str, batch_id: int, rows: Sequence[DeniedRow]) -> None:
    """Keep the refused rows of a batch in place of those of the batch before."""
    connection.execute(target.forget_refused, (query,))
    if rows:
        values = [(query, batch_id, *row) for row in rows]
        connection.cursor().executemany(target.keep_refused, values)


def kept(connection: Connection, target: Target, query: str, batch_id: int) -> list[DeniedRow]:
    """Return the refused rows of the last batch, if it is this one."""
    found = connection.execute(target.refused, (query, batch_id)).fetchall()
    return [DeniedRow(*row) for row in found]
