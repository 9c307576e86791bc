"""Check the hints of tables and of SELECT: a name that nobody has, and what a hint says of tables that are not there.

As in Flink, where each of these is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlext.dialect.ast.queries import Alias, Hint, Join, ParenRelation, Relation, Select, TableRef
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.settings import parse_duration
from sqlext.source import Span

#: Hints whose arguments are tables of the SELECT, Flink's and Spark's.
_OF_TABLES = frozenset(
    """BROADCAST BROADCASTJOIN MAPJOIN MERGE MERGEJOIN MULTI_JOIN NEST_LOOP SHUFFLE_HASH SHUFFLE_MERGE
    SHUFFLE_REPLICATE_NL""".split()
)
_OTHERS = frozenset("OPTIONS STATE_TTL LOOKUP COALESCE REPARTITION REPARTITION_BY_RANGE REBALANCE".split())
_OF_LOOKUP = frozenset(
    """table async output-mode capacity timeout retry-predicate retry-strategy fixed-delay max-attempts
    shuffle""".split()
)


def check_hints(hints: Sequence[Hint], used: Span) -> None:
    """Check the hints of a table.

    Raises:
        SqlExtError: OPT-037 for a name that no hint has, and OPTIONS without options.
    """
    for hint in hints:
        place = hint.span or used
        if hint.name not in _OF_TABLES | _OTHERS:
            hint_ = did_you_mean(hint.name, _OF_TABLES | _OTHERS) or "OPTIONS, STATE_TTL and LOOKUP are hints"
            raise SqlExtError("OPT-037", f"there is no hint `{hint.name}`", span=place, hint=hint_)
        if hint.name == "OPTIONS" and (hint.arguments or not hint.options):
            message = "OPTIONS takes keys with their values"
            raise SqlExtError("OPT-037", message, span=place, hint="write OPTIONS('key' = 'value')")


def check_query_hints(select: Select) -> None:
    """Check the hints of a SELECT.

    Raises:
        SqlExtError: as ``check_hints``, and OPT-037 for a table that is not in FROM, for a time that is no duration,
            and for an option that LOOKUP has not.
    """
    if not select.hints:
        return
    check_hints(select.hints, select.span)
    names = set(_names(select.from_)) if select.from_ is not None else set()
    for hint in select.hints:
        if hint.name in _OF_TABLES:
            _check_tables(hint, zip(hint.arguments, hint.argument_places, strict=False), names)
        elif hint.name == "STATE_TTL":
            _check_tables(hint, ((key, place) for (key, _), place in _placed(hint)), names)
            _check_times(hint)
        elif hint.name == "LOOKUP":
            _check_lookup(hint, names)


def _placed(hint: Hint) -> Iterator[tuple[tuple[str, str], Span]]:
    return zip(hint.options, hint.option_places, strict=False)


def _check_tables(hint: Hint, named: Iterable[tuple[str, Span]], names: Collection[str]) -> None:
    for name, place in named:
        if name not in names:
            message = f"{hint.name} names `{name}`, which is no table of this FROM"
            close = did_you_mean(name, names) or f"its tables are {', '.join(sorted(names))}; an alias hides a name"
            raise SqlExtError("OPT-037", message, span=place, hint=close)


def _check_times(hint: Hint) -> None:
    for (_, value), place in _placed(hint):
        if parse_duration(value) is None:
            raise SqlExtError("JOIN-006", f"'{value}' is no duration", span=place, hint="write '1 d' or '30 min'")


def _check_lookup(hint: Hint, names: Collection[str]) -> None:
    for (key, value), place in _placed(hint):
        if key not in _OF_LOOKUP:
            close = did_you_mean(key, _OF_LOOKUP) or f"it takes {', '.join(sorted(_OF_LOOKUP))}"
            raise SqlExtError("OPT-037", f"LOOKUP has no option '{key}'", span=place, hint=close)
        if key == "table":
            _check_tables(hint, ((value, place),), names)


def _names(relation: Relation) -> Iterator[str]:
    """Yield the names that the relations of a FROM go by."""
    if isinstance(relation, Join):
        yield from _names(relation.left)
        yield from _names(relation.right)
        return
    alias: Alias | None = getattr(relation, "alias", None)
    if alias is not None:
        yield alias.name
    elif isinstance(relation, TableRef):
        yield relation.parts[-1]
        yield ".".join(relation.parts)
    elif isinstance(relation, ParenRelation):
        yield from _names(relation.relation)
