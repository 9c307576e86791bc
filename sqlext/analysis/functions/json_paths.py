"""Read JSON paths, and render what they find as Spark SQL.

A path without wildcards goes to Spark's ``get_json_object`` or VARIANT. With wildcards Flink finds an array of what
matches, an empty one too; only where the part before the first wildcard leads nowhere it finds nothing.
"""

from __future__ import annotations

import re
from itertools import groupby

from sqlext import quoting
from sqlext.analysis.functions.model import CallTexts

_STEP = re.compile(r"\.\*|\[\*\]|\.[^.\[\]*' ]+|\[\d+\]|\['[^']*'\]")
_WILD = frozenset({".*", "[*]"})


class Path:
    """The path of a call: its mode, and the path as Spark takes it."""

    def __init__(self, call: CallTexts) -> None:
        literal = call.literal(1)
        # A path without a mode is strict (Calcite's default, measured on 2.3).
        self.strict = literal is None or not literal.strip().lower().startswith("lax ")
        self.text = call.args[1]
        self.many = False
        self._steps: list[str] = []
        if literal is not None:
            mode, _, rest = literal.strip().partition(" ")
            plain = _as_spark(rest.strip() if mode.lower() in ("lax", "strict") else literal.strip())
            self.many = "*" in plain or ".." in plain
            self.text = quoting.string(plain)
            steps = _STEP.findall(plain)
            # A path with steps of another kind (.. or a filter) goes to Spark whole.
            if "$" + "".join(steps) == plain and _WILD.intersection(steps):
                self._steps = steps

    def found(self, document: str) -> str:
        """Return what is found as text: a text without its quotes, of a path with wildcards an array."""
        matches = self._matches(document)
        return f"get_json_object({document}, {self.text})" if matches is None else f"to_json({matches})"

    def _matches(self, document: str) -> str | None:
        """Return ARRAY<VARIANT> of what matches; None without wildcards (and for ``..``, which is left to Spark)."""
        if not self._steps:
            return None
        first = next(i for i, step in enumerate(self._steps) if step in _WILD)
        start = (
            f"get_json_object({document}, {quoting.string('$' + ''.join(self._steps[:first]))})" if first else document
        )
        # Not by VARIANT: it sorts the keys of an object.
        matches = (
            f"CASE left(ltrim({start}), 1) WHEN '[' THEN from_json({start}, 'ARRAY<VARIANT>') "
            f"WHEN '{{' THEN map_values(from_json({start}, 'MAP<STRING, VARIANT>')) "
            f"ELSE if({start} IS NULL{'' if first else ' OR true'}, NULL, array()) END"
        )
        for wild, group in groupby(self._steps[first + 1 :], _WILD.__contains__):
            steps = list(group)
            matches = _all_parts(matches, len(steps)) if wild else _one_part(matches, "".join(steps))
        return matches


def _all_parts(matches: str, times: int) -> str:
    parts = "coalesce(try_cast(v AS ARRAY<VARIANT>), map_values(try_cast(v AS MAP<STRING, VARIANT>)), array())"
    for _ in range(times):
        matches = f"flatten(transform({matches}, v -> {parts}))"
    return matches


def _one_part(matches: str, steps: str) -> str:
    path = quoting.string("$" + steps)
    return f"filter(transform({matches}, v -> try_variant_get(v, {path}, 'variant')), v -> v IS NOT NULL)"


def _as_spark(path: str) -> str:
    """Return a path with ``["name"]`` as Spark writes it."""
    return path.replace('["', "['").replace('"]', "']").replace(".[", "[")
