"""The code of docs/dataframes.md runs as it stands, one block after the other, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "dataframes.md"
_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = spark.newSession()
    names: dict[str, Any] = {"spark": own}
    blocks = _BLOCK.findall(PAGE.read_text("utf-8"))
    try:
        for kind, file, text in blocks:
            if file:
                Path(file).parent.mkdir(parents=True)
                Path(file).write_text(text, "utf-8")
            else:
                assert kind == "python"
                # The JVM has a working directory of its own.
                exec(text.replace('"data/orders"', repr(str(tmp_path / "data/orders"))), names)
    finally:
        sqlext.uninstall(own)
    assert len(blocks) == 4


def test_every_code_of_registering_stands_on_the_page() -> None:
    told = PAGE.read_text("utf-8")
    listed = re.findall(r"^((?:CAT|DDL|TIME|OPT)-\d{3}) ", (sources() / "frames.py").read_text("utf-8"), re.MULTILINE)
    assert [code for code in listed if code not in told] == ["OPT-016"]


def sources() -> Path:
    """Return the folder of the code."""
    return Path(sqlext.__file__).parent / "execution"
