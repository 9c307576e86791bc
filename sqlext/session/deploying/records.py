"""Let the catalog say which version of a query is the current one: its record, and the columns of its table.

``catalog.json`` in the folder of a version has what the catalog said of it when another took its place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.inserts.fingerprint import digest
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.parts import Place
from sqlext.session.deploying.candidates import Deployable
from sqlext.session.places import record_of
from sqlext.session.records import together
from sqlext_catalog import ddl
from sqlext_catalog.literals import without_secrets
from sqlext_catalog.model import QueryRecord, Table
from sqlext_catalog.rows import from_row, to_row
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.snapshot import ChangeFunction

_KEPT = "catalog.json"


@dataclass(frozen=True)
class VersionRecords:
    """The records of queries that are deployed."""

    catalog: SessionCatalog

    def all(self) -> Sequence[QueryRecord]:
        """Return the records of all queries."""
        return self.catalog.snapshot().queries()

    def keep(self, candidate: Deployable, old: QueryHome) -> None:
        """Keep what the catalog says, in the folder of the version that it says it of."""
        record = next((r for r in self.all() if r.name == candidate.draft.name), None)
        said = [item for item in (record, candidate.stored) if item is not None]
        old.location.put(_KEPT, json.dumps([to_row(without_secrets(item)) for item in said]))

    def say(self, candidate: Deployable, home: QueryHome) -> None:
        """Let the record say what the version in a folder is; what else it says stays, as its job."""
        run = home.run()
        assert run is not None
        made = replace(record_of(candidate.statement, candidate.draft, Place(home, run)), status="stopped")
        self._put(made, candidate.draft.insert.table if candidate.redefines else None, "DEPLOY QUERY")

    def say_again(self, candidate: Deployable, old: QueryHome) -> None:
        """Let the catalog say what it said of the version before."""
        run = old.run()
        assert run is not None
        kept = [from_row(row) for row in old.location.json(_KEPT) or ()]
        record = next((item for item in kept if isinstance(item, QueryRecord)), None)
        table = next((item for item in kept if isinstance(item, Table)), None)
        record = record or next((r for r in self.all() if r.name == candidate.draft.name), None)
        if record is None:
            return
        fingerprint = digest(run.fingerprint)
        made = replace(record, checkpoint=old.checkpoint, fingerprint=fingerprint, status="stopped")
        self._put(made, table, "ROLL BACK QUERY")

    def _put(self, made: QueryRecord, table: Table | None, operation: str) -> None:
        """Record a query, and define its table, in one commit."""

        def update(record: QueryRecord) -> QueryRecord:
            return replace(made, details=record.details, started=record.started, watermark=record.watermark)

        there = any(r.name == made.name for r in self.all())
        changes: list[ChangeFunction] = [ddl.update_query(made.name, update) if there else ddl.record_query(made)]
        if table is not None:
            changes.append(ddl.create(table, "replace"))
        self.catalog.apply(together(changes), f"{operation} {made.name}")
