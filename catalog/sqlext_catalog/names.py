"""Names of catalog objects."""

from __future__ import annotations

from typing import NamedTuple

from sqlext.errors import SqlExtError
from sqlext.types import quote

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


class ObjectName(NamedTuple):
    """A full name, as Flink writes it: catalog, database, object."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(quote(part) for part in self)

    @property
    def plain(self) -> str:
        """The parts joined with dots, unquoted, as messages show it."""
        return ".".join(self)


#: Longest part of a name, in characters; Flink has no limit of its own, the metastores behind it have about this one.
MAX_LENGTH = 255

#: The read-only views over the catalog live under this database name.
INFORMATION_SCHEMA = "information_schema"


def check_part(part: str, what: str) -> None:
    """Refuse a part of a name that cannot be stored; any other text is a legal quoted identifier.

    Args:
        part: a catalog, database, object or column name, without its quotes.
        what: what it names, for the message (``table``, ``database``, ...).
    """
    if not part.strip():
        raise SqlExtError("CAT-020", f"the name of a {what} is empty")
    if len(part) > MAX_LENGTH:
        raise SqlExtError(
            "CAT-020",
            f"the name of a {what} has {len(part)} characters, more than {MAX_LENGTH}: {part[:40]!r}...",
        )
    if "\0" in part or any("\ud800" <= c <= "\udfff" for c in part):
        raise SqlExtError("CAT-020", f"the name of a {what} has a character that no name can have: {part!r}")
