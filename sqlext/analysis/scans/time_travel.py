"""Bind ``FOR SYSTEM_TIME AS OF`` a literal: an old version of a table, which only Delta keeps."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.environment import Environment
from sqlext.connectors.registry import known
from sqlext.dialect.ast.expressions import Literal
from sqlext.dialect.ast.queries import Hint, TableRef
from sqlext.errors import SqlExtError
from sqlext_catalog.model import Table


def as_of(ref: TableRef, env: Environment) -> TableRef:
    """Return a table as it was at a time, by the options of its reader.

    Raises:
        SqlExtError: JOIN-007 for a time that is no literal (outside of a join there is no row that has one), JOIN-013
            for a table that does not keep what it was.
    """
    time = ref.system_time
    if not isinstance(time, Literal) or time.kind not in ("TIMESTAMP", "TIMESTAMP_LTZ", "DATE", "STRING"):
        raise SqlExtError(
            "JOIN-007",
            "FOR SYSTEM_TIME AS OF takes a time attribute of the left side of a join, or a literal",
            span=time.span if time is not None else ref.span,
            hint="t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
        )
    found = env.catalog.lookup(ref.parts)
    connector = known(found) if isinstance(found, Table) else None
    kept = connector.as_of(time.value) if connector is not None else None
    if kept is None:
        raise SqlExtError(
            "JOIN-013",
            f"`{ref.parts[-1]}` does not keep what it was: only delta tables have a FOR SYSTEM_TIME AS OF a literal",
            span=ref.span,
        )
    # The first hint wins, so no hint of the user makes a stream of the old version.
    options = (("scan.mode", "snapshot"), *kept)
    return replace(ref, system_time=None, hints=(Hint("OPTIONS", options), *ref.hints))
