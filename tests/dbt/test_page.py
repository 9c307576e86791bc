"""docs/dbt.md shows the example project as it is, which ``test_dbt`` runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", (ROOT / "docs" / "dbt.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("file", "text"), BLOCKS, ids=[file for file, _ in BLOCKS])
def test_the_page_shows_the_example(file: str, text: str) -> None:
    assert (ROOT / "sql_examples" / "dbt" / file).read_text() == text


def test_no_model_is_left_out() -> None:
    shown = {file for file, _ in BLOCKS}
    models = {f"models/{path.name}" for path in (ROOT / "sql_examples" / "dbt" / "models").glob("*.sql")}
    assert models <= shown
