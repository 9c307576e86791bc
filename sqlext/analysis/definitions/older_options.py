"""Read the option keys that Flink had before 'connector': of them Flink 2.3 still takes tables of csv files.

The published Nexmark query 13 is written so. Flink's rows, asked of 2.3.0: such a table ends, can be looked up by
processing time, and a quote in a field is a character like others unless 'format.quote-character' names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.dialect.ast.statements import Option
from sqlext.errors import SqlExtError

_KIND = "connector.type"
_KEYS = {
    _KIND: "connector",
    "connector.path": "path",
    "format.type": "format",
    "format.field-delimiter": "csv.field-delimiter",
    "format.quote-character": "csv.quote-character",
    "format.ignore-parse-errors": "csv.ignore-parse-errors",
}
#: What the older form has one value for here, and Flink's default for it.
_ONLY = {
    "connector.property-version": "1",
    "format.property-version": "1",
    "format.derive-schema": "true",
    "format.ignore-first-line": "false",
    "format.line-delimiter": "\n",
    "update-mode": "append",
}
#: What is taken of them: all other connectors and formats are gone from Flink too.
_TAKEN = {_KIND: "filesystem", "format.type": "csv"}
_HINT = "WITH ('connector' = 'filesystem', 'path' = '...', 'format' = '...')"


def in_present_keys(options: Sequence[Option]) -> tuple[Option, ...]:
    """Return options in their present keys; those of a table without 'connector.type' as they are.

    Raises:
        SqlExtError: OPT-002 for a connector or format that Flink has only under its present keys, OPT-003 for a key
            or a value that has no present one.
    """
    kind = next((o for o in options if o.key == _KIND), None)
    if kind is None:
        return tuple(options)
    keys = {o.key for o in options}
    added = [("scan.mode", "snapshot")]
    if "format.quote-character" not in keys:
        added.append(("csv.disable-quote-character", "true"))
    read = (_present(o) for o in options if _says_something(o))
    return (*read, *(replace(kind, key=key, value=value) for key, value in added))


def _present(option: Option) -> Option:
    taken = _TAKEN.get(option.key, option.value)
    if option.value != taken:
        message = f"'{option.key}' = '{option.value}' is gone: Flink 2 has it as '{_KEYS[option.key]}' alone"
        raise SqlExtError("OPT-002", message, span=option.key_span.to(option.value_span), hint=_HINT)
    if option.key not in _KEYS:
        message = f"a table with '{_KIND}' has no option '{option.key}'"
        raise SqlExtError("OPT-003", message, span=option.key_span.to(option.value_span), hint=_HINT)
    return replace(option, key=_KEYS[option.key])


def _says_something(option: Option) -> bool:
    """Return whether an option is more than the only value that it can have.

    Raises:
        SqlExtError: OPT-003 for another value.
    """
    if option.key not in _ONLY:
        return True
    if option.value.lower() != _ONLY[option.key]:
        message = f"'{option.key}' can only be {_ONLY[option.key]!r} here"
        raise SqlExtError("OPT-003", message, span=option.key_span.to(option.value_span), hint=_HINT)
    return False
