"""The SQL of the pages about time, block by block, is what sqlext takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlext.session.offline.commands import check_file

PAGES = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "count"), [("time.md", 12), ("watermark-advisor.md", 2), ("explain-row.md", 1)])
def test_the_page(page: str, count: int) -> None:
    blocks = re.findall(r"^```sql\n(.*?)^```$", (PAGES / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == count
    assert [error.render() for error in check_file("\n".join(blocks), {"IN": "/in"})] == []
