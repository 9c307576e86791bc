"""Define the SET options: their keys, values and defaults.

Keys are Flink's and our own (``sqlext.``), which are checked. Flink accepts keys that it does not know; here
one that is nearly a key of its is refused as misspelt.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.locations import checkpoint_place, is_object_store, local_file, scheme_of
from sqlext.source import Span

#: Into how many buckets the state of a new query's operators is cut by itself: enough for a machine of a few cores,
#: and each costs a call of Python in every micro-batch. A query keeps its number whatever the partitions are; more
#: partitions than buckets would be idle, fewer share them.
DEFAULT_BUCKETS = 8
MAX_BUCKETS = 1024
#: Flink's name for going on without the state that a query cannot take over.
LEAVES_STATE = "execution.state-recovery.ignore-unclaimed-state"
#: Whether a query is taken over from a driver that has it, which writes no more then.
TAKES_OVER = "sqlext.take-over"
#: Who runs queries, and from how many bytes of input on ``auto`` takes Spark.
ENGINE, LOCAL_BYTES = "sqlext.engine", "sqlext.engine.local-bytes"
#: How long a batch of Spark's real-time mode lasts. Rows go through as they come, and the place is noted at its end.
REAL_TIME = "sqlext.trigger.real-time"
#: Up to how many rows of a micro-batch a sink writes in the driver, where it can.
SINK_ROWS = "sqlext.sink.local-rows"
#: The table of a query's dead letters, which causes it takes, and how many letters or which part of its rows end it.
DEAD_LETTERS = "sqlext.dead-letters.table"
DEAD_LETTER_CAUSES = "sqlext.dead-letters.causes"
DEAD_LETTER_LIMIT = "sqlext.dead-letters.limit"
DEAD_LETTER_PERCENT = "sqlext.dead-letters.max-percent"
#: Why a row is a dead letter: it could not be decoded; it came behind the watermark, or from too far ahead; an
#: expression failed, or the sink does not take what it gives.
CAUSES = ("decode", "late", "expression")
#: How many windows without rows FILL may give at once, in one bucket of keys.
FILL_LIMIT, DEFAULT_FILL_LIMIT = "sqlext.fill.limit", 5_000_000
_CHOICES: dict[str, tuple[str, ...]] = {
    "sqlext.expressions": ("spark", "flink"),
    "sqlext.sink.updates": ("refuse", "final-state"),
    "sqlext.bounded": ("finish", "catch-up"),
    "sqlext.match-recognize": ("flink", "standard"),
    "sqlext.unbounded-state": ("allow", "error"),
    "sqlext.source": ("auto", "arrow", "spark"),
    ENGINE: ("auto", "spark", "local"),
    "sqlext.idle.close-windows": ("true", "false"),
    "execution.runtime-mode": ("streaming", "batch"),
    LEAVES_STATE: ("true", "false"),
    TAKES_OVER: ("true", "false"),
    "table.exec.source.rowtime-null-handling": ("fail", "drop", "skip_watermark"),
    "table.exec.sink.not-null-enforcer": ("error", "drop"),
    "sql-client.execution.result-mode": ("table", "changelog", "tableau"),
    "sqlext.shell.format": ("table", "csv", "json", "markdown"),
}
#: Keys of our own that take any text.
_TEXTS = ("sqlext.clock", "sqlext.late-rows.table", "sqlext.bad-rows", DEAD_LETTERS, DEAD_LETTER_CAUSES)
#: The folder of a clock.
_CLOCK = "sqlext.clock"
#: Flink's keys of where checkpoints lie. ``--checkpoint`` comes first, and says where a local folder is.
_CHECKPOINTS = (
    "execution.checkpointing.dir",
    "execution.checkpointing.savepoint-dir",
    "execution.state-recovery.path",
    "state.checkpoints.dir",
    "state.savepoints.dir",
)
#: Those under which new checkpoints are kept: Flink's present key, and the one before.
_CHECKPOINT = ("execution.checkpointing.dir", "state.checkpoints.dir")
#: Keys that take a whole number, and the least and the greatest.
_NUMBERS = {
    "sqlext.state.buckets": (1, MAX_BUCKETS),
    LOCAL_BYTES: (0, 1 << 40),
    SINK_ROWS: (0, 1 << 20),
    DEAD_LETTER_LIMIT: (0, 1 << 40),
    DEAD_LETTER_PERCENT: (0, 100),
    FILL_LIMIT: (1, 1 << 40),
}
#: Keys that take a duration.
_DURATIONS = (
    "table.exec.source.idle-timeout",
    "table.exec.state.ttl",
    "pipeline.auto-watermark-interval",
    "sqlext.watermark.max-future",
    REAL_TIME,
)
_OWN = (*(k for k in (*_CHOICES, *_DURATIONS, *_NUMBERS) if k.startswith("sqlext.")), *_TEXTS)
_DEFAULTS = {
    "sqlext.expressions": "spark",
    "sqlext.sink.updates": "refuse",
    "sqlext.bounded": "finish",
    "sqlext.match-recognize": "flink",
    "sqlext.unbounded-state": "allow",
    "sqlext.source": "auto",
    ENGINE: "spark",
    LOCAL_BYTES: str(32 << 20),
    SINK_ROWS: "10000",
    "sqlext.state.buckets": str(DEFAULT_BUCKETS),
    FILL_LIMIT: str(DEFAULT_FILL_LIMIT),
    "sqlext.idle.close-windows": "false",
    "execution.runtime-mode": "streaming",
    LEAVES_STATE: "false",
    TAKES_OVER: "false",
    "table.local-time-zone": "UTC",
    "table.exec.source.rowtime-null-handling": "fail",
    "table.exec.sink.not-null-enforcer": "error",
    "sql-client.execution.result-mode": "table",
}
#: Keys that take any text but are to be known to an editor.
_FLINK_TEXTS = ("pipeline.name", "table.local-time-zone")
#: Further keys of Flink that scripts set: what is nearly one of them is misspelt.
_SET_OFTEN = (
    *("parallelism.default", "pipeline.jars", "pipeline.max-parallelism", "pipeline.object-reuse"),
    *(f"execution.{key}" for key in ("target", "attached", "buffer-timeout.interval")),
    *(
        f"execution.checkpointing.{key}"
        for key in (
            *("interval", "mode", "timeout", "min-pause", "max-concurrent-checkpoints", "unaligned.enabled"),
            *("tolerable-failed-checkpoints", "externalized-checkpoint-retention", "incremental"),
        )
    ),
    *("state.backend", "state.backend.type", "state.backend.incremental"),
    *("restart-strategy", "restart-strategy.type"),
    *(f"restart-strategy.fixed-delay.{key}" for key in ("attempts", "delay")),
    *(f"table.exec.mini-batch.{key}" for key in ("enabled", "allow-latency", "size")),
    *(f"table.exec.emit.{kind}-fire.{key}" for kind in ("early", "late") for key in ("enabled", "delay")),
    *("table.exec.emit.allow-lateness", "table.exec.resource.default-parallelism", "table.exec.sink.keyed-shuffle"),
    *(
        "table.exec.sink.upsert-materialize",
        "table.exec.source.cdc-events-duplicate",
        "table.exec.legacy-cast-behaviour",
    ),
    *(f"table.exec.async-lookup.{key}" for key in ("buffer-capacity", "timeout", "output-mode")),
    *(f"table.optimizer.{key}" for key in ("agg-phase-strategy", "distinct-agg.split.enabled", "join-reorder-enabled")),
    *("table.sql-dialect", "table.dml-sync", "table.dynamic-table-options.enabled", "table.plan.force-recompile"),
    *("sql-client.verbose", "sql-client.execution.max-table-result.rows", "sql-client.display.max-column-width"),
)
#: How much of two keys is equal where one is the other, misspelt: of twenty characters one is wrong.
_MISSPELT = 0.94
_DURATION = re.compile(r"^\s*(\d+)\s*([a-zµ]*)\s*$", re.IGNORECASE)
_MILLIS = {
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_OFFSET_ZONE = re.compile(r"^(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})$")


def known_keys() -> tuple[str, ...]:
    """Return the keys of SET that mean something, sorted."""
    return tuple(sorted({*_CHOICES, *_TEXTS, *_NUMBERS, *_DURATIONS, *_FLINK_TEXTS}))


def require_known(key: str | None, span: Span | None) -> None:
    """Refuse a key of our own that is none (OPT-010), and one of Flink's that is misspelt.

    Flink has keys without number, and takes any: so what is far from all keys that are known here is taken.
    """
    if key is not None and key.startswith("sqlext.") and key not in _OWN:
        hint = did_you_mean(key, _OWN) or f"they are {', '.join(sorted(_OWN))}"
        raise SqlExtError("OPT-010", f"there is no option `{key}`", span=span, hint=hint)
    flinks = {*known_keys(), *_CHECKPOINTS, *_SET_OFTEN}
    near = [] if key is None or key in flinks else difflib.get_close_matches(key, flinks, 1, _MISSPELT)
    if near:
        raise SqlExtError("OPT-010", f"there is no option `{key}`", span=span, hint=f"did you mean `{near[0]}`?")


def choices_of(key: str) -> tuple[str, ...]:
    """Return the values that a key takes, none if it takes any text."""
    return _CHOICES.get(key, ())


def parse_duration(text: str) -> int | None:
    """Return milliseconds of Flink's duration text (``10 s``, ``1min``, ``500``), or None if it is none."""
    match = _DURATION.match(text)
    unit = _MILLIS.get(match.group(2).lower()) if match else None
    return int(match.group(1)) * unit if match and unit else None


