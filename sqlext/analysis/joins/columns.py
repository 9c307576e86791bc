"""Name the output columns of a join of two streams, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.joins import Carried
from sqlext.plan.scope import ScopeRelation
from sqlext.source import Span


@dataclass
class JoinColumns:
    """Collects the columns of both sides.

    Attributes:
        alias: of the relation that the join becomes.
        span: of the join.
        keeps_arrival: whether processing time stays what it is, though rowtimes do not.
    """

    alias: str
    span: Span
    keeps_arrival: bool = False
    columns: list[PlanColumn] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def side(
        self,
        relations: Sequence[ScopeRelation],
        *,
        lost: str = "",
        keeps: str = "",
        nullable: bool = False,
        used: frozenset[str] | None = None,
    ) -> tuple[tuple[ScopeRelation, ...], tuple[Carried, ...]]:
        """Return the relations of a side as the join gives them, and what comes out of it.

        Args:
            relations: of the side.
            lost: why its time attributes are none any more; empty where they stay.
            keeps: the physical column (a window's) that stays what it is all the same.
            nullable: whether rows of the other side come out with NULL in these columns.
            used: names, in lower case, of the columns that anybody looks at, None for all: others are not kept.
        """
        carried: dict[tuple[str, str, bool, Part], Carried] = {}
        given = []
        for relation in relations:
            columns = []
            for column in relation.columns:
                # Lower case, as a name of spark mode may be in another case; a column too many does no harm.
                if used is not None and column.name.lower() not in used:
                    continue
                stays = not lost or (bool(keeps) and column.physical == keeps)
                # No row holds processing time: above the join it is the clock of the micro-batch, as below it.
                stays = stays or (self.keeps_arrival and column.part is Part.PROCTIME)
                made = self._column(column, relation.alias, carried, stays=stays, reason=lost)
                columns.append(replace(made, type=made.type.as_nullable()) if nullable and made.type else made)
            given.append(replace(relation, alias=self.alias, columns=tuple(columns)))
            self.columns += columns
        return tuple(given), tuple(carried.values())

    def _column(
        self,
        column: PlanColumn,
        alias: str,
        carried: dict[tuple[str, str, bool, Part], Carried],
        *,
        stays: bool,
        reason: str,
    ) -> PlanColumn:
        if stays and column.part is Part.PROCTIME:
            return column
        as_value = not stays and (column.part is not Part.VALUE or column.time is not None)
        # Parts of a window share its struct, which is handed on once. As values they are columns of their own.
        key = (alias, column.physical, as_value, column.part if as_value else Part.VALUE)
        if key not in carried:
            name = self._unique(column.name if as_value else column.physical)
            carried[key] = Carried(name, column, alias, as_value)
        physical = carried[key].physical
        if not as_value:
            return replace(column, physical=physical)
        # As in Flink, DESCRIBE goes on showing the mark of a time attribute that no window can use any more.
        plain = replace(column.plain(reason, self.span), shown=column.time or column.shown)
        return replace(plain, physical=physical, part=Part.VALUE)

    def _unique(self, name: str) -> str:
        physical, i = name, 1
        while physical.lower() in self._taken:
            physical, i = f"{name}_{i}", i + 1
        self._taken.add(physical.lower())
        return physical
