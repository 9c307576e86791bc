"""Twelve mistakes of a new user: what each is told has a code, a place, a reason and a hint."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.connectors.registry import connector_of
from sqlext.environment import require_java
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.runs import QueryRun
from sqlext.session.notices import RepeatedRowsNotice, repeated, tell_repeats
from sqlext.session.offline.commands import check_file
from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.source import SourceText
from sqlext.spark.reading.spark_sources import refusal
from sqlext_catalog.model import Table

ORDERS = """CREATE TABLE orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');
CREATE TABLE totals (item STRING, total DOUBLE) WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
"""
WINDOWED = """SELECT item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR({}), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end"""
INSERT = f"INSERT INTO totals {WINDOWED.format('ts')};"


#: Mistake -> what the user writes after the tables; what is written otherwise in these; code, place, words of the hint.
WRITTEN: dict[str, tuple[str, tuple[str, str], str, str, str]] = {
    "wrong format": (INSERT, ("json", "jsn"), "OPT-005", "'format' = 'jsn'", "did you mean `json`?"),
    "missing watermark": (
        INSERT,
        (",\n  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND", ""),
        "TIME-001",
        "ts",
        "declare WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    ),
    "forgotten INSERT": (WINDOWED.format("ts"), ("", ""), "WARN-008", "totals", "INSERT INTO totals SELECT"),
    "INSERT without INTO": (INSERT.replace("INTO ", ""), ("", ""), "PARSE-002", "totals", "INSERT INTO t SELECT"),
    "misspelt column": (INSERT.replace("amount", "amuont"), ("", ""), "NAME-003", "amuont", "did you mean `amount`?"),
    "no time attribute": (
        INSERT.replace("DESCRIPTOR(ts)", "DESCRIPTOR(amount)"),
        ("", ""),
        "TIME-001",
        "amount",
        "use a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column with a WATERMARK",
    ),
    "EMIT without groups": (
        "INSERT INTO totals SELECT item, amount FROM orders EMIT AFTER WATERMARK;",
        ("", ""),
        "EMIT-101",
        "EMIT AFTER WATERMARK",
        "leave it out",
    ),
    "EMIT without a window": (
        "INSERT INTO totals SELECT item, SUM(amount) FROM orders GROUP BY item EMIT AFTER WATERMARK;",
        ("", ""),
        "EMIT-103",
        "AFTER WATERMARK",
        "EMIT EVERY 10s",
    ),
}


@pytest.mark.parametrize(("query", "change", "code", "place", "hint"), WRITTEN.values(), ids=WRITTEN)
def test_in_the_text(query: str, change: tuple[str, str], code: str, place: str, hint: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(ORDERS.replace(*change, 1) + query)
    error = check_file(script, {"IN": "in", "OUT": "out"})[0]
    assert error.code == code
    assert error.span is not None
    assert error.span.text == place
    assert hint in (error.hint or "")
    assert f"job.sql:{error.line}:{error.column}: {code}: " in error.render()


#: What the user writes instead of a SELECT's parts; code, place and hint.
IN_A_SELECT: dict[str, tuple[str, str, str]] = {
    "SELECT item, COUNT FROM orders": ("NAME-003", "COUNT", "COUNT is a function: COUNT(*)"),
    "SELECT Sum FROM orders": ("NAME-003", "Sum", "SUM is a function: SUM(x)"),
    "SELECT COUNT() FROM orders": ("FUNC-002", "COUNT()", "DESCRIBE FUNCTION COUNT shows them"),
    "SELECT item COUNT(*) FROM orders": ("PARSE-002", "(", "is a comma missing before `COUNT`?"),
    "SELECT SUM(amount) COUNT(*) FROM orders": ("PARSE-002", "(", "is a comma missing before `COUNT`?"),
    "SELECT COUNT(item FROM orders": ("PARSE-002", "FROM", "a `)` is missing before this"),
    "SELECT item, FROM orders": ("PARSE-002", "FROM", "remove the comma before FROM"),
    "SELECT item FROM orders WHERE COUNT(*) > 1": (
        "WINDOW-009", "COUNT(*)", "write the condition behind GROUP BY, as HAVING",
    ),
    "SELECT item, SUM(amount) AS s FROM orders GROUP BY item HAVING s > 1": (
        "NAME-003", "s", "`s` is a name that this SELECT gives: write SUM(amount) here",
    ),
    "SELECT amount * 2 AS d FROM orders WHERE d > 3": (
        "NAME-003", "d", "`d` is a name that this SELECT gives: write amount * 2 here",
    ),
    "SELECT amount * 2 AS d, d + 1 AS f FROM orders": (
        "NAME-003", "d", "`d` is a name that this SELECT gives: write amount * 2 here",
    ),
    "SELECT amount AS amuont FROM (SELECT amuont FROM orders)": ("NAME-003", "amuont", "did you mean `amount`?"),
    "SELECT item FROM orders WHERE ts > ts - 10 minutes": ("PARSE-002", "minutes", "write INTERVAL '10' MINUTE"),
    "SELECT item, COUNT(*) FROM orders": ("NAME-010", "item", "add it to GROUP BY, or write MAX(item)"),
}  # fmt: skip


@pytest.mark.parametrize(("query", "told"), IN_A_SELECT.items(), ids=IN_A_SELECT)
def test_in_a_select(query: str, told: tuple[str, str, str], tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(f"{ORDERS}INSERT INTO totals {query};")
    error = check_file(script, {"IN": "in", "OUT": "out"})[0]
    assert error.span is not None
    assert (error.code, error.span.text, error.hint) == (told[0], told[1], told[2])


def test_a_missing_variable(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(ORDERS)
    (error,) = check_file(script, {"OUT": "out"})
    assert (error.code, error.line, error.column) == ("NAME-001", 4, 47)
    assert error.message == "the variable ${IN} is not defined"
    assert error.hint is not None


def table(name: str, connector: str, path: str = "/in") -> Table:
    text = f"CREATE TABLE {name} (a INT) WITH ('connector' = '{connector}', {path});"
    state = new_state(None)
    list(compile_source(SourceText.of(text), state))
    found = state.catalog.lookup([name])
    assert isinstance(found, Table)
    return found


def test_a_wrong_path(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    for path, hint in {
        "ordrs": "did you mean `orders`?",
        "no/such/folder": f"`{tmp_path}` is there, and has no `no`",
    }.items():
        made = table("t", "filesystem", f"'path' = '{tmp_path / path}', 'format' = 'json'")
        with pytest.raises(SqlExtError) as caught:
            connector_of(made).table_reader().source(made, None, 1)
        assert (caught.value.code, caught.value.hint) == ("OPT-009", hint)
        assert str(tmp_path / path) in caught.value.message


def test_a_missing_jar() -> None:
    """Spark's own words for it, as its session gives them."""
    options = "'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'"
    spec = connector_of(made := table("t", "kafka", options)).read_spec(made)
    said = Exception("Failed to find data source: kafka. Please deploy the application as per the deployment section")
    error = refusal(said, spec, "streaming", "4.2.0")
    assert (error.code, error.message) == ("OPT-014", "Spark has no data source 'kafka' here")
    assert "--conf spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0" in (error.hint or "")


def test_running_twice(tmp_path: Path) -> None:
    (tmp_path / "rows").touch()
    text = ORDERS.replace("${IN}", "/in").replace("${OUT}/totals", str(tmp_path)) + INSERT
    (made,) = [c.insert for _, found in compile_source(SourceText.of(text), new_state(None)) for c in found]
    assert isinstance(made, BoundInsert)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedRowsNotice)
        (said,) = tell_repeats([repeated("job.totals", made, QueryRun("r", {}, finished=True), False)])
    assert said.startswith("`totals` has the rows of the last run of `job.totals`, and gets them again; ")
    assert "INSERT OVERWRITE" in said


def test_a_second_driver(tmp_path: Path) -> None:
    with QueryHome(tmp_path, "job.totals"), pytest.raises(SqlExtError) as caught, QueryHome(tmp_path, "job.totals"):
        pass
    assert caught.value.code == "RUN-022"
    assert "`job.totals` runs already" in caught.value.message
    assert "stop it first" in (caught.value.hint or "")


def test_a_wrong_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SqlExtError) as caught:
        require_java()
    assert caught.value.code == "ENV-002"
    assert "Java 17 or 21" in caught.value.message
    assert "version 11" in caught.value.message
    assert caught.value.hint is not None
