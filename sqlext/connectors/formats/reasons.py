"""Say in SQL why a row cannot be decoded."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.quoting import string

#: A character beyond those that Java's trim takes away.
_VISIBLE = r"[^\x00-\x20]"


def when(cases: list[tuple[str, str]]) -> str:
    """Return the reason of the first case that holds (condition, reason: both SQL), NULL if none does."""
    return " ".join(("CASE", *(f"WHEN {condition} THEN {reason}" for condition, reason in cases), "END"))


def misfit(names: str) -> str:
    """Return the reason that columns have values that are none of their types; ``names`` is SQL of a STRING."""
    return f"concat('a value does not fit its column: ', {names})"


def misfits(checks: Mapping[str, str | None]) -> list[tuple[str, str]]:
    """Return the case that a column has such a value; ``checks`` says by column when it has, None for never."""
    names = [f"IF({check}, {string(name)}, NULL)" for name, check in checks.items() if check is not None]
    if not names:
        return []
    found = f"array_compact(array({', '.join(names)}))"
    return [(f"size({found}) > 0", misfit(f"array_join({found}, ', ')"))]


def not_blank(line: str) -> str:
    """Return SQL that holds for a line that Spark's readers do not pass over."""
    return f"{line} RLIKE {string(_VISIBLE)}"
