"""Lines with their numbers, however a file is cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sqlext.sources.decoding.line_decoder import LineDecoder
from sqlext.sources.file_slices import Range

TEXTS = [b"a\nbb\n\nccc\n", b"a\r\nbb\r\n\r\nc", b"\xef\xbb\xbfa\nb", b"", b"\n\n", "ä\nö\n".encode()]


def found(*parts: Range) -> list[tuple[str, str]]:
    """Return lines and places of parts."""
    batches = [b for part in parts for b in LineDecoder().read(part)]
    return [(r["value"], r["__place"]) for b in batches for r in b.to_pylist()]


@pytest.mark.parametrize("data", TEXTS)
def test_cut_anywhere(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    lines = data.decode("utf-8-sig").splitlines()
    whole = [(line, f"{path}:{i}") for i, line in enumerate(lines, 1)]
    for cut in range(4 if data.startswith(b"\xef") else 0, len(data) + 1):  # parts are of megabytes
        parts = (Range(str(path), 0, cut), Range(str(path), cut, len(data)))
        assert found(*parts) == whole, cut


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    assert found(Range(str(path), 0, 1)) == [("a", f"{path}:1"), ("b", f"{path}:2")]
