"""The surroundings of a statement: the catalog, the settings, and Spark's own tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlext.connectors.admission import admit
from sqlext.connectors.base import Role
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.queries import Hint
from sqlext.errors import SqlExtError
from sqlext.policy import OPEN, Policy
from sqlext.settings import Settings
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext.user_functions import UserFunctions
from sqlext_catalog.information_schema import SystemView
from sqlext_catalog.model import ObjectName, Table, View

#: Where options of tables were written, by table and key; under the empty key where the table was named.
OptionPlaces = Mapping[tuple[ObjectName, str], Span]

#: Columns of a table that only Spark knows, or None if Spark does not know the name either.
SparkLookup = Callable[[tuple[str, ...]], "tuple[tuple[str, LogicalType | None], ...] | None"]


class SystemLookup(Protocol):
    """How to find a view of the information schema."""

    def __call__(self, name: str, version: int | None = None) -> SystemView | None:
        """Return the view of that name, now or as of a version of the catalog, None if there is none."""


class Lookup(Protocol):
    """The part of the session's catalog that queries need."""

    def lookup(self, parts: tuple[str, ...]) -> Table | View | None:
        """Return the relation that a one- to three-part name means, or None."""

    def candidates(self) -> Iterable[str]:
        """Return the names that could have been meant."""


@dataclass(frozen=True)
class LookupAt:
    """A catalog with another current catalog and database: that of a view's text."""

    inner: Lookup
    catalog: str
    database: str

    def lookup(self, parts: tuple[str, ...]) -> Table | View | None:
        """Return the relation that a name means there."""
        return self.inner.lookup((*(self.catalog, self.database)[: 3 - len(parts)], *parts))

    def candidates(self) -> Iterable[str]:
        """Return the names that could have been meant."""
        return self.inner.candidates()


def _no_system(name: str, version: int | None = None) -> None:
    return None


def _no_spark(parts: tuple[str, ...]) -> None:
    return None


@dataclass(frozen=True)
class Environment:
    """The surroundings of one statement.

    ``spark_table`` answers for tables that only Spark knows (no JVM: none). ``views`` names the source views
    already given out in this statement, so that each scan gets one of its own. ``expanding`` are the views
    being expanded, outermost first. ``functions`` are those that the user has registered. ``option_places`` are those
    of the definitions that the session has read. ``policy`` says what it may use.
    """

    catalog: Lookup
    settings: Settings
    spark_table: SparkLookup = _no_spark
    system_view: SystemLookup = _no_system
    views: dict[str, int] = field(default_factory=dict)
    expanding: tuple[str, ...] = ()
    functions: UserFunctions = field(default_factory=UserFunctions)
    option_places: OptionPlaces = field(default_factory=dict)
    policy: Policy = OPEN

    def admit(self, table: Table, role: Role) -> None:
        """Refuse a table that cannot be read, or written, or that the session may not use.

        Raises:
            SqlExtError: as ``Connector.validate`` and ``admission.admit``.
        """
        connector_of(table).validate(table, role)
        admit(table, self.policy)

    def placed(self, error: SqlExtError, table: Table, used: Span, hints: Iterable[Hint] = ()) -> SqlExtError:
        """Return an error about a table with its place: where the option was written, else where the table is used.

        Args:
            hints: those at the use: what they set is at fault there.
        """
        if not isinstance(error, OptionError):
            return error.at(used)
        for hint in hints:
            for (key, _), place in zip(hint.options, hint.option_places or (used,) * len(hint.options), strict=True):
                if key == error.option:
                    return error.at(place)
        return error.at(self.option_places.get((table.name, error.option or ""), used))

    @property
    def mode(self) -> str:
        """``spark`` or ``flink``: whose meaning expressions have."""
        return self.settings.expressions

    @property
    def zone(self) -> str:
        """The session's time zone."""
        return self.settings.zone

    def source_view(self, table: str) -> str:
        """Return a name for one more source view, unique within the statement."""
        count = self.views.get(table, 0)
        self.views[table] = count + 1
        clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in table)
        return f"sqlext_{clean}" + (f"_{count + 1}" if count else "")

    def inside(self, view: View) -> Environment:
        """Return the surroundings in which a stored view's text is read."""
        settings = self.settings.with_value("sqlext.expressions", view.expressions)
        catalog: Lookup = self.catalog
        if view.catalog:
            # In a view inside a view the inner one's database counts, so the outer one's must not be asked first.
            whole = catalog.inner if isinstance(catalog, LookupAt) else catalog
            catalog = LookupAt(whole, view.catalog, view.database)
        return replace(self, catalog=catalog, settings=settings, expanding=(*self.expanding, view.name.plain))
