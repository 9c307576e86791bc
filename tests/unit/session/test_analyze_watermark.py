"""ANALYZE WATERMARK: what it refuses, and what it finds in files and in the commits of a Delta table. No Spark."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import sqlext
from sqlext import SqlExtError
from sqlext.session.api import Session
from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText
from tests.kept_queries import KeptQuery, kept_query

TABLES = """
CREATE TABLE orders (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/orders', 'format' = 'json');
CREATE TABLE plain (k STRING, ts TIMESTAMP(3), text_time STRING)
WITH ('connector' = 'filesystem', 'path' = '{0}/orders', 'format' = 'json');
CREATE TABLE commits (k STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'delta', 'path' = '{0}/commits');
CREATE TABLE old (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'orc');
CREATE TABLE numbers (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE VIEW v AS SELECT * FROM orders;
"""

#: Each with its code, and the words that it is about.
REFUSED = [
    ("ANALYZE WATERMARK orders", "PARSE-002", "orders"),
    ("ANALYZE WATERMARK FOR", "PARSE-002", ""),
    ("ANALYZE WATERMARK FOR orders BY", "PARSE-002", ""),
    ("ANALYZE WATERMARK FOR orders BY k n", "PARSE-002", "n"),
    ("ANALYZE WATERMARK FOR orders WITH (delay = '1 s')", "PARSE-002", "delay"),
    ("ANALYZE WATERMARK FOR ordrs", "NAME-002", "ordrs"),
    ("ANALYZE WATERMARK FOR v", "CAT-004", "v"),
    ("ANALYZE WATERMARK FOR orders BY kk", "NAME-003", "kk"),
    ("ANALYZE WATERMARK FOR plain", "TIME-017", "plain"),
    ("ANALYZE WATERMARK FOR plain WITH ('rowtime' = 'tss')", "NAME-003", "'rowtime' = 'tss'"),
    ("ANALYZE WATERMARK FOR plain WITH ('rowtime' = 'text_time')", "TIME-011", "'rowtime' = 'text_time'"),
    ("ANALYZE WATERMARK FOR orders WITH ('delay' = 'long')", "OPT-005", "'delay' = 'long'"),
    ("ANALYZE WATERMARK FOR orders WITH ('delays' = '1 s, long')", "OPT-005", "'delays' = '1 s, long'"),
    ("ANALYZE WATERMARK FOR orders WITH ('window' = '0 s')", "OPT-005", "'window' = '0 s'"),
    ("ANALYZE WATERMARK FOR orders WITH ('window' = '99999999999 d')", "OPT-005", "'window' = '99999999999 d'"),
    ("ANALYZE WATERMARK FOR orders WITH ('delays' = '1 s, 20000 d')", "OPT-005", "'delays' = '1 s, 20000 d'"),
    ("ANALYZE WATERMARK FOR orders WITH ('partitions' = 'env:HOME')", "OPT-005", "'partitions' = 'env:HOME'"),
    ("ANALYZE WATERMARK FOR orders WITH ('delya' = '1 s')", "OPT-003", "'delya' = '1 s'"),
    (
        "ANALYZE WATERMARK FOR orders WITH ('scan.watermark.idle-timeout' = 'long')",
        "OPT-005",
        "'scan.watermark.idle-timeout' = 'long'",
    ),
    ("ANALYZE WATERMARK FOR numbers", "TIME-018", "numbers"),
    ("ANALYZE WATERMARK FOR orders FROM", "PARSE-002", ""),
    ("ANALYZE WATERMARK FOR orders FROM QUERIES BY k", "PARSE-002", "BY"),
    ("ANALYZE WATERMARK FOR orders BY k FROM QUERIES", "PARSE-002", "FROM"),
    ("ANALYZE WATERMARK FOR orders FROM QUERIES WITH ('window' = '1 s')", "TIME-021", "'window' = '1 s'"),
    (
        "ANALYZE WATERMARK FOR orders FROM QUERIES WITH ('maxFilesPerTrigger' = '1')",
        "TIME-021",
        "'maxFilesPerTrigger' = '1'",
    ),
]


@pytest.mark.parametrize(("statement", "code", "words"), REFUSED)
def test_refusals_have_a_place(statement: str, code: str, words: str, tmp_path: Path) -> None:
    (error,) = errors_of(SourceText.of(TABLES.format("/in") + statement), new_state(tmp_path))
    assert error.code == code
    assert error.span is not None
    assert error.span.text == words
    assert error.hint or code.startswith(("PARSE", "OPT-005"))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    session.run(TABLES.format(tmp_path))
    return session


def at(seconds: float) -> datetime:
    return datetime(2024, 1, 1) + timedelta(seconds=seconds)


def write(folder: Path, name: str, rows: list[tuple[str, float]], written: float) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"k": k, "n": 1, "ts": str(at(t))}) for k, t in rows]
    (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    os.utime(folder / name, (1_704_067_200 + written,) * 2)


def found(session: Session, statement: str) -> list[dict[str, Any]]:
    result = session.sql(statement)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def test_files_are_read_as_they_came(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    # By their names they would be in another order, and no row of them late.
    write(folder, "c.json", [("a", 10), ("b", 20)], 30)
    write(folder, "b.json", [("a", 30), ("b", 12), ("a", 500)], 60)
    write(folder, "a.json", [("a", 31), ("b", 29)], 90)
    rows = found(session, "ANALYZE WATERMARK FOR orders WITH ('delays' = '0 s, 8 s, 471 s, 472 s')")
    total = {row["delay"].total_seconds(): row for row in rows if row["partition"] is None}
    assert {delay: row["late rows"] for delay, row in total.items()} == {0: 3, 5: 3, 8: 3, 471: 1, 472: 0}
    assert [row["declared"] for row in total.values()] == [False, True, False, False, False]
    assert {row["rows ahead"] for row in total.values()} == {1}
    assert [row["late rows"] for row in rows if row["partition"] == "b.json"] == [1, 1, 1, 0, 0]
    # Without the row from the future, which is late for every window itself.
    tried = "'sqlext.watermark.max-future' = '5 s', 'delay' = '8 s', 'delays' = '8 s'"
    told = found(session, f"ANALYZE WATERMARK FOR orders WITH ({tried})")[0]
    assert (told["late rows"], told["declared"]) == (2, True)


def test_columns_tell_partitions_and_windows_apart(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    write(folder, "1.json", [("a", 10), ("b", 50)], 60)
    write(folder, "2.json", [("a", 11), ("a", 49), ("b", 51)], 61)
    statement = "ANALYZE WATERMARK FOR orders BY k WITH ('window' = '10 s', 'delays' = '1 s'"
    rows = [row for row in found(session, f"{statement})") if not row["declared"]]
    counts = [(row["partition"], row["late rows"], row["windows"], row["wrong windows"]) for row in rows]
    assert counts == [(None, 1, 3, 1), ("a", 1, 2, 1), ("b", 0, 1, 0)]
    # Which windows these are, with the delay that is declared or tried.
    late = "until 2024-01-01 00:00:20, 1 of 2."
    for more, told in (
        (", 'delay' = '1 s')", f"With a delay of 1 s, 1 of 3 windows would miss rows. Those: {late}"),
        (", 'delay' = '1 min')", "With a delay of 1 min no window would be wrong."),
    ):
        assert session.sql(f"{statement}{more}").notices[1] == told
    # With a watermark of each key, that of `a` holds the other one back.
    rows = found(session, f"{statement}, 'per-partition' = 'true', 'delay' = '1 s')")
    assert [(row["partition"], row["late rows"]) for row in rows] == [(None, 0), ("a", 0), ("b", 0)]


def test_alignment_is_tried_between_partitions(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    for second in range(0, 70, 10):
        write(folder, f"{second}.json", [("a", 100 + second if second else 0), ("b", second)], second)
    write(folder, "last.json", [("b", 100)], 200)
    tried = "'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '30 s'"
    statement = f"ANALYZE WATERMARK FOR orders BY k WITH ({tried}, 'delay' = '0 s', 'delays' = '0 s'"
    with pytest.warns(match="Alignment changes no number here"):
        (row, *_) = found(session, f"{statement})")
    assert (row["rows"], row["late rows"]) == (15, 6)
    with pytest.warns(match="5 rows are read later, of 1 of 2 partitions; at most 5 rows wait at once"):
        (row, *_) = found(session, f"{statement}, 'per-partition' = 'true')")
    assert (row["rows"], row["late rows"]) == (15, 0)
    # Without the last row the others wait for ever.
    (folder / "last.json").unlink()
    with pytest.warns(match="5 still wait at the end, and are not counted.*Late rows: 0 -> 0.*Rows open: 6 -> 1"):
        (row, *_) = found(session, f"{statement}, 'per-partition' = 'true')")
    assert (row["rows"], row["late rows"]) == (9, 0)
    with pytest.raises(SqlExtError) as refused:
        session.sql("ANALYZE WATERMARK FOR orders WITH ('scan.watermark.alignment.max-drift' = '30 s')")
    assert refused.value.code == "OPT-030"


def test_commits_of_a_delta_table_come_one_after_the_other(session: Session, tmp_path: Path) -> None:
    for times in ([10, 20], [15, 30], [29, 31]):
        stamps = pa.array([at(t) for t in times], pa.timestamp("us", "UTC"))
        write_deltalake(tmp_path / "commits", pa.table({"k": ["a", "b"], "ts": stamps}), mode="append")
    rows = found(session, "ANALYZE WATERMARK FOR commits WITH ('delays' = '1 s, 3 s, 6 s')")
    assert [row["late rows"] for row in rows if row["partition"] is None] == [2, 1, 0]
    # A query that is always busy judges by the watermark of one micro-batch before.
    rows = found(session, "ANALYZE WATERMARK FOR commits WITH ('delays' = '1 s', 'rests' = 'false')")
    assert rows[0]["late rows"] == 0


def test_a_column_without_a_watermark_can_be_tried(session: Session, tmp_path: Path) -> None:
    write(tmp_path / "orders", "1.json", [("a", 10)], 60)
    write(tmp_path / "orders", "2.json", [("a", 5)], 61)
    rows = found(session, "ANALYZE WATERMARK FOR plain WITH ('rowtime' = 'ts')")
    assert [
        (row["delay"].total_seconds(), row["late rows"], row["declared"]) for row in rows if row["partition"] is None
    ] == [
        (0, 1, False),
        (5.1, 0, False),
    ]


def test_a_table_that_is_not_there_says_so(session: Session) -> None:
    with pytest.raises(SqlExtError) as refused:
        session.sql("ANALYZE WATERMARK FOR orders")
    assert refused.value.code == "OPT-009"


def test_what_only_spark_reads_is_refused(session: Session) -> None:
    with pytest.raises(SqlExtError) as refused:
        session.sql("ANALYZE WATERMARK FOR old")
    assert (refused.value.code, refused.value.span and refused.value.span.text) == ("TIME-019", "old")


def test_what_queries_have_seen(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q", late=5), now=1_704_103_200_000)
    kept.add(KeptQuery("other", status="stopped"))
    session = sqlext.connect(catalog=tmp_path, settings={"sqlext.engine": "local"})
    rows = found(session, "ANALYZE WATERMARK FOR orders FROM QUERIES WITH ('delays' = '20 s, 40 s')")
    assert {(row["query"], row["input"]) for row in rows} == {("q", "orders"), ("other", "orders")}
    of_q = [row for row in rows if row["query"] == "q"]
    assert [(row["delay"].total_seconds(), row["declared"]) for row in of_q] == [
        (10, True),
        (20, False),
        (40, False),
    ]
    declared, more, most = of_q
    assert 0.04 < declared["share at most"] < 0.05
    assert declared["late at least"] == declared["late at most"] > more["late at most"]
    assert more["late at least"] == more["late at most"]
    assert most["late at least"] < most["late at most"], "of some rows only is known that they are 37 to 40 s late"
    assert {row["late at most"] for row in rows if row["query"] == "other"} == {0}
    result = session.sql("ANALYZE WATERMARK FOR orders FROM QUERIES")
    assert "With the declared delay of 10 s" in str(result.notices)
    assert result.curve is not None
    assert set(result.curve.series) == {"q orders", "other orders"}
    with pytest.raises(SqlExtError) as refused:
        session.sql("ANALYZE WATERMARK FOR payments FROM QUERIES")
    assert (refused.value.code, refused.value.span and refused.value.span.text) == ("TIME-020", "FROM QUERIES")


def test_a_table_that_keeps_no_order_can_be_asked_of_queries(session: Session) -> None:
    with pytest.raises(SqlExtError) as refused:
        session.sql("ANALYZE WATERMARK FOR numbers FROM QUERIES")
    assert refused.value.code == "TIME-020"
