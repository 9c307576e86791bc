"""Define an entry of the function table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as Choice

from sqlext.analysis.functions.signatures import Signature, parse_signatures
from sqlext.dialect.ast.expressions import Call, Literal
from sqlext.errors import counted
from sqlext.source import Span
from sqlext.types import LogicalType


@dataclass(frozen=True, slots=True)
class SparkCount:
    """How many arguments a function of Spark's takes.

    Attributes:
        numbers: in order.
        more: whether it takes any number above the last.
    """

    numbers: tuple[int, ...]
    more: bool = False

    @classmethod
    def of(cls, text: str) -> SparkCount:
        """Read an entry of the list of Spark's functions: ``1,2`` or ``1+``."""
        return cls(tuple(map(int, text.rstrip("+").split(","))), text.endswith("+"))

    def takes(self, count: int) -> bool:
        """Whether so many arguments are taken."""
        return count in self.numbers or (self.more and count > self.numbers[-1])

    def __str__(self) -> str:
        """Return it as messages say it: ``1 or 2 arguments``."""
        last = counted(self.numbers[-1], "argument")
        if self.more:
            return f"at least {last}"
        before = ", ".join(map(str, self.numbers[:-1]))
        return f"{before} or {last}" if before else last


@dataclass(frozen=True, slots=True)
class CallTypes:
    """A call and the types of its arguments: what a result rule sees."""

    call: Call
    types: tuple[LogicalType | None, ...]
    mode: str

    def type(self, index: int) -> LogicalType | None:
        """Return the type of an argument, None if it is missing or unknown."""
        return self.types[index] if index < len(self.types) else None

    @property
    def nullable(self) -> bool:
        """Whether any argument may be NULL."""
        return any(t is None or t.nullable for t in self.types)

    def literal(self, index: int) -> str | None:
        """Return the value of an argument that is a literal, or None."""
        node = self.call.args[index] if index < len(self.call.args) else None
        return node.value if isinstance(node, Literal) else None


@dataclass(frozen=True, slots=True)
class CallTexts:
    """A call whose arguments are rendered: what a rendering rule sees."""

    call: Call
    args: tuple[str, ...]
    types: tuple[LogicalType | None, ...]
    result: LogicalType | None
    mode: str
    zone: str
    #: Whether each argument can stand beside an operator without parentheses.
    atomic: tuple[bool, ...] = ()
    #: ``FILTER (WHERE ...)`` and ``OVER (...)`` as rendered, with a blank before, or empty.
    suffix: str = ""
    #: The rendered ``ORDER BY`` list inside the call, without the words, or empty.
    ordering: str = ""

    @property
    def count(self) -> int:
        """How many arguments there are."""
        return len(self.args)

    def atom(self, index: int) -> str:
        """Return an argument in parentheses if it needs them beside an operator."""
        plain = index < len(self.atomic) and self.atomic[index]
        return self.args[index] if plain else f"({self.args[index]})"

    @property
    def span(self) -> Span:
        """Where the call stands."""
        return self.call.span

    def type(self, index: int) -> LogicalType | None:
        """Return the type of an argument, None if it is missing or unknown."""
        return self.types[index] if index < len(self.types) else None

    def root(self, index: int) -> str:
        """Return the root of an argument's type, empty if unknown."""
        type_ = self.type(index)
        return type_.root if type_ else ""

    def literal(self, index: int) -> str | None:
        """Return the value of an argument that is a literal, or None."""
        node = self.call.args[index] if index < self.count else None
        return node.value if isinstance(node, Literal) else None

    @property
    def spark_type(self) -> str | None:
        """The Spark type of the result, None if unknown."""
        return self.result.spark() if self.result else None

    def aggregate(self, name: str, *args: str, distinct: bool | None = None) -> str:
        """Return ``name([DISTINCT] args) [FILTER ...] [OVER ...]``."""
        is_distinct = self.call.distinct if distinct is None else distinct
        return f"{name}({'DISTINCT ' if is_distinct else ''}{', '.join(args)}){self.suffix}"


TypeRule = Callable[[CallTypes], "LogicalType | None"]
#: A template (``{0}``, ``{all}``, ``{type}``) or a function; None leaves the call as written.
Rendering = str | Callable[[CallTexts], str] | None
Kind = Choice["scalar", "aggregate", "window", "table"]


@dataclass(frozen=True, slots=True)
class Function:
    """One function: what it takes, what it gives, and how Spark says it.

    Attributes:
        name: upper case.
        signatures: the argument lists that Flink takes.
        result: the result type by Flink's rules.
        flink: how flink mode (and spark mode, where Spark lacks the function) renders a call.
        spark_result: the result type where the call is Spark's own; None is the same as Flink's.
        extends: calls that Spark cannot take although it has a function of that name.
        kind: scalar, aggregate, window (needs OVER) or table (stands in FROM).
        aliases: other names.
    """

    name: str
    signatures: tuple[Signature, ...]
    result: TypeRule
    flink: Rendering = None
    spark_result: TypeRule | None = None
    extends: Callable[[Call], bool] | None = None
    kind: Kind = "scalar"
    aliases: tuple[str, ...] = ()


def fn(
    name: str,
    takes: str,
    result: TypeRule,
    flink: Rendering = None,
    *,
    spark: TypeRule | None = None,
    extends: Callable[[Call], bool] | None = None,
    kind: Kind = "scalar",
    aliases: tuple[str, ...] = (),
) -> Function:
    """Return a table entry; ``takes`` is read by :func:`parse_signatures`."""
    return Function(name, parse_signatures(takes), result, flink, spark, extends, kind, aliases)
