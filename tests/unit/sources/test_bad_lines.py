"""A line that cannot be read is told with its file, its number and its text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding import line_blocks
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.json_decoder import JsonDecoder
from sqlext.sources.file_slices import FileDecoder, Range

COLUMNS = (ArrowField("k", pa.string()), ArrowField("v", pa.int32()))
CSV, JSON = CsvDecoder(COLUMNS, ("k", "v")), JsonDecoder(COLUMNS)
GOOD = {"csv": "a,1", "json": '{"k": "a", "v": 1}'}
BAD = {
    "few": (CSV, "b", "it has 1 fields, not 2 in b"),
    "many": (CSV, "b,1,2", "it has 3 fields, not 2 in b,1,2"),
    "a value": (CSV, "b,x", "The value 'x' of column `v` cannot be cast to int32 in b,x"),
    "a quote": (CSV, '"b"c,1', 'a csv field in " has a " that is not doubled in "b"c,1'),
    "no end": (JSON, '{"k": "b", "v": ', 'it is no JSON from character 17 on in {"k": "b", "v": '),
    "a text": (JSON, '{"k": "b", "v": "x"}', 'a value does not fit its column: v in {"k": "b", "v": "x"}'),
    "no object": (JSON, "7", "it is no JSON object in 7"),
}


def refused(decoder: FileDecoder, part: Range) -> str:
    with pytest.raises(SqlExtError) as caught:
        list(decoder.read(part))
    assert caught.value.code == "RUN-066"
    return caught.value.message


@pytest.mark.parametrize("size", [16, 1 << 23])
@pytest.mark.parametrize(("decoder", "line", "told"), BAD.values(), ids=BAD)
def test_the_first_bad_line(
    decoder: FileDecoder, line: str, told: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_blocks, "BLOCK_BYTES", size)
    good = GOOD["csv" if decoder is CSV else "json"]
    for before in (0, 1, 7):
        lines = [*[good, ""] * before, line, good, line]
        for end in ("\n", "\r\n"):
            file = tmp_path / "a"
            file.write_bytes(end.join(lines).encode())
            message = refused(decoder, Range(str(file), 0, file.stat().st_size))
            assert f"] {file}:{2 * before + 1}: " in message
            assert message.endswith(told)


@pytest.mark.parametrize(("decoder", "line", "told"), BAD.values(), ids=BAD)
def test_in_a_part_of_a_file_and_in_a_packed_one(decoder: FileDecoder, line: str, told: str, tmp_path: Path) -> None:
    good = GOOD["csv" if decoder is CSV else "json"]
    text = "\n".join([good, good, line, good]).encode()
    file, packed = tmp_path / "a", tmp_path / "a.gz"
    file.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    assert f"{file}:3: " in refused(decoder, Range(str(file), len(good), len(text)))
    assert f"{packed}:3: " in refused(decoder, Range(str(packed), 0, packed.stat().st_size))


def test_good_lines_are_none_of_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("a,1\n\nb,2")
    rows = [row for batch in CSV.read(Range(str(file), 0, 8)) for row in batch.to_pylist()]
    assert rows == [{"k": "a", "v": 1}, {"k": "b", "v": 2}]
