"""Define queries and relations as parsed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.dialect.ast.expressions import Expr, Node, OverSpec
from sqlext.dialect.ast.matching import AfterMatch, Measure, Pattern, RowsPerMatch, Subset, VariableDefinition
from sqlext.dialect.emit.nodes import EmitClause
from sqlext.source import Span


@dataclass(frozen=True, slots=True)
class Alias:
    """``[AS] name [(columns)]``."""

    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """One hint of ``/*+ ... */``: OPTIONS('k'='v'), STATE_TTL('t'='1d'), BROADCAST(t).

    ``options`` are its key = value pairs, ``arguments`` its plain arguments, both as written without quotes;
    ``option_places`` and ``argument_places`` are where they stand.
    """

    name: str
    options: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    span: Span | None = None
    option_places: tuple[Span, ...] = ()
    argument_places: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """Something that stands in FROM."""


@dataclass(frozen=True, slots=True)
class TableRef(Relation):
    """``[STREAM] db.t [hints] [FOR SYSTEM_TIME AS OF x] [AS a]``; ``name_span`` covers the name alone."""

    parts: tuple[str, ...]
    name_span: Span
    alias: Alias | None = None
    hints: tuple[Hint, ...] = ()
    system_time: Expr | None = None
    version: Expr | None = None  # Spark's VERSION AS OF / TIMESTAMP AS OF
    stream: bool = False


@dataclass(frozen=True, slots=True)
class SubqueryRef(Relation):
    """``[LATERAL] (SELECT ...) [AS a (c, ...)]``."""

    query: Query
    alias: Alias | None = None
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class TableArgument(Node):
    """``TABLE t [PARTITION BY k, ...] [ORDER BY ...]`` or ``(SELECT ...)`` as an argument of a table function."""

    relation: Relation
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[OrderItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Descriptor(Node):
    """``DESCRIPTOR(a, b)``."""

    columns: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TableFunction(Relation):
    """``[LATERAL] [TABLE(] f(args) [)] [AS a (c, ...)]``; args are Expr, NamedArgument, TableArgument, Descriptor."""

    name: str
    args: tuple[Node, ...]
    alias: Alias | None = None
    lateral: bool = False

    @property
    def function(self) -> str:
        """The name in upper case."""
        return self.name.upper()


@dataclass(frozen=True, slots=True)
class Unnest(Relation):
    """``UNNEST(x, ...) [WITH ORDINALITY] [AS a (c, ...)]``."""

    operands: tuple[Expr, ...]
    ordinality: bool = False
    alias: Alias | None = None


@dataclass(frozen=True, slots=True)
class MatchRecognize(Relation):
    """``t MATCH_RECOGNIZE ( ... ) [AS a]``."""

    input: Relation
    pattern: Pattern
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    measures: tuple[Measure, ...] = ()
    rows: RowsPerMatch | None = None
    after: AfterMatch | None = None
    within: Expr | None = None
    subsets: tuple[Subset, ...] = ()
    definitions: tuple[VariableDefinition, ...] = ()
    alias: Alias | None = None


@dataclass(frozen=True, slots=True)
class AsOf(Node):
    """``MATCH_CONDITION (condition) [TOLERANCE interval]``: what makes a join an ASOF JOIN."""

    condition: Expr
    tolerance: Expr | None = None


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """``left [NATURAL] kind [ASOF] JOIN right [MATCH_CONDITION ...] [ON ... | USING (...)]``.

    ``kind`` is INNER, LEFT, RIGHT, FULL, CROSS, LEFT SEMI or LEFT ANTI; a comma is CROSS with ``comma``.
    """

    left: Relation
    right: Relation
    kind: str
    natural: bool = False
    condition: Expr | None = None
    using: tuple[str, ...] = ()
    comma: bool = False
    as_of: AsOf | None = None


@dataclass(frozen=True, slots=True)
class ParenRelation(Relation):
    """``(a JOIN b)``: a parenthesised relation that is not a query."""

    relation: Relation
    alias: Alias | None = None


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    """``x [ASC | DESC] [NULLS FIRST | LAST]``; ``nulls`` is FIRST, LAST or None."""

    expr: Expr
    descending: bool = False
    nulls: str | None = None


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """``expr [AS alias]``."""

    expr: Expr
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class GroupingSets(Node):
    """``ROLLUP (..)``, ``CUBE (..)``, ``GROUPING SETS ((a, b), a, ())``; a nested one is the only entry of its set."""

    kind: str
    sets: tuple[tuple[Expr | GroupingSets, ...], ...]


@dataclass(frozen=True, slots=True)
class GroupBy(Node):
    """``GROUP BY items``; Spark's ``GROUP BY ALL`` is the one item Keyword ALL."""

    items: tuple[Expr | GroupingSets, ...]


@dataclass(frozen=True, slots=True)
class NamedWindow(Node):
    """``WINDOW name AS (...)``."""

    name: str
    over: OverSpec


@dataclass(frozen=True, slots=True)
class Select(Node):
    """One SELECT block. ``emit`` is its EMIT clause, which may stand after the query's ORDER BY."""

    items: tuple[SelectItem, ...]
    distinct: bool = False
    hints: tuple[Hint, ...] = ()
    from_: Relation | None = None
    where: Expr | None = None
    group_by: GroupBy | None = None
    having: Expr | None = None
    windows: tuple[NamedWindow, ...] = ()
    qualify: Expr | None = None
    emit: EmitClause | None = None


@dataclass(frozen=True, slots=True)
class Values(Node):
    """``VALUES (1, 'a'), (2, 'b')``; a row of one value may lack parentheses."""

    rows: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class TableBody(Node):
    """``TABLE t`` as a query."""

    table: TableRef


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    """``left UNION | INTERSECT | EXCEPT [ALL | DISTINCT] right``."""

    op: str
    all: bool
    left: QueryBody
    right: QueryBody


@dataclass(frozen=True, slots=True)
class Cte(Node):
    """``name [(columns)] AS (query)``."""

    name: str
    query: Query
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query(Node):
    """``[WITH ...] body [ORDER BY] [LIMIT] [OFFSET]``; a parenthesised query in a set operation is a Query too."""

    body: QueryBody
    ctes: tuple[Cte, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    limit: Expr | None = None
    offset: Expr | None = None


QueryBody = Select | Values | TableBody | SetOperation | Query
