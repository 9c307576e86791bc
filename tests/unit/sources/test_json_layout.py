"""Lines of one layout are read as a parser reads them, or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding import json_blocks
from sqlext.sources.decoding.json_blocks import LayoutReader
from sqlext.sources.decoding.json_decoder import JsonDecoder
from sqlext.sources.decoding.json_layout import layout_of
from sqlext.sources.decoding.json_texts import Unlike
from sqlext.sources.file_slices import Range

COLUMNS = (
    ArrowField("i", pa.int32()),
    ArrowField("d", pa.float64()),
    ArrowField("b", pa.bool_()),
    ArrowField("s", pa.string()),
    ArrowField("ts", pa.timestamp("us", "UTC")),
    ArrowField("none", pa.string()),
)
ROW = ArrowField(
    "r",
    pa.struct([("s", pa.string()), ("i", pa.int32()), ("in", pa.struct([("t", pa.timestamp("us", "UTC"))]))]),
)
LINE = '{"i": 1, "x": 0.5, "d": -2.5e3, "b": true, "s": "a,b:}c", "ts": "2024-01-01 00:00:01.5"}'


def read(*lines: str, columns: tuple[ArrowField, ...] = COLUMNS) -> pa.RecordBatch | None:
    return LayoutReader(columns).read("\n".join(lines).encode())


def test_rows() -> None:
    other = LINE.replace("1,", "-20,", 1).replace("true", "null").replace("a,b:}c", "\u00e4").replace("0.5", "null")
    made = read(LINE, other)
    assert made is not None
    assert made.to_pylist()[1] == {
        "i": -20,
        "d": -2500.0,
        "b": None,
        "s": "\u00e4",
        "ts": datetime(2024, 1, 1, 0, 0, 1, 500_000, UTC),
        "none": None,
    }


def test_lines_of_several_layouts_in_their_order() -> None:
    others = (
        LINE.replace('"i": 1', '"i":1'),
        LINE.replace('"i": 1, "x": 0.5', '"x": 0.5, "i": 2'),
        LINE.replace("0.5", '{"y": 1, "z": {"a": null}}'),
        LINE.replace('"a,b:}c"', "null"),
        '{"i": 7}',
    )
    lines = [line for line in others for _ in range(2)] + [LINE, *others]
    made = read(*lines)
    assert made is not None
    assert made.column("i").to_pylist() == [1, 1, 2, 2, 1, 1, 1, 1, 7, 7, 1, 1, 2, 1, 1, 7]
    assert made.column("s").null_count == 6
    assert made.column("d").null_count == 3


def test_kinds_of_events_with_a_long_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are found by their texts, from both sides of a long value, and not by their quotes."""
    kinds = (
        '{"i": 1, "r": {"x": N, "s": "' + "long " * 20 + '", "t": "T"}}',
        '{"i": 2, "q": {"s": "T", "x": N}}',
        '{"i": N, "s": "T"}',
    )
    lines = [kinds[n % 7 % 3].replace("N", str(n**3)).replace("T", "t" * (n % 5)) for n in range(100)]
    reader = LayoutReader(COLUMNS)
    first = reader.read("\n".join(lines).encode())
    monkeypatch.setattr(json_blocks, "_by_quotes", lambda *_: pytest.fail("quotes are counted"))
    again = reader.read("\n".join(lines).encode())
    assert first is not None
    assert first.equals(again)
    assert first.equals(JsonDecoder(COLUMNS)._by_line("\n".join(lines).encode(), str))


def test_lines_with_two_long_values_are_not_looked_for_by_texts_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks, by_texts = [], json_blocks.by_texts

    def noted(*of: Any) -> Any:
        looks.append(by_texts(*of))
        return looks[-1]

    monkeypatch.setattr(json_blocks, "by_texts", noted)
    lines = [f'{{"s": "{"long " * n}", "x": 1, "none": "{"text " * n}", "i": {n}}}' for n in range(20, 60)]
    reader = LayoutReader(COLUMNS)
    made = [reader.read("\n".join(lines).encode()) for _ in range(6)]
    assert looks == [None, None]
    assert [batch.column("i").to_pylist() for batch in made if batch is not None] == [list(range(20, 60))] * 6


