"""The SQL of docs/time.md, block by block, is what sqlext takes."""

from __future__ import annotations

import re
from pathlib import Path

from sqlext.session.offline.commands import check_file

PAGE = Path(__file__).parents[2] / "docs" / "time.md"


def test_the_page() -> None:
    blocks = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    assert [error.render() for error in check_file("\n".join(blocks), {"IN": "/in"})] == []
