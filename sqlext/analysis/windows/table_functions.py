"""Bind window table functions: TUMBLE, HOP, CUMULATE, SESSION and SLIDE, their arguments and the columns they add.

The rules of arguments are those of Flink's page on window TVFs, and what Flink 2.3 refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlext.analysis.types.literals import interval_millis
from sqlext.analysis.windows.calendars import calendar_windows
from sqlext.analysis.windows.row_lengths import GAP, OFFSET, is_row_gap, is_row_offset
from sqlext.analysis.windows.zones import shift_of
from sqlext.dialect.ast.expressions import ColumnRef, Expr, Literal, NamedArgument, Node
from sqlext.dialect.ast.queries import Descriptor, TableArgument, TableFunction
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.columns import WINDOW_COLUMNS, Part, PlanColumn, Time
from sqlext.plan.nodes import AssignWindows, PlanNode, WindowKind, WindowSpec
from sqlext.source import Span
from sqlext.types import LogicalType, timestamp, timestamp_ltz

_PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP", "MAX_SIZE"),
    "SLIDE": ("DATA", "TIMECOL", "SIZE"),
}
WINDOW_FUNCTIONS = frozenset(_PARAMETERS)


@dataclass(frozen=True)
class WindowCall:
    """A window function's arguments by name."""

    function: str
    span: Span
    arguments: dict[str, Node]

    @classmethod
    def of(cls, call: TableFunction) -> WindowCall:
        """Bind positional and named arguments (``DATA =>``, ``TIMECOL =>``, ...)."""
        parameters = _PARAMETERS[call.function]
        arguments: dict[str, Node] = {}
        if len({isinstance(a, NamedArgument) for a in call.args}) > 1:
            raise SqlExtError(
                "WINDOW-001",
                f"{call.function} takes its arguments by name or by position, not both",
                span=call.span,
                hint=f"the names are {', '.join(parameters)}",
            )
        for i, arg in enumerate(call.args):
            if isinstance(arg, NamedArgument):
                name, value = arg.name.upper(), arg.value
            elif i < len(parameters):
                name, value = parameters[i], arg
            else:
                raise _usage(call.function, call.span)
            if name not in parameters:
                raise SqlExtError(
                    "WINDOW-001",
                    f"{call.function} has no argument `{name}`",
                    span=arg.span,
                    hint=did_you_mean(name, parameters),
                )
            arguments[name] = value
        return cls(call.function, call.span, arguments)

    def table(self) -> TableArgument:
        """Return the table argument."""
        value = self.arguments.get("DATA")
        if not isinstance(value, TableArgument):
            raise _usage(self.function, self.span)
        # Flink's docs, Windowing TVFs: SESSION alone has [PARTITION BY ...].
        if value.partition_by and self.function == "SLIDE":
            message = "SLIDE takes no PARTITION BY: its windows are those of each key of GROUP BY"
            hint = "put the column into GROUP BY"
            raise SqlExtError("WINDOW-004", message, span=value.partition_by[0].span, hint=hint)
        if value.partition_by and self.function != "SESSION":
            raise SqlExtError(
                "WINDOW-004",
                f"{self.function} takes no PARTITION BY: each row's window does not depend on other rows",
                span=value.partition_by[0].span,
                hint="put the column into GROUP BY",
            )
        return value

    def descriptor(self) -> ColumnRef:
        """Return the time column (the first one, as Flink takes DESCRIPTOR(a, b))."""
        value = self.arguments.get("TIMECOL")
        if not isinstance(value, Descriptor) or not value.columns:
            raise _usage(self.function, value.span if value else self.span)
        column = value.columns[0]
        if not isinstance(column, ColumnRef):
            raise SqlExtError("WINDOW-001", "DESCRIPTOR takes a column's name, without quotes", span=column.span)
        return column

    def millis(self, name: str, default: int | None = None) -> int:
        """Return an interval argument in milliseconds."""
        value = self.arguments.get(name)
        if value is None and default is not None:
            return default
        millis = interval_millis(value) if isinstance(value, Expr) else None
        if millis is None:
            what = "a string" if isinstance(value, Literal) and value.kind == "STRING" else "no interval"
            if value is None:
                raise _usage(self.function, self.span)
            raise SqlExtError(
                "WINDOW-003",
                f"{name} of {self.function} must be an interval literal, this is {what}",
                span=value.span,
                hint="write INTERVAL '10' MINUTE",
            )
        return millis

    def spec(self, wall_clock: str | None) -> WindowSpec:
        """Return the window, its lengths checked."""
        if self.function == "SESSION":
            limit = self._positive("MAX_SIZE") if "MAX_SIZE" in self.arguments else None
            if is_row_gap(self.arguments.get("GAP")):
                return WindowSpec(WindowKind.SESSION, 0, 0, wall_clock=wall_clock, gap=GAP, limit=limit)
            return WindowSpec(WindowKind.SESSION, self._positive("GAP"), 0, wall_clock=wall_clock, limit=limit)
        if self.function == "SLIDE":
            return WindowSpec(WindowKind.SLIDE, self._positive("SIZE"), 0, wall_clock=wall_clock)
        step_name = {"HOP": "SLIDE", "CUMULATE": "STEP"}.get(self.function)
        for name in ("SIZE", step_name):
            if name is not None and name not in self.arguments:
                raise _usage(self.function, self.span)
        of_rows = is_row_offset(self.arguments.get("OFFSET"))
        arguments = {name: a for name, a in self.arguments.items() if not of_rows or name != "OFFSET"}
        spec = calendar_windows(WindowKind[self.function], arguments, wall_clock)
        if spec is None:
            spec = self._fixed(step_name, wall_clock, of_rows=of_rows)
        return replace(spec, row_offset=OFFSET) if of_rows else spec

    def _fixed(self, step_name: str | None, wall_clock: str | None, *, of_rows: bool) -> WindowSpec:
        """Return windows of a fixed length; their offset is 0 if it is one of rows."""
        size = self._positive("SIZE")
        slide = self._positive(step_name) if step_name else size
        offset = 0 if of_rows else self.millis("OFFSET", 0)
        # Flink's SliceAssigners: "Tumbling Window parameters must satisfy abs(offset) < size".
        if abs(offset) >= size:
            self._fail("OFFSET", f"the offset of {self.function} must be shorter than {size} ms", usage(self.function))
        # SliceAssigners: "Cumulative Window requires maxSize must be an integral multiple of step".
        if self.function == "CUMULATE" and size % slide:
            hint = "the step comes before the size: CUMULATE(TABLE t, DESCRIPTOR(ts), step, size)"
            self._fail("SIZE", f"SIZE of CUMULATE must be a multiple of STEP ({size} ms, {slide} ms)", hint)
        return WindowSpec(WindowKind[self.function], size, slide, offset, wall_clock)

    def _positive(self, name: str) -> int:
        millis = self.millis(name)
        if millis <= 0:
            self._fail(name, f"{name} of {self.function} must be longer than zero", "write INTERVAL '10' MINUTE")
        return millis

    def _fail(self, name: str, message: str, hint: str) -> NoReturn:
        raise SqlExtError("WINDOW-005", message, span=self.arguments[name].span, hint=hint)