def parse_zone(name: str) -> str | None:
    """Return a time zone id that Spark and Java take (``Asia/Tokyo``, ``GMT+03:00``), or None if there is none."""
    offset = _OFFSET_ZONE.match(name.strip())
    if offset:
        sign, hours, minutes = offset.groups()
        return f"GMT{sign}{int(hours):02d}:{minutes}" if int(hours) <= 18 else None
    if name.strip() in ("Z", "UTC", "GMT"):
        return "UTC"
    try:
        return ZoneInfo(name.strip()).key
    except Exception:  # noqa: BLE001 - zoneinfo raises a mix of types for bad names
        return None


@dataclass(frozen=True)
class Settings:
    """The SET options of a session; immutable, so that a dry run of a script cannot change them."""

    values: Mapping[str, str] = field(default_factory=dict)

    def get(self, key: str) -> str | None:
        """Return an option's value or its default."""
        return self.values.get(key, _DEFAULTS.get(key))

    def with_value(self, key: str, value: str, span: Span | None = None, value_span: Span | None = None) -> Settings:
        """Return settings with one option changed.

        Args:
            span: where the key stands.
            value_span: where the value stands, if that is known.

        Raises:
            SqlExtError: OPT-010 for an unknown ``sqlext.`` key, OPT-011 for a value that the key does not take,
                RUN-014 and RUN-028 for a URL where a folder is.
        """
        require_known(key, span)
        return Settings({**self.values, key: _checked(key, value, value_span or span)})

    def without(self, key: str | None) -> Settings:
        """Return settings with one option, or all, back at the default."""
        if key is None:
            return Settings()
        return Settings({k: v for k, v in self.values.items() if k != key})

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield what was set, by key."""
        yield from sorted(self.values.items())

    @property
    def expressions(self) -> str:
        """``spark`` or ``flink``: whose meaning expressions have."""
        return self.get("sqlext.expressions") or "spark"

    @property
    def zone(self) -> str:
        """The session's time zone (``table.local-time-zone``)."""
        return self.get("table.local-time-zone") or "UTC"

    @property
    def leaves_state(self) -> bool:
        """Whether a changed query goes on from its place without its state, where it would be refused."""
        return self.get(LEAVES_STATE) == "true"

    @property
    def takes_over(self) -> bool:
        """Whether a query is taken over from a driver that has it."""
        return self.get(TAKES_OVER) == "true"

    @property
    def checkpoint(self) -> str | None:
        """The URL where checkpoints lie, None where none is set; a folder is one of the machine that ran Flink."""
        wanted = (self.get(key) for key in _CHECKPOINT)
        return next((checkpoint_place(place) for place in wanted if place and is_object_store(place)), None)

    @property
    def streaming(self) -> bool:
        """Whether queries run as streams (a bounded source does not change that)."""
        return self.get("execution.runtime-mode") != "batch"

    def dead_letters(self, cause: str) -> str | None:
        """Return the table that takes the dead letters of a cause, None where none does."""
        wanted = _listed(self.get(DEAD_LETTER_CAUSES) or "") or CAUSES
        return (self.get(DEAD_LETTERS) or None) if cause in wanted else None

    def whole(self, key: str) -> int | None:
        """Return an option that is a whole number, None where it is not set."""
        text = self.get(key)
        return int(text) if text else None

    def has_any(self, prefix: str) -> bool:
        """Return whether an option is set whose key begins so."""
        return any(key.startswith(prefix) for key in self.values)

    def flag(self, key: str) -> bool:
        """Return a boolean option."""
        return (self.get(key) or "").lower() == "true"


