"""Render TO_CHANGELOG and FROM_CHANGELOG."""

from __future__ import annotations

from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.nodes import KIND
from sqlext.quoting import identifier, string
from sqlext.rewrite.relations.rendering import Rendering
from sqlext_udfs.kernel.row_kinds import INSERT


def to_changelog_sql(node: ToChangelog, renderer: Rendering) -> str:
    """Return the query of the changes, each with its code."""
    kind = KIND if node.input.changelog else str(INSERT)
    whens = " ".join(f"WHEN {number} THEN {string(code)}" for number, code in node.codes)
    columns = [identifier(c) for c in node.input.physical_columns() if c != KIND]
    selected = ", ".join((f"CASE {kind} {whens} END AS {identifier(node.op)}", *columns))
    kinds = ", ".join(str(number) for number, _ in node.codes)
    return f"SELECT {selected} FROM {renderer.relation(node.input)} WHERE {kind} IN ({kinds})"


def from_changelog_sql(node: FromChangelog, renderer: Rendering) -> str:
    """Return the query of the rows, each with its kind."""
    op = identifier(node.op)
    whens = " ".join(f"WHEN {string(code)} THEN {number}" for code, number in node.codes)
    told = f"concat({string('[RUN-045] FROM_CHANGELOG knows no operation ')}, coalesce({op}, 'NULL'))"
    kind = f"CAST(CASE {op} {whens} ELSE raise_error({told}) END AS TINYINT) AS {KIND}"
    columns = [identifier(c.physical) for c in node.columns if c.physical]
    return f"SELECT {', '.join((*columns, kind))} FROM {renderer.relation(node.input)}"
