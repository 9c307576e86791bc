"""Rows that differ between two tables are counted by key and column, or as heaps of rows."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from sqlext.jobs.comparison import compare

SCHEMA = "k STRING, `a.b` INT, d DOUBLE, m MAP<STRING, INT>"


def rows(spark: SparkSession, *values: tuple[object, ...]) -> DataFrame:
    return spark.createDataFrame(values, SCHEMA).coalesce(1)


def test_rows_that_differ(spark: SparkSession) -> None:
    nan = float("nan")
    old = rows(spark, ("a", 1, nan, {"x": 1}), ("b", 2, 2.0, None), (None, 3, 0.0, None), ("gone", None, None, None))
    new = rows(spark, ("a", 1, nan, {"x": 1}), ("b", 5, 2.0, {}), (None, 4, -0.0, None), ("come", None, None, None))

    by_key = compare(old, new, ["k"], expected=["A.B"])
    assert (by_key.old, by_key.new) == (4, 4)
    assert (by_key.changed, by_key.missing, by_key.extra, by_key.expected) == (2, 1, 1, 1)
    assert by_key.columns == {"a.b": 2, "m": 1}
    assert [str(row) for row in by_key.shown] == [
        "changed  k=NULL: a.b 3 -> 4",
        "changed  k=b: a.b 2 -> 5, m NULL -> {}",
        "extra  k=come, a.b=NULL, d=NULL, m=NULL",
        "missing  k=gone, a.b=NULL, d=NULL, m=NULL",
    ]

    heaps = compare(old.union(old), new, [], show=2)
    assert (heaps.old, heaps.new, heaps.missing, heaps.extra) == (8, 4, 7, 3)
    assert [(row.kind, row.row["k"], row.count) for row in heaps.shown] == [
        ("missing", "NULL", 2),
        ("extra", "NULL", 1),
    ]
    assert compare(old, old, []).unexpected == compare(old, old, ["k"]).unexpected == 0
