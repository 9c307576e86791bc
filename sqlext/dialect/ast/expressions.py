"""Define expressions as parsed: frozen nodes, each with the span it came from.

A node is kept next to its text: what no rule touches is later copied verbatim from the span.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sqlext.source import Span
from sqlext.types import LogicalType

if TYPE_CHECKING:
    from sqlext.dialect.ast.queries import OrderItem, Query


@dataclass(frozen=True, slots=True)
class Node:
    """Anything parsed; ``span`` covers it exactly, parentheses around it excluded."""

    span: Span

    def children(self) -> Iterator[Node]:
        """Yield the nodes directly below, in source order of the fields."""
        for name in _child_fields(type(self)):
            value = getattr(self, name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from _nodes(value)

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, depth first."""
        # Not recursive: a generator per level would make long chains quadratic, or fail.
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(tuple(node.children())))


# A walk asks for each node, and dataclasses.fields() builds its answer anew each time.
_CHILD_FIELDS: dict[type[Node], tuple[str, ...]] = {}


def _child_fields(node_type: type[Node]) -> tuple[str, ...]:
    names = _CHILD_FIELDS.get(node_type)
    if names is None:
        names = tuple(f.name for f in fields(node_type) if f.name != "span")
        _CHILD_FIELDS[node_type] = names
    return names


def _nodes(values: tuple[Any, ...]) -> Iterator[Node]:
    for item in values:
        if isinstance(item, Node):
            yield item
        # The rows of VALUES and the sets of GROUPING SETS are tuples of tuples.
        elif isinstance(item, tuple):
            yield from _nodes(item)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """An expression."""


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    """A literal: ``kind`` is NUMBER, STRING, BINARY, BOOLEAN, NULL, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ.

    ``value`` is the text without quotes (TRUE / FALSE / NULL in upper case).
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Interval(Expr):
    """``INTERVAL '1:30' MINUTE TO SECOND``, ``INTERVAL 5 SECONDS``: value text, units in upper-case singular."""

    value: str
    unit: str
    to_unit: str | None = None


@dataclass(frozen=True, slots=True)
class Difference(Expr):
    """``(end - start) DAY TO SECOND``: the interval between two times, units in upper-case singular."""

    end: Expr
    start: Expr
    unit: str
    to_unit: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnRef(Expr):
    """``a``, ``t.a``, ``t.a.b``: unquoted parts."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Star(Expr):
    """``*`` or ``t.*``; ``excluded``: Spark's ``* EXCEPT (a, b)``."""

    qualifier: tuple[str, ...] = ()
    excluded: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Keyword(Expr):
    """A word that is an argument by itself: the unit in EXTRACT(YEAR FROM x), BOTH in TRIM. Upper case."""

    word: str


@dataclass(frozen=True, slots=True)
class NamedArgument(Expr):
    """``name => value``."""

    name: str
    value: Node


@dataclass(frozen=True, slots=True)
class FrameBound(Node):
    """``UNBOUNDED PRECEDING``, ``CURRENT ROW``, ``x PRECEDING`` (``side`` PRECEDING, ``offset`` x), or FOLLOWING."""

    side: str
    offset: Expr | None = None


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """``ROWS | RANGE start`` or ``ROWS | RANGE BETWEEN start AND end``; without ``end`` it is the current row."""

    unit: str
    start: FrameBound
    end: FrameBound | None = None


@dataclass(frozen=True, slots=True)
class OverSpec(Node):
    """``OVER w`` (``name`` only) or ``OVER (...)``."""

    name: str | None = None
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """A user's aggregate function that a call names; the parser does not know it, analysis finds it.

    ``implementation`` is the qualified name of its class, ``merges`` says whether it joins partial results.
    """

    name: str
    implementation: str
    returns: LogicalType
    merges: bool


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A user's scalar function that a call names, and what it returns; analysis finds it, as ``Registered``."""

    name: str
    implementation: str
    returns: LogicalType


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """``name(args)``, also of keyword syntax.

    ``EXTRACT(YEAR FROM x)`` has args (Keyword YEAR, x); ``FLOOR(x TO HOUR)`` (x, Keyword HOUR);
    ``TRIM(BOTH 'a' FROM x)`` (Keyword BOTH, 'a', x); ``POSITION(a IN b)`` (a, b); ``SUBSTRING(x FROM 1 FOR 2)``
    (x, 1, 2); ``OVERLAY(x PLACING y FROM 1 FOR 2)`` (x, y, 1, 2); ``TIMESTAMPDIFF(DAY, a, b)`` (Keyword DAY, a, b);
    ``JSON_OBJECT(KEY k VALUE v)`` (k, v). A call without parentheses (CURRENT_TIMESTAMP) has ``bare``.
    ``clauses`` are the remaining keyword phrases, upper case, single blanks: ``NULL ON NULL``, ``RETURNING INT``,
    ``IGNORE NULLS``. ``name`` is as written, dotted names joined with dots.
    """

    name: str
    args: tuple[Node, ...] = ()
    distinct: bool = False
    bare: bool = False
    clauses: tuple[str, ...] = ()
    order_by: tuple[OrderItem, ...] = ()  # inside the call or WITHIN GROUP
    filter: Expr | None = None
    over: OverSpec | None = None
    registered: Registered | None = None
    python: PythonFunction | None = None

    @property
    def function(self) -> str:
        """The name in upper case."""
        return self.name.upper()


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """``CAST(x AS type)``, ``TRY_CAST(x AS type)``, ``x::type`` (``operator``)."""

    operand: Expr
    type: LogicalType
    type_span: Span
    try_: bool = False
    operator: bool = False


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """``NOT x``, ``-x``, ``+x``, ``~x``; ``op`` in upper case."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """``OR AND = <> != < <= > >= <=> == + - * / % DIV || & | ^``, IS [NOT] DISTINCT FROM, OVERLAPS; upper case."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Between(Expr):
    """``x [NOT] BETWEEN [SYMMETRIC] low AND high``."""

    operand: Expr
    low: Expr
    high: Expr
    negated: bool = False
    symmetric: bool = False


