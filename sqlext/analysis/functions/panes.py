"""List the functions of a pane, for the select list of a SELECT with EMIT (EMIT clause, section 2)."""

from __future__ import annotations

from sqlext.analysis.functions.model import CallTypes, TypeRule, fn
from sqlext.types import BOOLEAN, INT, STRING, LogicalType, timestamp

#: The operator's column behind each function.
PANE_COLUMNS = {
    "PANE_INDEX": "__pane_index",
    "PANE_NON_SPECULATIVE_INDEX": "__pane_non_speculative_index",
    "PANE_TIMING": "__pane_timing",
    "PANE_IS_FIRST": "__pane_is_first",
    "PANE_IS_LAST": "__pane_is_last",
    "PANE_TIMESTAMP": "__pane_timestamp",
    "ROW_KIND": "__kind",
}


def _always(type_: LogicalType) -> TypeRule:
    def rule(call: CallTypes) -> LogicalType:
        return type_

    return rule


PANES = (
    fn("PANE_INDEX", "", _always(INT.not_null()), PANE_COLUMNS["PANE_INDEX"]),
    fn("PANE_NON_SPECULATIVE_INDEX", "", _always(INT.not_null()), PANE_COLUMNS["PANE_NON_SPECULATIVE_INDEX"]),
    fn("PANE_TIMING", "", _always(STRING.not_null()), PANE_COLUMNS["PANE_TIMING"]),
    fn("PANE_IS_FIRST", "", _always(BOOLEAN.not_null()), PANE_COLUMNS["PANE_IS_FIRST"]),
    fn("PANE_IS_LAST", "", _always(BOOLEAN.not_null()), PANE_COLUMNS["PANE_IS_LAST"]),
    fn("PANE_TIMESTAMP", "", _always(timestamp(3)), PANE_COLUMNS["PANE_TIMESTAMP"]),
    fn("ROW_KIND", "", _always(STRING.not_null()), PANE_COLUMNS["ROW_KIND"]),
)
