"""List functions that only a clause or the planner gives a meaning: ranks, grouping, windows, changelogs."""

from __future__ import annotations

from sqlext.analysis.functions.model import CallTypes, fn
from sqlext.analysis.functions.results import never_null, nullable, nullable_as, unknown
from sqlext.types import BIGINT, DOUBLE, INT, TIMESTAMP_LTZ3, LogicalType

_INT_IN_SPARK = never_null(INT)


def _lag_type(call: CallTypes) -> LogicalType | None:
    """The operand's type; not NULL only if the default is not."""
    type_, default = call.type(0), call.type(2)
    if type_ is not None and default is not None and not default.nullable:
        return type_.not_null()
    return nullable_as(0)(call)


def _start_type(call: CallTypes) -> LogicalType | None:
    """TUMBLE_START(ts, ...): TIMESTAMP(3) or TIMESTAMP_LTZ(3), as its first argument."""
    type_ = call.type(0)
    return LogicalType(type_.root, 3, nullable=False) if type_ and type_.is_timestamp else None


#: What a group window tells of itself: each needs its window in GROUP BY.
AUXILIARY = frozenset(
    f"{window}_{part}" for window in ("TUMBLE", "HOP", "SESSION") for part in ("START", "END", "ROWTIME", "PROCTIME")
)
#: What stands in FROM or in GROUP BY.
GROUP_WINDOWS = frozenset({"TUMBLE", "HOP", "SESSION", "CUMULATE"})
_LEGACY = tuple(
    fn(f"{window}_{part}", "any, interval, any...", _start_type)
    for window in ("TUMBLE", "HOP", "SESSION")
    for part in ("START", "END", "ROWTIME")
)

MARKERS = (
    fn("ROW_NUMBER", "", never_null(BIGINT), spark=_INT_IN_SPARK, kind="window"),
    fn("RANK", "any...", never_null(BIGINT), spark=_INT_IN_SPARK, kind="window"),
    fn("DENSE_RANK", "any...", never_null(BIGINT), spark=_INT_IN_SPARK, kind="window"),
    fn("NTILE", "integer", never_null(BIGINT), spark=_INT_IN_SPARK, kind="window"),
    fn("PERCENT_RANK", "", never_null(DOUBLE), kind="window"),
    fn("CUME_DIST", "", never_null(DOUBLE), kind="window"),
    fn("LAG", "any, integer?, any?", _lag_type, kind="window"),
    fn("LEAD", "any, integer?, any?", _lag_type, kind="window"),
    fn("NTH_VALUE", "any, integer", nullable_as(0), kind="window"),
    fn("GROUPING", "any", never_null(BIGINT), spark=unknown),
    fn("GROUPING_ID", "any...", never_null(BIGINT)),
    fn("GROUP_ID", "", never_null(BIGINT)),
    *_LEGACY,
    *(fn(f"{w}_PROCTIME", "any, interval, any...", never_null(TIMESTAMP_LTZ3)) for w in ("TUMBLE", "HOP", "SESSION")),
    *(fn(w, "any, any...", unknown) for w in sorted(GROUP_WINDOWS)),
    fn("MATCH_ROWTIME", "any?", nullable(TIMESTAMP_LTZ3)),
    fn("MATCH_PROCTIME", "", never_null(TIMESTAMP_LTZ3)),
    fn("DESCRIPTOR", "any...", unknown),
)
