"""Files that pages name are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.markdown import PAGES, ROOT, files_named, shown


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_named_files_are_there(page: Path) -> None:
    lost = [name for name in sorted(files_named(page.read_text("utf-8"))) if not (ROOT / name).exists()]
    assert [name for name in lost if not (page.parent / name).exists()] == []


def test_what_counts_as_a_name() -> None:
    text = "`sqlext/plan`, `setup.py`, `run.json`, `sqlext run x.sql`, `udfs/none.py`\n```\n`tests/code.py`\n```\n"
    assert files_named(text) == {"sqlext/plan", "setup.py", "udfs/none.py"}
