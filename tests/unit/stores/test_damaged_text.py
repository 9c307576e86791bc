"""A file that is damaged is read, so that its reader can say which one it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.stores.location import Location


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"\xf5\x00\xff{")
    place = Location.of(tmp_path)
    assert place.text("run.json") == "\ufffd\x00\ufffd{"
    with pytest.raises(ValueError, match="Expecting value"):
        place.json("run.json")
