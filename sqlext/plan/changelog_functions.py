"""Nodes of TO_CHANGELOG and FROM_CHANGELOG: changes as rows with a column of operations, and back."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.plan.nodes import KIND, UnaryNode


@dataclass(frozen=True, slots=True)
class ToChangelog(UnaryNode):
    """Every change of the input as a row of its own, with the code of its kind in the column ``op``.

    Attributes:
        op: physical name of the column of codes.
        codes: kind (``sqlext_udfs.kernel.row_kinds``) and code; changes of other kinds are left out.
    """

    op: str
    codes: tuple[tuple[int, str], ...]

    @property
    def hidden(self) -> tuple[str, ...]:
        """Nothing: its rows are only added."""
        # Not even the KIND of its input: each change is an ordinary row from here on.
        return ()


@dataclass(frozen=True, slots=True)
class FromChangelog(UnaryNode):
    """The rows of the input as changes, of the kind that the code in ``op`` says.

    Attributes:
        op: physical name of the column of codes.
        codes: code and kind; any other code fails the query (RUN-045).
    """

    op: str
    codes: tuple[tuple[str, int], ...]

    @property
    def hidden(self) -> tuple[str, ...]:
        """The kind."""
        return (KIND,)