def _checked(key: str, value: str, span: Span | None) -> str:
    choices = _CHOICES.get(key)
    if choices:
        if value.lower() not in choices:
            raise SqlExtError(
                "OPT-011",
                f"`{key}` cannot be '{value}'",
                span=span,
                hint=f"it is one of {', '.join(repr(c) for c in choices)}",
            )
        return value.lower()
    if key in _DURATIONS and parse_duration(value) is None:
        raise SqlExtError(
            "OPT-011", f"`{key}` cannot be '{value}'", span=span, hint="it is a duration such as '10 s' or '5min'"
        )
    try:
        if key in _CHECKPOINTS:
            checkpoint_place(value)
        if key == _CLOCK:
            return str(local_file(value, "a clock")) if scheme_of(value) else value
    except SqlExtError as error:
        raise (error.at(span) if span is not None else error) from None
    if key in _NUMBERS:
        return _number(key, value, span)
    if key == DEAD_LETTER_CAUSES and not set(_listed(value)) <= set(CAUSES):
        hint = f"it is a list of {', '.join(CAUSES)}"
        raise SqlExtError("OPT-011", f"`{key}` cannot be '{value}'", span=span, hint=hint)
    if key == "table.local-time-zone":
        zone = parse_zone(value)
        if zone is None:
            raise SqlExtError(
                "OPT-011",
                f"'{value}' is no time zone",
                span=span,
                hint="use a name like 'Europe/Berlin' or an offset like 'GMT+03:00'",
            )
        return zone
    return value


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip().lower() for word in text.split(",") if word.strip())


def _number(key: str, value: str, span: Span | None) -> str:
    least, greatest = _NUMBERS[key]
    text = value.strip()
    if not (text.isascii() and text.isdigit() and least <= int(text) <= greatest):
        hint = f"it is a whole number from {least} to {greatest}"
        raise SqlExtError("OPT-011", f"`{key}` cannot be '{value}'", span=span, hint=hint)
    return str(int(text))