def usage(function: str) -> str:
    """Return a window function with its arguments."""
    shown = {"DATA": "TABLE t", "TIMECOL": "DESCRIPTOR(ts)", "OFFSET": "[offset]", "MAX_SIZE": "[max_size]"}
    return f"{function}({', '.join(shown.get(p, p.lower()) for p in _PARAMETERS[function])})"


def _usage(function: str, span: Span) -> SqlExtError:
    return SqlExtError("WINDOW-001", f"these are not the arguments of {function}", span=span, hint=usage(function))


def check_multiple(call: WindowCall, spec: WindowSpec) -> None:
    """Refuse, as Flink's TVF does, a HOP whose size is no multiple of its slide (gaps are ours: allowed)."""
    if spec.kind is WindowKind.HOP and spec.months is None and spec.slide < spec.size and spec.size % spec.slide:
        raise SqlExtError(
            "WINDOW-005",
            f"SIZE of HOP must be a multiple of SLIDE ({spec.size} ms, {spec.slide} ms)",
            span=call.arguments["SIZE"].span,
            hint="GROUP BY HOP(ts, slide, size) takes any lengths",
        )


def assign_windows(
    node: PlanNode, time: PlanColumn, spec: WindowSpec, names: Sequence[str] | None = None
) -> AssignWindows:
    """Return ``node`` with a window for each row, and the columns that show it.

    The gap or offset of each row, which the input may have, stays behind.

    ``names`` are those of the start, end and time column; by default ``window_start``, ``window_end``,
    ``window_time``, with a 0 behind where the input has such a column (as Flink).
    """
    columns = tuple(c for c in node.columns if c.physical not in (spec.gap, spec.row_offset))
    taken = {c.name for c in columns}
    physical = _free("__window", set(node.physical_columns()))
    shown = names or [_free(n, taken, "0") for n in WINDOW_COLUMNS]
    return AssignWindows(
        (*columns, *window_columns(spec, time, physical, shown)), node, spec, time, physical, is_custom(spec)
    )


