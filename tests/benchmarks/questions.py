"""What is asked of the engines: the same SQL for sqlext and Flink."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_TABLES = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ({options});
"""
#: Rows without event time, and names of keys.
_PLAIN = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP_LTZ(3)) WITH ({options});
CREATE TABLE names (k BIGINT, name STRING) WITH ({beside});
"""
#: A topic whose values are JSON, in place of files.
KAFKA = "kafka"
#: A table of Delta, which Flink does not read.
DELTA = "delta"
_TEN, _TWO = "INTERVAL '10' SECOND", "INTERVAL '2' SECOND"
_GROUPED = "k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT"
_NEXMARK = Path(__file__).parents[2] / "sql_examples" / "nexmark"
_SINK = re.compile(r"WITH \('connector' = 'delta', 'path' = '\$\{OUT\}/q\d+'\)")


class Question(NamedTuple):
    """Something to ask.

    Attributes:
        name: for tables and plots.
        columns: of the result.
        select: the query, over the table ``src``.
        changing: whether its rows can be taken back: the result is a changelog then.
        tables: the tables that it reads; ``{options}`` and ``{beside}`` stand for where they lie.
        form: of the result; by default json, of a changelog debezium-json.
    """

    name: str
    columns: str
    select: str
    changing: bool = False
    tables: str = _TABLES
    form: str | None = None

    def script(self, source: str, out: Path, form: str) -> str:
        """Return the whole text; the result goes to ``out/result``.

        Args:
            source: a folder; of form ``kafka`` a topic, as ``broker/topic``.
        """
        form_out = self.form or ("debezium-json" if self.changing else "json")
        sink = f"CREATE TABLE answer ({self.columns}) WITH ({_options(out, form_out)});"
        tables = self.tables.format(options=_input(source, form), beside=_input(f"{source}-names", form))
        return f"{tables}{sink}\nINSERT INTO answer {self.select};"


def _windowed(name: str, function: str) -> Question:
    keys = "k, window_start, window_end"
    return Question(name, _GROUPED, f"SELECT {keys}, COUNT(*), SUM(v) FROM TABLE({function}) GROUP BY {keys}")


def window_set() -> list[Question]:
    """Return windows, and what stands above windows and on time."""
    tumble = f"TUMBLE(TABLE src, DESCRIPTOR(ts), {_TEN})"
    top = f"""SELECT k, window_start, window_end, n, total FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC, k) AS place FROM (
        SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS total FROM TABLE({tumble})
        GROUP BY k, window_start, window_end)) WHERE place <= 3"""
    join = """SELECT a.k, a.ts, a.v, b.v FROM src AS a JOIN src AS b
      ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '0.2' SECOND"""
    return [
        _windowed("TUMBLE", tumble),
        _windowed("HOP", f"HOP(TABLE src, DESCRIPTOR(ts), {_TWO}, {_TEN})"),
        _windowed("CUMULATE", f"CUMULATE(TABLE src, DESCRIPTOR(ts), {_TWO}, {_TEN})"),
        _windowed("SESSION", "SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)"),
        Question("WINDOW TOP 3", _GROUPED, top),
        Question("INTERVAL JOIN", "k BIGINT, ts1 TIMESTAMP(3), v1 INT, v2 INT", join),
    ]


def operator_set() -> list[Question]:
    """Return operators without windows."""
    rank = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY {})"
    ranked = "SELECT k, v, ts FROM (SELECT *, {} AS n FROM src) WHERE n <= {}"
    row = "k BIGINT, v INT, ts TIMESTAMP(3)"
    return [
        Question("FIRST ROW", row, ranked.format(rank.format("ts"), 1), changing=True),
        Question("TOP 3", row, ranked.format(rank.format("v DESC, ts"), 3), changing=True),
        Question(
            "GROUP OF GROUP",
            "n BIGINT, keys BIGINT",
            "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM src GROUP BY k) GROUP BY n",
            changing=True,
        ),
        Question(
            "OVER 10 ROWS",
            "k BIGINT, ts TIMESTAMP(3), total BIGINT",
            "SELECT k, ts, SUM(CAST(v AS BIGINT)) OVER (PARTITION BY k ORDER BY ts "
            "ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM src",
        ),
        Question(
            "MATCH",
            "k BIGINT, a INT, b INT",
            "SELECT k, a, b FROM src MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a, B.v AS b "
            "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v > 90, B AS B.v < 30) AS m",
        ),
    ]


def table_set() -> list[Question]:
    """Return what engines of tables are asked too; each answer is a parquet file, of what stands at the end."""
    top = """SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, ts) AS n FROM src)
      WHERE n <= 3"""
    join = (
        "SELECT b.name, COUNT(*), SUM(CAST(a.v AS BIGINT)) FROM src AS a JOIN names AS b ON a.k = b.k GROUP BY b.name"
    )
    tumble, hop = (q for q in window_set() if q.name in ("TUMBLE", "HOP"))
    plain = [
        Question("GROUP BY", "k BIGINT, n BIGINT, total BIGINT", "SELECT k, COUNT(*), SUM(v) FROM src GROUP BY k"),
        Question("TOP 3", "k BIGINT, v INT, ts TIMESTAMP_LTZ(3)", top),
        Question("JOIN", "name STRING, n BIGINT, total BIGINT", join),
    ]
    asked = [tumble, hop, *(question._replace(tables=_PLAIN) for question in plain)]
    return [question._replace(form="parquet") for question in asked]


def nexmark_script(number: int, source: str, out: Path) -> str:
    """Return a Nexmark query of ``sql_examples`` as a whole text; the result goes to ``out/result``.

    Where rows can be taken back the result is their changelog: the file of changes that both engines can write.
    """
    tables = (_NEXMARK / "tables.sql").read_text("utf-8").replace("${IN}", source)
    query = (_NEXMARK / f"q{number}.sql").read_text("utf-8")
    form = "debezium-json" if number in CHANGING else "json"
    return tables + _SINK.sub(f"WITH ({_options(out, form)})", query)


def primary_key(script: str) -> tuple[str, ...]:
    """Return the columns of the primary key that a text declares, none if it declares none."""
    declared = re.search(r"PRIMARY KEY \(([^)]*)\)", script)
    return tuple(name.strip(" `") for name in declared[1].split(",")) if declared is not None else ()


#: The Nexmark queries whose rows can be taken back.
CHANGING = frozenset({4, 6, 9, 15, 16, 17, 18, 19})


def _options(out: Path, form: str) -> str:
    return f"{_files(f'{out}/result')}, 'format' = '{form}'"


def _files(path: str) -> str:
    return f"'connector' = 'filesystem', 'path' = '{path}'"


def _input(source: str, form: str) -> str:
    if form == KAFKA:
        return _topic(source)
    return f"'connector' = 'delta', 'path' = '{source}'" if form == DELTA else f"{_files(source)}, 'format' = '{form}'"


def _topic(source: str) -> str:
    broker, topic = source.split("/")
    where = f"'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}'"
    span = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"
    return f"{where}, {span}, 'format' = 'json'"
