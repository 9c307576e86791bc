"""A query that one engine began goes on by the other, and both give the same rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

import sqlext
from sqlext.jobs import in_process
from sqlext.jobs.checkpoint import QueryHome

_SCRIPT = """
CREATE TABLE orders (item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE per_minute (item STRING, minute TIMESTAMP(3), total DOUBLE, mean DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}');
INSERT INTO per_minute
SELECT UPPER(item), window_start, SUM(amount), AVG(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE amount > 1.5
GROUP BY UPPER(item), window_start, window_end;
"""
_ROWS = [("INK", "10:00", 7.0, 7.0), ("PEN", "10:00", 5.0, 2.5), ("PEN", "10:01", 2.5, 2.5)]


class _CrashError(BaseException):
    """The driver ends here."""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Some orders, and where the results go."""
    orders = [("pen", 1.5, "10:00:01"), ("ink", 7.0, "10:00:20"), ("pen", 3.0, "10:00:30")]
    orders += [("pen", 2.0, "10:00:31"), ("pen", 2.5, "10:01:10")]
    lines = [json.dumps({"item": i, "amount": a, "ts": f"2024-01-01 {t}"}) for i, a, t in orders]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text("\n".join(lines) + "\n", "utf-8")
    return {"IN": str(tmp_path / "in"), "OUT": str(tmp_path / "out")}


def _local(tmp_path: Path, variables: dict[str, str]) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    session.run(_SCRIPT, variables=variables)


def _on_spark(spark: SparkSession, tmp_path: Path, variables: dict[str, str]) -> None:
    settings = {"sqlext.engine": "spark", "sqlext.source": "arrow"}
    sqlext.connect(spark, catalog=tmp_path / "catalog", settings=settings).run(_SCRIPT, variables=variables)


def _rows(out: str) -> list[tuple[str, str, float, float]]:
    rows = DeltaTable(out).to_pyarrow_table().to_pylist()
    return sorted((r["item"], f"{r['minute']:%H:%M}", r["total"], r["mean"]) for r in rows)


@pytest.mark.parametrize("step", ["batch begun", "batch written"])
def test_spark_goes_on_where_this_process_ended(
    spark: SparkSession, tmp_path: Path, variables: dict[str, str], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(name: str) -> None:
        if name == step:
            raise _CrashError

    with monkeypatch.context() as patched:
        patched.setattr(in_process, "at_step", crash)
        with pytest.raises(_CrashError):
            _local(tmp_path, variables)
    _on_spark(spark, tmp_path, variables)
    assert _rows(variables["OUT"]) == _ROWS


def test_this_process_goes_on_where_spark_ended(
    spark: SparkSession, tmp_path: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(home: QueryHome, run: object) -> None:
        raise OSError("the driver ends here")

    with monkeypatch.context() as patched:
        patched.setattr(QueryHome, "finish", crash)
        with pytest.raises(sqlext.SqlExtError):
            _on_spark(spark, tmp_path, variables)
    assert _rows(variables["OUT"]) == _ROWS
    _local(tmp_path, variables)
    assert _rows(variables["OUT"]) == _ROWS
