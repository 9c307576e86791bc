"""Translate PATTERN for the operator, and refuse what Flink does not have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from sqlext.dialect.ast import matching as d
from sqlext.errors import SqlExtError
from sqlext_udfs.matching.pattern import Choice, Concatenation, Pattern, Repeat, Variable

_STANDARD = "SET 'sqlext.match-recognize' = 'standard' allows it"
_MOST_ROWS = 10_000
# PERMUTE of n patterns is n! alternatives, of five 120.
_MOST_PERMUTED = 5


def variables_of(pattern: d.Pattern) -> tuple[str, ...]:
    """Return the variables of a pattern, in the order of their first places."""
    return tuple(dict.fromkeys(p.name for p in pattern.walk() if isinstance(p, d.PatternVariable)))


def core_pattern(pattern: d.Pattern, variables: Sequence[str], *, standard: bool) -> Pattern:
    """Return a pattern as the operator takes it.

    Raises:
        SqlExtError: MATCH-002 for quantifiers that are too large, MATCH-005 for what no mode has, MATCH-009 to
            MATCH-011 for what Flink has not.
    """
    if not standard:
        _check_flink(pattern)
    if _size(pattern) > _MOST_ROWS:
        raise SqlExtError("MATCH-002", f"a pattern can count {_MOST_ROWS:,} rows at most", span=pattern.span)
    return _core(pattern, variables)


def _core(pattern: d.Pattern, variables: Sequence[str]) -> Pattern:
    if isinstance(pattern, d.PatternVariable):
        return Variable(variables.index(pattern.name))
    if isinstance(pattern, d.PatternSequence):
        return Concatenation(tuple(_core(p, variables) for p in pattern.items))
    if isinstance(pattern, d.PatternChoice):
        return Choice(tuple(_core(p, variables) for p in pattern.items))
    if isinstance(pattern, d.PatternQuantified):
        return Repeat(_core(pattern.of, variables), pattern.least, pattern.most, not pattern.reluctant)
    if isinstance(pattern, d.PatternPermutation) and len(pattern.items) <= _MOST_PERMUTED:
        items = [_core(p, variables) for p in pattern.items]
        return Choice(tuple(Concatenation(order) for order in permutations(items)))
    raise _not_supported(pattern)


def _not_supported(pattern: d.Pattern) -> SqlExtError:
    if isinstance(pattern, d.PatternPermutation):
        what, hint = f"PERMUTE of more than {_MOST_PERMUTED} patterns", "write the orders that you need with |"
    elif isinstance(pattern, d.PatternExclusion):
        what, hint = "the exclusion {- -}", "leave out its variable in MEASURES"
    else:
        what, hint = "the anchor ^ or $", "a stream has no first and last row"
    return SqlExtError("MATCH-005", f"{what} is not supported", span=pattern.span, hint=hint)


def _size(pattern: d.Pattern) -> int:
    """Return how many rows a pattern counts one by one."""
    inner = sum(_size(c) for c in pattern.children() if isinstance(c, d.Pattern))
    if isinstance(pattern, d.PatternQuantified):
        return inner * max(pattern.least + 1, pattern.most or 0)
    return max(inner, 1)


def _check_flink(pattern: d.Pattern) -> None:
    """Check that a pattern is one that Flink takes (as measured on 2.3): variables in a row, each with a quantifier."""
    items = pattern.items if isinstance(pattern, d.PatternSequence) else (pattern,)
    before: d.Pattern | None = None
    for item in items:
        of = item.of if isinstance(item, d.PatternQuantified) else item
        if not isinstance(of, d.PatternVariable):
            raise _only_standard(of)
        # Flink's docs, Pattern Recognition, Known Limitations: only the greedy A?, not A??.
        if isinstance(item, d.PatternQuantified) and item.reluctant and (item.least, item.most) == (0, 1):
            raise SqlExtError(
                "MATCH-011",
                "Flink has no reluctant optional variable",
                span=item.span,
                hint=f"write {of.name}?, which Flink does not prefer to take, or {_STANDARD}",
            )
        # Flink CEP: "Optional pattern cannot be preceded by greedy pattern".
        if before is not None and _is_greedy(before) and _is_optional(item):
            raise SqlExtError(
                "MATCH-010",
                f"{item.span.text} cannot follow the greedy {before.span.text} in Flink: it may have no row",
                span=item.span,
                hint=f"make {before.span.text} reluctant with ?, or {_STANDARD}",
            )
        before = item
    # Flink: "Greedy quantifiers are not allowed as the last element of a Pattern yet."
    if before is not None and _is_greedy(before):
        raise SqlExtError(
            "MATCH-009",
            f"a pattern cannot end with the greedy {before.span.text} in Flink",
            span=before.span,
            hint=f"end it with a variable for one row, write {before.span.text}?, or {_STANDARD}",
        )


def _only_standard(pattern: d.Pattern) -> SqlExtError:
    if isinstance(pattern, (d.PatternExclusion, d.PatternAnchor)):
        return _not_supported(pattern)
    # Flink's docs, Pattern Recognition, Known Limitations: pattern groups, alterations, PERMUTE.
    what = {
        d.PatternChoice: "alternatives (A | B)",
        d.PatternPermutation: "PERMUTE",
    }.get(type(pattern), "groups (A B) in a pattern")
    return SqlExtError("MATCH-011", f"Flink has no {what}", span=pattern.span, hint=_STANDARD)


def _is_greedy(item: d.Pattern) -> bool:
    """Whether a quantifier leaves a choice and takes all it can; ``?`` does not, in Flink."""
    return (
        isinstance(item, d.PatternQuantified)
        and not item.reluctant
        and item.least != item.most
        and (item.least, item.most) != (0, 1)
    )


def _is_optional(item: d.Pattern) -> bool:
    return isinstance(item, d.PatternQuantified) and item.least == 0
