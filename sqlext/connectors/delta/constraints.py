"""Tell which rows a Delta table refuses: by its NOT NULL and its CHECK, as Delta itself reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlext.quoting import identifier, string

_CHECK = "delta.constraints."


class TableConstraint(NamedTuple):
    """What must hold for a row (SQL), the code of the error where it does not, and what is wrong then."""

    condition: str
    code: str
    why: str


def constraints(name: str, required: Iterable[str], properties: Mapping[str, str]) -> tuple[TableConstraint, ...]:
    """Return the constraints of a table.

    Args:
        name: how messages call it.
        required: its columns that are NOT NULL.
        properties: those of the table that is there.
    """
    nulls = [
        TableConstraint(f"{identifier(c)} IS NOT NULL", "RUN-003", f"column {name}.{c} is NOT NULL") for c in required
    ]
    checks = [
        TableConstraint(f"({text})", "RUN-090", f"CHECK {key.removeprefix(_CHECK)} of {name} does not hold: {text}")
        for key, text in sorted(properties.items())
        if key.startswith(_CHECK)
    ]
    return (*nulls, *checks)


def first_broken(found: Iterable[TableConstraint]) -> str:
    """Return a struct of ``code`` and ``why`` of the first constraint that a row breaks, NULL of none, as SQL."""
    # A condition that is NULL does not hold: Delta refuses such a row.
    whens = " ".join(
        f"WHEN NOT coalesce({c.condition}, false) THEN named_struct('code', {string(c.code)}, 'why', {string(c.why)})"
        for c in found
    )
    return f"CASE {whens} END"