def is_custom(spec: WindowSpec) -> bool:
    """Whether Spark's ``window()`` cannot make these windows.

    They are those of CUMULATE and SLIDE, with gaps, with an offset of each row, or cut by a wall clock or calendar.
    """
    computed = spec.kind in (WindowKind.CUMULATE, WindowKind.SLIDE) or spec.row_offset is not None
    return computed or spec.has_gaps or spec.aligned


def window_columns(spec: WindowSpec, time: PlanColumn, physical: str, names: Sequence[str]) -> tuple[PlanColumn, ...]:
    """Return the start, end and time column of a window held in ``physical``."""
    # A custom struct carries the wall clock. Of Spark's window it is computed from the instant, in the session's zone.
    local = spec.wall_clock is not None
    if local and is_custom(spec) and not spec.processing and spec.kind is not WindowKind.SLIDE:
        start, end = Part.WALL_START, Part.WALL_END
    elif local:
        start, end = Part.LOCAL_START, Part.LOCAL_END
    else:
        start, end = Part.START, Part.END
    # Flink's docs, Windowing TVFs: the bounds are TIMESTAMP(3) of any rowtime; window_time has the rowtime's own type.
    bound = timestamp(3).not_null()
    mark = Part.CUSTOM_TIME if is_custom(spec) else Part.TIME
    kind = Time.PROCTIME if spec.processing else Time.ROWTIME
    return (
        PlanColumn(names[0], bound, physical, start),
        PlanColumn(names[1], bound, physical, end),
        PlanColumn(names[2], _time_type(time), physical, mark, kind),
    )


def _time_type(time: PlanColumn) -> LogicalType:
    ltz = time.type is not None and time.type.root == "TIMESTAMP_LTZ"
    return (timestamp_ltz(3) if ltz else timestamp(3)).not_null()


def wall_clock_of(time: PlanColumn, zone: str) -> str | None:
    """Return the zone whose wall clock aligns the windows of a rowtime, None for UTC."""
    ltz = time.type is not None and time.type.root == "TIMESTAMP_LTZ"
    # A TIMESTAMP is held as the instant that its wall clock is in UTC, so UTC aligns it in every zone.
    return zone if ltz and zone != "UTC" else None


def over_time(spec: WindowSpec, column: PlanColumn, span: Span, what: str) -> WindowSpec:
    """Return windows over a time attribute: of event time, or of processing time if it is that."""
    if column.time is not Time.PROCTIME:
        return spec
    if spec.kind is WindowKind.SLIDE:
        hint = "OVER (ORDER BY the column RANGE BETWEEN ... PRECEDING AND CURRENT ROW), or a column with a WATERMARK"
        message = f"{what} goes by event time: rows that come one by one have no window in common"
        raise SqlExtError("WINDOW-013", message, span=span, hint=hint)
    if spec.row_offset is not None:
        raise SqlExtError(
            "WINDOW-013",
            f"{what} over processing time has no offset of each row",
            span=span,
            hint="a constant offset, or a window of event time",
        )
    if spec.limit is not None:
        raise SqlExtError(
            "WINDOW-013",
            f"{what} over processing time has no maximum length",
            span=span,
            hint="leave the maximum out, or take sessions of event time",
        )
    if spec.months is not None:
        raise SqlExtError(
            "WINDOW-013",
            f"{what} over processing time cannot go by a calendar",
            span=span,
            hint="take windows of days, or a window of event time",
        )
    if spec.wall_clock is None or spec.kind is WindowKind.SESSION:
        return replace(spec, processing=True)
    step = spec.size if spec.kind is WindowKind.CUMULATE else spec.slide
    shift = shift_of(spec.wall_clock, step)
    if shift is None:
        raise SqlExtError(
            "WINDOW-013",
            f"{what} over processing time cannot go by the clock of {spec.wall_clock}, which is put on and back",
            span=span,
            hint="take shorter windows, SET 'table.local-time-zone' = 'UTC', or a window of event time",
        )
    return replace(spec, processing=True, offset=(spec.offset - shift) % step)


def _free(name: str, taken: set[str], suffix: str = "_1") -> str:
    while name in taken:
        name += suffix
    return name
