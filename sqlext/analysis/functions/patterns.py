"""List the functions with regular expressions (Flink docs: String Functions).

Both engines use Java's expressions. Flink gives NULL where a pattern cannot be read, Spark fails: a literal that is
broken is recognised here; a pattern from a column still fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlext import quoting
from sqlext.analysis.functions.model import CallTexts, fn
from sqlext.analysis.functions.results import nullable, strict, unknown
from sqlext.types import BOOLEAN, INT, STRING, array

_NUMBER = re.compile("-?[0-9]+")


def is_broken(pattern: str) -> bool:
    """Whether a bracket or parenthesis of a regular expression is never closed, or closed without being open."""
    return _scan(pattern)[1]


def groups(pattern: str) -> int:
    """Return how many capturing groups a pattern has."""
    return _scan(pattern)[0]


def _scan(pattern: str) -> tuple[int, bool]:
    count = depth = at = 0
    in_set = False
    while at < len(pattern):
        c = pattern[at]
        if c == "\\":
            at += 1
        elif in_set:
            in_set = c != "]"
        elif c == "[":
            in_set = True
        elif c == "(":
            depth += 1
            # (?<name> captures; (?<= and (?<! look behind and do not.
            named = pattern.startswith("(?<", at) and pattern[at + 3 : at + 4] not in ("=", "!")
            count += named or not pattern.startswith("(?", at)
        elif c == ")":
            depth -= 1
            if depth < 0:
                return count, True
        at += 1
    return count, in_set or depth > 0


def _unless_broken(render: Callable[[CallTexts], str], type_: str) -> Callable[[CallTexts], str]:
    """Return a rendering that is NULL if the pattern, a literal, cannot be read."""

    def guarded(call: CallTexts) -> str:
        pattern = call.literal(1)
        return f"CAST(NULL AS {type_})" if pattern is not None and is_broken(pattern) else render(call)

    return guarded


def _plain(name: str) -> Callable[[CallTexts], str]:
    return lambda call: f"{name}({', '.join(call.args)})"


def _replace(call: CallTexts) -> str:
    """Flink takes the replacement literally; Spark reads ``$1`` and backslashes in it."""
    literal = call.literal(2)
    if literal is None:
        text = f"replace(replace({call.args[2]}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    elif "$" in literal or "\\" in literal:
        text = quoting.string(literal.replace("\\", "\\\\").replace("$", "\\$"))
    else:
        text = call.args[2]
    return f"regexp_replace({call.args[0]}, {call.args[1]}, {text})"


def _extract(call: CallTexts) -> str:
    """No match is NULL in Flink, an empty string in Spark; the group is 0 if not given, in Spark 1."""
    group = call.args[2] if call.count > 2 else "0"
    pattern = call.literal(1)
    if pattern is not None and _NUMBER.fullmatch(group) and not 0 <= int(group) <= groups(pattern):
        return "CAST(NULL AS STRING)"
    found = f"regexp_extract({call.args[0]}, {call.args[1]}, {group})"
    return f"CASE WHEN {call.atom(0)} RLIKE {call.atom(1)} THEN {found} END"


def _extract_all(call: CallTexts) -> str:
    # Flink's default is the first group here, and the whole match in REGEXP_EXTRACT.
    group = call.args[2] if call.count > 2 else "1"
    pattern = call.literal(1)
    if pattern is not None and _NUMBER.fullmatch(group) and not 0 <= int(group) <= groups(pattern):
        return "CAST(NULL AS ARRAY<STRING>)"
    return f"regexp_extract_all({call.args[0]}, {call.args[1]}, {group})"


def _matches(call: CallTexts) -> str:
    """An empty pattern, or one that cannot be read, matches nothing."""
    pattern = call.literal(1)
    nothing = f"({call.atom(0)} IS NULL AND NULL)"
    if pattern is None:
        return f"if({call.args[1]} = '', {nothing}, {call.atom(0)} RLIKE {call.atom(1)})"
    return nothing if not pattern or is_broken(pattern) else f"({call.atom(0)} RLIKE {call.atom(1)})"


PATTERNS = (
    fn("REGEXP", "text, text", strict(BOOLEAN), _matches),
    fn("REGEXP_REPLACE", "text, text, text", strict(STRING), _unless_broken(_replace, "STRING")),
    fn("REGEXP_EXTRACT", "text, text, integer?", nullable(STRING), _unless_broken(_extract, "STRING")),
    fn(
        "REGEXP_EXTRACT_ALL",
        "text, text, integer?",
        nullable(array(STRING)),
        _unless_broken(_extract_all, "ARRAY<STRING>"),
        spark=unknown,
    ),
    fn("REGEXP_COUNT", "text, text", nullable(INT), _unless_broken(_plain("regexp_count"), "INT")),
    fn("REGEXP_INSTR", "text, text", nullable(INT), _unless_broken(_plain("regexp_instr"), "INT")),
    fn("REGEXP_SUBSTR", "text, text", nullable(STRING), _unless_broken(_plain("regexp_substr"), "STRING")),
)
