"""REPLAY without Spark: what it reads, what it refuses, and which queries take dead letters back."""

from __future__ import annotations

import pytest
from pyspark.sql import Row

from sqlext.analysis.inserts.replays import bind_replay
from sqlext.dialect.ast.statements import Replay
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.compiler.replays import corrected_row
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.side_rows import fed_back
from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.session.replaying import Replaying
from sqlext.source import SourceText
from sqlext_catalog.model import Table

from .conftest import Analysis

TABLES = """
CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, source STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '/letters');
CREATE VIEW seen AS SELECT * FROM letters WHERE cause = 'late';
CREATE TABLE unnamed (query_name STRING, cause STRING, source STRING) WITH ('connector' = 'delta', 'path' = '/unnamed');
CREATE TABLE t (v INT, s STRING, w AS UPPER(s), ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH
('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE mapped (v INT, m MAP<INT, STRING>) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE ints (i INT) WITH ('connector' = 'blackhole');
CREATE TABLE counts (n BIGINT) WITH ('connector' = 'blackhole');
SET 'sqlext.dead-letters.table' = 'letters';
"""
BY_ROW = "INSERT INTO ints SELECT CAST(s AS INT) FROM t"
WINDOWED = """INSERT INTO counts SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end"""
OF_ROWS = WINDOWED.replace("'1' MINUTE)", "'1' MINUTE, v)").replace("start,", "start, v,")
NAME = "default_catalog.default_database.t"
T = f"replays into {NAME}"


@pytest.fixture
def tables(spark_mode: Analysis) -> Analysis:
    spark_mode.run(TABLES)
    return spark_mode


@pytest.fixture
def spark_mode() -> Analysis:
    return Analysis("spark")


def script(analysis: Analysis, insert: str, end: InputEnd = InputEnd.CATCH_UP) -> SparkScript:
    compiled = analysis.run(insert)
    assert compiled is not None
    assert compiled.insert is not None
    return insert_script(compiled.insert, analysis.interpreter.environment(), end=end)


def test_where_and_set_in_any_order() -> None:
    texts = (
        "REPLAY a.letters",
        "REPLAY letters WHERE cause = 'late' SET v = 1, `s` = UPPER(s)",
        "REPLAY letters SET v = 1, `s` = UPPER(s) WHERE cause = 'late'",
    )
    found = [r for text in texts for mode in ("spark", "flink") for r in parse_script(SourceText.of(text), mode)]
    replays = [r for r in found if isinstance(r, Replay)]
    assert [r.name for r in replays] == [("a", "letters")] * 2 + [("letters",)] * 4
    assert [[c.column for c in r.changes] for r in replays[2:]] == [["v", "s"]] * 4
    assert all(r.where is not None and r.where.span.text == "cause = 'late'" for r in replays[2:])


@pytest.mark.parametrize(
    ("text", "code", "at", "said"),
    [
        ("REPLAY letters SET v", "PARSE-002", ";", "="),
        ("REPLAY letters WHERE cause = 'late' ORDER BY 1", "PARSE", "ORDER", "SET or the end of the statement"),
        ("REPLAY nowhere", "NAME-002", "nowhere", "there is no table `nowhere`"),
        ("REPLAY unnamed", "DDL-044", "unnamed", "no column `letter`, `text`"),
        ("REPLAY letters WHERE colour = 1", "NAME-003", "colour", "colour"),
        ("REPLAY letters WHERE text LIKE '1' AND cause = 'sink'", "DDL-045", "'sink'", "behind all its steps"),
        ("REPLAY letters WHERE (cause IN ('late', 'replayed'))", "DDL-045", "'replayed'", "it was fed back"),
        ("REPLAY letters WHERE 'sink' = cause", "DDL-045", "'sink'", "behind all its steps"),
        ("REPLAY seen", "DDL-044", "seen", "`seen` is a view"),
        ("REPLAY letters SET v = 1 + MAX(v)", "DDL-046", "MAX(v)", "MAX is of many"),
        (
            "REPLAY letters SET v = SUM(v) OVER (ORDER BY v)",
            "DDL-046",
            "SUM(v) OVER (ORDER BY v)",
            "SUM OVER is of many",
        ),
        ("REPLAY letters SET v = explode(array(1, 2))", "DDL-046", "explode(array(1, 2))", "explode gives many"),
        (
            "REPLAY letters SET v = (SELECT MAX(v) FROM t)",
            "DDL-046",
            "(SELECT MAX(v) FROM t)",
            "a sub-query reads others",
        ),
        ("REPLAY letters SET s = IF(v IN (SELECT v FROM t), 'a', s)", "DDL-046", "v IN (SELECT v FROM t)", "sub-query"),
        (f"REPLAY letters WHERE source = '{NAME}' SET colour = 1", "NAME-003", "colour", "have no column `colour`"),
        ("REPLAY letters SET v = 1, v = 2", "NAME-006", "v", "set twice"),
    ],
)
def test_what_is_refused_at_its_place(tables: Analysis, text: str, code: str, at: str, said: str) -> None:
    if code.startswith("PARSE"):
        with pytest.raises(SqlExtError) as raised:
            list(parse_script(SourceText.of(f"{text};"), "spark"))
        error = raised.value
    else:
        error = tables.refuse(f"{text};", code)
    assert error.span is not None
    assert error.span.text == at
    assert said in f"{error.message} {error.hint}"


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("SET colour = 1", "NAME-003", "colour"),
        ("SET w = 1", "NAME-003", "w"),
        ("SET v = TIMESTAMP '2024-01-01 00:00:00'", "SINK-002", "TIMESTAMP '2024-01-01 00:00:00'"),
        ("SET v = nowhere", "NAME-003", "nowhere"),
    ],
)
def test_a_check_knows_the_table_by_the_query_before(tables: Analysis, text: str, code: str, at: str) -> None:
    error = tables.refuse(f"{BY_ROW}; REPLAY letters {text};", code)
    assert error.span is not None
    assert error.span.text == at
    tables.run(f"{BY_ROW}; REPLAY letters SET v = 1, s = letters.text WHERE cause <> 'sink';")


