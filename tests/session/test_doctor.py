"""The doctor asks a Spark that is there, and its workers."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import sqlext
from sqlext.session.doctor import workers

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession


def test_a_given_spark_is_asked(spark: SparkSession, tmp_path: Path) -> None:
    found = {(f.area, f.name): f for f in sqlext.connect(spark, tmp_path).doctor().findings}
    assert found["Spark", "session"].found.startswith(f"Spark {spark.version}, classic, local[")
    assert found["Spark", "Delta"].state == "ok"
    assert found["workers", "our code"].found.endswith(f"by Python {platform.python_version()}")


def test_workers_that_lack_a_module_are_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MODULES", {"no_such_module": "no-such-package", "no.such": "other", "json": "x"})
    [line] = workers.workers(spark)
    assert line.state == "refused"
    assert line.found.endswith(f"{platform.node()} does not find no_such_module, no.such")
    assert line.advice == "pip install no-such-package other for the Python of the workers"
