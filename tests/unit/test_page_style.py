"""Pages are short where newcomers begin, their sentences are short everywhere, and they tell no history."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.markdown import PAGES, ROOT, cells, sentences, shown, word_count

MOST_WORDS = 30
#: How many lines a page may have.
MOST_LINES = {"README.md": 150, "ARCHITECTURE.md": 200}
#: Words of a diary: a page says what stands, not when somebody found it.
DIARY = re.compile(r"\b(evening|morning|this hour|that hour|yesterday|tonight)\b", re.IGNORECASE)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_sentences_are_short(page: Path) -> None:
    text = page.read_text("utf-8")
    assert [s for s in (*sentences(text), *cells(text)) if word_count(s) > MOST_WORDS] == []


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_no_page_is_a_diary(page: Path) -> None:
    assert DIARY.findall(page.read_text("utf-8")) == []


@pytest.mark.parametrize("name", MOST_LINES)
def test_the_first_pages_are_short(name: str) -> None:
    assert len((ROOT / name).read_text("utf-8").splitlines()) <= MOST_LINES[name]


def test_cells_of_the_features_are_one_line() -> None:
    lines = (ROOT / "docs" / "features.md").read_text("utf-8").splitlines()
    cells = [cell for line in lines if line.startswith("|") for cell in line.split("|")]
    assert [cell for cell in cells if len(cell) > 160] == []


def test_sentences_are_told_apart() -> None:
    text = "# A title. Of two.\n\n| a | b |\n|--|--|\n\nOne `a. b` two. Three\nfour, [5](x).\n\n- Six\n  seven.\n- 8\n"
    assert list(sentences(text)) == ["One `code` two.", "Three four, [5].", "Six seven.", "8"]
