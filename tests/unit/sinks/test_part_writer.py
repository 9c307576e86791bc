"""Part files that a worker writes where rows are made."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sqlext.connectors.filesystem.sink import part_writer
from sqlext.connectors.filesystem.sink.part_writer import PartWriter
from sqlext.sources.program import Stage
from sqlext.sources.queries import Branch, TableQuery
from sqlext_udfs.expressions.columns import Column

_ROWS = pa.table({"n": [1, 2, 3, 4, 5], "p": ["a/b", None, "a/b", "", "ä c"], "k": ["x", "x", "x", "x", "y"]})
_HELD = TableQuery(
    (Branch("rows", Stage(tuple((f.name, Column(f.type, name=f.name)) for f in _ROWS.schema))),),
    tuple((f.name, f.type) for f in _ROWS.schema),
)


@pytest.mark.parametrize("most", [1 << 25, 1], ids=["at the end", "at once"])
def test_a_folder_for_each_partition(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named as Spark names them; what has no value shares a folder with empty texts."""
    monkeypatch.setattr(part_writer, "_MOST_WAITING", most)
    writer = PartWriter(_HELD, "json", ("p", "k"))
    files = list(writer.write([_ROWS, _ROWS.slice(0, 1), _ROWS.slice(0, 0)], str(tmp_path), 7))
    found = {file.name.rpartition("/")[0]: (file.rows, (tmp_path / file.name).read_text()) for file in files}
    assert found == {
        "p=a%2Fb/k=x": (3, '{"n":1}\n{"n":3}\n{"n":1}\n'),
        "p=__HIVE_DEFAULT_PARTITION__/k=x": (2, '{"n":2}\n{"n":4}\n'),
        "p=ä c/k=y": (1, '{"n":5}\n'),
    }
    assert all(file.name.rpartition("/")[2].startswith("part-00007-") for file in files)


def test_files_of_parquet(tmp_path: Path) -> None:
    (file,) = PartWriter(_HELD, "parquet").write([_ROWS, _ROWS], str(tmp_path), 0)
    assert file.rows == 10
    assert file.name.endswith(".snappy.parquet")
    assert parquet.read_table(tmp_path / file.name).equals(pa.concat_tables([_ROWS, _ROWS]))


def test_no_rows_are_no_file(tmp_path: Path) -> None:
    assert list(PartWriter(_HELD, "json").write([_ROWS.slice(0, 0)], str(tmp_path), 0)) == []
    assert list(tmp_path.iterdir()) == []