def test_a_short_line_behind_long_keys() -> None:
    """A text that is looked for may be longer than what is left of the block."""
    key, columns = "k" * 90, (ArrowField("k" * 90, pa.int32()), ArrowField("i", pa.int32()))
    line = f'{{"{key}":1,"i":22}}'
    for last in ("{}", '{"i":3}', f'{{"i":3,"{key}":4}}', line[:-3]):
        made = read(line, line, last, columns=columns)
        assert made is None or made.column("i").to_pylist() == [22, 22, json.loads(last).get("i")]
    assert read(line, line.replace("22", "-7"), columns=columns) is not None


def test_rows_in_rows() -> None:
    """A key that is not there is NULL, and so is a row that is."""
    lines = [
        '{"i":1,"r":{"i":7,"in":{"t":"2024-01-01 00:00:00","x":true},"s":"a"}}',
        '{"i":2}',
        '{"i":3,"r":null}',
        '{"i":4,"r":{"s":"b"}}',
        '{"i":5,"r":{"in":null}}',
        '{"i":6,"r":{"in":{"x":1.5}}}',
    ]
    made = read(*lines, columns=(COLUMNS[0], ROW))
    assert made is not None
    assert made.column("i").to_pylist() == [1, 2, 3, 4, 5, 6]
    assert made.column("r").to_pylist() == [
        {"s": "a", "i": 7, "in": {"t": datetime(2024, 1, 1, tzinfo=UTC)}},
        None,
        None,
        {"s": "b", "i": None, "in": None},
        {"s": None, "i": None, "in": None},
        {"s": None, "i": None, "in": {"t": None}},
    ]


@pytest.mark.parametrize("value", ['"a"', "1", '{"i":"7"}', '{"i":7,"x":01}', '{"s":{"y":1}}', '{"in":7}'])
def test_rows_in_rows_that_a_parser_must_read(value: str) -> None:
    assert read('{"r":{"i":1}}', f'{{"r":{value}}}', columns=(ROW,)) is None


def test_a_file_of_too_many_layouts() -> None:
    lines = [f'{{"i": {n}, "k{n}": 1}}' for n in range(17)]
    assert read(*lines) is None
    assert read(*lines[:16]) is not None


def test_instants_with_zones() -> None:
    line = '{"ts":"2024-01-01T01:00:00+01:00"}'
    made = read(line, line, columns=(COLUMNS[4],))
    assert made is not None
    assert made.column(0).to_pylist() == [datetime(2024, 1, 1, tzinfo=UTC)] * 2


