"""A place for queries without an end that run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.streams.stream_desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A folder with inputs, a catalog, a clock and outputs."""
    return Desk(tmp_path)
