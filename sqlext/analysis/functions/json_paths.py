"""Read JSON paths, and render what they find as Spark SQL.

A path without wildcards goes to Spark's ``get_json_object`` or VARIANT. With wildcards Flink finds an array of what
matches, an empty one too; only where the part before the first wildcard leads nowhere it finds nothing.
"""

from __future__ import annotations

import re
from itertools import groupby

from sqlext import quoting
from sqlext.analysis.functions import json_numbers
from sqlext.analysis.functions.model import CallTexts
from sqlext.errors import SqlExtError

#: A wildcard, a name, an index, a name in brackets.
_STEP = re.compile(r"\.\*|\[\*\]|\.[^.\[\]*'\"()?]+|\[\d+\]|\['[^']*'\]")
_MODES = ("lax", "strict")
_WILD = frozenset({".*", "[*]"})


class Path:
    """The path of a call: its mode, and the path as Spark takes it.

    Raises:
        SqlExtError: FUNC-013 for steps that are not supported: slices, filters, functions, ``..``.
    """

    def __init__(self, call: CallTexts) -> None:
        literal = call.literal(1)
        # A path without a mode is strict (Calcite's default, measured on 2.3).
        self.strict = literal is None or not literal.strip().lower().startswith("lax ")
        self.text = call.args[1]
        self._steps: list[str] = []
        if literal is not None:
            mode, _, rest = literal.strip().partition(" ")
            plain = _as_spark(rest.strip() if mode.lower() in _MODES and rest else literal.strip())
            self._steps = _STEP.findall(plain)
            if not plain or "$" + "".join(self._steps) != plain:
                raise _unsupported(call, literal)
            self.text = quoting.string(plain)
        self.many = bool(_WILD.intersection(self._steps))

    def found(self, document: str) -> str:
        """Return what is found as text: a text without its quotes, of a path with wildcards an array."""
        matches = self._matches(document)
        return f"get_json_object({document}, {self.text})" if matches is None else f"to_json({matches})"

    def scalar(self, document: str) -> str:
        """Return what is found as text, numbers with all their digits."""
        exact = self.found(json_numbers.marked(document))
        if self.many:
            return json_numbers.document(exact)
        # Marking costs more than reading, and texts and short integers need none.
        found = self.found(document)
        return f"if({found} RLIKE '{json_numbers.INEXACT}', {json_numbers.scalar(exact)}, {found})"

    def json(self, document: str) -> str:
        """Return what is found as JSON, numbers with all their digits."""
        text = json_numbers.marked(document)
        found = self.found(text) if self.many else f"to_json({variant(text, self)})"
        return json_numbers.document(found)

    def _matches(self, document: str) -> str | None:
        """Return ARRAY<VARIANT> of what matches; None without wildcards."""
        if not self.many:
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


def parsed(document: str) -> str:
    """Return a document as a VARIANT, NULL if it is no JSON."""
    return f"try_parse_json({document})"


def variant(document: str, path: Path) -> str:
    """Return what a path without wildcards leads to, as a VARIANT."""
    return f"try_variant_get({parsed(document)}, {path.text}, 'variant')"


def _all_parts(matches: str, times: int) -> str:
    parts = "coalesce(try_cast(v AS ARRAY<VARIANT>), map_values(try_cast(v AS MAP<STRING, VARIANT>)), array())"
    for _ in range(times):
        matches = f"flatten(transform({matches}, v -> {parts}))"
    return matches


def _one_part(matches: str, steps: str) -> str:
    path = quoting.string("$" + steps)
    return f"filter(transform({matches}, v -> try_variant_get(v, {path}, 'variant')), v -> v IS NOT NULL)"


def _as_spark(path: str) -> str:
    """Return a path with ``["name"]`` as Spark writes it, and with the ``$`` that may be left out."""
    plain = path.replace('["', "['").replace('"]', "']").replace(".[", "[")
    return plain if plain.startswith("$") or not plain else f"${'' if plain.startswith('[') else '.'}{plain}"


def _unsupported(call: CallTexts, path: str) -> SqlExtError:
    return SqlExtError(
        "FUNC-013",
        f"the JSON path '{path}' has a step that is not supported",
        span=call.call.args[1].span,
        hint="a path is $ with steps .name, ['name'], [0], .* and [*]; slices, filters, functions and .. are none",
    )
