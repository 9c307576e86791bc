"""Hold what a session remembers between statements, apart from Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.policy import OPEN, Policy
from sqlext.settings import Settings
from sqlext.source import Span
from sqlext.spark.reading.frames import Frames
from sqlext.user_functions import UserFunctions
from sqlext_catalog.information_schema import SystemView, system_view
from sqlext_catalog.model import ObjectName
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.snapshot import Snapshot


def _is_built_in(name: str) -> bool:
    from sqlext.analysis.functions import is_built_in  # a large table, which few sessions need here

    return is_built_in(name)


@dataclass
class SessionState:
    """Catalog and settings, and what the running script has created so far.

    ``folder`` is the catalog's, or its URL. ``stores`` are settings of object stores, by the names of Spark or Hadoop.
    ``functions`` are those that the user has registered, and ``python_allowed`` says
    whether a script may name classes to import. ``stored`` is the catalog whose earlier versions can be asked for: in
    a copy, that of the original. ``frames`` are the DataFrames that are tables. ``option_places`` are those of the
    definitions that were read. ``sparks`` are the relations and functions, in lower case, that statements of Spark's
    have made. ``policy`` says what statements may use.
    """

    catalog: SessionCatalog
    settings: Settings = field(default_factory=Settings)
    created: set[str] = field(default_factory=set)
    stored: SessionCatalog | None = None
    folder: Path | str = Path()
    stores: Mapping[str, str] = field(default_factory=dict, repr=False)
    functions: UserFunctions = field(default_factory=lambda: UserFunctions(_is_built_in))
    python_allowed: bool = False
    frames: Frames = field(default_factory=Frames)
    option_places: dict[tuple[ObjectName, str], Span] = field(default_factory=dict)
    sparks: set[str] = field(default_factory=set)
    policy: Policy = OPEN

    def fork(self) -> SessionState:
        """Return a copy for a dry run: nothing done to it reaches this one."""
        return replace(
            self,
            catalog=self.catalog.fork(),
            created=set(self.created),
            sparks=set(self.sparks),
            stored=self.stored or self.catalog,
            functions=self.functions.copy(),
            option_places=dict(self.option_places),
        )

    def environment(self, spark_table: SparkLookup | None = None) -> Environment:
        """Return the surroundings of the next statement."""

        def view(name: str, version: int | None = None) -> SystemView | None:
            if version is None:
                return system_view(name, self._timed(name, self.catalog.snapshot()))
            return system_view(name, (self.stored or self.catalog).at_version(version))

        env = Environment(
            self.catalog,
            self.settings,
            system_view=view,
            functions=self.functions,
            option_places=self.option_places,
            policy=self.policy,
        )
        return env if spark_table is None else replace(env, spark_table=spark_table)

    def _timed(self, name: str, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot whose running queries say how far they are: meanwhile their records are not written."""
        if name.lower() != "queries":
            return snapshot
        from sqlext.session.introspection.watermarks import timed

        return timed(snapshot, self.folder, self.stores)