def test_explain_shows_which_letters_are_meant(tables: Analysis) -> None:
    (statement,) = parse_script(SourceText.of("EXPLAIN REPLAY letters WHERE cause = 'late'"), "spark")
    ((text,),) = tables.interpreter.run(statement).rows
    assert "Scan(default_catalog.default_database.letters (delta, snapshot))" in text
    assert "cause = 'late'" in text


@pytest.mark.parametrize(
    ("insert", "causes"),
    [
        (BY_ROW, "decode, expression"),
        ("INSERT INTO ints SELECT CAST(s AS INT) FROM (SELECT TRIM(s) AS s FROM t)", "decode, expression"),
        (
            "INSERT INTO ints SELECT w FROM (SELECT CAST(s AS INT) AS w FROM (SELECT s FROM t)) WHERE w > 1",
            "decode, expression",
        ),
        (WINDOWED, "late, future, decode"),
        (OF_ROWS, "late, future, decode"),
        ("INSERT INTO counts SELECT COUNT(*) FROM (SELECT v FROM t) GROUP BY v", None),
        ("INSERT INTO ints SELECT v FROM mapped", None),
    ],
)
def test_which_rows_are_those_of_the_table(tables: Analysis, insert: str, causes: str | None) -> None:
    if "GROUP BY v" in insert:
        tables.run("SET 'sqlext.dead-letters.causes' = 'late'; SET 'sqlext.sink.updates' = 'final-state';")
    found = fed_back(script(tables, insert))
    assert {name: set(text.split(", ")) for name, (text, _) in found.items()} == (
        {T: set(causes.split(", "))} if causes else {}
    )


def test_a_query_that_begins_anew_takes_nothing_back(tables: Analysis) -> None:
    assert script(tables, BY_ROW, InputEnd.FINISH).replays == ()
    assert "sqlext_t_replayed" in script(tables, BY_ROW).query
    assert "sqlext_t_replayed" in script(tables, WINDOWED, InputEnd.NONE).query


def test_late_rows_alone_come_back_and_say_so(tables: Analysis) -> None:
    tables.run("SET 'sqlext.dead-letters.causes' = 'late';")
    found = script(tables, WINDOWED)
    assert fed_back(found) == {T: ("late, future", "1")}
    assert [(s.side, s.counted) for s in found.sides] == [
        ("late", "__late IS NOT NULL"),
        ("bad", "__bad.number = 0 AND __bad.cause <> 'replayed'"),
    ]


def test_a_table_without_names_takes_nothing_back(tables: Analysis) -> None:
    tables.run("SET 'sqlext.dead-letters.table' = 'unnamed';")
    assert script(tables, BY_ROW).replays == ()


def test_a_letter_that_does_not_say_whose_it_is(tables: Analysis) -> None:
    env = tables.interpreter.environment()
    (statement,) = parse_script(SourceText.of("REPLAY letters;"), "spark")
    assert isinstance(statement, Replay)
    replaying = Replaying(bind_replay(statement, env), env, tables.handler.state)
    known = {"letter": "a", "query_name": "q", "source": "t"}
    replaying.require_known([Row(**known)])
    for column in known:
        with pytest.raises(SqlExtError) as refused:
            replaying.require_known([Row(**known), Row(**{**known, column: None})])
        assert (refused.value.code, refused.value.hint) == ("RUN-086", f"ask for those with one: {column} IS NOT NULL")
        assert f"1 dead letter without `{column}`" in refused.value.message


