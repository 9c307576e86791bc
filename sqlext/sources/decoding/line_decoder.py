"""Give the lines of files as they are, each with its number: their rows are judged one by one in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from sqlext.connectors.splits import Passes
from sqlext.sources.decoding.line_blocks import blocks, can_cut, ends_before, java_text
from sqlext.sources.file_slices import Range

#: The line, and where it stands: ``path:number``.
LINES = pa.schema([("value", pa.string()), ("__place", pa.string())])
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class LineDecoder:
    """Reads files of text, in the columns ``LINES``."""

    def can_cut(self, path: str) -> bool:
        """Return whether a file can be read in parts."""
        return can_cut(path)

    def read(self, part: Range, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the lines that begin in a part of a file.

        Raises:
            SqlExtError: RUN-064 for a compression that cannot be unpacked here.
        """
        number = None
        for block in blocks(part):
            if number is None:
                number = 1 + ends_before(part)
            lines = _LINE_END.split(java_text(block))
            if not lines[-1]:
                lines.pop()  # behind the last end
            places = [f"{part.path}:{number + i}" for i in range(len(lines))]
            number += len(lines)
            yield pa.record_batch([pa.array(lines, pa.string()), pa.array(places, pa.string())], schema=LINES)
