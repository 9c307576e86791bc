"""Hold the keys of JSON_OBJECT and JSON_OBJECTAGG to be texts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.types import LogicalType

_TEXTS = ("CHAR", "VARCHAR")


def check_keys(call: e.Call, arguments: Sequence[LogicalType | None], mode: str) -> None:
    """Refuse a key that is no text, or NULL.

    Args:
        call: any call.
        arguments: the types of its arguments, None where one is not known.
        mode: in ``'flink'`` no key of JSON_OBJECT may be NULL, as in Flink.

    Raises:
        SqlExtError: TYPE-004 at the key.
    """
    if call.function not in ("JSON_OBJECT", "JSON_OBJECTAGG"):
        return
    for node, key in list(zip(call.args, arguments, strict=False))[::2]:
        if key is None or isinstance(node, e.NamedArgument):
            continue
        written = node.span.text
        if isinstance(node, e.Literal) and node.kind == "NULL":
            message, hint = f"a key of {call.function} cannot be NULL", "write a text"
        elif key.root not in _TEXTS:
            message = f"a key of {call.function} is a text, and this is {key.flink()}"
            hint = f"CAST({written} AS STRING)"
        elif mode == "flink" and call.function == "JSON_OBJECT" and key.nullable:
            message, hint = "a key of JSON_OBJECT cannot be NULL, and this may be", f"COALESCE({written}, '')"
        else:
            continue
        raise SqlExtError("TYPE-004", message, span=node.span, hint=hint)
