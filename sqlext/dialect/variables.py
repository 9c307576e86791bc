"""Replace ``${NAME}`` in a script. Within quotes a value stands for itself, whatever characters it has."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlext.dialect.script import MODE_KEY, MODES, QUOTED, comment_end
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import SourceText, Substitution

# Upper case alone: `${spark.x}` and `${env:X}` are Spark's own (spark.sql.variable.substitute).
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_SET_MODE = rf"(?i:SET)\s+['\"]?{re.escape(MODE_KEY)}['\"]?\s*=\s*['\"]?(?P<set>\w+)['\"]?"
#: Earlier alternatives win at a place.
_REGIONS = {
    mode: re.compile(rf"(?<!\w){_SET_MODE}|(?P<quoted>{quoted})|(?P<line>--[^\n]*)|(?P<comment>/\*)", re.DOTALL)
    for mode, quoted in QUOTED.items()
}
#: Characters that are written in another way in some quotes, or end a comment.
_SPECIAL = re.compile(r"""['"`\\\r\n]""")


class _Region(NamedTuple):
    """A text in quotes, or a comment of one line, and how it is read."""

    start: int
    end: int
    opens: str
    mode: str


def substitute(
    text: str, variables: Mapping[str, str] | None = None, name: str = "<sql>", mode: str = "spark"
) -> SourceText:
    """Return the source in which each ``${NAME}`` is replaced; any other ``${...}`` stays.

    Args:
        mode: how strings are read until the script itself sets ``sqlext.expressions``.

    Raises:
        SqlExtError: NAME-001 for a variable that was not given, NAME-013 for a value that its quotes cannot hold.
    """
    variables = variables or {}
    parts: list[str] = []
    substitutions: list[Substitution] = []
    at = length = 0
    regions: list[_Region] | None = None
    # The given text alone is searched: a value that holds ${...} itself is not replaced again.
    for match in _VARIABLE.finditer(text):
        given = variables.get(match.group(1))
        if given is None:
            raise _unknown_variable(text, name, match, variables)
        value: str | None = given
        # Most values are the same wherever they stand, and a long text need not be looked through for them.
        if _SPECIAL.search(given):
            regions = list(_regions(text, mode)) if regions is None else regions
            value = _within(_around(match.start(), regions), given)
        if value is None:
            raise _not_held(text, name, match)
        parts += [text[at : match.start()], value]
        start = length + match.start() - at
        length = start + len(value)
        at = match.end()
        substitutions.append(Substitution(match.start(), at, start, length, match.group(1)))
    parts.append(text[at:])
    return SourceText(name, "".join(parts), text, tuple(substitutions))


def _regions(text: str, mode: str) -> Iterator[_Region]:
    at = 0
    while match := _REGIONS[mode].search(text, at):
        at = match.end()
        if match["set"] is not None:
            mode = match["set"].lower() if match["set"].lower() in MODES else mode
        elif match["comment"] is not None:
            at = comment_end(text, at, nested=mode == "spark")
        else:
            opens = "--" if match["line"] is not None else match.group()[0]
            yield _Region(match.start(), at, opens, mode)


def _around(place: int, regions: list[_Region]) -> _Region | None:
    index = bisect_right(regions, place, key=lambda region: region.start) - 1
    return regions[index] if index >= 0 and place < regions[index].end else None


def _within(region: _Region | None, value: str) -> str | None:
    """Return how a value is written in a region; None if it cannot be."""
    if region is None:
        return value
    if region.opens == "--":
        return re.sub(r"[\r\n]", " ", value)
    if region.opens in "rR":
        return None if "'" in value or '"' in value else value
    # A backslash escapes in Spark's strings alone.
    written = value.replace("\\", "\\\\") if region.mode == "spark" and region.opens != "`" else value
    return written.replace(region.opens, 2 * region.opens)


def _unknown_variable(text: str, name: str, match: re.Match[str], variables: Mapping[str, str]) -> SqlExtError:
    variable = match.group(1)
    hint = did_you_mean(variable, variables) or f"define it: --define {variable}=... or variables={{...}}"
    span = SourceText.of(text, name).span(match.start(), match.end())
    return SqlExtError("NAME-001", f"the variable ${{{variable}}} is not defined", span=span, hint=hint)


def _not_held(text: str, name: str, match: re.Match[str]) -> SqlExtError:
    span = SourceText.of(text, name).span(match.start(), match.end())
    message = f"the value of {match.group()} has a quote, which r'...' cannot hold"
    return SqlExtError("NAME-013", message, span=span, hint=f"'{match.group()}', where it is escaped")
