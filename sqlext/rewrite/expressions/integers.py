"""Render integer arithmetic as in Java: overflow wraps around, division cuts the fraction off.

A chain ``a + b - c`` is computed as a whole and wrapped once. INT and smaller are computed in BIGINT. BIGINT is
computed with ``try_add``, and only where that overflows in DECIMAL.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from sqlext.analysis.functions.rendering import wrapped
from sqlext.dialect.ast import expressions as e
from sqlext.rewrite.expressions.protocols import Texts
from sqlext.rewrite.expressions.shared_operands import bind
from sqlext.types import LogicalType

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_TRY = {"+": "try_add", "-": "try_subtract"}


def integers(node: e.Binary, texts: Texts, result: LogicalType) -> str | None:
    """Return an operation on two integers, None where its own text will do."""
    if node.op == "/":
        quotient = f"{texts.atom(node.left)} DIV {texts.atom(node.right)}"
        return f"({quotient})" if result.root == "BIGINT" else f"CAST({quotient} AS {result.root})"
    if node.op == "%":
        left_type = texts.type_of(node.left)
        same = left_type is not None and left_type.root == result.root
        return None if same else f"CAST({texts.atom(node.left)} % {texts.atom(node.right)} AS {result.root})"
    if is_number(node.left) and is_number(node.right):
        return _constant(node, result)
    if node.op == "*":
        return _product(node, texts, result)
    # Wrapping once at the end is enough: all sums and differences are modulo 2 ** n.
    first, *rest = _terms(node, texts, result)
    if result.root == "BIGINT":
        return _bigint_sum(first[1], rest, texts)
    others = "".join(f" {op} {texts.atom(term)}" for op, term in rest)
    return wrapped(f"CAST({texts.text(first[1])} AS BIGINT){others}", result)


def _constant(node: e.Binary, result: LogicalType) -> str | None:
    """Return two numbers computed where Spark would fail for the overflow, None where their own text will do."""
    one, other = (int(side.value) for side in (node.left, node.right) if isinstance(side, e.Literal))
    exact = {"+": one + other, "-": one - other, "*": one * other}[node.op]
    half = 1 << (_BITS[result.root] - 1)
    if -half <= exact < half:
        return None
    return f"CAST({(exact + half) % (2 * half) - half} AS {result.root})"


def is_number(node: e.Expr) -> bool:
    """Whether this is a number as written."""
    return isinstance(node, e.Literal) and node.kind == "NUMBER"


def _terms(node: e.Expr, texts: Texts, result: LogicalType) -> list[tuple[str, e.Expr]]:
    """Return the terms of ``a + b - c`` with their signs, as far as they have the result's type."""
    terms: list[tuple[str, e.Expr]] = []
    while isinstance(node, e.Binary) and node.op in ("+", "-"):
        type_ = texts.type_of(node)
        if type_ is None or type_.root != result.root or (is_number(node.left) and is_number(node.right)):
            break
        terms.append((node.op, node.right))
        node = node.left
    return [("+", node), *reversed(terms)]


def _bigint_sum(first: e.Expr, rest: list[tuple[str, e.Expr]], texts: Texts) -> str:
    signs = [op for op, _ in rest]
    return bind([texts.atom(first), *(texts.atom(term) for _, term in rest)], partial(wrapping_sum, signs))


def wrapping_sum(signs: Sequence[str], parts: Sequence[str]) -> str:
    """Return the sum of BIGINTs, one more than signs, that wraps around."""
    pairs = list(zip(signs, parts[1:], strict=True))
    tried = reduce(lambda sum_, pair: f"{_TRY[pair[0]]}({sum_}, {pair[1]})", pairs, parts[0])
    # A BIGINT has 19 digits. Spark widens a DECIMAL by one digit with each term, so this never overflows.
    exact = f"CAST({parts[0]} AS DECIMAL(20, 0))" + "".join(f" {op} CAST({p} AS DECIMAL(20, 0))" for op, p in pairs)
    return f"coalesce({tried}, {_around(exact)})"


def _product(node: e.Binary, texts: Texts, result: LogicalType) -> str:
    if result.root != "BIGINT":
        return wrapped(f"CAST({texts.text(node.left)} AS BIGINT) * {texts.atom(node.right)}", result)

    return bind([texts.atom(node.left), texts.atom(node.right)], lambda parts: wrapping_product(*parts))


def wrapping_product(one: str, other: str) -> str:
    """Return the product of two BIGINTs that wraps around."""
    # The largest product, 2 ** 126, has 38 digits: as many as a DECIMAL can have.
    exact = f"try_multiply(CAST({one} AS DECIMAL(19, 0)), CAST({other} AS DECIMAL(19, 0)))"
    return f"coalesce(try_multiply({one}, {other}), {_around(exact)})"


def _around(exact: str) -> str:
    # Two's complement: shifted up by 2 ** 63, reduced modulo 2 ** 64, shifted back.
    return f"CAST(pmod({exact} + 9223372036854775808, 18446744073709551616) - 9223372036854775808 AS BIGINT)"
