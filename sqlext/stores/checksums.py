"""Hold files of this machine against the checksums that Hadoop keeps beside them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

#: Hadoop keeps the checksums of ``name`` in ``.name.crc``: a mark, the bytes of a piece, the CRC-32 of each piece.
_HIDDEN, _SUFFIX, _MARK = ".", ".crc", b"crc\0"
#: Larger files are not read.
_LARGE = 64 << 20


def damaged_file(folder: Path) -> str | None:
    """Return which file below a folder is damaged, and how; None if none is seen: ``/x/offsets/3` is empty``.

    A file is damaged that is empty, or differs from its checksum, or is gone and has left that.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (wrong := _wrong_with(path)) is not None:
            return f"`{_of(path) or path}` {wrong}"
    return None


def checksums_of(path: Path) -> Path:
    """Return where the checksums of a file lie, if it has some."""
    return path.with_name(f"{_HIDDEN}{path.name}{_SUFFIX}")


def _of(path: Path) -> Path | None:
    """Return the file whose checksums lie at a path, None of any other file."""
    if not (path.name.startswith(_HIDDEN) and path.name.endswith(_SUFFIX)):
        return None
    return path.with_name(path.name.removeprefix(_HIDDEN).removesuffix(_SUFFIX))


def _wrong_with(path: Path) -> str | None:
    of = _of(path)
    # Hidden files are being written, or nobody has come to the end of that.
    if (of or path).name.startswith(_HIDDEN):
        return None
    if of is None:
        return "is empty" if not path.stat().st_size else None
    if not of.exists():
        return "is not there"
    if not of.stat().st_size:
        return "is empty"
    if of.stat().st_size > _LARGE or _is_sum_of(path.read_bytes(), of.read_bytes()):
        return None
    return f"is not what its checksum says; if it is whole, remove `{path.name}` beside it"


def _is_sum_of(sums: bytes, data: bytes) -> bool:
    head = len(_MARK) + 4
    if len(sums) < head or not sums.startswith(_MARK):
        return False
    (size,) = struct.unpack(">I", sums[len(_MARK) : head])
    found = [zlib.crc32(data[at : at + size]) for at in range(0, len(data), size)] if size else []
    return sums[head:] == struct.pack(f">{len(found)}I", *found)
