"""Describe a run of a query, and read the one that a query began last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.jobs.query_files import query_location
from sqlext.locations import PathOrText
from sqlext.stores.location import StoreSettings
from sqlext.stores.opening import has_store


@dataclass(frozen=True, slots=True)
class QueryRun:
    """One life of a query: from its first row until it came to its end, restarts included.

    The queries of one job share ``run_id``; ``finished`` ones have nothing left to do when the job goes on.

    Attributes:
        renewals: how often it went on with a new checkpoint: without its state, or with its state in other buckets.
        closed: ms of the watermark, less the lateness of then, where the lateness became longer: windows that had ended
            by then are gone, and none of them may begin anew. None: nothing but the watermark closes windows.
    """

    run_id: str
    fingerprint: Fingerprint
    finished: bool = False
    renewals: int = 0
    closed: int | None = None

    @property
    def checkpoint_id(self) -> str:
        """The id by which sinks know its micro-batches, together with their numbers."""
        # A renewed checkpoint counts its batches from 0. Under the old id sinks would drop them as repetitions.
        return f"{self.run_id}-{self.renewals}" if self.renewals else self.run_id

    def renews(self, before: QueryRun) -> bool:
        """Whether it goes on from the place of a run with a new checkpoint."""
        return self.run_id == before.run_id and self.renewals != before.renewals


def begun_run(root: PathOrText, name: str, checkpoint: str | None, settings: StoreSettings) -> QueryRun | None:
    """Return the run that a query began last, without asking for its folder; None if there is none to be read."""
    # Beside a catalog that is a table of Spark's nothing lies.
    if not has_store(checkpoint or root):
        return None
    try:
        found = query_location(root, name, checkpoint, settings).json("run.json")
        return run_from_json(found) if found is not None else None
    # Whoever only looks is not refused: ``QueryHome.run`` raises RUN-023 for a damaged file when the query starts.
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def run_from_json(found: Mapping[str, object]) -> QueryRun:
    """Return the run that ``run.json`` holds; raises ValueError, TypeError, KeyError for anything else."""
    prints = found["fingerprint"]
    if not isinstance(prints, dict):
        raise TypeError("a fingerprint is an object")
    fingerprint = {str(k): (str(v[0]), str(v[1])) for k, v in prints.items()}
    # Older files do not have these fields.
    renewals, closed = found.get("renewals", 0), found.get("closed")
    return QueryRun(
        str(found["run_id"]),
        fingerprint,
        bool(found["finished"]),
        renewals if isinstance(renewals, int) else 0,
        closed if isinstance(closed, int) else None,
    )
