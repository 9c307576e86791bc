"""What is here and what is missing, line by line; each line says what the check of a start says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlext import capabilities
from sqlext.capabilities import CHECKPOINTING, STATE
from sqlext.environment import java_problem
from sqlext.errors import SqlExtError
from sqlext.extras import EXTRAS, Extra
from sqlext.locations import catalog_place
from sqlext.session.api import Session
from sqlext.session.doctor import versions
from sqlext.session.doctor.examination import Examination
from sqlext.session.doctor.findings import Diagnosis, Finding
from tests.s3_server import BUCKET, SECRET, S3Server

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
#: Extras of those who work on the project, and the one that platforms bring.
NOT_OFFERED = {"test", "harness", "tested", "dev", "docs", "local"}


def line(found: Diagnosis, area: str, name: str) -> Finding:
    """Return a line."""
    return next(f for f in found.findings if (f.area, f.name) == (area, name))


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.fixture
def old_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a PySpark stand first on the path that has none of the capabilities."""
    folder = tmp_path / "elsewhere" / "pyspark"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("__version__ = '4.0.2'\n")
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(folder.parent))
        patched.delitem(sys.modules, "pyspark", raising=False)
        capabilities.has.cache_clear()
        yield
    capabilities.has.cache_clear()


def test_a_machine_that_has_all(tmp_path: Path) -> None:
    found = Examination(tmp_path / "catalog").diagnosis()
    assert found.ready
    assert line(found, "versions", "PySpark").state == "ok"
    assert line(found, "places", "this catalog").state == "ok"
    assert list(tmp_path.iterdir()) == []


def test_java_is_what_a_start_says(tmp_path: Path, no_java: None) -> None:
    found, problem = Examination(tmp_path).diagnosis(), java_problem()
    assert problem is not None
    assert [f.name for f in found.missing] == ["Java"]
    java = line(found, "versions", "Java")
    assert (java.code, java.found, java.advice) == (problem.code, problem.message, problem.hint)


def test_java_is_not_needed_where_spark_is_given(tmp_path: Path, no_java: None) -> None:
    found = Examination(tmp_path, local=False).diagnosis()
    java = line(found, "versions", "Java")
    assert found.ready
    assert (java.state, java.code) == ("note", None)
    assert "Spark is given" in java.found


def test_what_an_old_spark_cannot_do(tmp_path: Path, old_spark: None) -> None:
    found = Examination(tmp_path).diagnosis()
    rows = line(found, "Spark can", STATE.name)
    refusal = capabilities.missing(STATE)
    assert (rows.state, rows.code, rows.found, rows.advice) == ("refused", "ENV-014", refusal.message, refusal.hint)
    assert line(found, "Spark can", CHECKPOINTING.name).state == "note"
    assert line(found, "versions", "PySpark").found == "4.0.2"
    assert found.ready


def test_urls_are_what_the_rules_say(tmp_path: Path) -> None:
    found = Examination(tmp_path).diagnosis()
    with pytest.raises(SqlExtError) as raised:
        catalog_place("hdfs://host/folder")
    taken, catalog = (f for f in found.findings if f.name == "catalog at a URL")
    assert (taken.state, taken.found) == ("ok", "s3, s3a, abfss, gs: taken; not opened here")
    assert (catalog.state, catalog.code, catalog.advice) == ("refused", raised.value.code, raised.value.hint)
    assert catalog.found == f"{raised.value.message}; so with dbfs"
    assert not catalog.needed
    assert line(found, "places", "filesystem source at a URL").state == "ok"
    sinks = [f for f in found.findings if f.name == "filesystem sink at a URL"]
    assert [(f.state, f.code) for f in sinks] == [("ok", None), ("refused", "OPT-018")]
    assert line(found, "places", "delta sink at a URL").state == "ok"


@pytest.mark.parametrize(
    ("place", "code"),
    [("hdfs://host/catalog", "CAT-038"), ("/proc/none", "CAT-035"), ("/bin/sh", "CAT-032")],
)
def test_a_catalog_that_cannot_be(place: str, code: str) -> None:
    found = Examination(place).diagnosis()
    assert [(f.name, f.code) for f in found.missing] == [("this catalog", code)]


