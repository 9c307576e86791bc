"""Files are held against the checksums that Hadoop keeps beside them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from sqlext.stores.checksums import damaged_file


def with_checksum(file: Path, data: bytes, size: int = 4) -> None:
    """Write a file as Hadoop does, with a checksum of each so many bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    sums = [zlib.crc32(data[at : at + size]) for at in range(0, len(data), size)]
    file.with_name(f".{file.name}.crc").write_bytes(b"crc\0" + struct.pack(f">I{len(sums)}I", size, *sums))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "state" / "1.delta"
    with_checksum(file, b"some bytes")
    return file


def test_whole(file: Path, tmp_path: Path) -> None:
    (tmp_path / "without").write_text("a checksum")
    with_checksum(tmp_path / ".2.delta.tmp", b"being written")
    (tmp_path / ".2.delta.tmp").write_text("")
    assert damaged_file(tmp_path) is None


def test_nothing_there(tmp_path: Path) -> None:
    assert damaged_file(tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("data", "said"), [(b"some byteS", "is not what its checksum says"), (b"some", "is not what"), (b"", "is empty")]
)
def test_damaged(file: Path, tmp_path: Path, data: bytes, said: str) -> None:
    file.write_bytes(data)
    assert (damaged_file(tmp_path) or "").startswith(f"`{file}` {said}")


def test_gone(file: Path, tmp_path: Path) -> None:
    file.unlink()
    assert damaged_file(tmp_path) == f"`{file}` is not there"


@pytest.mark.parametrize("sums", [b"", b"crc", b"crc\0\0\0\0\4", b"crc\0\0\0\0\4aaaa", b"xxxx\0\0\0\4"])
def test_the_checksum_itself_is_damaged(file: Path, tmp_path: Path, sums: bytes) -> None:
    """Its name is said as well: without it the file is read again."""
    file.with_name(".1.delta.crc").write_bytes(sums)
    assert "remove `.1.delta.crc` beside it" in (damaged_file(tmp_path) or "")
