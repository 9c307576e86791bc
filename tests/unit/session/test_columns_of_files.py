"""Files whose columns are not those of earlier ones: what becomes of each, by format, as docs/catalog.md says it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlext
from sqlext import SqlExtError

TABLE = """SET 'sqlext.engine' = 'local';
CREATE TABLE t (k STRING, n {}) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = '{}');
SELECT k, n FROM t;"""
INT = pa.int32()
FIRST: Mapping[str, tuple[object, pa.DataType]] = {"k": ("a", pa.string()), "n": (7, INT)}
#: The later file; what comes of it by format: a row, or the code of the refusal.
LATER: dict[str, tuple[Mapping[str, tuple[object, pa.DataType]], dict[str, object]]] = {
    "one more": (
        {"k": ("x", pa.string()), "n": (1, INT), "z": ("new", pa.string())},
        {"parquet": ("x", 1), "json": ("x", 1), "csv": "RUN-066"},
    ),
    "one less": (
        {"k": ("x", pa.string())},
        {"parquet": ("x", None), "json": ("x", None), "csv": "RUN-066"},
    ),
    "another name": (
        {"k": ("x", pa.string()), "m": (1, INT)},
        {"parquet": ("x", None), "json": ("x", None), "csv": ("x", 1)},
    ),
    "another order": (
        {"n": (1, INT), "k": ("x", pa.string())},
        {"parquet": ("x", 1), "json": ("x", 1), "csv": "RUN-066"},
    ),
    "a wider type": (
        {"k": ("x", pa.string()), "n": (1, pa.int64())},
        {"parquet": "RUN-065", "json": ("x", 1), "csv": ("x", 1)},
    ),
    "a wider value": (
        {"k": ("x", pa.string()), "n": (5_000_000_000, pa.int64())},
        {"parquet": "RUN-065", "json": "RUN-066", "csv": "RUN-066"},
    ),
}
FORMATS = ("parquet", "json", "csv")


def write(file: Path, row: Mapping[str, tuple[object, pa.DataType]]) -> None:
    values = {name: value for name, (value, _) in row.items()}
    if file.suffix == ".parquet":
        pq.write_table(pa.table({name: pa.array([value], type_) for name, (value, type_) in row.items()}), file)
    elif file.suffix == ".json":
        file.write_text(json.dumps(values) + "\n")
    else:
        file.write_text(",".join(map(str, values.values())) + "\n")


def read(folder: Path, format_: str, later: str, declared: str = "INT") -> object:
    """Return the row of the later file, or why none is read."""
    (folder / "in").mkdir()
    for number, row in enumerate((FIRST, LATER[later][0])):
        write(folder / "in" / f"{number}.{format_}", row)
    text = TABLE.format(declared, folder / "in", format_)
    try:
        *_, result = sqlext.Session(catalog=folder / "catalog").run(text)
        earlier, found = sorted(map(tuple, result.rows), key=repr)
    except SqlExtError as error:
        return error.code
    assert earlier == ("a", 7)
    return found


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("later", LATER)
def test_a_later_file(later: str, format_: str, tmp_path: Path) -> None:
    assert read(tmp_path, format_, later) == LATER[later][1][format_]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_wider_declaration_takes_both(format_: str, tmp_path: Path) -> None:
    assert read(tmp_path, format_, "a wider value", "BIGINT") == ("x", 5_000_000_000)
