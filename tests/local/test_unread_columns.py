"""Columns that a query without Spark does not look at: their values are not read, as in Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.session.api import Session

_COLUMNS = "k STRING, n INT, l ARRAY<INT>, m MAP<STRING, INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
_LINES = {
    "json": (
        '{"k":"a","n":1,"l":[1,2],"m":{"x":1},"ts":"2024-01-01 00:00:01"}',
        '{"k":"b","n":"none","l":"none","m":[{}],"ts":"2024-01-01 00:00:02"}',
    ),
    "csv": ("a,1,1;2,,2024-01-01 00:00:01", "b,none,none,none,2024-01-01 00:00:02"),
}
#: What looks at none of the columns that cannot be read here, or not be decoded.
_QUERIES: dict[str, list[tuple[object, ...]]] = {
    "SELECT k FROM t": [("a",), ("b",)],
    "SELECT COUNT(*) FROM t": [(2,)],
    "SELECT 1 AS x FROM t": [(1,), (1,)],
    "SELECT 'x' AS x FROM t WHERE k = 'b'": [("x",)],
    "SELECT k FROM (SELECT l, k, n / 0 AS z FROM t)": [("a",), ("b",)],
    "SELECT k FROM (SELECT * FROM t)": [("a",), ("b",)],
    "SELECT k FROM t UNION ALL SELECT k FROM t": [("a",), ("a",), ("b",), ("b",)],
    "SELECT COUNT(*) FROM (SELECT n, l FROM t UNION ALL SELECT n, l FROM t)": [(4,)],
    "SELECT k, COUNT(*) FROM t GROUP BY k": [("a", 1), ("b", 1)],
    "SELECT k, window_start FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
    "GROUP BY k, window_start, window_end HAVING COUNT(*) > 1": [],
}


@pytest.fixture(params=["json", "csv", "parquet"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    """A session without Spark that knows a table of a format."""
    form = request.param
    folder = tmp_path / "in"
    folder.mkdir()
    if form == "parquet":
        times = pa.array([1, 2], pa.timestamp("us"))
        lists, n = pa.array([[1], [2]], pa.list_(pa.int32())), pa.array([1, 2], pa.int32())
        pq.write_table(pa.table({"k": ["a", "b"], "n": n, "l": lists, "ts": times}), folder / "a.parquet")
    else:
        (folder / f"a.{form}").write_text("\n".join(_LINES[form]), "utf-8")
    made = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    columns = _COLUMNS.replace("m MAP<STRING, INT>, ", "") if form == "parquet" else _COLUMNS
    made.run(f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}');")
    return made


def test_what_nobody_reads_fails_no_query(session: Session) -> None:
    found = {query: sorted(map(tuple, session.run(f"{query};")[-1].rows)) for query in _QUERIES}
    assert found == _QUERIES


@pytest.mark.parametrize("item", ["l", "*", "CASE WHEN l IS NULL THEN 1 END AS x", "k, l"])
def test_what_is_looked_at_must_be_read(session: Session, item: str) -> None:
    with pytest.raises(SqlExtError, match="column `l` is of type ARRAY<INT>") as refused:
        session.run(f"SELECT {item} FROM t;")
    assert refused.value.code == "OPT-036"


def test_queries_of_a_set_share_what_they_look_at(session: Session, tmp_path: Path) -> None:
    sink = "CREATE TABLE {0} (x STRING) WITH ('connector' = 'filesystem', 'path' = '{1}/{0}', 'format' = 'json');"
    sinks = "".join(sink.format(name, tmp_path) for name in ("one", "two"))
    inserts = "INSERT INTO one SELECT k FROM t; INSERT INTO two SELECT UPPER(k) FROM t WHERE k = 'b';"
    session.run(f"{sinks} EXECUTE STATEMENT SET BEGIN {inserts} END;")
    written = {n: sorted(f.read_text().split() for f in (tmp_path / n).glob("part*")) for n in ("one", "two")}
    assert written == {"one": [['{"x":"a"}', '{"x":"b"}']], "two": [['{"x":"B"}']]}
