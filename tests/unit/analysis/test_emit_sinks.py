"""Panes and sinks: what the planner refuses, and how it says that the rest reaches its sink."""

from __future__ import annotations

import pytest

from sqlext.analysis.inserts.bound import Mode

from .conftest import Analysis

WINDOWS = """
CREATE TABLE files (k STRING, w TIMESTAMP(3), s INT) WITH ('connector' = 'filesystem', 'path' = '/o', 'format' = 'csv');
CREATE TABLE topic (k STRING, w TIMESTAMP(3), s INT)
WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TABLE heap (k STRING, w TIMESTAMP(3), s INT) WITH ('connector' = 'delta', 'path' = '/heap');
CREATE TABLE keyed (k STRING, w TIMESTAMP(3), s INT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '/keyed');
CREATE TABLE wide (k STRING, w TIMESTAMP(3), s INT, p INT)
WITH ('connector' = 'filesystem', 'path' = '/wide', 'format' = 'csv');
CREATE TABLE sessions (k STRING, w TIMESTAMP(3), e TIMESTAMP(3), s INT) WITH ('connector' = 'delta', 'path' = '/s');
CREATE TABLE screen (k STRING, w TIMESTAMP(3), s INT) WITH ('connector' = 'print');
CREATE TABLE totals (k STRING, s INT) WITH ('connector' = 'filesystem', 'path' = '/totals', 'format' = 'csv');
CREATE TABLE documents (k STRING, s INT) WITH ('connector' = 'opensearch', 'hosts' = 'http://o:9200', 'index' = 'i');
CREATE TABLE wide_documents (k STRING, w TIMESTAMP(3), s INT)
WITH ('connector' = 'elasticsearch-7', 'hosts' = 'http://o:9200', 'index' = 'i');
CREATE TABLE changes (user_name STRING, amount INT) WITH ('connector' = 'kafka', 'topic' = 'c',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'debezium-json');
"""
SELECT = """INSERT INTO {sink} SELECT user_name, window_start, SUM(amount){more}
FROM TABLE({window}) GROUP BY user_name, window_start, window_end {emit}"""
TUMBLE = "TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
CUMULATE = "CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
SESSION = "SESSION(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
EARLY = "EMIT AFTER WATERMARK EARLY EVERY ROW"


@pytest.fixture
def sinks(flink: Analysis) -> Analysis:
    flink.run(WINDOWS)
    return flink


def insert(sink: str, emit: str, more: str = "", window: str = TUMBLE) -> str:
    return SELECT.format(sink=sink, emit=emit, more=more, window=window)


@pytest.mark.parametrize(
    ("sink", "emit", "more", "code"),
    [
        ("files", EARLY, "", "EMIT-107"),
        ("topic", EARLY, "", "EMIT-107"),
        ("files", f"{EARLY} DISCARDING", "", "EMIT-107"),
        ("heap", f"{EARLY} DISCARDING", "", "EMIT-107"),
        ("files", f"{EARLY} RETRACTING", "", "EMIT-108"),
        ("topic", "EMIT CHANGELOG AFTER WATERMARK EARLY EVERY ROW", "", "EMIT-108"),
        ("wide", f"{EARLY} RETRACTING", ", PANE_INDEX()", "EMIT-108"),
    ],
)
def test_refused(sinks: Analysis, sink: str, emit: str, more: str, code: str) -> None:
    error = sinks.refuse(insert(sink, emit, more), code, "SELECT")
    assert f"sink `{sink}`" in error.message


def test_the_words_of_the_refusals(sinks: Analysis) -> None:
    assert sinks.refuse(insert("files", EARLY), "EMIT-107").message == (
        "sink `files` only appends, but this EMIT can write a window more than once; add PANE_INDEX() to the key, "
        "declare a PRIMARY KEY, or use ON WINDOW CLOSE"
    )
    error = sinks.refuse(insert("files", f"{EARLY} RETRACTING"), "EMIT-108")
    assert error.message == "sink `files` cannot take retractions"


def test_pane_index_must_reach_the_sink(sinks: Analysis) -> None:
    inner = f"""SELECT user_name, window_start AS w, SUM(amount) AS s, PANE_INDEX() AS p FROM TABLE({TUMBLE})
    GROUP BY user_name, window_start, window_end {EARLY}"""
    sinks.refuse(f"INSERT INTO files SELECT user_name, w, s FROM ({inner})", "EMIT-107")
    assert sinks.run(f"INSERT INTO wide SELECT user_name, w, s, p FROM ({inner})") is not None


@pytest.mark.parametrize("emit", ["", "EMIT EVERY 3 ROWS", "EMIT CHANGELOG EVERY ROW", "EMIT EVERY ROW RETRACTING"])
def test_documents_without_a_key_take_groups_that_change(sinks: Analysis, emit: str) -> None:
    grouped = f"INSERT INTO documents SELECT user_name, SUM(amount) FROM clicks GROUP BY user_name {emit}"
    compiled = sinks.run(grouped)
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.mode == "append"


def test_documents_without_a_key_cannot_go_away(sinks: Analysis) -> None:
    sinks.refuse("INSERT INTO documents SELECT user_name, amount FROM changes", "SINK-004")
    sinks.refuse("INSERT INTO documents SELECT user_name, SUM(amount) FROM changes GROUP BY user_name", "EMIT-108")
    sinks.refuse(insert("wide_documents", f"{EARLY} RETRACTING"), "EMIT-108")
    sinks.refuse(insert("wide_documents", EARLY), "EMIT-107")
    ranked = "SELECT user_name, amount, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY amount) AS n FROM clicks"
    sinks.refuse(f"INSERT INTO documents SELECT user_name, amount FROM ({ranked}) WHERE n <= 2", "SINK-004")


