"""A failure is one message of ours: PySpark's own print of it stays away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE words (word STRING) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
SELECT CAST(word AS INT) AS number FROM words;
"""


def test_a_failed_query_prints_nothing(spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.json").write_text('{"word": "three"}\n')
    with pytest.raises(sqlext.SqlExtError, match="cannot be cast"):
        sqlext.connect(spark, catalog=tmp_path / "catalog").run(SCRIPT, variables={"IN": str(tmp_path / "words.json")})
    assert capfd.readouterr().err == ""
