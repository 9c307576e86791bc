"""Make up a scenario: a question, rows, how they come, and where drivers die. Hypothesis shrinks one that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

#: How far behind the largest event time a row may be, in seconds: as far as the watermark, so that no row is late.
DISORDER = 10
#: A row of this key comes at the end, a lifetime later: it moves the watermark past all others.
LAST_KEY, LAST_TIME = "~", 4_000_000_000
#: The setting of jobs that run without Spark.
LOCAL = (("sqlext.engine", "local"),)
_KEYS = ("a", "b", "c")
_BEGIN = 1_704_103_200  # 2024-01-01 10:00
_TABLE = """CREATE TABLE IF NOT EXISTS {name} (n BIGINT, k STRING, v BIGINT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/{name}', 'format' = 'json'{options});
"""


@dataclass(frozen=True)
class Row:
    """A row: its number, key, value, and event time in ms since 1970 UTC; no two have one time."""

    n: int
    k: str
    v: int
    ts: int


@dataclass(frozen=True)
class Question:
    """A query, and the table that it writes.

    Attributes:
        select: the query.
        columns: of the table, with types.
        key: its PRIMARY KEY, empty if it only appends.
        form: the connector of the table with its format.
    """

    select: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...] = ()
    form: str = "delta"

    def table(self, name: str) -> str:
        """Return the statement that declares the table."""
        columns = ", ".join(f"{column} {type_}" for column, type_ in self.columns)
        key = f", PRIMARY KEY ({', '.join(self.key)}) NOT ENFORCED" if self.key else ""
        form = "'delta'" if self.form == "delta" else f"'filesystem', 'format' = '{self.form}'"
        return (
            f"CREATE TABLE IF NOT EXISTS {name} ({columns}{key})\n"
            f"WITH ('connector' = {form}, 'path' = '${{OUT}}/{name}');\n"
        )


@dataclass(frozen=True)
class Life:
    """What comes before a driver starts, and how it ends.

    Attributes:
        files: rows of each new file of each table, by its name.
        dies_at: at which of its writes it dies; None: it comes to its end.
        clock: how far the clock jumps before it starts, in seconds.
        rival: at which of its writes another driver tries to take the job; None: none does.
    """

    files: tuple[tuple[str, tuple[Row, ...]], ...]
    dies_at: int | None = None
    clock: int = 0
    rival: int | None = None


@dataclass(frozen=True)
class Scenario:
    """A job of one or two INSERTs, and its lives; the last one comes to its end."""

    questions: tuple[Question, ...]
    lives: tuple[Life, ...]
    settings: tuple[tuple[str, str], ...]
    files_per_batch: int | None
    tables: tuple[str, ...]

    @property
    def all_at_first(self) -> Scenario:
        """The same job with all its rows in the first life, run by this process without Spark."""
        files = tuple(file for life in self.lives for file in life.files)
        lives = (replace(life, files=files if life is self.lives[0] else ()) for life in self.lives)
        return replace(self, lives=tuple(lives), settings=LOCAL, files_per_batch=None)

    def declarations(self) -> str:
        """Return the statements that declare the tables that are read."""
        most = self.files_per_batch
        options = f", 'maxFilesPerTrigger' = '{most}'" if most is not None else ""
        return "".join(_TABLE.format(name=name, delay=DISORDER, options=options) for name in self.tables)

    def job(self) -> str:
        """Return the script of the job."""
        inserts = [f"INSERT INTO out{n} {question.select};\n" for n, question in enumerate(self.questions)]
        sinks = "".join(question.table(f"out{n}") for n, question in enumerate(self.questions))
        together = f"EXECUTE STATEMENT SET BEGIN\n{''.join(inserts)}END;\n" if len(inserts) > 1 else inserts[0]
        settings = "".join(_set(key, value) for key, value in self.settings)
        return f"{settings}{self.declarations()}{sinks}{together}"

    def asked(self, number: int) -> str:
        """Return the script that asks one question of all rows at once."""
        settings = _set(*LOCAL[0]) if self.settings == LOCAL else _set("execution.runtime-mode", "batch")
        return f"{settings}{self.declarations()}{self.questions[number].select};"


def _set(key: str, value: str) -> str:
    return f"SET '{key}' = '{value}';\n"


_AGGREGATES = {
    "c": ("COUNT(*)", "BIGINT"),
    "s": ("SUM(v)", "BIGINT"),
    "lo": ("MIN(v)", "BIGINT"),
    "hi": ("MAX(ts)", "TIMESTAMP(3)"),
    "d": ("COUNT(DISTINCT v)", "BIGINT"),
}
_FILTERS = ("", " WHERE v <> 3", " WHERE v > 4 OR k = 'a'")


@st.composite
def _windows(draw: st.DrawFn) -> str:
    step = draw(st.sampled_from((5, 10, 30)))
    many = step * draw(st.integers(2, 4))
    kind = draw(
        st.sampled_from(
            (
                f"TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{step}' SECOND)",
                f"HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '{step}' SECOND, INTERVAL '{many}' SECOND)",
                f"CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '{step}' SECOND, INTERVAL '{many}' SECOND)",
                f"SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{step}' SECOND)",
            )
        )
    )
    return f"TABLE({kind})"


@st.composite
def _grouped_by_window(draw: st.DrawFn) -> Question:
    names = draw(st.lists(st.sampled_from(sorted(_AGGREGATES)), min_size=1, max_size=3, unique=True))
    window = draw(_windows())
    emit = draw(st.sampled_from(("", "EMIT AFTER WATERMARK EARLY EVERY ROW")))
    keyed = draw(st.booleans()) or "SESSION" in window
    by = ("k", "window_start", "window_end") if keyed else ("window_start", "window_end")
    types = {"k": "STRING", "window_start": "TIMESTAMP(3)", "window_end": "TIMESTAMP(3)"}
    values = ", ".join(_AGGREGATES[name][0] for name in names)
    select = f"SELECT {', '.join(by)}, {values} FROM {window}{draw(st.sampled_from(_FILTERS))} GROUP BY {', '.join(by)}"
    columns = (*((name, types[name]) for name in by), *((name, _AGGREGATES[name][1]) for name in names))
    if emit:
        return Question(f"{select} {emit}", columns, by)
    return Question(select, columns, (), draw(st.sampled_from(("delta", "json"))))


@st.composite
def _grouped(draw: st.DrawFn) -> Question:
    names = draw(st.lists(st.sampled_from(sorted(_AGGREGATES)), min_size=1, max_size=3, unique=True))
    values = ", ".join(_AGGREGATES[name][0] for name in names)
    select = f"SELECT k, {values} FROM events{draw(st.sampled_from(_FILTERS))} GROUP BY k"
    return Question(select, (("k", "STRING"), *((name, _AGGREGATES[name][1]) for name in names)), ("k",))


@st.composite
def _ranked(draw: st.DrawFn) -> Question:
    most = draw(st.integers(1, 3))
    order = draw(st.sampled_from(("v DESC, n", "v, n", "ts", "ts DESC")))
    rows = f"SELECT k, n, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS r FROM events"
    columns = (("k", "STRING"), ("n", "BIGINT"), ("v", "BIGINT"), ("r", "BIGINT"))
    return Question(f"SELECT k, n, v, r FROM ({rows}) WHERE r <= {most}", columns, ("k", "r"))


@st.composite
def _over(draw: st.DrawFn) -> Question:
    frame = draw(
        st.sampled_from(
            (
                "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                "RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW",
                "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            )
        )
    )
    select = f"SELECT k, n, SUM(v) OVER (PARTITION BY k ORDER BY ts {frame}) FROM events"
    return Question(select, (("k", "STRING"), ("n", "BIGINT"), ("s", "BIGINT")), (), _form(draw))


@st.composite
def _joined(draw: st.DrawFn) -> Question:
    span = draw(st.sampled_from((5, 20)))
    select = (
        "SELECT e.k, e.n, o.n FROM events e JOIN others o ON e.k = o.k"
        f" AND o.ts BETWEEN e.ts - INTERVAL '{span}' SECOND AND e.ts + INTERVAL '{span}' SECOND"
    )
    return Question(select, (("k", "STRING"), ("n", "BIGINT"), ("m", "BIGINT")), (), _form(draw))


@st.composite
def _matched(draw: st.DrawFn) -> Question:
    select = (
        "SELECT k, a, c FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts"
        " MEASURES FIRST(A.n) AS a, B.n AS c ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW"
        f" PATTERN (A B) DEFINE B AS B.v > A.v + {draw(st.integers(0, 3))})"
    )
    return Question(select, (("k", "STRING"), ("a", "BIGINT"), ("c", "BIGINT")), (), _form(draw))


@st.composite
def _filtered(draw: st.DrawFn) -> Question:
    select = f"SELECT k, n, v * 2, ts FROM events{draw(st.sampled_from(_FILTERS))}"
    columns = (("k", "STRING"), ("n", "BIGINT"), ("w", "BIGINT"), ("ts", "TIMESTAMP(3)"))
    return Question(select, columns, (), _form(draw))


def _form(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(("delta", "json")))


_QUESTIONS = st.one_of(
    _grouped_by_window(), _grouped_by_window(), _grouped(), _ranked(), _over(), _joined(), _matched(), _filtered()
)


@st.composite
def _rows(draw: st.DrawFn, table: int) -> list[Row]:
    """Return rows in the order in which they come: none is further behind than the watermark."""
    rows, largest = [], 0
    for number in range(draw(st.integers(0, 24))):
        largest += draw(st.integers(0, 25))
        second = max(0, largest - draw(st.integers(0, DISORDER - 1)))
        # The milliseconds tell rows of one second apart.
        at = (_BEGIN + second) * 1000 + 2 * number + table
        rows.append(Row(number, draw(st.sampled_from(_KEYS)), draw(st.integers(0, 9)), at))
    return rows


def _cut(draw: st.DrawFn, rows: Sequence[Row], parts: int) -> list[tuple[Row, ...]]:
    ends = sorted(draw(st.lists(st.integers(0, len(rows)), min_size=parts - 1, max_size=parts - 1)))
    return [tuple(rows[a:b]) for a, b in zip((0, *ends), (*ends, len(rows)), strict=True)]


@st.composite
def scenarios(draw: st.DrawFn, most_lives: int = 4) -> Scenario:
    """Return what may happen to a job."""
    questions = tuple(draw(st.lists(_QUESTIONS, min_size=1, max_size=2)))
    tables = ("events", "others") if any("others" in question.select for question in questions) else ("events",)
    count = draw(st.integers(1, most_lives))
    coming: list[list[tuple[str, tuple[Row, ...]]]] = [[] for _ in range(count)]
    for number, name in enumerate(tables):
        for life, part in zip(coming, _cut(draw, draw(_rows(number)), count), strict=True):
            files = _cut(draw, part, draw(st.integers(1, 3)))
            life += [(name, file) for file in files if file]
    lives = [
        Life(
            tuple(files),
            draw(st.none() | st.integers(1, 120)),
            draw(st.sampled_from((0, 0, 90, 7_200, -7_200))),
            draw(st.none() | st.none() | st.integers(1, 60)),
        )
        for files in coming
    ]
    last = tuple((name, (Row(10**6, LAST_KEY, 0, LAST_TIME * 1000 + n),)) for n, name in enumerate(tables))
    reader = draw(st.sampled_from(("auto", "spark")))
    settings = ("sqlext.bounded", "catch-up"), ("sqlext.source", reader)
    return Scenario(questions, (*lives, Life(last)), settings, draw(st.integers(1, 2)), tables)
