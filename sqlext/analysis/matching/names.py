"""Resolve names in MATCH_RECOGNIZE: pattern variables, columns of their rows, and navigation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.types.calls import is_aggregate
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Literal, Node, Paren, Star
from sqlext.dialect.ast.matching import Subset
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.scope import Scope, own_parts
from sqlext.source import SourceText, Span
from sqlext_udfs.expressions.trees import Cell

#: The qualifier of a column of one row, whichever variable the row was taken for.
ROW = "__row"
#: What ``A.*`` is over one row.
_STAR = Star(SourceText.of("*").span(0, 1))
_LOGICAL, _PHYSICAL = ("FIRST", "LAST"), ("PREV", "NEXT")
#: Functions that only a match gives a meaning.
OF_MATCH = ("CLASSIFIER", "MATCH_NUMBER", "MATCH_ROWTIME", "MATCH_PROCTIME")


@dataclass(frozen=True, slots=True)
class Navigation:
    """Where a value of one row is wanted from.

    Attributes:
        of: the value, over ``ROW``.
        group: among whose rows to look.
        first, offset, shift: as in ``Cell``.
    """

    of: Expr
    group: int
    first: bool = False
    offset: int = 0
    shift: int = 0

    def cell(self, value: int, *, final: bool = True) -> Cell:
        """Return it as the operator sees it; ``value`` is the number of ``of``."""
        return Cell(value, self.group, self.first, self.offset, self.shift, final)


@dataclass(frozen=True)
class Names:
    """The names of one MATCH_RECOGNIZE.

    Attributes:
        variables: of the pattern, in the order of their first places.
        subsets: as declared.
        scope: the columns of one row, qualified by ``ROW``.
        standard: whether PREV and NEXT are allowed.
    """

    variables: tuple[str, ...]
    subsets: tuple[Subset, ...]
    scope: Scope
    standard: bool

    @property
    def everything(self) -> int:
        """The group of all variables."""
        return len(self.variables)

    def group(self, name: str) -> int | None:
        """Return the group that a name means, None if it is no variable and no subset."""
        # None keeps the place of the group of all rows (everything), which no name means.
        known = (*self.variables, None, *(s.name for s in self.subsets))
        if name in known:
            return known.index(name)
        folded = [k.lower() if k is not None else None for k in known]
        return folded.index(name.lower()) if self.scope.mode == "spark" and name.lower() in folded else None

    def require(self, name: str, span: Span) -> int:
        """Return the group of a name.

        Raises:
            SqlExtError: MATCH-004 if it is no variable of the pattern.
        """
        found = self.group(name)
        if found is None:
            hint = did_you_mean(name, self.variables) or f"the pattern has {', '.join(self.variables)}"
            raise SqlExtError("MATCH-004", f"`{name}` is no variable of the pattern", span=span, hint=hint)
        return found

    def group_of(self, ref: ColumnRef) -> int:
        """Return among whose rows a column is looked up: without a variable, among all."""
        found = self.group(ref.parts[0]) if len(ref.parts) > 1 else None
        if found is None and len(ref.parts) > 1 and not self.scope.has(_of_row(ref, 0)):
            return self.require(ref.parts[0], ref.span)
        return self.everything if found is None else found

    def over_row(self, expr: Expr) -> Expr:
        """Return an expression with its columns over one row: ``A.price`` as ``__row.price``."""

        def rule(node: Node) -> Node | None:
            if isinstance(node, Star):
                return _STAR
            if not isinstance(node, ColumnRef):
                return None
            return _of_row(node, 0 if self.group_of(node) == self.everything else 1)

        return substitute(expr, rule)

    def without_navigation(self, expr: Expr) -> Expr:
        """Return an expression in which navigated values stand for themselves: of the same type."""

        def rule(node: Node) -> Node | None:
            if isinstance(node, Call) and node.function in (*_LOGICAL, *_PHYSICAL) and node.args:
                of = node.args[0]
                return self.without_navigation(of) if isinstance(of, Expr) else None
            return None

        return substitute(expr, rule)

    def is_single(self, expr: Node) -> bool:
        """Whether an expression looks at single rows alone: nothing in it navigates, aggregates or asks the match."""
        return not any(isinstance(p, Call) and self.looks_around(p) for p in own_parts(expr))

    def is_single_inside(self, call: Call) -> bool:
        """Whether what stands in a call looks at single rows alone."""
        return all(self.is_single(part) for part in call.children())

    def looks_around(self, call: Call) -> bool:
        """Whether a call means something only over the rows of a match."""
        name = call.function
        return name in (*_LOGICAL, *_PHYSICAL, *OF_MATCH) or is_aggregate(call, self.scope.mode)

    def groups_in(self, expr: Node) -> set[int]:
        """Return the groups whose columns stand in an expression; ``COUNT(A.*)`` counts the rows of A."""
        found = {self.group_of(p) for p in own_parts(expr) if isinstance(p, ColumnRef)}
        stars = (p for p in own_parts(expr) if isinstance(p, Star))
        return found | {self.require(s.qualifier[0], s.span) if s.qualifier else self.everything for s in stars}

    def only_group(self, expr: Node, what: str) -> int:
        """Return the one group whose columns stand in an expression.

        Raises:
            SqlExtError: MATCH-012 if several do.
        """
        groups = self.groups_in(expr)
        if len(groups) > 1:
            raise SqlExtError(
                "MATCH-012",
                f"{what} looks at the rows of one variable",
                span=expr.span,
                hint=f"combine the results: {what}(A.x) + {what}(B.y)",
            )
        return groups.pop() if groups else self.everything

    def navigation(self, expr: Expr) -> Navigation | None:
        """Return where FIRST, LAST, PREV, NEXT and plain columns lead; None for anything else.

        Raises:
            SqlExtError: MATCH-008 for PREV and NEXT where Flink's rules count, MATCH-012 and MATCH-013 for what cannot
                be navigated to.
        """
        if isinstance(expr, Paren):
            return self.navigation(expr.operand)
        if isinstance(expr, ColumnRef):
            return Navigation(self.over_row(expr), self.group_of(expr))
        if not isinstance(expr, Call) or expr.function not in (*_LOGICAL, *_PHYSICAL):
            return None
        value, offset = _arguments(expr)
        if expr.function in _LOGICAL:
            self._check_single(expr, value)
            group = self.only_group(value, expr.function)
            return Navigation(self.over_row(value), group, expr.function == "FIRST", 0 if offset is None else offset)
        # Flink's docs, Pattern Recognition, Known Limitations: no physical offsets (PREV, NEXT).
        if not self.standard:
            raise SqlExtError(
                "MATCH-008",
                f"{expr.function} goes by rows of the partition, which Flink does not have",
                span=expr.span,
                hint=f"write LAST({value.span.text}, 1), or SET 'sqlext.match-recognize' = 'standard'",
            )
        shift = (1 if offset is None else offset) * (1 if expr.function == "NEXT" else -1)
        inner = self.navigation(value)
        if inner is not None and inner.shift == 0:
            return replace(inner, shift=shift)
        self._check_single(expr, value)
        return Navigation(self.over_row(value), self.only_group(value, expr.function), shift=shift)

    def _check_single(self, call: Call, value: Expr) -> None:
        if not self.is_single(value) or not self.groups_in(value):
            raise SqlExtError(
                "MATCH-013",
                f"{call.function} takes columns of one row",
                span=value.span,
                hint=f"for instance {call.function}(A.price * A.amount, 1)",
            )


def _of_row(ref: ColumnRef, skipped: int) -> ColumnRef:
    return ColumnRef(ref.span, (ROW, *ref.parts[skipped:]))


def _arguments(call: Call) -> tuple[Expr, int | None]:
    """Return what is navigated to, and how far.

    Raises:
        SqlExtError: MATCH-013 if it has other arguments.
    """
    value, *rest = call.args or (None,)
    number = rest[0] if rest else None
    well_formed = isinstance(number, Literal) and number.kind == "NUMBER" and number.value.isdigit()
    if not isinstance(value, Expr) or len(rest) > 1 or (rest and not well_formed):
        raise SqlExtError(
            "MATCH-013",
            f"{call.function} takes a value and a number of rows",
            span=call.span,
            hint=f"for instance {call.function}(A.price, 1)",
        )
    return value, int(number.value) if isinstance(number, Literal) else None
