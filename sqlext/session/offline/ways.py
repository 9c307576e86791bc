"""Tell whether a query that cannot go on can be deployed, and in which way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.plan.timing import InputEnd
from sqlext.session.deploying.candidates import Deployable, require_deployable
from sqlext.session.deploying.downstream import Reader
from sqlext.session.offline.script_plan import ReadPlan, Way
from sqlext_catalog.model import QueryRecord


def ways_of(
    candidate: Deployable,
    home: QueryHome,
    records: Sequence[QueryRecord],
    reads: Sequence[ReadPlan],
    ms: int | None,
    readers: Sequence[Reader] = (),
) -> Iterator[Way]:
    """Yield both ways to deploy the new version of a query, each possible or refused, as a deployment says it.

    Args:
        home: the folder of its current version.
        records: of the queries that the catalog knows.
        reads: what there is from the beginning.
        ms: how long it takes to read that; None where it is not known.
        readers: of its table.
    """
    run = home.run()
    if run is None:
        return
    if candidate.end is InputEnd.NONE:  # a new version ends where the old one is
        candidate = replace(candidate, end=InputEnd.CATCH_UP)
    found = candidate.changes_since(run)
    for name, keeps in (("deploy", False), ("deploy --keep-rows", True)):
        asked = replace(candidate, keeps_rows=keeps)
        try:
            require_deployable(asked, found, records)
            asked.require_read(home)
        except SqlExtError as error:
            yield Way(name, refusal=error.message.partition(" cannot be deployed: ")[2] or error.message)
        else:
            yield Way(name, tuple(reads), ms, readers=() if keeps else tuple(map(str, readers)))
