"""The code of the pages in docs does what they say, from the first line to the last, each in an empty folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages import Reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Options with which the SQL of a page is run.
BEGIN = {"shell.md": ("-i", "orders.sql")}
#: How many blocks are run, and how many say what comes out.
PAGES = {
    "../README.md": (5, 0),
    "shell.md": (25, 7),
    "emit.md": (16, 4),
    "catalog.md": (19, 9),
    "operating.md": (35, 9),
    "plan.md": (12, 3),
    "deploy.md": (9, 2),
    "hooks.md": (15, 5),
    "restricted.md": (4, 1),
    "coming-from-flink-sql.md": (13, 5),
    "coming-from-structured-streaming.md": (9, 4),
    "coming-from-beam.md": (9, 2),
}


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = Reader(BEGIN.get(page, ()), {"spark": spark.newSession()}).read(page)
    kinds = Counter(block.kind for block in done)
    assert (len(done), kinds["text"]) == PAGES[page]