@dataclass(frozen=True, slots=True)
class InList(Expr):
    """``x [NOT] IN (a, b)``."""

    operand: Expr
    items: tuple[Expr, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InQuery(Expr):
    """``x [NOT] IN (SELECT ...)``; ``quantified``: written ``x = ANY (...)`` or ``x <> ALL (...)``."""

    operand: Expr
    query: Query
    negated: bool = False
    quantified: bool = False


@dataclass(frozen=True, slots=True)
class ListComparison(Expr):
    """``x op ANY | SOME | ALL (a, b)``; ``every``: ALL."""

    operand: Expr
    op: str
    every: bool
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class QueryComparison(Expr):
    """``x op ANY | SOME | ALL (SELECT ...)``; ``every``: ALL.

    ``summary`` is what decides it: the least and the greatest value of the query, the number of its rows, and that of
    its values that are not NULL, as the fields of one ROW.
    """

    operand: Expr
    op: str
    every: bool
    summary: ScalarQuery


@dataclass(frozen=True, slots=True)
class Like(Expr):
    """``x [NOT] LIKE y [ESCAPE z]``; ``op`` is LIKE, ILIKE, RLIKE, REGEXP or SIMILAR TO."""

    op: str
    operand: Expr
    pattern: Expr
    escape: Expr | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsTest(Expr):
    """``x IS [NOT] NULL | TRUE | FALSE | UNKNOWN | JSON [OBJECT | ARRAY | SCALAR]``; ``test`` in upper case."""

    operand: Expr
    test: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class When(Node):
    """``WHEN condition THEN result``."""

    condition: Expr
    result: Expr


@dataclass(frozen=True, slots=True)
class Case(Expr):
    """``CASE [operand] WHEN ... [ELSE ...] END``."""

    operand: Expr | None
    whens: tuple[When, ...]
    otherwise: Expr | None = None


@dataclass(frozen=True, slots=True)
class Exists(Expr):
    """``EXISTS (SELECT ...)``."""

    query: Query


@dataclass(frozen=True, slots=True)
class ScalarQuery(Expr):
    """``(SELECT ...)`` as a value."""

    query: Query


@dataclass(frozen=True, slots=True)
class Paren(Expr):
    """``(x)``; the span includes the parentheses."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class AllOf(Expr):
    """Conditions that all must hold: what analysis leaves of a WHERE, whose span it keeps."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class RowValue(Expr):
    """``ROW(a, b)`` or ``(a, b)``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ArrayValue(Expr):
    """``ARRAY[a, b]``; ``MULTISET[a, b]`` is a Call named MULTISET."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MapValue(Expr):
    """``MAP[k, v, ...]``: keys and values alternate."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Subscript(Expr):
    """``x[index]`` (Flink's arrays count from 1, Spark's from 0)."""

    operand: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class FieldAccess(Expr):
    """``f(x).name``, ``(x).name``, ``x[1].name``: a field of something that is not a plain column path."""

    operand: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Parameter(Expr):
    """The parameter of a lambda around; it goes before a column of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class Lambda(Expr):
    """Spark's ``x -> body`` or ``(x, y) -> body``; in the body its parameters are no ``ColumnRef``."""

    parameters: tuple[Parameter, ...]
    body: Expr


def is_literal(node: Node) -> bool:
    """Whether a node is a literal, with or without a sign."""
    return isinstance(node, Literal) or (isinstance(node, Unary) and isinstance(node.operand, Literal))


def and_parts(expr: Expr | None) -> Iterator[Expr]:
    """Yield what AND connects, without what is always true."""
    inner = expr
    while isinstance(inner, Paren):
        inner = inner.operand
    if isinstance(inner, AllOf):
        for operand in inner.operands:
            yield from and_parts(operand)
    elif isinstance(inner, Binary) and inner.op.upper() == "AND":
        yield from and_parts(inner.left)
        yield from and_parts(inner.right)
    elif inner is not None and not (isinstance(inner, Literal) and inner.value == "TRUE"):
        yield inner
