"""The doctor asks a Spark that is there, and its workers."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import sqlext
from sqlext.session.doctor.running import running
from sqlext.session.doctor.workers import workers
from sqlext.spark.workers import needs, ready
from sqlext.spark.workers.needs import OURS, Need

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession

#: What workers call this machine.
HOST = os.environ.get("SPARK_LOCAL_HOSTNAME") or socket.gethostname()


def test_a_given_spark_is_asked(spark: SparkSession, tmp_path: Path) -> None:
    found = {(f.area, f.name): f for f in sqlext.connect(spark, tmp_path).doctor().findings}
    assert found["Spark", "session"].found.startswith(f"Spark {spark.version}, classic, local[")
    assert found["Spark", "Delta"].state == "ok"
    assert found["workers", "our code"].found.endswith(f"by Python {platform.python_version()}")


def test_workers_that_lack_a_module_are_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = (Need("no_such_module", "no-such-package"), Need("no.such", "other", "2"), Need("json", "json"))
    monkeypatch.setattr(needs, "NEEDS", wanted)
    monkeypatch.setattr(ready, "ASKED", (OURS, *((need.module, need.package) for need in wanted)))
    [line] = workers(spark, {})
    assert (line.state, line.code) == ("refused", "ENV-015")
    assert line.found.endswith(f"no no-such-package, no other on {HOST}")
    assert line.advice is not None
    assert line.advice.startswith("pip install 'no-such-package' 'other>=2' into that Python")


def test_what_spark_has_no_file_system_for(spark: SparkSession) -> None:
    """As a start says: a store that answers to us is no use to a Spark that cannot read it."""
    far = "abfss://c@a.dfs.core.windows.net/x"
    found = [*running(lambda: spark, {}, {"this checkpoint": far}), *running(lambda: spark, {}, {"this catalog": far})]
    systems = [f for f in found if f.name == "file systems"]
    known = next(f for f in systems if f.state == "ok")
    assert "hdfs" in known.found
    assert "abfss" not in known.found
    lacking = next(f for f in systems if "`abfss`" in f.found)
    assert (lacking.state, lacking.code, lacking.needed) == ("refused", "OPT-014", False)
    assert "hadoop-azure" in (lacking.advice or "")
    given = [(f.name, f.code, f.needed) for f in found if f.name.startswith("file systems, ")]
    assert given == [
        ("file systems, this checkpoint", "OPT-014", True),
        ("file systems, this catalog", "OPT-014", False),
    ]