def test_a_script_of_it_compiles() -> None:
    assert list(compile_source(SourceText.of(f"{TABLES}{BY_ROW}; REPLAY letters;"), new_state(None)))


SIDES = """
CREATE TABLE a (id INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH
('connector' = 'filesystem', 'path' = '/a', 'format' = 'json');
CREATE TABLE b (id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED) WITH
('connector' = 'filesystem', 'path' = '/b', 'format' = 'json');
CREATE TABLE names (id INT, v STRING) WITH
('connector' = 'filesystem', 'path' = '/n', 'format' = 'json', 'scan.mode' = 'snapshot');
CREATE VIEW n AS SELECT id, CAST(v AS INT) AS v, ts FROM b WHERE 1 / id > 0;
CREATE VIEW m AS SELECT id, CAST(s AS INT) AS w, ts, PROCTIME() AS p FROM a;
"""
OF_A = {"a": ("expression", "decode")}
OF_B = {"a": ("decode",), "b": ("expression", "decode")}


@pytest.mark.parametrize(
    ("select", "back"),
    [
        ("SELECT n.v FROM a JOIN n ON a.id = n.id", OF_B),
        ("SELECT n.v FROM a LEFT JOIN n ON a.id = n.id", OF_B),
        ("SELECT n.v FROM a JOIN n ON a.id = n.id AND a.ts BETWEEN n.ts - INTERVAL '1' MINUTE AND n.ts", OF_B),
        ("SELECT m.w FROM m JOIN names ON m.id = names.id", OF_A),
        ("SELECT m.w FROM m JOIN names FOR SYSTEM_TIME AS OF m.p ON m.id = names.id", OF_A),
        ("SELECT m.w FROM m JOIN b FOR SYSTEM_TIME AS OF m.ts ON m.id = b.id", OF_A | {"b": ("decode",)}),
        ("SELECT w FROM m UNION ALL SELECT v FROM n", OF_A | {"b": ("expression", "decode")}),
        ("SELECT MAX(w) FROM m GROUP BY id", OF_A),
        ("SELECT w FROM m GROUP BY id, w", OF_A),
        ("SELECT w FROM (SELECT w, ROW_NUMBER() OVER (PARTITION BY id ORDER BY w) AS r FROM m) WHERE r <= 2", OF_A),
        ("SELECT x.w FROM m AS x JOIN m AS y ON x.id = y.id", {"a": ("decode",)}),
        ("SELECT x.w FROM m AS x JOIN a AS y ON x.id = y.id", {"a": ("decode",)}),
    ],
)
def test_rows_that_fail_below_an_operator_leave_there(
    tables: Analysis, select: str, back: dict[str, tuple[str, ...]]
) -> None:
    """A row comes back where the query has not used it; one that is read twice may have been used once."""
    tables.run(SIDES)
    found = script(tables, f"INSERT INTO ints {select}")
    assert {r.table.name.name: r.causes for r in found.replays} == back
    assert found.left
    for view, text in found.left:
        assert view in found.read_again
        assert f"FROM ({text}) WHERE __bad IS NOT NULL" in found.query
    assert [(side.side, side.letters) for side in found.sides] == [("bad", True)]


@pytest.mark.parametrize(
    ("select", "at"),
    [
        ("SELECT CAST(b.v AS INT) FROM a JOIN b ON a.id = b.id", "CAST(b.v AS INT)"),
        ("SELECT a.id FROM a JOIN b ON a.id = b.id WHERE 1 / b.id > 0", "1 / b.id"),
        ("SELECT SUM(CAST(s AS INT)) FROM a GROUP BY id", "CAST(s AS INT)"),
        ("SELECT x + 1 FROM (SELECT MAX(w) AS x FROM m GROUP BY id)", "x + 1"),
    ],
)
def test_above_an_operator_a_row_is_made_of_several(tables: Analysis, select: str, at: str) -> None:
    tables.run(SIDES)
    error = tables.refuse(f"INSERT INTO ints {select}", "OPT-039")
    assert error.span is not None
    assert error.span.text == at
    assert "in a view of one table below that" in (error.hint or "")


@pytest.mark.parametrize("fraction", ["", ".000", ".000000"])
def test_a_value_is_of_the_type_of_its_column(tables: Analysis, fraction: str) -> None:
    """To Spark the literal is an instant, whose text is none of a TIMESTAMP: the rowtime would be NULL."""
    env = tables.interpreter.environment()
    (statement,) = parse_script(SourceText.of(f"REPLAY letters SET ts = TIMESTAMP '2024-01-01 00:00:09{fraction}';"))
    assert isinstance(statement, Replay)
    table = env.catalog.lookup(("t",))
    assert isinstance(table, Table)
    columns = corrected_row(bind_replay(statement, env), table, env).columns
    assert columns[-1].endswith("AS TIMESTAMP_NTZ) AS __set_2")
