"""Links between the pages lead to files that are there, and to headings of theirs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(((?!https?:)[^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    titles = _HEADING.findall(page.read_text("utf-8"))
    return {re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", t)).lower().replace(" ", "-") for t in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page: Path) -> None:
    lost = []
    for file, anchor in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(f"{file}#{anchor}")
    assert lost == []


def test_each_page_is_found_from_the_readme() -> None:
    linked = {file for file, _ in _LINK.findall((ROOT / "README.md").read_text("utf-8"))}
    assert {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} <= linked
