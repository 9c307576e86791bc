"""The code of docs/dataframes.md runs as it stands, one block after the other, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext
from sqlext.session import registration
from tests.pages import DOCS, Reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_page(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = spark.newSession()
    try:
        done = Reader(names={"spark": own}).read("dataframes.md")
    finally:
        sqlext.uninstall(own)
    assert [block.kind for block in done].count("python") == 4


def test_every_code_of_registering_stands_on_the_page() -> None:
    told = (DOCS / "dataframes.md").read_text("utf-8")
    listed = re.findall(r"^((?:CAT|DDL|TIME|OPT)-\d{3}) ", Path(registration.__file__).read_text("utf-8"), re.MULTILINE)
    assert [code for code in listed if code not in told] == ["OPT-016"]
