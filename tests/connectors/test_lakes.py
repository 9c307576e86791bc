"""Catalogs of lakes on a Spark that has no package of theirs: refused where they are written, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext.errors import SqlExtError

SCRIPT = """CREATE TABLE out (id INT) WITH ('connector' = 'filesystem', 'path' = '{0}/out', 'format' = 'json');
INSERT INTO out VALUES (1);
CREATE CATALOG lake WITH ('type' = '{1}', {2}, 's3.secret-access-key' = 'planted-4711');
"""


@pytest.mark.parametrize(
    ("kind", "options", "class_"),
    [
        ("iceberg", "'catalog-type' = 'rest', 'uri' = 'http://h:1'", "org.apache.iceberg.spark.SparkCatalog"),
        ("paimon", "'warehouse' = '/no/lake'", "org.apache.paimon.spark.SparkCatalog"),
    ],
)
def test_without_the_package(tmp_path: Path, spark: SparkSession, kind: str, options: str, class_: str) -> None:
    session = sqlext.connect(spark, catalog=tmp_path / "catalog")
    text = SCRIPT.format(tmp_path, kind, options)
    for _ in range(2):  # what was tried leaves nothing
        with pytest.raises(SqlExtError) as caught:
            session.run(text)
        assert caught.value.code == "CAT-039"
        assert caught.value.span is not None
        assert caught.value.span.start == text.index(f"'{kind}'")
        hint = caught.value.hint or ""
        assert f"--conf spark.sql.catalog.lake={class_}" in hint
        assert "planted" not in hint
    assert not (tmp_path / "out").exists()
