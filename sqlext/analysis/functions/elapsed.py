"""Render the time that lies between two times."""

from __future__ import annotations

MONTHS_PER = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def on_a_day(time: str) -> str:
    """Return a TIME as a timestamp; all of them are of the same day."""
    return f"make_timestamp_ntz(DATE '1970-01-02', {time})"


def moment(text: str, root: str | None) -> str:
    """Return a time as a timestamp: a DATE is its midnight, a TIME is of the same day as others.

    Args:
        text: SQL of it.
        root: the root of its type.
    """
    if root == "TIME":
        return on_a_day(text)
    return f"CAST({text} AS TIMESTAMP_NTZ)" if root == "DATE" else text


def months_between(start: str, end: str) -> str:
    """Whole months by Calcite's rule: January 31 to February 29 is one; the time of day counts on the last day only."""
    months = f"((year({end}) - year({start})) * 12 + month({end}) - month({start}))"
    moved = f"timestampadd(MONTH, {months}, {start})"
    first, last = f"CAST({start} AS DATE)", f"CAST({end} AS DATE)"
    return (
        f"CASE WHEN {first} <= {last} THEN {months} - if({moved} > {end}, 1, 0) ELSE {months} "
        f"+ if(add_months({last}, -{months}) > {first}, 1, 0) "
        f"- if(CAST({moved} AS DATE) = {last} AND {moved} > {end}, 1, 0) END"
    )
