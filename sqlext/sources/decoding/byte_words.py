"""Read short texts of a block eight bytes at a time: where they end, integers and times.

Eight bytes of each of many lines are one array of 64 bit. A few operations of numpy then do for all of them what a
parser does byte by byte: a value costs 3 ns to load, 2 ns to find its end and 4 ns as an integer. Each function gives
None for what is not sure to be plain, and others read it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.kernel.groups import Bools, Ints

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_W = np.uint64
#: How many bytes a word has, and its bits.
_WORD, _BITS = 8, 64
#: A text is looked for in so many words; shorter ones than so many bytes are compared byte by byte.
_FAR, _FEW = 4, 4
#: How many words are loaded in one go: neighbours share a load.
_AT_ONCE = 3
#: How often those are looked for that are not where the first is.
_LOOKS = 2
#: Where no larger share has a text as far off as the first, all are looked for: what is loaded for that is read again.
_MOST = 0.8
_ONES, _TOPS, _BYTE, _DIGIT = _W(0x0101010101010101), _W(0x8080808080808080), _W(0xFF), _W(0x0F)
_MINUS, _ZERO, _POINT, _ZONE = b"-0.Z"
#: Added to a byte: its top bit then says whether it was above 9, or above 0.
_ABOVE_NINE, _ABOVE_ZERO = 0x76, 0x7F
_EIGHT_DIGITS = 10**_WORD
#: What joins pairs of digits to four, and these to eight.
_PAIRS, _FOURS, _EIGHTS = _W(0x000000FF000000FF), _W(0x000F424000000064), _W(0x0000271000000001)
#: A time is ``2024-01-31 23:59:59``, and a point and up to six digits.
_DATE, _SECONDS, _MICROS = 10, 19, 6
#: How many digits of a fraction stand in the third word of a time.
_NEAR = 4
_DAY, _SECOND = 86_400_000_000, 1_000_000
_HOURS, _SIXTY, _YEAR_MONTHS = 24, 60, 12


class ByteWords:
    """The bytes of a block as words.

    Args:
        block: the bytes.

    Attributes:
        data: the bytes.
    """

    def __init__(self, block: bytes | memoryview) -> None:
        # Two aligned loads and a shift take less time than one load from any place. The last may reach behind the end.
        self._words = np.empty(len(block) // _WORD + 1 + _FAR, _W)
        self._words[len(block) // _WORD :] = 0
        self.data: Bytes = self._words.view(np.uint8)[: len(block)]
        self.data[:] = np.frombuffer(block, np.uint8)
        self._begins: list[tuple[Ints, Words]] = []

    def at(self, places: Ints, count: int = 1) -> list[Words]:
        """Return words, one behind the other, the first byte of each lowest; zeros behind the block's end.

        Args:
            places: where the first one begins; none is behind the end.
            count: how many; at most three.
        """
        first = places >> 3
        low_bits = ((places & 7) << 3).view(_W)
        high_bits = _W(_BITS) - low_bits
        loaded = [self._words[i:].take(first) for i in range(count + 1)]
        made = []
        for low, high in pairwise(loaded):
            word = low >> low_bits
            # A shift by all 64 bits gives 0, to numpy.
            word |= high << high_bits
            made.append(word)
        return made

    def begins(self, starts: Ints) -> Words:
        """Return the first word from each of some places on; it is kept, as ends and values both are read from it."""
        for known, words in self._begins:
            if known is starts:
                return words
        (words,) = self.at(starts)
        self._begins.append((starts, words))
        return words

    def have(self, places: Ints, text: bytes) -> Bools:
        """Return at which of some places a text stands; so much is there behind each."""
        found = np.ones(len(places), np.bool_)
        if len(text) < _FEW:
            for i, byte in enumerate(text):
                found &= self.data.take(places + i if i else places) == byte
            return found
        for start in range(0, len(text), _WORD * _AT_ONCE):
            part = text[start : start + _WORD * _AT_ONCE]
            count = -(-len(part) // _WORD)
            for number, words in enumerate(self.at(places + start if start else places, count)):
                piece = part[number * _WORD :][:_WORD]
                words ^= _word(piece)
                if len(piece) < _WORD:
                    words &= _W((1 << 8 * len(piece)) - 1)
                found &= words == 0
        return found

    def do_have(self, places: Ints, text: bytes) -> Bools:
        """Return at which of some places a text stands, wherever they are."""
        last = len(self.data) - len(text)
        if not len(places) or (places.min() >= 0 and places.max() <= last):
            return self.have(places, text)
        inside = (places >= 0) & (places <= last)
        return self.have(places.clip(0, last), text) & inside if last >= 0 else inside

    def until(self, starts: Ints, byte: int) -> Ints | None:
        """Return where a byte stands for the first time behind each of some places, which ascend; None if one is far.

        What stands between is not looked at where all are as long as the first: it may have the byte too.
        """
        length = self.data[starts[0] :][: _WORD * _FAR].tobytes().find(byte)
        ends = starts + max(length, 0)
        some, most = ends[:: max(1, len(ends) // _WORD)], len(self.data)
        if length >= 0 and ends[-1] < most and all((self.data.take(of) == byte).all() for of in (some, ends)):
            return ends
        ends, far = self._first(starts, byte)
        return None if len(far) else ends

    def ends(self, starts: Ints, text: bytes) -> tuple[Ints, Bools]:
        """Return where a text stands for the first time behind each of some places, and where that is so.

        It must begin with the first byte of its kind, and near. What stands between is not looked at where it is as
        long as the first: it may have the text too.

        Args:
            starts: they ascend; none is behind the end.
        """
        length = self.data[starts[0] :][: _WORD * _FAR].tobytes().find(text)
        return self._found(starts, text, length, lambda some: self._first(some, text[0])[0])

    def starts(self, ends: Ints, text: bytes) -> tuple[Ints, Bools]:
        """Return where a text ends for the last time before each of some places, and where that is so; see ``ends``."""
        before = self.data[: ends[0]][-_WORD * _FAR :].tobytes()
        distance = before.rfind(text) - len(before) if text in before else 0
        begins, found = self._found(ends, text, distance, lambda some: self._last(some, text[-1]) - len(text))
        return begins + len(text), found

    def _found(self, places: Ints, text: bytes, distance: int, search: Callable[[Ints], Ints]) -> tuple[Ints, Bools]:
        """Return where a text stands near places, and where that is so.

        Args:
            distance: where it stands from the first place.
            search: says where else it may be.
        """
        some = places[:: max(1, len(places) // _WORD)] + distance
        if not self.do_have(some, text[:1]).mean() > _MOST:
            at = search(places)
            return at, self.do_have(at, text)
        at = places + distance
        left = np.flatnonzero(~self.do_have(at, text[:1]))
        # The byte may be one of a value.
        for _ in range(_LOOKS):
            if len(left):
                at[left] = search(places[left])
            found = self.do_have(at, text)
            if found.all():
                break
            left = np.flatnonzero(~found)
        return at, found

    def _first(self, starts: Ints, byte: int) -> tuple[Ints, Ints]:
        """Return where a byte stands for the first time behind places, and the numbers of those where that is far."""
        found = _first_in(self.begins(starts), byte)
        ends = starts + found
        left = np.flatnonzero(found == _WORD)
        for _ in range(_FAR - 1):
            if not len(left):
                break
            (words,) = self.at(np.minimum(ends[left], len(self.data)))
            found = _first_in(words, byte)
            ends[left] += found
            left = left[found == _WORD]
        return ends, left

    def _last(self, ends: Ints, byte: int) -> Ints:
        """Return behind where a byte stands for the last time before places; anywhere where that is far."""
        starts: Ints = ends.copy()
        left = np.arange(len(ends))
        for _ in range(_FAR):
            if not len(left):
                break
            (words,) = self.at(np.maximum(starts[left] - _WORD, 0))
            # The byte before the place comes first.
            found = _first_in(words.byteswap(inplace=True), byte)
            starts[left] -= found
            left = left[found == _WORD]
        return starts

    def integers(self, starts: Ints, ends: Ints) -> Ints | None:
        """Return integers: up to 16 digits, the first no 0 where there are others, a minus or nothing before them."""
        words = self.begins(starts)
        first = words & _BYTE
        negative = first == _MINUS if first.min(initial=_ZERO) < _ZERO else None
        if negative is not None:
            starts = starts + negative
            (words,) = self.at(starts)
            first = words & _BYTE
        lengths = ends - starts
        most = int(lengths.max(initial=0))
        if lengths.min(initial=1) < 1 or most > 2 * _WORD or ((first == _ZERO) & (lengths > 1)).any():
            return None
        values = _digits(words, lengths) if most <= _WORD else self._long(words, starts, lengths)
        if values is not None and negative is not None:
            np.negative(values, out=values, where=negative)
        return values

    def _long(self, words: Words, starts: Ints, lengths: Ints) -> Ints | None:
        """Return numbers of up to 16 digits."""
        above = np.maximum(lengths - _WORD, 0)
        (others,) = self.at(starts + above)
        high, low = _digits(words, above), _digits(others, lengths - above)
        return None if high is None or low is None else high * _EIGHT_DIGITS + low

    def times(self, starts: Ints, ends: Ints, *, zoned: bool) -> Ints | None:
        """Return times as microseconds since 1970: all of one length, ``2024-01-31 23:59:59.123`` or with a ``T``.

        Args:
            starts, ends: where they are.
            zoned: whether a ``Z`` stands behind each; else nothing does.
        """
        if not len(starts):
            return None
        length = int(ends[0] - starts[0]) - zoned
        digits = length - _SECONDS - 1
        between = self.data[starts[0] + _DATE : starts[0] + _DATE + 1].tobytes()
        if between not in (b" ", b"T") or not (length == _SECONDS or 1 <= digits <= _MICROS):
            return None
        if (ends - starts != length + zoned).any() or (zoned and (self.data[ends - 1] != _ZONE).any()):
            return None
        date, hour, second = self.at(starts, 3)
        fraction = b"." + b"0" * min(digits, _NEAR) if digits > 0 else b""
        hours = _values(hour, b"00" + between + b"00:00")
        seconds = _values(second, b":00" + fraction)
        days = None if hours is None else _days(date, hours)
        of_day = None if hours is None or seconds is None else _of_day(hours, seconds)
        if days is None or of_day is None:
            return None
        of_day += days * _DAY
        if digits <= _NEAR:
            return of_day
        (behind,) = self.at(starts + (_SECONDS + 1 + _NEAR))
        rest = _digits(behind, np.full(len(starts), digits - _NEAR))
        return None if rest is None else of_day + rest * 10 ** (_MICROS - digits)


def _word(text: bytes) -> np.uint64:
    word: np.uint64 = _W(int.from_bytes(text, "little"))
    return word


def _first_in(words: Words, byte: int) -> Ints:
    """Return which byte of each word is the first of a kind, 8 for none."""
    other = words ^ _ONES * _W(byte)
    # The top bit of each byte that is 0 now; above the first of them it may be set for others too.
    marks = other - _ONES
    np.invert(other, out=other)
    marks &= other
    marks &= _TOPS
    below = marks - _W(1)
    np.invert(marks, out=marks)
    below &= marks
    # All bits of the bytes below it are set, and the top one of no other byte: these tops are counted.
    below &= _TOPS
    below >>= _W(_WORD - 1)
    below *= _ONES
    below >>= _W(_BITS - _WORD)
    first: Ints = below.view(np.int64)
    return first


def _digits(words: Words, lengths: Ints) -> Ints | None:
    """Return the number that the first so many bytes of each word say, eight at most; None if one is no digit."""
    digits = words ^ _ONES * _W(_ZERO)
    # What stands behind them goes, and zeros come before them: the first byte is the lowest one.
    digits <<= (_BITS - (lengths << 3)).view(_W)
    if _are_above(digits, _ONES * _W(_ABOVE_NINE)):
        return None
    # Pairs of digits, then fours, then all eight (Lemire, "Quickly parsing eight digits").
    pairs = digits * _W(10)
    digits >>= _W(8)
    pairs += digits
    others = pairs >> _W(16)
    pairs &= _PAIRS
    others &= _PAIRS
    pairs *= _FOURS
    others *= _EIGHTS
    pairs += others
    pairs >>= _W(32)
    numbers: Ints = pairs.view(np.int64)
    return numbers


def _values(words: Words, form: bytes) -> Words | None:
    """Return the digits of words that begin as a form does: a digit where it has 0, the same elsewhere; else None."""
    values = words ^ _word(form)
    if len(form) < _WORD:
        values &= _W((1 << 8 * len(form)) - 1)
    above = bytes(_ABOVE_NINE if byte == _ZERO else _ABOVE_ZERO for byte in form)
    return None if _are_above(values, _word(above)) else values


def _are_above(values: Words, above: Any) -> bool:
    # A byte whose own top bit is set may carry into the next one; it tells by itself.
    tops = values + above
    tops |= values
    tops &= _TOPS
    return bool(tops.any())


def _pairs(values: Words) -> Words:
    """Return words whose bytes are the number of two digits: of the byte and the one behind it."""
    pairs: Words = values * _W(10)
    pairs += values >> _W(8)
    return pairs


def _byte(words: Words, place: int) -> Ints:
    byte: Ints = ((words >> _W(8 * place)) & _BYTE).view(np.int64)
    return byte


def _of_day(hours: Words, seconds: Words) -> Ints | None:
    """Return the microseconds of a day, four digits of a fraction among them; None if an hour or so is beyond.

    Args:
        hours: digits of ``00 00:00``, the hour behind the blank.
        seconds: digits of ``:00.0000``; 0 where there are less.
    """
    hours, seconds = _pairs(hours), _pairs(seconds)
    hour, minute, second = _byte(hours, 3), _byte(hours, 6), _byte(seconds, 1)
    if hour.max() >= _HOURS or minute.max() >= _SIXTY or second.max() >= _SIXTY:
        return None
    hour *= _SIXTY
    hour += minute
    hour *= _SIXTY
    hour += second
    hour *= _SECOND // 100
    fraction = _byte(seconds, 4)
    fraction *= 100
    fraction += _byte(seconds, 6)
    hour += fraction
    hour *= 100
    return hour


def _days(dates: Words, hours: Words) -> Ints | None:
    """Return the days since 1970 of dates, or one for all; None if there is no such day.

    Args:
        dates: texts ``2024-01-``.
        hours: digits that begin with those of the day.
    """
    days = hours & _W(0xFFFF)
    if (dates == dates[0]).all() and (days == days[0]).all():
        dates, days = dates[:1], days[:1]
    values = _values(dates, b"0000-00-")
    if values is None:
        return None
    values = _pairs(values)
    month, day = _byte(values, 5), _byte(_pairs(days), 0)
    months = (_byte(values, 0) * 100 + _byte(values, 2) - 1970) * _YEAR_MONTHS + month - 1
    least, most = int(months.min()), int(months.max())
    if month.min() < 1 or month.max() > _YEAR_MONTHS or day.min() < 1:
        return None
    firsts = np.arange(least, most + 2).astype("M8[M]").astype("M8[D]").astype(np.int64)
    months -= least
    if (day > np.diff(firsts)[months]).any():
        return None
    found: Ints = firsts[months] + day - 1
    return found


def column(values: Ints, of: pa.DataType) -> pa.Array:
    """Return integers, or microseconds, as a column.

    Raises:
        ArrowInvalid: for one that does not fit.
    """
    if not pa.types.is_integer(of):
        return pa.array(values).view(of)
    bounds = np.iinfo(of.to_pandas_dtype())
    if bounds.bits < _BITS and len(values) and bounds.min <= values.min() and values.max() <= bounds.max:
        return pa.array(values.astype(bounds.dtype))
    return pa.array(values).cast(of)
