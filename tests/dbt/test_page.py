"""docs/dbt.md shows the example project as it is, which ``test_dbt`` runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import blocks

ROOT = Path(__file__).parents[2]
BLOCKS = [(block.file, block.text) for block in blocks("dbt.md") if block.file]


@pytest.mark.parametrize(("file", "text"), BLOCKS, ids=[file for file, _ in BLOCKS])
def test_the_page_shows_the_example(file: str, text: str) -> None:
    assert (ROOT / "sql_examples" / "dbt" / file).read_text() == text


def test_no_model_is_left_out() -> None:
    shown = {file for file, _ in BLOCKS}
    models = {f"models/{path.name}" for path in (ROOT / "sql_examples" / "dbt" / "models").glob("*.sql")}
    assert models <= shown
