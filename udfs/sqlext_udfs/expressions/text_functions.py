"""Functions of texts that Arrow computes exactly as Spark does; arguments beside the first are the same in all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc


def _cased(plain: Callable[[pa.Array], pa.Array], full: Callable[[str], str]) -> Callable[..., pa.Array]:
    """Return a function of texts: Arrow's of plain ones, that of Python of others, which like Java's may lengthen."""

    def made(of: pa.DataType, texts: pa.Array) -> pa.Array:
        if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
            return plain(texts)
        return pa.array([None if t is None else full(t) for t in texts.to_pylist()], of)

    return made


def first(values: pa.Array) -> str | int:
    """Return the value of a literal, 0 of no rows."""
    return values[0].as_py() if len(values) else 0


def _substring(of: pa.DataType, texts: pa.Array, start: pa.Array, *length: pa.Array) -> pa.Array:
    if not len(texts):
        return texts
    begin = int(first(start)) - 1
    end = begin + int(first(length[0])) if length else None
    return pc.utf8_slice_codeunits(texts, begin, end)


def _replaced(of: pa.DataType, texts: pa.Array, old: pa.Array, new: pa.Array) -> pa.Array:
    return pc.replace_substring(texts, first(old), first(new)) if len(texts) else texts


def _before(of: pa.DataType, texts: pa.Array, delimiter: pa.Array, count: pa.Array) -> pa.Array:
    """Return what stands before a delimiter that comes for the n-th time; the whole where it comes less often."""
    if not len(texts):
        return texts
    parts = pc.list_slice(pc.split_pattern(texts, first(delimiter)), 0, first(count))
    return pc.binary_join(parts, first(delimiter))


def _right(of: pa.DataType, texts: pa.Array, count: pa.Array) -> pa.Array:
    taken = int(first(count))
    return pc.utf8_slice_codeunits(texts, -taken if taken else _FAR)


def _padded(pad: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """Return a function of texts that are as long as is said: cut, or filled up with a character."""

    def made(of: pa.DataType, texts: pa.Array, length: pa.Array, fill: pa.Array) -> pa.Array:
        if not len(texts):
            return texts
        width = int(first(length))
        return pad(pc.utf8_slice_codeunits(texts, 0, width), width=width, padding=first(fill))

    return made


def _located(of: pa.DataType, texts: pa.Array, part: pa.Array) -> pa.Array:
    """Return where a part begins, from 1; 0 where it is not."""
    sought = str(first(part))
    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return pc.add(pc.find_substring(texts, sought), 1).cast(of)
    return pa.array([None if t is None else t.find(sought) + 1 for t in texts.to_pylist()], of)


def _trimmed(trim: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    return lambda of, texts, characters: trim(texts, characters=str(first(characters)))


def _part(of: pa.DataType, texts: pa.Array, delimiter: pa.Array, place: pa.Array) -> pa.Array:
    """Return what stands between delimiters, counted from 0; NULL where there are fewer."""
    if not len(texts):
        return texts
    number = int(first(place))
    parts = pc.split_pattern(texts, first(delimiter), max_splits=number + 1)
    places = pc.add(parts.offsets.slice(0, len(parts)), number)
    there = pc.greater(pc.list_value_length(parts), number)
    return parts.values.take(pc.if_else(there, places, pa.scalar(None, places.type)))


def _null_if(of: pa.DataType, texts: pa.Array, other: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(texts, other), pa.scalar(None, of), texts)


def _extracted(of: pa.DataType, texts: pa.Array, pattern: pa.Array, group: pa.Array) -> pa.Array:
    """Return what a group of a regular expression holds: an empty text without a match, or where it has no part in it.

    The pattern has no escapes, and no parentheses in sets.
    """
    if not len(texts):
        return texts
    before, *others = str(first(pattern)).split("(")
    named = before + "".join(f"(?P<g{n}>{rest}" for n, rest in enumerate(others, 1))
    found = pc.struct_field(pc.extract_regex(texts, named), f"g{first(group)}")
    return pc.if_else(pc.is_valid(texts), pc.fill_null(found, ""), texts)


def _joined(of: pa.DataType, between: pa.Array, first: pa.Array, *others: pa.Array) -> pa.Array:
    """Return texts with a separator between those that are there; Arrow leaves a row out that has none."""
    none = reduce(pc.and_, (pc.is_null(texts) for texts in (first, *others)))
    return pc.binary_join_element_wise(pc.if_else(none, "", first), *others, between, null_handling="skip")


#: A place that no text reaches.
_FAR = 1 << 31
TEXT_FUNCTIONS: Mapping[str, Callable[..., pa.Array]] = {
    "concat": lambda of, *texts: pc.binary_join_element_wise(*texts, ""),
    "concat_ws": _joined,
    "replace": _replaced,
    "substring": _substring,
    "substring_index": _before,
    "length": lambda of, texts: pc.utf8_length(texts),
    "upper": _cased(pc.ascii_upper, str.upper),
    "lower": _cased(pc.ascii_lower, str.lower),
    "trim": _trimmed(pc.utf8_trim),
    "ltrim": _trimmed(pc.utf8_ltrim),
    "rtrim": _trimmed(pc.utf8_rtrim),
    "left": lambda of, texts, count: pc.utf8_slice_codeunits(texts, 0, int(first(count))),
    "right": _right,
    "lpad": _padded(pc.utf8_lpad),
    "rpad": _padded(pc.utf8_rpad),
    "split part": _part,
    "null if": _null_if,
    "matches": lambda of, texts, pattern: pc.match_substring_regex(texts, str(first(pattern))),
    "extracted": _extracted,
    "reverse": lambda of, texts: pc.utf8_reverse(texts),
    "repeat": lambda of, texts, count: pc.binary_repeat(texts, int(first(count))),
    "locate": _located,
    "starts with": lambda of, texts, part: pc.starts_with(texts, pattern=str(first(part))),
    "ends with": lambda of, texts, part: pc.ends_with(texts, pattern=str(first(part))),
    "contains": lambda of, texts, part: pc.match_substring(texts, str(first(part))),
}