@pytest.mark.parametrize("zone", ["", "Z", "+01:00"])
def test_whether_instants_have_zones_is_seen_before_they_are_read(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong guess would read the block twice: for each slice of a file again."""
    blocks, original = [], json_blocks.read_block

    def noted(*given: Any, **how: Any) -> Any:
        blocks.append(how["zoned"])
        return original(*given, **how)

    monkeypatch.setattr(json_blocks, "read_block", noted)
    line = f'{{"s":"FizZ","ts":"2024-01-01T01:00:00{zone}"}}'
    assert read(line, line, columns=(COLUMNS[3], COLUMNS[4])) is not None
    assert blocks == [bool(zone)]


def test_pieces_of_a_large_block() -> None:
    rows = [{"i": n, "s": "x" * 50} for n in range(30_000)]
    made = read(*map(json.dumps, rows), columns=(COLUMNS[0], COLUMNS[3]))
    assert made is not None
    assert made.to_pylist() == rows


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"i": 1', '"i": 01'),
        ('"i": 1', '"i": 0x1'),
        ('"i": 1', '"i": +1'),
        ('"i": 1', '"i": 1.0'),
        ('"i": 1', '"i": "1"'),
        ('"i": 1', '"i": 3000000000'),
        ('"i": 1', '"i": '),
        ('"x": 0.5', '"x": 0.5x'),
        ('"x": 0.5', '"x": [0.5]'),
        ('"x": 0.5', '"x": {}'),
        ('"x": 0.5', '"x": {"y": 1x}'),
        ('"x": 0.5', '"x": {"y": 1'),
        ('"x": 0.5', '"x": {"y": 1, "y": 2}'),
        ('"x": 0.5', '"i": 2'),
        ('"x": 0.5', '"i": {"y": 1}'),
        ('"s": "a,b:}c"', '"s": {"y": 1}'),
        ("-2.5e3", "-2.e3"),
        ("-2.5e3", "-.5"),
        ("-2.5e3", "2."),
        ("-2.5e3", "nan"),
        ("-2.5e3", "inf"),
        ("-2.5e3", "00.5"),
        ("true", "True"),
        ("true", "1"),
        ("true", "nul"),
        ("a,b:}c", "a\\u0041"),
        ("a,b:}c", "a\tb"),
        ("a,b:}c", 'a"b'),
        ("2024-01-01 00:00:01.5", "soon"),
        ('.5"}', '.5"} }'),
        ("{", " {"),
        (LINE, ""),
        (LINE, "[" + LINE + "]"),
    ],
)
def test_what_a_parser_must_read(old: str, new: str) -> None:
    """Whether it is the first line or another one."""
    other = LINE.replace(old, new, 1)
    assert read(LINE, other, LINE) is None
    assert read(other, LINE) is None
    assert read(LINE, LINE) is not None


def test_a_file_of_other_layouts_is_not_tried_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, tried = LayoutReader(COLUMNS), []
    monkeypatch.setattr(json_blocks, "layout_of", lambda line: tried.append(line) or layout_of(line))
    for _ in range(5):
        assert reader.read(b"[1]\n") is None
    assert len(tried) == 2


@pytest.mark.parametrize("line", ["", "{}", "[]", '{"a":1', '{"a":1,}', '{"a":1,"a":2}', '{"a":[1]}', "{a:1}"])
def test_lines_without_a_layout(line: str) -> None:
    with pytest.raises(Unlike):
        layout_of(line.encode())


NUMBERS = st.sampled_from(["0", "-0", "7", "-12", "1.5", "1e2", "1E-2", "01", "-01", "+1", ".5", "5.", "1.e1", "0x1"])
WORDS = st.sampled_from(["true", "false", "null", "NaN", "nan", "", "[1]", "{}", "1 2"])
SHORT = st.text(st.sampled_from('ab,:{}[]"\\ \t\u00e4\u20ac'), max_size=4)
TEXTS = st.builds(lambda text, times: f'"{text * times}"', SHORT, st.sampled_from([1, 1, 1, 20]))
TIMES = st.sampled_from(["2024-01-01", "2024-01-01 10:00:00", "2024-01-01T10:00:00.123456Z", "2024-01-01T10", "x", ""])
ANY = NUMBERS | WORDS | TEXTS | TIMES.map(lambda t: f'"{t}"')
KEYS = ("i", "x", "d", "s", "ts", "r")
USUAL = {"i": st.sampled_from(["0", "7", "-12"]), "x": NUMBERS | TEXTS, "d": NUMBERS, "s": TEXTS, "ts": TIMES.map(repr)}


@st.composite
def values(draw: st.DrawFn, key: str) -> str:
    """A value, mostly of the column's type; rows in a row are a few ways, so that some are alike."""
    if draw(st.integers(0, 9)) == 9:
        return draw(ANY)
    if key != "r":
        return draw(USUAL[key]).replace("'", '"')
    inner = {"i": draw(USUAL["i"]), "s": draw(TEXTS), "in": f'{{"t":{draw(TIMES.map(repr))}}}'.replace("'", '"')}
    kept = draw(st.sampled_from([("i", "s", "in"), ("i",), ("in", "i"), ("s", "s")]))
    return "{" + ",".join(f'"{k}":{inner[k]}' for k in kept) + "}"


@st.composite
def blocks(draw: st.DrawFn) -> bytes:
    """Lines that are mostly of few layouts, by one that spells JSON well, mostly."""
    colon, comma = draw(st.sampled_from([(":", ","), (": ", ", ")]))
    kinds = [draw(st.permutations(KEYS))[: draw(st.integers(1, 6))] for _ in range(draw(st.integers(1, 2)))]
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        keys = draw(st.sampled_from(kinds))
        own = draw(st.permutations(keys)) if draw(st.integers(0, 9)) == 9 else keys
        lines.append("{" + comma.join(f'"{k}"{colon}{draw(values(k))}' for k in own) + "}")
    return "\n".join(lines).encode()


@pytest.mark.parametrize("rows", [(), (ROW,)], ids=["plain", "rows in rows"])
@settings(max_examples=1500, deadline=None)
@given(block=blocks())
def test_what_is_read_is_what_a_parser_reads(rows: tuple[ArrowField, ...], block: bytes) -> None:
    columns = (*COLUMNS[:2], *COLUMNS[3:], *rows)
    reader, decoder = LayoutReader(columns), JsonDecoder(columns)
    for made in (reader.read(block), reader.read(block)):  # once more, with layouts that are known
        if made is None:
            return
        try:
            wanted = decoder._by_line(block, str)
        except SqlExtError as error:
            raise AssertionError(block) from error
        assert made.equals(wanted)


@pytest.mark.parametrize(
    "line",
    [
        b'{"z":' * 300_000 + b"1" + b"}" * 300_000,
        b'{"k":"a"' + b"".join(b',"q%d":1' % n for n in range(100_000)) + b"}",
        b'{"k":' + b"[" * 1_000_000,
        b'{"k":' + b"[" * 100_001 + b"]" * 100_001 + b"}",
    ],
    ids=["objects", "keys", "arrays without an end", "arrays"],
)
def test_a_line_that_nests_deeply_or_has_many_keys(line: bytes, tmp_path: Path) -> None:
    """It took gigabytes and minutes: some hundred kilobytes of objects in objects ended the process."""
    with pytest.raises(Unlike):
        layout_of(line)
    file = tmp_path / "a"
    file.write_bytes(b'{"k":"a"}\n' + line + b"\n")
    read = JsonDecoder((ArrowField("k", pa.string()),)).read(Range(str(file), 0, file.stat().st_size))
    began = process_time()
    if line.startswith(b'{"k":['):
        with pytest.raises(SqlExtError, match=r"RUN-066.* it is nested deeply"):
            list(read)
    else:
        assert sum(batch.num_rows for batch in read) == 2
    assert process_time() - began < 10


_SOME = pa.struct([("in", pa.struct([("t", pa.timestamp("us", "UTC"))]))])


@pytest.mark.parametrize("first", ['{"i":1}', '{"r":{"i":1}}{"i":2}'], ids=["many at once", "line by line"])
def test_fields_that_nobody_looks_at_are_left_out(first: str, tmp_path: Path) -> None:
    """Whoever reads a block, and their values still must fit."""
    file = tmp_path / "rows.json"
    decoder = JsonDecoder((ROW,)).looking_at({"r": _SOME})

    def rows(line: str) -> list[object]:
        file.write_text(f"{first}\n{line}\n")
        batches = list(decoder.read(Range(str(file), 0, file.stat().st_size)))
        assert {batch.schema.field("r").type for batch in batches} == {_SOME}
        return [row["r"] for batch in batches for row in batch.to_pylist()][1:]

    assert rows('{"r":{"s":"a","i":5,"in":{"t":"2024-01-01 00:00:00"}}}') == [
        {"in": {"t": datetime(2024, 1, 1, tzinfo=UTC)}}
    ]
    assert rows('{"r":null}') == [None]
    with pytest.raises(SqlExtError):
        rows('{"r":{"s":"a","i":"x","in":{"t":"2024-01-01 00:00:00"}}}')


def test_the_text_of_what_nests_is_kept_once(tmp_path: Path) -> None:
    """Each array had a text of its own, so a line of some megabytes took gigabytes."""
    value = b"[" * 20_000 + b"'" + b"x" * 1_000_000 + b"'" + b"]" * 20_000
    file = tmp_path / "a"
    file.write_bytes(b'{"k":' + value + b"}\n")
    read = JsonDecoder((ArrowField("k", pa.string()),)).read(Range(str(file), 0, file.stat().st_size))
    began = process_time()
    assert [batch.column("k").to_pylist() for batch in read] == [[value.decode()]]
    assert process_time() - began < 10
