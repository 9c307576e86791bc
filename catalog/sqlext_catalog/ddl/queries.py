"""Record started queries, when they start and stop; never per micro-batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlext.errors import SqlExtError, did_you_mean
from sqlext_catalog.literals import without_secrets
from sqlext_catalog.model import QueryRecord
from sqlext_catalog.snapshot import Change, ChangeFunction, Delete, ObjectKey, Put, Snapshot

#: In a record's details: the name of the job that the query is a part of.
JOB = "job"
#: In a record's details: how far its inputs were when it was last said, as JSON.
_INPUTS = "inputs"
#: In a record's details: how many dead letters it had met when it was last said.
_DEAD_LETTERS = "dead letters"


def job_of(record: QueryRecord) -> str:
    """Return the name of the job that a query is a part of."""
    return dict(record.details).get(JOB, record.name)


def inputs_of(record: QueryRecord) -> list[dict[str, Any]]:
    """Return how far a query's inputs were, as ``with_inputs`` took it; nothing if that is not known."""
    rows: list[dict[str, Any]] = json.loads(dict(record.details).get(_INPUTS, "[]"))
    return rows


def with_inputs(record: QueryRecord, rows: Iterable[Mapping[str, Any]]) -> QueryRecord:
    """Return a record that says how far its inputs are: ``input``, ``split``, ``largest`` (event time, ms), ...

    The keys are those of ``sqlext.watermarks.report.TimeReport.rows``.
    """
    others = tuple((key, value) for key, value in record.details if key != _INPUTS)
    return replace(record, details=(*others, (_INPUTS, json.dumps(list(map(dict, rows))))))


def dead_letters_of(record: QueryRecord) -> int:
    """Return how many dead letters a query has met since its start, as ``with_dead_letters`` took it."""
    return int(dict(record.details).get(_DEAD_LETTERS, "0"))


def with_dead_letters(record: QueryRecord, number: int) -> QueryRecord:
    """Return a record that says how many dead letters its query has met since its start."""
    others = tuple((key, value) for key, value in record.details if key != _DEAD_LETTERS)
    return replace(record, details=(*others, (_DEAD_LETTERS, str(number))) if number else others)


def record_query(record: QueryRecord) -> ChangeFunction:
    """A query starts: keep its record, in place of an older one of its name. Secrets in its text are hidden."""
    safe = without_secrets(record)
    return lambda snapshot: [] if snapshot.query(record.name) == safe else [Put(safe)]


def update_query(name: str, update: Callable[[QueryRecord], QueryRecord]) -> ChangeFunction:
    """A query's status or watermark changes; nothing happens if its record was dropped meanwhile."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        found = snapshot.query(name)
        return [Put(updated)] if found and (updated := update(found)) != found else []

    return change


def drop_query(name: str, *, if_exists: bool = False) -> ChangeFunction:
    """DROP QUERY [IF EXISTS]: forget a query, or all queries of the job of that name (their state is execution's)."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        found = [q for q in snapshot.queries() if name in (q.name, job_of(q))]
        if found:
            return [Delete(ObjectKey("query", name=q.name)) for q in found]
        if if_exists:
            return []
        hint = did_you_mean(name, [q.name for q in snapshot.queries()])
        raise SqlExtError("CAT-002", f"there is no query `{name}`", hint=hint)

    return change