def test_a_catalog_at_a_url_is_asked(s3: S3Server) -> None:
    name = "this catalog"
    found = Examination(f"s3://{BUCKET}/never-written", stores=s3.settings).diagnosis()
    assert line(found, "places", name).found == f"s3://{BUCKET}/never-written answers"
    found = Examination("s3://no-such-bucket/catalog", stores=s3.settings).diagnosis()
    assert [(f.name, f.code) for f in found.missing] == [(name, "RUN-015")]
    assert SECRET not in str(found)


def test_a_checkpoint_has_a_line(tmp_path: Path) -> None:
    found = Examination(tmp_path, checkpoint="hdfs://host/checkpoints").diagnosis()
    assert [(f.name, f.code) for f in found.missing] == [("this checkpoint", "RUN-028")]
    assert line(Examination(tmp_path, tmp_path / "there").diagnosis(), "places", "this checkpoint").state == "ok"


def test_a_spark_that_does_not_start(tmp_path: Path) -> None:
    def start() -> None:
        raise SqlExtError("ENV-005", "Spark's jars could not be downloaded", hint="check the network")

    found = Examination(tmp_path, spark=start).diagnosis()  # type: ignore[arg-type]
    assert [(f.area, f.code, f.advice) for f in found.missing] == [("Spark", "ENV-005", "check the network")]
    assert line(found, "extras", "dbt") is not None


def test_a_session_starts_no_spark_for_it(tmp_path: Path) -> None:
    session = Session(catalog=tmp_path / "catalog")
    found = session.doctor()
    assert line(found, "Spark", "session").state == "note"
    assert session._own is None


def test_the_text_is_a_table(tmp_path: Path) -> None:
    text = str(Examination("dbfs:/catalog").diagnosis())
    assert text == repr(Examination("dbfs:/catalog").diagnosis())
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 120
    assert text.endswith("`sqlext run` needs what is missing: this catalog.")
    assert str(Examination(tmp_path).diagnosis()).endswith("Nothing is missing that `sqlext run` needs.")


def test_brackets_are_no_markup() -> None:
    found = Diagnosis((Finding("extras", "kafka", "note", "not installed", "pip install 'sqlext-spark[kafka]'"),))
    assert "sqlext-spark[kafka]" in str(found)


def test_each_extra_of_the_project_is_known() -> None:
    section = PROJECT.read_text("utf-8").split("[project.optional-dependencies]")[1].split("\n[")[0]
    assert set(re.findall(r"^(\w+) = \[", section, re.MULTILINE)) - NOT_OFFERED == {e.name for e in EXTRAS}


def test_an_extra_that_is_missing() -> None:
    extra = Extra("x", ("json", "no_such_package", "no.such.parent"), "nothing", "all works")
    assert extra.missing() == ("no_such_package", "no.such.parent")
    assert extra.install == "pip install 'sqlext-spark[x]'"


@pytest.mark.parametrize(
    ("here", "bounds", "fit"),
    [
        ("2.3.3", ">=2.2,<3", True),
        ("3.0", ">=2.2,<3", False),
        ("2.1", ">=2.2,<3", False),
        ("4.2.0", "<=4.2.0,>=4.0.1", True),
        ("4.2.1", "<=4.2.0,>=4.0.1", False),
        ("4.2", "==4.2.0", True),
        ("18", ">=18", True),
        ("4.1.0.dev4", ">4.0", True),
        ("1.0", "", True),
        ("1.0", "~=2.0", True),
    ],
)
def test_versions_and_bounds(here: str, bounds: str, fit: bool) -> None:
    assert versions.fits(here, bounds) is fit


def test_requirements_are_those_without_extras() -> None:
    names = dict(versions.requirements("sqlext-spark"))
    assert names["pandas"] in ("<3,>=2.2", ">=2.2,<3")
    assert "pytest" not in names
    assert list(versions.requirements("no-such-distribution")) == []
