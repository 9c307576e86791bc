"""Translate Spark SQL to Arrow expressions, where Arrow computes exactly the same.

The input is the text that Spark would be given, so both paths mean the same by construction. sqlglot parses it. A short
list of operations is known; Spark keeps every other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser

from sqlext.connectors.formats.conversions import instant_to_wall, wall_to_instant
from sqlext.rewrite.arrow.numbers import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    as_doubles,
    common_type,
    decimal_literal,
    decimal_type,
    exact,
    holds,
    same_decimals,
    widest,
)
from sqlext.rewrite.arrow.scalars import SCALARS, divided, failure, text_of
from sqlext.rewrite.arrow.texts import TEXTS
from sqlext.rewrite.arrow.time_literals import LITERALS, interval_micros, time_literal
from sqlext.rewrite.arrow.times import TIMES, at_zone, instant_of
from sqlext.rewrite.expressions.integers import wrapping_product, wrapping_sum
from sqlext.sources.decoding.date_format import Formatted, tokens
from sqlext_udfs.expressions.casts import SPARK, number_type
from sqlext_udfs.expressions.columns import (
    Apply,
    Arithmetic,
    Case,
    Compare,
    Connected,
    Expression,
    Literal,
    RowOf,
    negated,
)
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK

Resolve = Callable[[Sequence[str]], Expression]
"""The parts of a name -> what it stands for; raises ``Unsuited`` for what Arrow does not read."""

#: So many trees are kept: the texts of a few queries.
_KEPT_TREES = 256
_ARITHMETIC: Mapping[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_TRIED: Mapping[type[exp.Expr], str] = {exp.SafeAdd: "+", exp.SafeSubtract: "-", exp.SafeMultiply: "*"}
_COMPARISONS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TYPES = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "TIMESTAMPTZ": INSTANT,
    "TIMESTAMPNTZ": WALL_CLOCK,
    "TEXT": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "BOOLEAN": pa.bool_(),
}
#: Bits of the two shifts with which ``wrapped`` narrows a BIGINT as Java does, and the type that is left.
_WRAPS_AT = {32: pa.int32(), 48: pa.int16(), 56: pa.int8()}
#: Any zone but UTC: in all of these the conversions are written alike.
_ELSEWHERE = "Europe/Berlin"
_FROM_EPOCH = ("timestamp_millis", "timestamp_seconds")


class _Plain(Spark):
    """Spark's SQL, whose patterns of times stay as they are written."""

    class Parser(SparkParser):
        """Leaves ``date_format`` a function like others."""

        FUNCTIONS: ClassVar = {k: v for k, v in SparkParser.FUNCTIONS.items() if k != "DATE_FORMAT"}


class Unsuited(Exception):  # noqa: N818 - not an error: the other path is taken
    """What Arrow is not known to do exactly as Spark; its text says what, for EXPLAIN."""


def translated(text: str, resolve: Resolve, zone: str) -> Expression:
    """Return an expression of Spark SQL for a session with ANSI rules.

    Args:
        text: as Spark would get it.
        resolve: gives what names stand for.
        zone: the session's.

    Raises:
        Unsuited: for anything that is not known to be the same.
    """
    return translated_tree(parsed(text), resolve, zone)


@lru_cache(_KEPT_TREES)
def parsed(text: str) -> exp.Expr:
    """Return a text of Spark SQL as a tree, which nobody changes: a query is compiled to check, to plan and to run it.

    Raises:
        Unsuited: for one that cannot be read.
    """
    try:
        return sqlglot.parse_one(text, read=_Plain)
    except SqlglotError as error:
        raise Unsuited(f"`{text}`") from error


def translated_tree(tree: exp.Expr, resolve: Resolve, zone: str) -> Expression:
    """Return the expression of a part of what ``parsed`` gives; see ``translated``."""
    return _Translation(resolve, zone).of(tree)


