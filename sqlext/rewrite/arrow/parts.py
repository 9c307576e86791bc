"""What the rules of translation share: the type of a rule's first argument, and parts that are literals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from sqlglot import exp

from sqlext_udfs.expressions.columns import Expression

Of = Callable[[exp.Expr], Expression]
"""Translates a part of an expression."""


def is_text(node: exp.Expr | None) -> TypeGuard[exp.Literal]:
    """Return whether a part is a text that is written."""
    return isinstance(node, exp.Literal) and bool(node.is_string)


def is_count(node: exp.Expr | None) -> TypeGuard[exp.Literal]:
    """Return whether a part is a number without a sign that is written."""
    return isinstance(node, exp.Literal) and not node.is_string and bool(node.this.isdigit())
