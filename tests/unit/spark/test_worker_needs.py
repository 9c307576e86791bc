"""What workers must have, and what is said where one lacks it."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext.spark.workers.look import WorkerReport
from sqlext.spark.workers.needs import NEEDS, STORES, Need, check, has_ours

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
ALL = {"numpy": "2.1.0", "pandas": "2.2.3", "pyarrow": "18.0.0", "protobuf": "6.30.0"}


def report(host: str, *without: str, **packages: str) -> WorkerReport:
    """Return what a worker says that has all packages but some."""
    has = {**ALL, **packages}
    return WorkerReport(host, "3.12.1", tuple((p, v) for p, v in has.items() if p not in without), sees=True)


def test_workers_that_have_all() -> None:
    check([report("one"), report("two")])
    check([report("one", numpy="")])  # in an archive: of no version that is known


def test_what_a_query_needs_besides() -> None:
    check([report("one", obstore="0.8.0")], [STORES])
    with pytest.raises(SqlExtError) as raised:
        check([report("one", obstore="0.9"), report("two", "pandas")], [STORES])
    assert (raised.value.code, raised.value.message.endswith("no obstore on two")) == ("ENV-015", True)
    assert "pip install 'obstore>=0.8' into" in (raised.value.hint or "")


def test_each_host_is_named() -> None:
    with pytest.raises(SqlExtError) as raised:
        check([report("one"), report("two", "pandas", "pyarrow"), report("three", pyarrow="17.0.0")])
    assert raised.value.code == "ENV-015"
    assert raised.value.message.endswith("no pandas, no pyarrow on two; pyarrow 17.0.0 (not 18) on three")
    assert "pip install 'pandas>=2.2' 'pyarrow>=18' into" in (raised.value.hint or "")


@pytest.mark.parametrize(("found", "met"), [("2.2", True), ("10.0", True), ("2.2.0rc1", True), ("2.1.9", False)])
def test_versions_are_numbers(found: str, met: bool) -> None:
    assert Need("pandas", "pandas", "2.2").is_met(found) is met


def test_least_versions_are_those_of_the_package() -> None:
    declared = dict(re.findall(r'"(pandas|pyarrow|protobuf|obstore)>=([\d.]+)', PROJECT.read_text(encoding="utf-8")))
    assert declared == {need.package: need.least for need in (*NEEDS, STORES) if need.least != "0"}


def test_ours_is_of_this_version() -> None:
    own = {"sqlext-spark": version("sqlext-spark")}
    assert has_ours([report("one", **own)])
    assert not has_ours([report("one", **own), report("two")])
    assert not has_ours([report("one", **{"sqlext-spark": "0.0.1"})])
