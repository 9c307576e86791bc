"""MATCH_RECOGNIZE on a whole partition, in a few lines: backtracking, and Flink's shortest match.

A pattern is a sequence of ``(variable, least, most, greedy)``; a condition a function of the rows and of what was
taken: pairs of variable and place, the last of which is the row that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

Taken = tuple[tuple[int, int], ...]
Condition = Callable[[Sequence[int], Taken], bool]
Element = tuple[int, int, "int | None", bool]


def matches(
    values: Sequence[int],
    pattern: Sequence[Element],
    conditions: Sequence[Condition],
    skip: str,
    *,
    standard: bool,
    closed: bool = True,
) -> list[Taken]:
    """Return the matches of a partition.

    Args:
        values: its rows.
        pattern: what is looked for.
        conditions: of each variable.
        skip: ``NEXT ROW`` or ``PAST LAST ROW``.
        standard: whether by backtracking.
        closed: whether nothing comes behind the rows; else a start that may still match holds back what follows.
    """
    found: list[Taken] = []
    start = 0
    while start < len(values):
        first = (
            _preferred(values, start, pattern, conditions)
            if standard
            else _shortest(values, start, pattern, conditions)
        )
        if first == "open" and not closed:
            break
        if not isinstance(first, tuple):
            start += 1
            continue
        found.append(first)
        start = first[-1][1] + 1 if first and skip == "PAST LAST ROW" else start + 1
    return found


def _preferred(
    values: Sequence[int], start: int, pattern: Sequence[Element], conditions: Sequence[Condition]
) -> Taken | None:
    def ways(row: int, element: int, count: int, taken: Taken) -> Iterator[Taken]:
        if element == len(pattern):
            yield taken
            return
        variable, least, most, greedy = pattern[element]

        def on() -> Iterator[Taken]:
            if count >= least:
                yield from ways(row, element + 1, 0, taken)

        def more() -> Iterator[Taken]:
            after = (*taken, (variable, row))
            if row < len(values) and (most is None or count < most) and conditions[variable](values, after):
                yield from ways(row + 1, element, count + 1, after)

        for way in (more, on) if greedy else (on, more):
            yield from way()

    return next(ways(start, 0, 0, ()), None)


def _shortest(
    values: Sequence[int], start: int, pattern: Sequence[Element], conditions: Sequence[Condition]
) -> Taken | str | None:
    threads: list[tuple[int, int, Taken]] = [(0, 0, ())]
    for row in range(start, len(values)):
        after: list[tuple[int, int, Taken]] = []
        for element, count, taken in threads:
            for to, number in _takes(pattern, element, count):
                variable = pattern[to][0]
                more = (*taken, (variable, row))
                if to > 0 and number == 1 and _is_possessive(pattern[to - 1]):
                    other = pattern[to - 1][0]
                    if conditions[other](values, (*taken, (other, row))):
                        continue
                if conditions[variable](values, more):
                    after.append((to, number, more))
        for element, count, taken in after:
            if count >= pattern[element][1] and all(least == 0 for _, least, _, _ in pattern[element + 1 :]):
                return taken
        threads = after
    return "open" if threads else None


def _takes(pattern: Sequence[Element], element: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the element that may take the next row and how many it has then; the same element first."""
    most = pattern[element][2]
    if most is None or count < most:
        yield element, count + 1
    while count >= pattern[element][1] and element + 1 < len(pattern):
        element, count = element + 1, 0
        yield element, 1


def _is_possessive(element: Element) -> bool:
    _, least, most, greedy = element
    return greedy and least != most and (least, most) != (0, 1)
