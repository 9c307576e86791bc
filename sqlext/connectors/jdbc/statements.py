"""Write the statements of a sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlext.connectors.jdbc.database import Driver, quoted
from sqlext.types import STRING

#: Has the last batch of each query that a database has taken.
BATCHES = "sqlext_batches"
#: Has the rows of these batches that the database refused.
REFUSED = "sqlext_refused"


@dataclass(frozen=True)
class Target:
    """A table that rows are written to.

    Attributes:
        database: its kind.
        place: the table's quoted name.
        columns: as they are there, in the order of the rows.
        keys: those of the PRIMARY KEY.
    """

    database: Driver
    place: str
    columns: tuple[str, ...]
    keys: tuple[str, ...] = ()

    @property
    def insert(self) -> str:
        """The statement that writes a row; it replaces the one of its key."""
        names = ", ".join(map(quoted, self.columns))
        values = ", ".join("?" for _ in self.columns)
        text = f"INSERT INTO {self.place} ({names}) VALUES ({values})"
        if not self.keys:
            return self._text(text)
        keys, rest = [quoted(k) for k in self.keys], [quoted(c) for c in self.columns if c not in self.keys]
        return self._text(f"{text} {self.database.on_conflict(keys, rest)}")

    @property
    def delete(self) -> str:
        """The statement that deletes the row of a key."""
        return self._text(f"DELETE FROM {self.place} WHERE {' AND '.join(f'{quoted(k)} = ?' for k in self.keys)}")

    @property
    def claim(self) -> str:
        """The statement that notes a query's batch and counts a row, or none where that batch was noted before.

        Another writer of the same batch waits for the first one's transaction.
        """
        end = self.database.on_later(quoted(BATCHES), "query", "batch")
        return self._text(f"INSERT INTO {quoted(BATCHES)} (query, batch) VALUES (?, ?) {end}")

    @property
    def last_batch(self) -> str:
        """The statement that gives the last batch of a query."""
        return self._text(f"SELECT batch FROM {quoted(BATCHES)} WHERE query = ?")

    @property
    def forget_refused(self) -> str:
        """The statement that forgets the refused rows of a query."""
        return self._text(f"DELETE FROM {quoted(REFUSED)} WHERE query = ?")

    @property
    def keep_refused(self) -> str:
        """The statement that keeps one: query, batch, the row, and why."""
        return self._text(f"INSERT INTO {quoted(REFUSED)} (query, batch, row_text, reason) VALUES (?, ?, ?, ?)")

    @property
    def refused(self) -> str:
        """The statement that gives those of a batch: the row, and why."""
        return self._text(f"SELECT row_text, reason FROM {quoted(REFUSED)} WHERE query = ? AND batch = ?")

    def _text(self, text: str) -> str:
        """Return a statement with the driver's parameters; names are quoted, so a ``?`` in them is doubled first."""
        parameter = self.database.parameter
        if parameter == "?":
            return text
        outside = text.split('"')
        # Every other piece lies in quotes.
        pieces = (p.replace("%", "%%") if n % 2 else p.replace("?", parameter) for n, p in enumerate(outside))
        return '"'.join(pieces)


def creation(place: str, columns: Mapping[str, str], keys: Sequence[str]) -> str:
    """Return the statement that creates a table: column -> type; ``keys`` are its PRIMARY KEY."""
    texts = [f"{quoted(name)} {kind}" for name, kind in columns.items()]
    if keys:
        texts.append(f"PRIMARY KEY ({', '.join(map(quoted, keys))})")
    return f"CREATE TABLE IF NOT EXISTS {place} ({', '.join(texts)})"


def batches_table(database: Driver) -> str:
    """Return the statement that creates the table of batches."""
    return creation(quoted(BATCHES), {"query": database.short_text, "batch": "bigint NOT NULL"}, ("query",))


def refused_table(database: Driver) -> str:
    """Return the statement that creates the table of refused rows."""
    text = database.column_type(STRING)
    columns = {"query": database.short_text, "batch": "bigint NOT NULL", "row_text": f"{text}", "reason": f"{text}"}
    return creation(quoted(REFUSED), columns, ())


def there(name: str, found: Mapping[str, str]) -> str | None:
    """Return the name of a column as it is there: as declared, else in lower case, as Flink sends it without quotes."""
    return next((n for n in (name, name.lower()) if n in found), None)
