"""Words read integers and times as Arrow does, or leave them to it."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.sources.decoding.byte_words import ByteWords, column

Places = tuple[ByteWords, "np.ndarray[tuple[int], np.dtype[np.int64]]", "np.ndarray[tuple[int], np.dtype[np.int64]]"]


def lines(texts: list[str]) -> Places:
    """Return texts with something between them, and where they begin and end."""
    block = "".join(f"[{text}]" for text in texts).encode()
    lengths = np.array([len(text.encode()) for text in texts], np.int64)
    ends = np.cumsum(lengths + 2) - 1
    return ByteWords(block), ends - lengths, ends


@given(st.lists(st.integers(-(10**16) + 1, 10**16 - 1) | st.integers(-20, 20), min_size=1))
def test_integers(values: list[int]) -> None:
    words, starts, ends = lines([str(value) for value in values])
    found = words.integers(starts, ends)
    assert found is not None
    assert found.tolist() == values


@given(st.lists(st.text("0123456789-+. eE:/_xX\0\x7f\x80\xff\u0660", max_size=18), min_size=1, max_size=3))
def test_other_texts_are_no_integers(texts: list[str]) -> None:
    words, starts, ends = lines(texts)
    found = words.integers(starts, ends)
    if found is not None:
        assert [str(value) for value in found] == [text.replace("-0", "0") if text == "-0" else text for text in texts]


@pytest.mark.parametrize("text", ["", "-", "--1", "01", "-01", "1-", "1 ", " 1", "+1", "12345678901234567"])
def test_no_integer(text: str) -> None:
    words, starts, ends = lines([text, "1"])
    assert words.integers(starts, ends) is None


MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 30))
SHORT = st.timedeltas(timedelta(0), timedelta(hours=20))


@given(
    st.lists(MOMENTS, min_size=1) | st.builds(lambda t, d: [t, *(t + each for each in d)], MOMENTS, st.lists(SHORT)),
    st.sampled_from(" T"),
    st.integers(0, 6),
    st.booleans(),
)
def test_times(moments: list[datetime], between: str, digits: int, zoned: bool) -> None:
    texts = [moment.isoformat(between, "microseconds")[: 20 + digits - (digits == 0)] for moment in moments]
    words, starts, ends = lines([text + "Z" * zoned for text in texts])
    found = words.times(starts, ends, zoned=zoned)
    assert found is not None
    of = pa.timestamp("us")
    assert column(found, of) == pa.array(texts).cast(of)
    assert words.times(starts, ends, zoned=not zoned) is None


@given(
    st.text("0123456789:-. TZ\x7f\x80", min_size=1, max_size=2),
    st.integers(0, 25),
    st.sampled_from(["2024-02-29 23:59:59", "2024-02-29T00:00:00.123", "1969-12-31 00:00:00.123456"]),
)
def test_changed_times(change: str, place: int, text: str) -> None:
    """What is read is what Arrow reads."""
    changed = (text[:place] + change + text[place + len(change) :])[: len(text)]
    words, starts, ends = lines([text, changed] if place % 2 else [changed])
    found = words.times(starts, ends, zoned=False)
    if found is not None:
        of = pa.timestamp("us")
        assert column(found, of)[-1] == pa.array([changed]).cast(of)[0]


@pytest.mark.parametrize("text", ["2023-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00", "20240-1-01"])
def test_no_day(text: str) -> None:
    words, starts, ends = lines([f"{text} 00:00:00", "2024-01-01 00:00:00"])
    assert words.times(starts, ends, zoned=False) is None


@pytest.mark.parametrize("text", ["24:00:00", "00:60:00", "00:00:60", "00:00-00", "00.00:00"])
def test_no_time_of_a_day(text: str) -> None:
    words, starts, ends = lines([f"2024-01-01 {text}"])
    assert words.times(starts, ends, zoned=False) is None


#: So much that no text is near that of the line before or behind.
FILL = "x" * 40


@given(st.lists(st.text("a,\x80\u00e4\U0001f600", max_size=40), min_size=1))
def test_ends(texts: list[str]) -> None:
    """The first byte of the text that is looked for ends what stands before it."""
    words, starts, ends = lines([text.replace(",", "b") + ',"k":' + FILL for text in texts])
    places, found = words.ends(starts, b',"k":')
    short = [len(text.encode()) < 32 for text in texts]
    assert places[found].tolist() == (ends - 5 - len(FILL))[found].tolist()
    assert found[short].all()


@given(st.lists(st.text("a:\x80\u00e4\U0001f600", max_size=40), min_size=1))
def test_starts(texts: list[str]) -> None:
    """The last byte of the text that is looked for begins what stands behind it."""
    words, starts, ends = lines([FILL + '"k":' + text.replace(":", "b") for text in texts])
    places, found = words.starts(ends, b'"k":')
    short = [len(text.encode()) < 32 for text in texts]
    assert places[found].tolist() == (starts + len(FILL) + 4)[found].tolist()
    assert found[short].all()


def test_what_is_not_there() -> None:
    words, starts, ends = lines(["abc", "a:c", "", "abcdefgh" * 9])
    assert not words.ends(starts, b"x:y")[1].any()
    assert not words.starts(ends, b"x:y")[1].any()
    assert words.ends(starts, b":")[1].tolist()[1:2] == [True]
    assert words.do_have(np.array([-3, 1, 4, 80, 1000]), b"abc").tolist() == [False, True, False, False, False]


def test_numbers_beyond_their_type() -> None:
    values = np.array([127, 128])
    assert column(values, pa.int16()).to_pylist() == [127, 128]
    with pytest.raises(pa.ArrowInvalid):
        column(values, pa.int8())
