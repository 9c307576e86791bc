"""Record a match in the making: which row was taken as which variable.

There is one link for each row, and each has the link before it. Links are never changed, so matches that begin alike
share them. Conditions look at a match from a link on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Link:
    """A row that was taken as a variable.

    A group is a variable, all variables, or a SUBSET (``MatchSpecification.groups``).

    Attributes:
        row: its place in ``PartitionRows``.
        variable: the variable's number.
        before: the link of the row before it; None at the beginning of the match.
        first, last: the first and the last link of each group up to this one; None where the group has no row yet.
        totals: results of aggregates up to here, by their numbers; filled in when they are asked for.
    """

    row: int
    variable: int
    before: Link | None
    first: tuple[Link | None, ...] = ()
    last: tuple[Link | None, ...] = ()
    totals: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def taken(cls, row: int, variable: int, before: Link | None, groups: Sequence[tuple[int, ...]], count: int) -> Link:
        """Return the link of a row that is taken behind another one.

        Args:
            row: its place.
            variable: as which it is taken.
            before: the link before it.
            groups: the groups of each variable.
            count: how many groups there are.
        """
        link = cls(row, variable, before)
        first: list[Link | None] = list(before.first) if before is not None else [None] * count
        last: list[Link | None] = list(before.last) if before is not None else [None] * count
        for group in groups[variable]:
            last[group] = link
            first[group] = first[group] or link
        link.first, link.last = tuple(first), tuple(last)
        return link

    def previous(self, group: int) -> Link | None:
        """Return the last link of a group before this one."""
        return self.before.last[group] if self.before is not None else None

    def of(self, group: int) -> list[Link]:
        """Return all links of a group up to this one, in the order of the rows."""
        found: list[Link] = []
        link = self.last[group]
        while link is not None:
            found.append(link)
            link = link.previous(group)
        found.reverse()
        return found

    def find(self, group: int, *, first: bool, offset: int) -> Link | None:
        """Return the link at some distance from the first or the last one of a group, None if there is none."""
        if first:
            if offset == 0:
                return self.first[group]
            links = self.of(group)
            return links[offset] if offset < len(links) else None
        link = self.last[group]
        while link is not None and offset > 0:
            link, offset = link.previous(group), offset - 1
        return link


@dataclass(frozen=True, slots=True)
class PartitionRows:
    """The rows of a partition that can be looked at.

    Attributes:
        values: lists of Python values, by the numbers of values; None where no condition looks at one.
        low: the place of the first row.
        high: the place behind the last row.
    """

    values: Sequence[Sequence[Any] | None]
    low: int
    high: int

    def value(self, number: int, row: int) -> Any:
        """Return a value; NULL before the first row and behind the last one."""
        column = self.values[number]
        assert column is not None
        # All partitions of a bucket lie in one list: PREV and NEXT must not look into a neighbour.
        return column[row] if self.low <= row < self.high else None
