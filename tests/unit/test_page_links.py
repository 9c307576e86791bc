"""Links between the pages lead to files that are there, and to headings of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.markdown import PAGES, ROOT, anchors, links, shown


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links(page: Path) -> None:
    lost = []
    for file, anchor in links(page.read_text("utf-8")):
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(f"{file}#{anchor}")
    assert lost == []


def test_each_page_is_found_from_the_readme() -> None:
    """In at most two steps: the readme links a page, or a page that it links does."""
    first = linked(ROOT / "README.md")
    found = first | {target for page in first if page.suffix == ".md" for target in linked(page)}
    assert set((ROOT / "docs").rglob("*.md")) <= found


def linked(page: Path) -> set[Path]:
    """Return the files that a page links."""
    return {(page.parent / file).resolve() for file, _ in links(page.read_text("utf-8")) if file}
