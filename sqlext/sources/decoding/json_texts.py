"""Convert JSON values at known places to Arrow, where a parser would make the same of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.sources.decoding.block_texts import texts_at
from sqlext.sources.decoding.byte_words import Bytes, ByteWords, column
from sqlext_udfs.kernel.groups import Ints

_MINUS, _ZERO, _NINE, _LETTERS = b"-09a"
_POINT_AND_EXPONENT = r"\.[eE]"
_TRUTH, _NULL = pa.array(["true", "false"]), b"null"
#: What holds each DECIMAL with as many digits again behind the point.
_WIDE = pa.decimal256(76, 38)
_WORDS = pa.array(["true", "false", "null"])


class Unlike(Exception):  # noqa: N818 - not an error: a parser reads the block
    """A block whose lines are not sure to be of few layouts, with values as JSON writes them."""


@dataclass(frozen=True, slots=True)
class JsonTexts:
    """The texts of one value in some lines, in order.

    Attributes:
        block, words: what they stand in.
        start, end: where.
        quoted: whether in quotes.
    """

    block: bytes | memoryview
    words: ByteWords
    start: Ints
    end: Ints
    quoted: bool

    @property
    def data(self) -> Bytes:
        """The bytes of the block."""
        return self.words.data

    def values(self, of: pa.DataType, *, zoned: bool) -> pa.Array:
        """Return them as values of a type."""
        if self.quoted:
            return self._quoted(of, zoned)
        if pa.types.is_integer(of) and (plain := self.words.integers(self.start, self.end)) is not None:
            return column(plain, of)
        nulls = self.data[self.start] == _NULL[0]
        if not np.any(nulls):
            return self._bare(of)
        if pc.any(pc.not_equal(self.where(nulls).texts(), _NULL.decode())).as_py():
            raise Unlike
        absent = pa.nulls(len(nulls), of)
        if np.all(nulls):
            return absent
        return pc.replace_with_mask(absent, pa.array(~nulls), self.where(~nulls).values(of, zoned=zoned))

    def check(self) -> None:
        """Raise ``Unlike`` unless these are values of JSON that stand without quotes."""
        words = self.data[self.start] >= _LETTERS
        if np.any(words) and not pc.all(pc.is_in(self.where(words).texts(), _WORDS)).as_py():
            raise Unlike
        numbers = self.where(~words) if np.any(words) else self
        try:
            numbers.values(pa.int64(), zoned=False)
        except (Unlike, pa.ArrowInvalid):
            numbers.values(pa.float64(), zoned=False)

    def where(self, mask: Any) -> JsonTexts:
        """Return some of them."""
        return JsonTexts(self.block, self.words, self.start[mask], self.end[mask], self.quoted)

    def _bare(self, of: pa.DataType) -> pa.Array:
        """Return values that stand without quotes."""
        texts = self.texts()
        if pa.types.is_boolean(of):
            if not pc.all(pc.is_in(texts, _TRUTH)).as_py():
                raise Unlike
            return pc.equal(texts, "true")
        if not any(is_kind(of) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)):
            raise Unlike
        self._check_numbers(whole=pa.types.is_integer(of))
        return _decimals(texts, of) if pa.types.is_decimal(of) else texts.cast(of)

    def _quoted(self, of: pa.DataType, zoned: bool) -> pa.Array:
        if pa.types.is_string(of):
            return self.texts()
        if pa.types.is_timestamp(of):
            if of.unit == "us":
                plain = self.words.times(self.start, self.end, zoned=zoned and of.tz is not None)
                if plain is not None:
                    return column(plain, of)
            read = pa.timestamp("us") if of.tz and not zoned else of
            values = self.texts().cast(read)
            return values if read == of else values.view(of)
        if pa.types.is_date32(of) or pa.types.is_decimal(of):
            return self.texts().cast(of)
        raise Unlike

    def _check_numbers(self, *, whole: bool) -> None:
        """Raise ``Unlike`` for what Arrow takes for a number, and JSON does not: ``+1 .5 1. 01 0x1 inf``."""
        length = self.end - self.start
        if np.any(length < 1):
            raise Unlike
        negative = self.data[self.start] == _MINUS
        first = self.start + negative
        digits = length - negative
        lead = self.data[first]
        if np.any((digits < 1) | (lead < _ZERO) | (lead > _NINE) | ~_is_digit(self.data[self.end - 1])):
            raise Unlike
        zeros = first[(lead == _ZERO) & (digits > 1)]
        if len(zeros) and (whole or not np.all(np.isin(self.data[zeros + 1], list(b".eE")))):
            raise Unlike
        if not whole and pc.any(pc.match_substring_regex(self.texts(), _POINT_AND_EXPONENT)).as_py():
            raise Unlike

    def texts(self) -> pa.Array:
        """Return the values as they stand in the block."""
        return texts_at(self.block, self.start, self.end, pa.string())


def _decimals(texts: pa.Array, of: pa.DataType) -> pa.Array:
    """Return numbers as DECIMALs, rounded half up where they have more digits."""
    try:
        return texts.cast(of)
    except pa.ArrowInvalid:
        return pc.round(texts.cast(_WIDE), ndigits=of.scale, round_mode="half_towards_infinity").cast(of)


def _is_digit(bytes_: Bytes) -> Any:
    return (bytes_ >= _ZERO) & (bytes_ <= _NINE)
