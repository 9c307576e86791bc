"""Prepare INSERTs as queries: their names, scripts and fingerprints.

Nothing here needs Spark, so EXPLAIN can say what would happen to a checkpoint before anything starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.fingerprint import Fingerprint, fingerprint
from sqlext.analysis.names.environment import Environment
from sqlext.databricks import PlatformRules
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.runs import begun_run
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import is_bounded
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.script.begun import Begun, heartbeats, readers, state_buckets
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.side_rows import kept_bad
from sqlext.session.notices import foretold
from sqlext.settings import Settings
from sqlext.source import SourceText
from sqlext.stores.location import StoreSettings
from sqlext.stores.opening import has_store


@dataclass
class RunOptions:
    """Options of one run of statements; times in milliseconds.

    ``at_once``: whether queries may be one batch; over Spark Connect nobody could count what one reads and writes.
    ``rules``: what the platform under the Spark session takes.
    """

    script: str = "sql"
    checkpoint: str | None = None
    interval: int | None = None
    ordinals: dict[str, int] = field(default_factory=dict)
    at_once: bool = True
    rules: PlatformRules = field(default_factory=PlatformRules)

    @property
    def endless(self) -> InputEnd:
        """How a query ends that has no end: not at all, or where it has caught up if the platform takes no other."""
        return InputEnd.NONE if self.rules.endless else InputEnd.CATCH_UP

    def numbered(self, name: str) -> str:
        """Return a query's name, with a number behind it from the second query of that name on."""
        self.ordinals[name] = ordinal = self.ordinals.get(name, 0) + 1
        return f"{name}.{ordinal}" if ordinal > 1 else name


@dataclass(frozen=True)
class Draft:
    """An INSERT on its way to a part of a job."""

    name: str
    insert: BoundInsert
    script: SparkScript
    prints: Fingerprint


def script_name(source: SourceText) -> str:
    """Return the name that a script gives its queries."""
    return Path(source.name.strip("<>")).stem


def end_of(inserts: Sequence[BoundInsert], settings: Settings, endless: InputEnd = InputEnd.NONE) -> InputEnd:
    """Return how the input of a job ends.

    Args:
        endless: how one ends that has no end of its own.
    """
    if not all(is_bounded(i.plan) for i in inserts):
        return endless
    return InputEnd.FINISH if settings.get("sqlext.bounded") == "finish" else InputEnd.CATCH_UP


@dataclass(frozen=True)
class Drafts:
    """Makes drafts of the INSERTs of one job.

    Attributes:
        folder: the catalog's, or its URL.
        stores: Spark's settings of object stores.
    """

    folder: Path | str
    options: RunOptions
    settings: Settings
    env: Environment
    stores: StoreSettings

    @property
    def checkpoint(self) -> str | None:
        """The folder or URL where checkpoints go, None for the catalog's folder."""
        return self.options.checkpoint or self.settings.checkpoint

    def of(self, inserts: Sequence[BoundInsert], end: InputEnd) -> list[Draft]:
        """Return a draft of each; their names are taken then."""
        return [self._draft(insert, end, several=len(inserts) > 1) for insert in inserts]

    def foretold(self, inserts: Sequence[BoundInsert]) -> list[str | None]:
        """Return what would become of the checkpoint of each if they ran now; None of one that has none."""
        end = end_of(inserts, self.settings, self.options.endless)
        drafts = self.of(inserts, end)
        place, stores = self.checkpoint, self.stores
        if not has_store(place or self.folder):
            return [None] * len(drafts)
        homes = [QueryHome(self.folder, d.name, place, settings=stores, looks=True) for d in drafts]
        return [
            foretold(home, d.prints, restart_finished=end is InputEnd.FINISH, leaves_state=self.settings.leaves_state)
            if d.script.streaming
            else None
            for home, d in zip(homes, drafts, strict=True)
        ]

    def _draft(self, insert: BoundInsert, end: InputEnd, *, several: bool) -> Draft:
        named, sink = self.settings.get("pipeline.name"), insert.table.name.name
        wanted = (f"{named}.{sink}" if several else named) if named else f"{self.options.script}.{sink}"
        # Before the script is compiled: under its name the query finds the readers that it began with.
        name = self.options.numbered(wanted)
        script = insert_script(insert, self.env, end=end, begun=self._begun(name, end), at_once=self.options.at_once)
        prints = fingerprint(insert, self.env.zone, self.env.mode, end.value)
        # What the compiler has chosen must not change under a checkpoint either, so it is part of the fingerprint.
        own = {**readers(script), **heartbeats(script), **kept_bad(script), **state_buckets(script)}
        return Draft(name, insert, script, {**prints, **own})

    def _begun(self, name: str, end: InputEnd) -> Begun | None:
        """Return whose tables readers of ours read when a query began that goes on; None if it begins now."""
        # A query that goes on keeps the readers that it began with: their offsets are in its checkpoint.
        begun = begun_run(self.folder, name, self.checkpoint, self.stores)
        if begun is None or (begun.finished and end is InputEnd.FINISH):
            return None
        return Begun.of(begun.fingerprint)
