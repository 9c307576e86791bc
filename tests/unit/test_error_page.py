"""docs/errors.md has every code that the sources know, once, with a cause and a cure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text("utf-8")
SOURCES = [path for folder in ("sqlext", "udfs", "catalog") for path in sorted((ROOT / folder).rglob("*.py"))]
_CODE = re.compile(r"\b[A-Z]{2,8}-\d{3}\b")
_ROW = re.compile(r"^\| ([A-Z]{2,8}-\d{3}) \| (.+) \| (.+) \|$", re.MULTILINE)
#: Notes of EXPLAIN, which refuse nothing: ``CODE: text``.
_NOTE = re.compile(r"^(EMIT-\d{3}): ")


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module that are no docstrings."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


@pytest.fixture(scope="module")
def known() -> list[str]:
    """Return the strings of all sources that name a code."""
    return [text for path in SOURCES for text in texts(ast.parse(path.read_text("utf-8"))) if _CODE.search(text)]


def test_the_page_has_the_codes_of_the_sources(known: list[str]) -> None:
    raised = {code for text in known if not _NOTE.match(text) for code in _CODE.findall(text)}
    assert len(raised) > 300
    assert {row[0] for row in _ROW.findall(PAGE)} == raised


def test_notes_are_told_apart(known: list[str]) -> None:
    notes = {found.group(1) for text in known if (found := _NOTE.match(text))}
    assert notes == {"EMIT-105", "EMIT-109", "EMIT-112", "EMIT-115"}
    assert all(f"{note}, " in PAGE for note in notes)


def test_each_code_has_one_row() -> None:
    assert [code for code, count in Counter(row[0] for row in _ROW.findall(PAGE)).items() if count > 1] == []


def test_links_lead_somewhere() -> None:
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    headings = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) <= headings
