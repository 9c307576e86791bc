"""What the installed Spark can do is found in its files; what it cannot is refused by name, before anything runs."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlext import capabilities
from sqlext.capabilities import ADMISSION, CAPABILITIES, ROW_STATE, STATE, TIME_TYPE, WATERMARK_SQL, Capability
from sqlext.errors import SqlExtError
from sqlext.session.api import Session

TABLES = """
CREATE TABLE orders (item STRING, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json', 'source.monitor-interval' = '1s');
CREATE TABLE counted (started TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');
"""
WINDOW = """INSERT INTO counted SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;"""
ALIGNED = "'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min'"
EMIT = WINDOW.replace(";", " EMIT AFTER WATERMARK EARLY EVERY 2 ROWS;")


@pytest.fixture
def pyspark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let a PySpark stand first on the path that has none of the capabilities."""
    folder = tmp_path / "elsewhere" / "pyspark"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    capabilities.has.cache_clear()
    yield folder
    capabilities.has.cache_clear()


def give(pyspark: Path, *given: Capability) -> None:
    for capability in given:
        module = pyspark / capability.module
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(capability.mark)


@pytest.mark.newest
def test_the_spark_of_the_tests_has_all() -> None:
    assert [c.name for c in CAPABILITIES if not capabilities.has(c)] == []


def test_each_is_found_by_its_mark(pyspark: Path) -> None:
    assert [c for c in CAPABILITIES if capabilities.has(c)] == []
    capabilities.has.cache_clear()
    give(pyspark, ADMISSION)
    assert [c for c in CAPABILITIES if capabilities.has(c)] == [ADMISSION]


def test_it_is_found_in_a_zip(tmp_path: Path, pyspark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "pyspark.zip", "w") as packed:
        packed.writestr("pyspark/__init__.py", "")
        packed.writestr(f"pyspark/{TIME_TYPE.module}", TIME_TYPE.mark)
    monkeypatch.syspath_prepend(str(tmp_path / "pyspark.zip"))
    assert [c for c in CAPABILITIES if capabilities.has(c)] == [TIME_TYPE]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TABLES + EMIT, "transformWithState"),
        (TABLES + "SET 'sqlext.source' = 'arrow';" + WINDOW, "admission control of Python data sources"),
        (TABLES.replace("'format'", f"{ALIGNED}, 'format'") + WINDOW, "admission control of Python data sources"),
        (TABLES.replace("item STRING", "item TIME") + WINDOW, "the type TIME"),
    ],
)
def test_what_is_missing_is_refused(text: str, said: str, pyspark: Path) -> None:
    with pytest.raises(SqlExtError, match=said) as raised:
        Session().rewrite(text)
    assert raised.value.code == "ENV-014"
    assert str(raised.value.hint).startswith("Spark 4.")


@pytest.mark.parametrize("mode", ["flink", "spark"])
@pytest.mark.parametrize("value", ["CAST(item AS TIME)", "TIME '10:00:00'", "LOCALTIME", "CAST(NULL AS ARRAY<TIME>)"])
def test_a_type_is_refused_where_a_value_is_made(value: str, mode: str, pyspark: Path) -> None:
    give(pyspark, STATE)
    asked = f"SET 'sqlext.expressions' = '{mode}'; {TABLES}\nINSERT INTO counted SELECT ts, COUNT({value}) FROM orders"
    with pytest.raises(SqlExtError, match="the type TIME") as raised:
        Session().rewrite(f"{asked} GROUP BY ts;")
    assert raised.value.code == "ENV-014"
    assert raised.value.span is not None
    assert raised.value.span.text == value


def test_a_time_in_avro_needs_more_than_the_type(pyspark: Path) -> None:
    give(pyspark, TIME_TYPE, STATE)
    kafka = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'nowhere:1', 'format' = 'avro'"
    script = f"CREATE TABLE t (at TIME) WITH ({kafka}); CREATE TABLE s (at TIME) WITH ('connector' = 'blackhole');"
    with pytest.raises(SqlExtError, match="milliseconds of a TIME") as raised:
        Session().rewrite(f"{script} INSERT INTO s SELECT at FROM t;")
    assert raised.value.code == "ENV-014"


def test_a_watermark_without_sql_is_a_step_of_its_own(pyspark: Path) -> None:
    give(pyspark, ADMISSION)
    text = Session().rewrite(TABLES + WINDOW)
    assert "DELAY OF" not in text
    assert "behind a watermark" in text


def test_with_rows_it_is_sql(pyspark: Path) -> None:
    give(pyspark, ROW_STATE)
    assert capabilities.has(WATERMARK_SQL)
    assert "DELAY OF" in Session().rewrite(TABLES + WINDOW)


def test_either_form_of_state_is_enough(pyspark: Path) -> None:
    pandas = Capability("", "", "", STATE.module, "def transformWithStateInPandas(")
    give(pyspark, pandas)
    assert not capabilities.has(ROW_STATE)
    assert "stateful function window" in Session().rewrite(TABLES + EMIT)


def test_auto_leaves_streams_to_spark(pyspark: Path) -> None:
    give(pyspark, ROW_STATE)
    assert "Arrow reads" not in Session().rewrite(TABLES + WINDOW)
