"""Render function calls as Spark SQL, by the function table."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis import functions
from sqlext.analysis.functions.model import CallTexts, Function
from sqlext.analysis.functions.rendering import fill
from sqlext.dialect.ast import expressions as e
from sqlext.rewrite.expressions.protocols import Texts
from sqlext.rewrite.expressions.python_functions import plain
from sqlext.rewrite.expressions.shared_operands import bind


def call(node: e.Call, texts: Texts) -> str | None:
    """Return a call as Spark says it, None where its own text will do."""
    if node.python is not None:
        return plain(node.python, [texts.text(a) for a in node.args])
    function = functions.find(node.function)
    if function is None or function.flink is None:
        return None
    if texts.mode == "spark" and functions.is_spark_call(function, node):
        return None
    seen = call_texts(node, texts)
    # `bind` may put operands into a lambda, where no aggregate can stand.
    if function.kind != "scalar":
        return _rendered(function, seen)
    return bind(seen.args, lambda args: _rendered(function, replace(seen, args=args)))


def _rendered(function: Function, seen: CallTexts) -> str:
    if isinstance(function.flink, str):
        return fill(function.flink, seen)
    assert function.flink is not None
    return function.flink(seen)


def call_texts(node: e.Call, texts: Texts) -> CallTexts:
    """Return a call with its arguments rendered."""
    args = tuple(texts.text(a) for a in node.args)
    return CallTexts(
        call=node,
        args=args,
        types=tuple(texts.type_of(a) for a in node.args),
        result=texts.type_of(node),
        mode=texts.mode,
        zone=texts.zone,
        atomic=tuple(texts.atom(a) == text for a, text in zip(node.args, args, strict=True)),
        suffix=_suffix(node, texts),
        ordering=", ".join(texts.text(item) for item in node.order_by),
    )


def _suffix(node: e.Call, texts: Texts) -> str:
    """Return ``FILTER (WHERE ...)`` and ``OVER (...)``, each with a blank before."""
    suffix = f" FILTER (WHERE {texts.text(node.filter)})" if node.filter else ""
    return suffix + (f" {texts.text(node.over)}" if node.over else "")
