"""Render calendar windows as Spark SQL: their bounds are counted in months of a wall clock."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.plan.windows.lengths import Months, WindowKind, WindowSpec

_DAY = 86_400_000
#: What year and month of January 1970 give.
_FIRST = 1970 * 12 + 1


def calendar_rows(spec: WindowSpec, columns: Sequence[str], source: str, offset: str) -> str:
    """Return the query that gives each row its windows as ``__start`` and ``__end``: ms of the wall clock.

    Args:
        spec: calendar windows.
        columns: of the rows, quoted.
        source: a query with these columns and ``__ms``, the row's time in ms of the wall clock.
        offset: of the windows in ms, as SQL.
    """
    months = spec.months
    assert months is not None
    kept = ", ".join([*columns, "__ms"])
    shifted = f"timestampadd(MILLISECOND, __ms - {offset}, TIMESTAMP_NTZ '1970-01-01 00:00:00')"
    walls = f"SELECT {kept}, {shifted} AS __wall FROM ({source})"
    numbered = f"SELECT {kept}, year(__wall) * 12 + month(__wall) - {_FIRST} AS __month FROM ({walls})"
    if spec.kind is not WindowKind.CUMULATE:
        starts = f"SELECT {kept}, explode({_starts(months)}) AS __first FROM ({numbered})"
        return f"SELECT {kept}, {_bounds(offset, f'__first + {months.size}')} FROM ({starts})"
    first = f"SELECT {kept}, __month, {_last('__month', months.offset, months.size)} AS __first FROM ({numbered})"
    if not months.slide:
        bounds = f"SELECT {kept}, {_bounds(offset, f'__first + {months.size}')} FROM ({first})"
        next_end = f"{_last('__ms', offset, f'{spec.slide}L')} + {spec.slide}L"
        return f"SELECT {kept}, __start, explode(sequence({next_end}, __end, {spec.slide}L)) AS __end FROM ({bounds})"
    next_end = f"{_last('__month', months.offset, months.slide)} + {months.slide}"
    ends = f"explode(sequence({next_end}, __first + {months.size}, {months.slide})) AS __behind"
    return f"SELECT {kept}, {_bounds(offset, '__behind')} FROM (SELECT {kept}, __first, {ends} FROM ({first}))"


def _starts(months: Months) -> str:
    """Return the months with which a row's TUMBLE or HOP windows begin, as an array."""
    last = _last("__month", months.offset, months.slide)
    if months.slide == months.size:
        return f"array({last})"
    back = (-(-months.size // months.slide) - 1) * months.slide
    every = f"sequence({last} - {back}, {last}, {months.slide})" if back else f"array({last})"
    return f"filter({every}, m -> m > __month - {months.size})"


def _last(of: str, offset: int | str, period: int | str) -> str:
    """Return the last ``offset + k * period`` that is not behind a number."""
    return f"({of} - pmod({of} - {offset}, {period}))"


def _bounds(offset: str, behind: str) -> str:
    return f"{_begin(offset, '__first')} AS __start, {_begin(offset, behind)} AS __end"


def _begin(offset: str, month: str) -> str:
    """Return when the windows of a month begin, in ms of the wall clock."""
    return f"(unix_date(add_months(DATE '1970-01-01', {month})) * {_DAY}L + {offset})"
