"""Render what Flink computes by Java's older classes of time: CONVERT_TZ, and UNIX_TIMESTAMP of a text.

Of a wall clock that a zone has twice they take the later instant, where all else in Flink and Spark takes the earlier.
A zone of an unknown name is UTC to them.
"""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

from sqlext.analysis.functions.date_patterns import to_read
from sqlext.analysis.functions.model import CallTexts
from sqlext.analysis.functions.rendering import is_fixed_zone
from sqlext.quoting import string

#: What is read of a text: all behind the seconds is passed over, and less is no time.
_WALL = "^ *([0-9]+-[0-9]+-[0-9]+ +[0-9]+:[0-9]+:[0-9]+)"
#: Names of three letters that Java and Spark know, and the list of zones does not.
_SHORT = frozenset(
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split()
)
_OFFSET = re.compile(r"GMT[+-]\d{1,2}(:?\d{2})?")
_DAY = "INTERVAL '1' DAY"


def convert_tz(call: CallTexts) -> str:
    """Return CONVERT_TZ(text, zone, zone)."""
    source, target = _zone(call, 1), _zone(call, 2)
    wall = f"try_cast(regexp_extract({call.args[0]}, {string(_WALL)}, 1) AS TIMESTAMP_NTZ)"
    fixed = source.startswith("'") and is_fixed_zone(source.strip("'"))
    if fixed:
        moved = f"convert_timezone({source}, {target}, {wall})"
    else:
        moved = f"convert_timezone('UTC', {target}, {later_in_utc(wall, source)})"
    return f"left(CAST({moved} AS STRING), 19)"


def unix_seconds(call: CallTexts) -> str:
    """Return the seconds since 1970 of UNIX_TIMESTAMP(text [, format]), NULL where the text cannot be read."""
    args = call.args if call.count == 1 else to_read(call.args[0], call.args[1], call.literal(1))
    instant = f"try_to_timestamp({', '.join(args)})"
    if is_fixed_zone(call.zone):
        return f"unix_seconds({instant})"
    zone = string(call.zone)
    wall = f"convert_timezone({zone}, {zone}, CAST({instant} AS TIMESTAMP_NTZ))"
    return f"timestampdiff(SECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', {later_in_utc(wall, zone)})"


def later_in_utc(wall: str, zone: str) -> str:
    """Return the wall clock in UTC when a zone's shows ``wall``: the last time that it does so."""
    first = f"convert_timezone({zone}, 'UTC', {wall})"
    # With the shift of a day later. It is another one only around a change, and right where it leads back.
    last = f"convert_timezone({zone}, 'UTC', {wall} + {_DAY}) - {_DAY}"
    return f"if(convert_timezone('UTC', {zone}, {last}) = {wall}, greatest({first}, {last}), {first})"


def _zone(call: CallTexts, index: int) -> str:
    """Return a zone as SQL: a literal under a name that Spark knows."""
    name = call.literal(index)
    return call.args[index] if name is None else string(name if _is_known(name) else "UTC")


def _is_known(name: str) -> bool:
    if name in _SHORT or _OFFSET.fullmatch(name):
        return True
    try:
        return ZoneInfo(name).key == name
    except (KeyError, ValueError, OSError):  # no name of a zone, or none that is here
        return False
