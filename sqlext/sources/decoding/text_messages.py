"""Decode values of messages, many at once: JSON objects and lines of csv, as ``from_json`` and ``from_csv`` do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.json_decoder import JsonBlocks
from sqlext.sources.decoding.json_objects import MALFORMED, ObjectRows, first_parsed
from sqlext.sources.decoding.json_scanner import compact, scanned
from sqlext.sources.decoding.malformed import SKIPS, BadValueError

#: Makes a row of each value, in their order.
Reader = Callable[[Sequence[bytes]], pa.RecordBatch]


class MessageValues(Protocol):
    """Says how values are read. Picklable."""

    @property
    def columns(self) -> Sequence[ArrowField]:
        """What is read of them."""

    def reader(self) -> Reader:
        """Return what makes rows of them; it raises ``BadValueError``."""


@dataclass(frozen=True)
class JsonValues:
    """Values that are JSON objects.

    Attributes:
        columns: those that are read of them; other keys are skipped, a missing key is NULL.
    """

    columns: tuple[ArrowField, ...]

    def reader(self) -> Reader:
        """Return what makes rows of them."""
        blocks = JsonBlocks(self.columns)

        def read(texts: Sequence[bytes]) -> pa.RecordBatch:
            block = b"\n".join(texts)
            # A value with a line end in it would be read as two lines.
            made = blocks.read(block) if block.count(b"\n") == len(texts) - 1 else None
            return made if made is not None and made.num_rows == len(texts) else self._one_by_one(texts)

        return read

    def _one_by_one(self, texts: Sequence[bytes]) -> pa.RecordBatch:
        made = ObjectRows(self.columns)
        for index, text in enumerate(texts):
            try:
                self._add(made, text)
            except MALFORMED as error:
                raise BadValueError(index, error, SKIPS.format(form="json")) from error
        return made.batch()

    def _add(self, made: ObjectRows, text: bytes) -> None:
        try:
            made.add([_object(text)])
        except MALFORMED as error:
            try:
                found = _compact(scanned(text.decode("utf-8", "replace")))
                objects = [found] if isinstance(found, dict) else []
            except MALFORMED:
                raise error from None
            if not objects:
                raise
            made.add(objects)


def _compact(found: Any) -> Any:
    try:
        return compact(found)
    except RecursionError:  # what nests some hundred deep keeps its blanks: one message must not end the query
        return found


def _object(text: bytes) -> Mapping[str, Any]:
    found = first_parsed(text)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


@dataclass(frozen=True)
class CsvValues:
    """Values that are lines of csv.

    Attributes:
        decoder: reads such lines.
    """

    decoder: CsvDecoder

    @property
    def columns(self) -> Sequence[ArrowField]:
        """What is read of them."""
        return self.decoder.read_columns

    def reader(self) -> Reader:
        """Return what makes rows of them."""
        return self._rows

    def _rows(self, texts: Sequence[bytes], first: int = 0) -> pa.RecordBatch:
        made = self._block(texts)
        if made is not None:
            return made
        if len(texts) == 1:
            return self._row(texts[0], first)
        # Which of them is odd is found by halves: the others are read together.
        middle = len(texts) // 2
        halves = [self._rows(texts[:middle], first), self._rows(texts[middle:], first + middle)]
        (both,) = pa.Table.from_batches(halves).combine_chunks().to_batches()
        return both

    def _block(self, texts: Sequence[bytes]) -> pa.RecordBatch | None:
        """Return the rows of values that are a line each, None if some are not."""
        block = b"\n".join(texts)
        if block.count(b"\n") != len(texts) - 1 or b"\r" in block:
            return None  # a line end within a value is a character like any other
        try:
            made = self.decoder.decoded(block)
        except (pa.ArrowInvalid, SqlExtError):
            return None
        return made if made.num_rows == len(texts) else None

    def _row(self, text: bytes, index: int) -> pa.RecordBatch:
        try:
            return self.decoder.line(text)
        except SqlExtError as error:
            raise BadValueError(index, error.message, error.hint or SKIPS.format(form="csv")) from error