class _Translation:
    def __init__(self, resolve: Resolve, zone: str) -> None:
        self._resolve = resolve
        self._zone = zone

    def of(self, node: exp.Expr) -> Expression:
        for kind, rule in _RULES:
            if isinstance(node, kind):
                found = rule(self, node)
                if found is not None:
                    return found
        for kind, scalar in _FUNCTIONS:
            found = scalar(self.of, node) if isinstance(node, kind) else None
            if found is not None:
                return found
        for kind, of_time in TIMES:
            found = of_time(self.of, self._zone, node) if isinstance(node, kind) else None
            if found is not None:
                return found
        raise Unsuited(f"`{node.sql('spark')}`")

    def paren(self, node: exp.Expr) -> Expression:
        return self.of(node.this)

    def column(self, node: exp.Column) -> Expression:
        return self._resolve([part.name for part in node.parts])

    def literal(self, node: exp.Literal) -> Expression | None:
        if node.is_string:
            return Literal(pa.string(), value=node.this)
        # To Spark, 1.5 is a DECIMAL and 1e3 a DOUBLE.
        if not node.this.isdigit():
            return decimal_literal(node.this)
        value = int(node.this)
        # Beyond BIGINT a literal is a DECIMAL to Spark.
        if value >= 1 << 63:
            return None
        return Literal(pa.int32() if value < 1 << 31 else pa.int64(), value=value)

    def boolean(self, node: exp.Boolean) -> Expression:
        return Literal(pa.bool_(), value=bool(node.this))

    def arithmetic(self, node: exp.Binary) -> Expression | None:
        if isinstance(node.right, exp.Interval):
            return self._shifted(self.of(node.left), node.right, back=isinstance(node, exp.Sub))
        left, right = as_doubles(self.of(node.left), self.of(node.right))
        op = _ARITHMETIC[type(node)]
        common = widest(left.type, right.type)
        if common is None:
            return exact(op, left, right)
        return Arithmetic(common, inputs=(left, right), op=op, result=number_type(common), fails=common not in FLOATS)

    def tried(self, node: exp.Binary) -> Expression | None:
        left, right = as_doubles(self.of(node.this), self.of(node.expression))
        common = widest(left.type, right.type)
        if common is None:
            return None
        return Arithmetic(common, inputs=(left, right), op=_TRIED[type(node)], result=number_type(common), tries=True)

    def wrapping(self, node: exp.Coalesce) -> Expression | None:
        """Return a sum or a product of BIGINTs that wraps around, as ``expressions.integers`` writes it."""
        signs, parts = _chain(node.this)
        if not signs or len(node.expressions) != 1:
            return None
        texts = [part.sql(_Plain) for part in parts]
        written = wrapping_product(*texts) if signs == ["*"] else wrapping_sum(signs, texts)
        if "*" in signs[1:] or parsed(written) != node:
            return None
        first, *others = map(self.of, parts)
        if any(value.type not in INTEGERS for value in (first, *others)):
            return None
        result, policy = number_type(pa.int64()), replace(SPARK, wraps=True)
        for sign, value in zip(signs, others, strict=True):
            first = Arithmetic(pa.int64(), inputs=(first, value), op=sign, result=result, policy=policy)
        return first

    def whole_quotient(self, node: exp.IntDiv) -> Expression | None:
        sides = self.of(node.this), self.of(node.expression)
        if any(side.type not in INTEGERS for side in sides):
            return None
        return Arithmetic(pa.int64(), inputs=sides, op="/", result=number_type(pa.int64()), fails=True)

    def quotient(self, node: exp.Div) -> Expression | None:
        left, right = as_doubles(self.of(node.left), self.of(node.right))
        # Spark divides integers as DOUBLEs too; a DECIMAL has a type of its own.
        return divided(left, right) if widest(left.type, right.type) is not None else None

    def _shifted(self, time: Expression, interval: exp.Interval, *, back: bool) -> Expression | None:
        """Return a time and an interval; to Spark a day of an instant is one of the session's zone."""
        text, unit = interval.this, interval.args.get("unit")
        if not isinstance(text, exp.Literal) or not isinstance(unit, exp.Var):
            return None
        micros = interval_micros(text.this, unit.name)
        exact = time.type == WALL_CLOCK or (
            time.type == INSTANT and (self._zone == "UTC" or unit.name.upper().removesuffix("S") != "DAY")
        )
        if micros is None or not exact:
            return None
        by = Literal(pa.int64(), value=-micros if back else micros)
        return Apply(time.type, function="shifted", inputs=(time, by), fails=True)

    def comparison(self, node: exp.Binary) -> Expression | None:
        left, right = self._as_times(*as_doubles(self.of(node.left), self.of(node.right)))
        if left.type != right.type and widest(left.type, right.type) is None:
            decimals = same_decimals(left, right)
            if decimals is None:
                return None
            left, right = decimals
        return Compare(pa.bool_(), inputs=(left, right), op=_COMPARISONS[type(node)])

    def _as_times(self, left: Expression, right: Expression) -> tuple[Expression, Expression]:
        """Return two sides as Spark compares them: of an instant and a wall clock both as instants."""
        if {left.type, right.type} != {INSTANT, WALL_CLOCK}:
            return left, right
        one, other = (s if s.type == INSTANT else self._in_zone(s) or s for s in (left, right))
        return one, other

    def _in_zone(self, time: Expression) -> Expression | None:
        """Return a wall clock as an instant of the session's zone, and an instant as a wall clock."""
        instant = time.type == INSTANT
        if self._zone == "UTC":
            return self._apply("as wall clock" if instant else "as instant", WALL_CLOCK if instant else INSTANT, time)
        return at_zone(time, self._zone) if instant else instant_of(time, self._zone)

    def logic(self, node: exp.Connector) -> Expression | None:
        left, right = self.of(node.left), self.of(node.right)
        if not (_is_condition(left) and _is_condition(right)):
            return None
        return Connected(pa.bool_(), inputs=(left, right), decides=isinstance(node, exp.Or))

    def negation(self, node: exp.Not) -> Expression | None:
        inner = node.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return self._apply("is not null", pa.bool_(), self.of(inner.this))
        value = self.of(inner)
        return negated(value) if _is_condition(value) else None

    def is_null(self, node: exp.Is) -> Expression | None:
        if isinstance(node.expression, exp.Boolean):
            value = self.of(node.this)
            told = "is true" if node.expression.this else "is false"
            return self._apply(told, pa.bool_(), value) if _is_condition(value) else None
        if not isinstance(node.expression, exp.Null):
            return None
        return self._apply("is null", pa.bool_(), self.of(node.this))

    def between(self, node: exp.Between) -> Expression:
        # Spark too replaces BETWEEN by two comparisons joined by AND.
        low, high = (
            exp.GTE(this=node.this, expression=node.args["low"]),
            exp.LTE(this=node.this, expression=node.args["high"]),
        )
        return self.of(exp.And(this=low, expression=high))

    def membership(self, node: exp.In) -> Expression | None:
        if not node.expressions or node.args.get("query") is not None:
            return None
        # IN is a chain of ORs, which gives NULL exactly where Spark's In does.
        first, *others = (exp.EQ(this=node.this, expression=e) for e in node.expressions)
        either: exp.Expr = first
        for other in others:
            either = exp.Or(this=either, expression=other)
        return self.of(either)

    def case(self, node: exp.Case) -> Expression | None:
        # CASE x WHEN y compares x with each y.
        of = node.this
        wanted = [b.this if of is None else exp.EQ(this=of, expression=b.this) for b in node.args["ifs"]]
        values = [self._branch(b.args["true"]) for b in node.args["ifs"]]
        branches = list(zip(map(self.of, wanted), values, strict=True))
        return self._if(branches, self._branch(node.args.get("default")))

    def condition(self, node: exp.If) -> Expression | None:
        branch = (self.of(node.this), self._branch(node.args["true"]))
        return self._if([branch], self._branch(node.args.get("false")))

    def _branch(self, node: exp.Expr | None) -> Expression | None:
        """Return the value of a branch, None for NULL: to Spark it has the type of the others."""
        return None if node is None or isinstance(node, exp.Null) else self.of(node)

    def tried_cast(self, node: exp.TryCast) -> Expression | None:
        """Return TRY_CAST of a number without fractions of bits to a DECIMAL: NULL of one with too many digits."""
        if not node.args.get("safe"):  # to sqlglot, Spark's two casts are one but for this
            return None
        value, target = self.of(node.this), decimal_type(node.to)
        if target is None or not (pa.types.is_decimal(value.type) or value.type in INTEGERS):
            raise Unsuited(f"`{node.sql('spark')}`")
        return self._apply("tried decimal", target, value)

    def time(self, node: exp.Cast) -> Expression | None:
        of, text = LITERALS.get(node.to.this.name), node.this
        is_text = isinstance(text, exp.Literal) and text.is_string
        return time_literal(text.this, of, self._zone) if of is not None and is_text else None

    def cast(self, node: exp.Cast) -> Expression | None:
        target = _TYPES.get(node.to.this.name) or decimal_type(node.to)
        if target is None:
            return None
        failed = failure(node, target)
        if failed is not None:
            return failed
        inner = node.this
        if isinstance(inner, exp.Null):
            return Literal(target)
        if isinstance(inner, exp.BitwiseRightShift) and isinstance(inner.this, exp.BitwiseLeftShift):
            return self._wrapped(inner, target)
        value = self.of(inner)
        if value.type == target:
            return value
        if target == pa.string():
            return text_of(value, self._zone)
        if target == pa.binary():
            return self._apply("bytes", target, value) if value.type == pa.string() else None
        if pa.types.is_date32(value.type):
            fits = target == WALL_CLOCK or (target == INSTANT and self._zone == "UTC")
            return self._apply("midnight", target, value) if fits else None
        if target == pa.date32():
            plain = pa.types.is_timestamp(value.type) and (value.type.tz is None or self._zone == "UTC")
            return self._apply("date", target, value) if plain else None
        if pa.types.is_decimal(target):
            return self._apply("cast", target, value) if holds(target, value.type) else None
        value = as_doubles(value, Literal(target))[0]
        if value.type == target:
            return value
        if pa.types.is_timestamp(target) and pa.types.is_timestamp(value.type):
            return self._in_zone(value)
        if widest(value.type, target) == target:
            return self._apply("cast", target, value)
        if value.type in INTEGERS and target in INTEGERS:
            return Apply(target, function="checked cast", inputs=(value,), fails=True)
        return None

    def modulo(self, node: exp.Anonymous) -> Expression | None:
        """Return PMOD of a BIGINT by a positive number that is written."""
        if node.name.lower() != "pmod" or len(node.expressions) != 2:
            return None
        value, by = map(self.of, node.expressions)
        by = by.inputs[0] if isinstance(by, Apply) and by.function == "cast" else by
        known = isinstance(by, Literal) and isinstance(by.value, int) and by.value > 0
        return self._apply("pmod", pa.int64(), value, by) if known and value.type == pa.int64() else None

    def row(self, node: exp.Struct) -> Expression | None:
        if not node.expressions or not all(isinstance(part, exp.PropertyEQ) for part in node.expressions):
            return None
        values = [self.of(part.expression) for part in node.expressions]
        fields = [pa.field(p.this.name, v.type) for p, v in zip(node.expressions, values, strict=True)]
        return RowOf(pa.struct(fields), inputs=tuple(values))

    def millis(self, node: exp.UnixMillis) -> Expression | None:
        value = self.of(node.this)
        return self._apply("unix_millis", pa.int64(), value) if value.type == INSTANT else None

    def shown_by_utc(self, node: exp.TimestampAdd) -> Expression | None:
        """Return the wall clock of UTC at an instant, as ``conversions`` writes it for sessions in other zones."""
        micros = node.expression
        if not isinstance(micros, exp.UnixMicros) or parsed(instant_to_wall(_text(micros.this), _ELSEWHERE)) != node:
            return None
        value = self.of(micros.this)
        return self._apply("as wall clock", WALL_CLOCK, value) if value.type == INSTANT else None

    def read_as_utc(self, node: exp.Anonymous) -> Expression | None:
        """Return the instant at which UTC shows a wall clock, as ``conversions`` writes it for other zones."""
        since = node.find(exp.Sub) if node.name.lower() == "timestamp_seconds" else None
        if since is None or parsed(wall_to_instant(_text(since.this), _ELSEWHERE)) != node:
            return None
        value = self.of(since.this)
        return self._apply("as instant", INSTANT, value) if value.type == WALL_CLOCK else None

    def date_format(self, node: exp.Anonymous) -> Expression | None:
        # Spark formats in the session's zone; our formatter knows UTC alone.
        if node.name.lower() != "date_format" or len(node.expressions) != 2 or self._zone != "UTC":
            return None
        time, pattern = self.of(node.expressions[0]), node.expressions[1]
        known = tokens(pattern.this) if isinstance(pattern, exp.Literal) and pattern.is_string else None
        if known is None or not pa.types.is_timestamp(time.type):
            return None
        return Formatted(pa.string(), inputs=(time,), pattern=known)

    def from_epoch(self, node: exp.Anonymous) -> Expression | None:
        name = node.name.lower()
        if name not in _FROM_EPOCH or len(node.expressions) != 1:
            return None
        value = self.of(node.expressions[0])
        return Apply(INSTANT, function=name, inputs=(value,), fails=True) if value.type in INTEGERS else None

    def _wrapped(self, node: exp.BitwiseRightShift, target: pa.DataType) -> Expression | None:
        """Return Flink's wrapping around: the low bits of a BIGINT, shifted up and down again."""
        up, down = node.this.expression, node.expression
        value = self.of(node.this.this)
        same = isinstance(up, exp.Literal) and up == down and _WRAPS_AT.get(int(up.this)) == target
        return self._apply("narrowed", target, value) if same and value.type == pa.int64() else None

    def _if(
        self, branches: list[tuple[Expression, Expression | None]], default: Expression | None
    ) -> Expression | None:
        # Spark casts branches to a common type (CaseWhenCoercion, IfCoercion), and so does ``Case``.
        values = [*(value for _, value in branches), default]
        common = common_type(value for value in values if value is not None)
        if common is None or not all(_is_condition(c) for c, _ in branches):
            return None
        parts = [part or Literal(common) for branch in branches for part in branch]
        return Case(common, inputs=(*parts, default or Literal(common)))

    def _apply(self, function: str, of: pa.DataType, *inputs: Expression) -> Expression:
        return Apply(of, function=function, inputs=inputs)


