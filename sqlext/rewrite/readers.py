"""Who reads the tables of a query, as a part of its fingerprint: another reader has other offsets in the checkpoint."""

from __future__ import annotations

from sqlext.plan.fingerprint import Fingerprint
from sqlext.rewrite.script import SparkScript

_PREFIX = "reader of "
_ARROW = ("Arrow", "arrow 1")


def readers(script: SparkScript) -> Fingerprint:
    """Return a part for each table that Arrow reads; Spark's own sources need none."""
    return {f"{_PREFIX}{step.table.name.name}": _ARROW for step in script.read_by_arrow}


def is_reader(part: str) -> bool:
    """Whether a part of a fingerprint is of a table that Arrow reads."""
    return part.startswith(_PREFIX)