def test_without_a_window_it_is_sink_004(sinks: Analysis) -> None:
    sinks.refuse("INSERT INTO totals SELECT user_name, SUM(amount) FROM clicks GROUP BY user_name", "SINK-004")
    changes = "INSERT INTO totals SELECT user_name, SUM(amount) FROM clicks GROUP BY user_name EMIT CHANGES"
    sinks.refuse(changes, "SINK-004")
    sinks.refuse(changes.replace("CHANGES", "EVERY 3 ROWS"), "SINK-004")


@pytest.mark.parametrize(
    ("sink", "emit", "more", "window", "mode"),
    [
        ("files", "EMIT AFTER WATERMARK", "", TUMBLE, "append"),
        ("files", "EMIT ON WINDOW CLOSE ALLOW LATENESS 5s", "", TUMBLE, "append"),
        ("files", "EMIT ONCE AFTER 3 ROWS OR AFTER DELAY 5s", "", TUMBLE, "append"),
        ("keyed", EARLY, "", TUMBLE, "upsert"),
        ("heap", EARLY, "", TUMBLE, "upsert"),
        ("keyed", EARLY, "", CUMULATE, "upsert"),
        ("keyed", f"{EARLY} DISCARDING", "", TUMBLE, "upsert"),
        ("keyed", f"{EARLY} RETRACTING", "", TUMBLE, "upsert"),
        ("wide", f"{EARLY} DISCARDING", ", PANE_INDEX()", TUMBLE, "append"),
        ("wide", "EMIT CHANGELOG AFTER WATERMARK EARLY EVERY ROW", ", CHAR_LENGTH(ROW_KIND())", TUMBLE, "append"),
        ("screen", f"{EARLY} RETRACTING", "", TUMBLE, "append"),
    ],
)
def test_taken(sinks: Analysis, sink: str, emit: str, more: str, window: str, mode: Mode) -> None:
    compiled = sinks.run(insert(sink, emit, more, window))
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.mode == mode
    assert compiled.script.changelog == (sink == "screen")


def test_the_final_state_is_a_way_out(sinks: Analysis) -> None:
    compiled = sinks.run(f"SET 'sqlext.sink.updates' = 'final-state'; {insert('files', f'{EARLY} RETRACTING')}")
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.mode == "final-state"


def test_a_key_that_does_not_name_the_window(sinks: Analysis) -> None:
    """The steps of CUMULATE begin together, and a session's start may stay when its end does not."""
    sinks.refuse(insert("heap", EARLY, window=CUMULATE), "EMIT-107")
    sinks.refuse(insert("heap", EARLY, window=SESSION), "EMIT-107")


def test_once_gives_one_pane_but_sessions_grow(sinks: Analysis) -> None:
    assert sinks.run(insert("files", "EMIT ONCE AFTER 3 ROWS")) is not None
    sinks.refuse(insert("files", "EMIT ONCE AFTER 3 ROWS", window=SESSION), "EMIT-107")
    sinks.refuse(insert("files", "EMIT ONCE AFTER 3 ROWS THEN AFTER 2 ROWS"), "EMIT-107")


def test_sessions_take_back_what_is_merged_away(sinks: Analysis) -> None:
    text = insert("sessions", EARLY, window=SESSION).replace("window_start, SUM", "window_start, window_end, SUM")
    compiled = sinks.run(text)
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.merge_keys == ("k", "w", "e")
    assert any('"RETRACTING"' in str(step) for step in compiled.script.steps)


def test_explain(sinks: Analysis) -> None:
    emit = f"{EARLY} LATE EVERY ROW ALLOW LATENESS INTERVAL '1' MINUTE"
    text = explained(sinks, insert("keyed", emit))
    assert "path:            stateful (EMIT AFTER WATERMARK: " in text
    assert (
        "  EMIT:          AFTER WATERMARK EARLY EVERY ROW LATE EVERY ROW ALLOW LATENESS INTERVAL '1' MINUTE\n" in text
    )
    assert "  panes:         several for a key and window; each takes the place of the one before\n" in text
    assert "  sink:          keyed (delta), merged by k, w\n" in text
    assert "  late rows:     dropped and counted\n" in text


@pytest.mark.parametrize(
    ("emit", "note"),
    [
        ("EMIT EVERY 2 ROWS KEEP LAST 4 ROWS", "EMIT-105"),
        ("EMIT ONCE AFTER 3 ROWS", "EMIT-109"),
        ("EMIT EVERY 100 MILLISECONDS", "EMIT-115"),
        ("EMIT AFTER DELAY 100ms", "EMIT-115"),
        ("EMIT EVERY 5s", None),
    ],
)
def test_explain_has_the_notes(sinks: Analysis, emit: str, note: str | None) -> None:
    text = explained(sinks, insert("screen", emit), interval=1000)
    assert (f"  note:          {note}" in text) if note else ("note: " not in text)


def test_counts_of_several_sources_have_no_order(sinks: Analysis) -> None:
    both = "(SELECT user_name, amount FROM clicks UNION ALL SELECT user_name, 1 FROM visits)"
    text = explained(sinks, f"SELECT user_name, SUM(amount) FROM {both} GROUP BY user_name EMIT EVERY 3 ROWS")
    assert "EMIT-112" in text


def explained(sinks: Analysis, text: str, interval: int | None = None) -> str:
    from sqlext.dialect.ast.statements import Explain
    from sqlext.dialect.script import parse_script
    from sqlext.session.introspection.explain import explain_statement
    from sqlext.source import SourceText

    (statement,) = parse_script(SourceText.of(f"EXPLAIN {text}"))
    assert isinstance(statement, Explain)
    return str(explain_statement(statement, sinks.interpreter.environment(), interval).rows[0][0])
