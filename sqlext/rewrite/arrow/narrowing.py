"""Leave out what nobody looks at: columns of tables, and values that queries make of them.

Spark's optimiser does the same. So a value that does not fit its column fails no query that does not read it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pyarrow as pa

from sqlext.rewrite.script.model import ReadView
from sqlext.sources.program import Program
from sqlext.sources.queries import Branch, TableQuery
from sqlext_udfs.expressions.columns import Expression, Literal

#: What a view has of which nothing is looked at but how many rows there are.
_ONE: tuple[str, Expression] = ("__one", Literal(pa.bool_(), value=True))

T = TypeVar("T")


@dataclass
class LookedAt:
    """The columns of views that are looked at, found from the last view to the first."""

    _of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def all_of(self, view: str, columns: Sequence[str]) -> None:
        """Note that columns of a view are looked at."""
        self._of[view].update(columns)

    def query(self, query: TableQuery, view: str | None = None) -> TableQuery:
        """Return a query without the columns that nobody looks at.

        Args:
            view: what it is called; None: all of its columns are looked at.
        """
        return self._narrow(query, {n for n, _ in query.columns} if view is None else self._of[view])

    def read(self, step: ReadView) -> ReadView:
        """Return the view of a table that reads what is looked at."""
        program = step.program
        assert isinstance(program, Program)
        ((stage,),) = program.branches
        kept = _named(stage.columns, self._of[step.view])
        looked_at = _read_by(kept) | {program.rowtime.column if program.rowtime is not None else ""}
        computed = program.computed
        if computed is not None:
            made = _named(computed.columns, looked_at)
            looked_at |= _read_by(made)
            computed = replace(computed, columns=made) if made else None
        narrow = replace(program, computed=computed, branches=((replace(stage, columns=kept or (_ONE,)),),))
        return replace(step, program=narrow, needed=tuple(name for name in step.needed if name in looked_at))

    def _narrow(self, query: TableQuery, names: Collection[str]) -> TableQuery:
        columns = tuple(c for c in query.columns if c[0] in names) or ((_ONE[0], _ONE[1].type),)
        return replace(query, branches=tuple(self._branch(b, names) for b in query.branches), columns=columns)

    def _branch(self, branch: Branch, names: Collection[str]) -> Branch:
        stage = replace(branch.stage, columns=_named(branch.stage.columns, names) or (_ONE,))
        read = _read_by(stage.columns) | (stage.where.columns() if stage.where is not None else set())
        if isinstance(branch.of, str):
            self._of[branch.of].update(read)
            return Branch(branch.of, stage)
        return Branch(self._narrow(branch.of, read), stage)


def _named(columns: tuple[tuple[str, T], ...], names: Collection[str]) -> tuple[tuple[str, T], ...]:
    return tuple(c for c in columns if c[0] in names)


def _read_by(columns: Sequence[tuple[str, Expression]]) -> set[str]:
    return {name for _, expression in columns for name in expression.columns()}
