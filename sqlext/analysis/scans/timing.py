"""Read how an input's time moves: its watermark declaration, and its options for idleness, alignment and interval."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.analysis.types.literals import interval_millis
from sqlext.capabilities import ADMISSION, require
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.expressions import Binary, Call, ColumnRef, Expr, Paren
from sqlext.errors import SqlExtError
from sqlext.plan.timing import Timing
from sqlext.settings import Settings, parse_duration
from sqlext.watermarks.inputs import Alignment
from sqlext_catalog.model import Table

_ALIGNMENT = "scan.watermark.alignment."
_UNALIGNED = "pipeline.watermark-alignment.allow-unaligned-source-splits"


def timing_of(table: Table, settings: Settings, *, own: bool) -> Timing:
    """Return how the time of a table's rows moves, as a query reads it (hints are merged into its options).

    Args:
        own: whether a reader of ours gives its rows: such a one can be held back.

    Raises:
        OptionError: OPT-030 for an alignment without a group or a drift, OPT-031 for a connector that cannot be held
            back.
        SqlExtError: OPT-032 for a watermark of an endless input that would never be given.
    """
    options = dict(table.options)
    bounded = connector_of(table).bounded(table)
    idle = _duration(options, "scan.watermark.idle-timeout")
    if idle is None:
        idle = _duration(dict(settings.items()), "table.exec.source.idle-timeout")
    closes = options.get("sqlext.idle.close-windows", settings.get("sqlext.idle.close-windows") or "false")
    alignment = None if bounded else _alignment(table, options, settings, own=own)
    return Timing(
        # A bounded input ends, which releases whoever waits for it; until then it is slow, not idle.
        None if bounded else idle or None,
        closes.strip().lower() == "true",
        alignment,
        _interval(options, settings, bounded=bounded),
        bounded,
    )


def future_of(table: Table, settings: Settings) -> int | None:
    """Return how far (ms) a rowtime may be ahead of the clock, None if it may be anything."""
    key = "sqlext.watermark.max-future"
    return parse_duration(table.option(key) or settings.get(key) or "")


def _alignment(table: Table, options: Mapping[str, str], settings: Settings, *, own: bool) -> Alignment | None:
    group, drift = options.get(f"{_ALIGNMENT}group"), _duration(options, f"{_ALIGNMENT}max-drift")
    if group is None and drift is None:
        return None
    if group is None or drift is None:
        missing = "group" if group is None else "max-drift"
        given = "max-drift" if group is None else "group"
        message = f"the watermark alignment of `{table.name.name}` needs the option '{_ALIGNMENT}{missing}' too"
        raise OptionError("OPT-030", message, option=f"{_ALIGNMENT}{given}")
    connector = connector_of(table)
    if not own:
        if settings.flag(_UNALIGNED):
            return None
        if connector.prefers_own_reader(table) and not connector.no_own_reader(table):
            require(ADMISSION)  # all that keeps a reader of ours from it
        raise OptionError(
            "OPT-031",
            f"{connector.owner} of `{table.name.name}` cannot be held back, so its watermark cannot be aligned",
            option=f"{_ALIGNMENT}group",
            hint=f"leave the option out, or SET '{_UNALIGNED}' = 'true' to read it unaligned",
        )
    return Alignment(group, drift)


def _interval(options: Mapping[str, str], settings: Settings, *, bounded: bool) -> int:
    """Return ms between two watermarks; 0: each micro-batch, which is never shorter than Flink's default of 200 ms."""
    if options.get("scan.watermark.emit.strategy", "on-periodic").lower() == "on-event":
        return 0
    interval = _duration(dict(settings.items()), "pipeline.auto-watermark-interval")
    # The end of a bounded input closes all windows, in Flink too.
    if interval == 0 and not bounded:
        raise SqlExtError(
            "OPT-032",
            "with 'pipeline.auto-watermark-interval' = '0' no watermark is ever given, and no window comes out",
            hint="RESET 'pipeline.auto-watermark-interval', or 'scan.watermark.emit.strategy' = 'on-event'",
        )
    return interval or 0


def _duration(options: Mapping[str, str], key: str) -> int | None:
    value = options.get(key)
    return None if value is None else parse_duration(value)


def constant_delay(expression: Expr, column: str) -> int | None:
    """Return the delay in ms of ``column`` or ``column - INTERVAL ...``, None for any other expression.

    A delay below zero is no delay: Spark refuses it, so it takes the general path.
    """
    while isinstance(expression, Paren):
        expression = expression.operand
    if isinstance(expression, ColumnRef):
        return 0 if expression.parts == (column,) else None
    if not isinstance(expression, Binary) or expression.op != "-":
        return None
    if constant_delay(expression.left, column) != 0:
        return None
    delay = interval_millis(expression.right)
    return delay if delay is not None and delay >= 0 else None


def is_source_watermark(expression: Expr) -> bool:
    """Whether it is ``SOURCE_WATERMARK()``."""
    return isinstance(expression, Call) and expression.function == "SOURCE_WATERMARK"