def _chain(node: exp.Expr) -> tuple[list[str], list[exp.Expr]]:
    """Return the signs and the parts of ``try_add(try_subtract(a, b), c)``."""
    if type(node) not in _TRIED:
        return [], [node]
    signs, parts = _chain(node.this)
    return [*signs, _TRIED[type(node)]], [*parts, node.expression]


def _text(node: exp.Expr) -> str:
    return node.sql(_Plain)


def _is_condition(value: Expression) -> bool:
    return bool(pa.types.is_boolean(value.type))


_FUNCTIONS = (*SCALARS, *TEXTS, *NUMBERS)
#: Several rules may know one kind of node. They are tried in this order; the first that returns something counts.
_RULES: tuple[tuple[type[exp.Expr], Callable[..., Expression | None]], ...] = (
    (exp.Paren, _Translation.paren),
    (exp.Column, _Translation.column),
    (exp.Literal, _Translation.literal),
    (exp.Boolean, _Translation.boolean),
    *((kind, _Translation.arithmetic) for kind in _ARITHMETIC),
    (exp.Coalesce, _Translation.wrapping),
    *((kind, _Translation.tried) for kind in _TRIED),
    (exp.IntDiv, _Translation.whole_quotient),
    (exp.Div, _Translation.quotient),
    *((kind, _Translation.comparison) for kind in _COMPARISONS),
    (exp.And, _Translation.logic),
    (exp.Or, _Translation.logic),
    (exp.Not, _Translation.negation),
    (exp.Is, _Translation.is_null),
    (exp.Between, _Translation.between),
    (exp.In, _Translation.membership),
    (exp.Case, _Translation.case),
    (exp.If, _Translation.condition),
    (exp.TryCast, _Translation.tried_cast),
    (exp.Cast, _Translation.time),
    (exp.Cast, _Translation.cast),
    (exp.Struct, _Translation.row),
    (exp.UnixMillis, _Translation.millis),
    (exp.TimestampAdd, _Translation.shown_by_utc),
    (exp.Anonymous, _Translation.read_as_utc),
    (exp.Anonymous, _Translation.from_epoch),
    (exp.Anonymous, _Translation.date_format),
    (exp.Anonymous, _Translation.modulo),
)
