"""Read files of lines in blocks of whole lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.locations import is_remote
from sqlext.sources.decoding.malformed import BAD_ROW, BROKEN_FILE
from sqlext.sources.file_slices import Range

#: How much is given on at once: large enough for few calls of what comes after. Decoders look at smaller pieces.
BLOCK_BYTES = 1 << 24
#: How much is read beyond a block at first, to find the end of its last line; then twice as much, and so on.
_LINE_BYTES = 1 << 14
_SHORTER = "put it back as it was; DROP QUERY starts the query anew with what is there"
#: Hadoop's LineRecordReader leaves it out at the beginning of a file as well.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Where a line ends, as Spark sees it.
LINE_END = re.compile(rb"\r\n|\r|\n")
#: Half of a surrogate pair in three bytes.
_HALF = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
#: By a file's ending, as Spark (Hadoop) sees it; None for what Arrow cannot unpack as Hadoop does.
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".deflate": None, ".snappy": None, ".lz4": None}


def java_text(data: bytes) -> str:
    """Return bytes as Java decodes them: what is no UTF-8 becomes U+FFFD, one for half of a surrogate pair."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _HALF.sub(b"\xff", data).decode("utf-8", "replace")


def can_cut(path: str) -> bool:
    """Return whether a file's lines can be found from any place in it: not where it is compressed."""
    return Path(path).suffix not in _COMPRESSED


def blocks(part: Range) -> Iterator[bytes]:
    """Yield the lines that begin in a part of a file, in blocks that end with a line.

    Raises:
        SqlExtError: RUN-064 for a compression that cannot be unpacked here, RUN-066 for a packed file that is broken,
            RUN-094 for a file that ends before the part does.
    """
    if not can_cut(part.path):
        yield from _unpacked(part)
        return
    # Reads are of megabytes, which a buffer would copy once more; in an object store each is a request of its range.
    with part.access.opened(part.path) as file:
        place, lines = first_line(file, part.start), _lines if is_remote(part.path) else _lines_nearby
        while place < part.end:
            file.seek(place)
            # May go beyond the end of the part: the next part leaves out the line that it begins in.
            block = lines(file, min(BLOCK_BYTES, part.end - place))
            if not block:
                raise SqlExtError("RUN-094", f"`{part.path}` has become shorter since it was found", hint=_SHORTER)
            yield block
            place += len(block)


def piece_end(block: bytes, place: int, size: int) -> int:
    """Return the end of a piece of about so many bytes of a block that ends with a line: behind a line's end."""
    return block.index(b"\n", min(place + size, len(block)) - 1) + 1


def line_place(part: Range, block: int, line: int) -> str:
    """Return ``path:number`` of a line, numbers from 1; for messages alone, as the file is read once more.

    Args:
        part: the part that was read in blocks.
        block: the number of the line's block in it, from 0.
        line: the number of the line in its block, from 0.
    """
    before = ends_before(part) + sum(_ends(data) for data in islice(blocks(part), block))
    return f"{part.path}:{before + line + 1}"


def first_failing(lines: Sequence[bytes], fails: Callable[[bytes], bool]) -> int | None:
    """Return which of some lines fails by itself, the first by halves; None if none of those that were tried does."""
    begin, end = 0, len(lines)
    while end - begin > 1:
        middle = (begin + end) // 2
        begin, end = (begin, middle) if fails(b"\n".join(lines[begin:middle]) + b"\n") else (middle, end)
    return begin if begin < end and fails(lines[begin] + b"\n") else None


def ends_before(part: Range) -> int:
    """Return how many lines end before the first one that begins in a part of a file."""
    if not part.start:
        return 0
    ends, last = 0, b""
    with part.access.opened(part.path) as file:
        left = first_line(file, part.start)
        file.seek(0)
        while left > 0 and (data := file.read(min(left, BLOCK_BYTES))):
            ends += _ends(data)
            # A line end of two bytes that two reads have cut was counted twice.
            ends -= last == b"\r" and data[:1] == b"\n"
            left, last = left - len(data), data[-1:]
    return ends


def _ends(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def first_line(file: IO[bytes], start: int) -> int:
    """Return where the first line begins that begins at a place or behind it."""
    if not start:
        return len(_BYTE_ORDER_MARK) if file.read(len(_BYTE_ORDER_MARK)) == _BYTE_ORDER_MARK else 0
    # From the byte before: a line that begins exactly at ``start`` belongs to this part.
    file.seek(start - 1)
    return start - 1 + len(_lines(file, 1))


def _lines(file: IO[bytes], size: int) -> bytes:
    """Return so many bytes, and those up to the end of the line that the last of them is in."""
    data, searched, step = b"", max(size - 1, 0), _LINE_BYTES
    while True:
        more = file.read(max(size - len(data), 0) + step)
        data = data + more if data else more
        if not more:
            return data
        end = data.find(b"\n", searched)
        if end >= 0:
            return data[: end + 1]
        # A line of many megabytes is not copied once for each of its pieces.
        searched, step = max(len(data), searched), 2 * step


def _lines_nearby(file: IO[bytes], size: int) -> bytes:
    """Return what ``_lines`` does. To look for the end first costs a read, and saves a copy of the whole."""
    place = file.tell()
    file.seek(place + size - 1)
    wanted = size - 1 + len(_lines(file, 1))
    file.seek(place)
    data = file.read(wanted)
    # A read may give less than there is.
    while len(data) < wanted and (more := file.read(wanted - len(data))):
        data += more
    return data


def _unpacked(part: Range) -> Iterator[bytes]:
    codec = _COMPRESSED[Path(part.path).suffix]
    if codec is None:
        raise SqlExtError(
            "RUN-064",
            f"`{part.path}` is compressed in a way that the Arrow path cannot unpack",
            hint="SET 'sqlext.source' = 'spark' reads it by Spark's own source",
        )
    left = b""
    first = True
    packed = part.access.opened(part.path) if is_remote(part.path) else part.path
    with pa.input_stream(packed, compression=codec) as stream:
        while block := _read(stream, part.path):
            if first:
                block, first = block.removeprefix(_BYTE_ORDER_MARK), False
            whole, end, left_now = (left + block).rpartition(b"\n")
            left = left_now
            if end:
                yield whole + end
    if left:
        yield left


def _read(stream: pa.NativeFile, path: str) -> bytes:
    try:
        return bytes(stream.read(BLOCK_BYTES))
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow's own: the file is cut off, or no such file at all.
        raise SqlExtError(BAD_ROW, f"`{path}` cannot be unpacked: {error}", hint=BROKEN_FILE) from error
