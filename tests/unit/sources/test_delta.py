"""A Delta table as one split: what is there, then commit by commit; limits, restarts, and what is refused."""

from __future__ import annotations

import json
import string
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, WriterProperties, write_deltalake

from sqlext.connectors.delta.reader.log import DeltaLog
from sqlext.connectors.delta.reader.tables import READER
from sqlext.connectors.delta.reader.versions import SPLIT, DeltaPosition, DeltaReader
from sqlext.connectors.splits import Limit
from sqlext.errors import SqlExtError
from sqlext.sources.stream import SplitStream
from sqlext.types import BIGINT, INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3, LogicalType
from sqlext_catalog.model import Column, ObjectName, Table, Watermark

_COLUMNS: dict[str, LogicalType] = {"id": BIGINT, "ts": TIMESTAMP3}


def _table(folder: Path, columns: dict[str, LogicalType] | None = None, **options: str) -> Table:
    return Table(
        name=ObjectName("default_catalog", "default_database", "t"),
        columns=tuple(Column(n, t) for n, t in (columns or _COLUMNS).items()),
        watermark=Watermark("ts", "ts"),
        options=tuple({"connector": "delta", "path": str(folder / "t"), **options}.items()),
    )


def _reader(folder: Path, **options: str) -> DeltaReader:
    reader = READER.source(_table(folder, **options), None, 2).reader
    assert isinstance(reader, DeltaReader)
    return reader


def _put(folder: Path, *ids: int, **how: Any) -> None:
    rows = {"id": pa.array(ids, pa.int64()), "ts": pa.array([i * 1000 for i in ids], pa.timestamp("us"))}
    write_deltalake(str(folder / "t"), pa.table(rows), mode=how.pop("mode", "append"), **how)


def _read(reader: DeltaReader, start: int, end: int) -> list[int]:
    pieces = reader.slices({SPLIT: start}, {SPLIT: end})
    return [v for p in pieces for b in reader.read(p) for v in b.column(0).to_pylist()]


def _drained(reader: DeltaReader, limit: Limit | None = None, start: int | None = None) -> list[list[int]]:
    """Return the rows of each micro-batch until nothing more is there."""
    at = reader.initial()[SPLIT] if start is None else start
    batches = []
    while (end := reader.latest({SPLIT: at}, limit)[SPLIT]) != at:
        batches.append(_read(reader, at, end))
        reader.commit({SPLIT: end})
        at = end
    return batches


def test_positions_are_numbers_in_their_order() -> None:
    places = [DeltaPosition(v, c, f) for v in (0, 1, 7_000_000_000) for c in (False, True) for f in (0, 1, 1 << 23)]
    assert [DeltaPosition.of(p.number) for p in places] == places
    assert sorted(p.number for p in places) == [p.number for p in sorted(places)]


def test_what_is_there_comes_first_then_each_commit(tmp_path: Path) -> None:
    _put(tmp_path, 1, 2)
    _put(tmp_path, 3)
    reader = _reader(tmp_path)
    begin = reader.initial()[SPLIT]
    end = reader.latest({SPLIT: begin}, None)[SPLIT]
    assert sorted(_read(reader, begin, end)) == [1, 2, 3]
    assert reader.latest({SPLIT: end}, None)[SPLIT] == end
    _put(tmp_path, 4)
    _put(tmp_path, 5)
    again = _reader(tmp_path)  # after a restart
    assert _drained(again, start=end) == [[4, 5]]
    assert sorted(_read(again, begin, end)) == [1, 2, 3]  # the same rows, whatever came since


@pytest.mark.parametrize("limit", [Limit("files", 1), Limit("bytes", 1)])
def test_limits_take_one_file_at_least(tmp_path: Path, limit: Limit) -> None:
    for i in range(3):
        _put(tmp_path, i)
    reader = _reader(tmp_path)
    begin = reader.initial()[SPLIT]
    for i in range(3, 6):
        _put(tmp_path, i)
    batches = _drained(reader, limit, begin)
    assert sorted(batches[:3]) == [[0], [1], [2]]
    assert batches[3:] == [[3], [4], [5]]


def test_a_query_begins_at_a_version_or_with_what_comes(tmp_path: Path) -> None:
    for i in range(3):
        _put(tmp_path, i)
    assert _drained(_reader(tmp_path, startingVersion="1")) == [[1, 2]]
    latest = _reader(tmp_path, startingVersion="latest")
    begin = latest.initial()[SPLIT]
    assert _drained(latest) == []
    _put(tmp_path, 3)
    assert _drained(latest, start=begin) == [[3]]


def test_what_stores_the_same_rows_otherwise_is_passed_over(tmp_path: Path) -> None:
    _put(tmp_path, 1)
    reader = _reader(tmp_path)
    begin = reader.initial()[SPLIT]
    _put(tmp_path, 2)
    DeltaTable(str(tmp_path / "t")).optimize.compact()
    _put(tmp_path, 3)
    assert _drained(reader, start=begin) == [[1, 2, 3]]


def test_a_bounded_query_takes_what_is_there_and_no_more(tmp_path: Path) -> None:
    _put(tmp_path, 1)
    stream = SplitStream(_reader(tmp_path))
    begin = stream.initial()
    stream.stop_at_what_is_there()
    _put(tmp_path, 2)
    end = stream.latest(begin, None)
    assert _read(_reader(tmp_path), begin[SPLIT], end[SPLIT]) == [1]
    assert stream.latest(end, None) == end


def _require_rows(reader: DeltaReader, begin: int, found: list[int] | None) -> None:
    """Check what a reader gives from a position on; None: it refuses a commit that takes rows away."""
    if found is not None:
        assert [row for batch in _drained(reader, start=begin) for row in batch] == found
        return
    with pytest.raises(SqlExtError) as refused:
        reader.latest({SPLIT: begin}, None)
    assert refused.value.code == "RUN-069"


@pytest.mark.parametrize(
    ("predicate", "options", "found"),
    [
        ("id = 1", {}, None),
        ("id = 1", {"ignoreDeletes": "true"}, None),  # the file of 2 is written anew
        ("id = 1", {"ignoreChanges": "true"}, [2, 3]),
        ("id = 1", {"skipChangeCommits": "true"}, [3]),
        ("id < 9", {}, None),
        ("id < 9", {"ignoreDeletes": "true"}, [3]),
        ("id < 9", {"ignoreChanges": "true"}, [3]),
        ("id < 9", {"skipChangeCommits": "true"}, [3]),
    ],
)
def test_rows_that_are_taken_away(
    tmp_path: Path, predicate: str, options: dict[str, str], found: list[int] | None
) -> None:
    _put(tmp_path, 1, 2)
    reader = _reader(tmp_path, **options)
    begin = reader.latest(reader.initial(), None)[SPLIT]
    DeltaTable(str(tmp_path / "t")).delete(predicate)
    _put(tmp_path, 3)
    _require_rows(reader, begin, found)


def _bitmap(rows: list[int]) -> bytes:
    """Return rows below 65,536 as a RoaringBitmapArray (PROTOCOL.md, "Deletion Vector Format")."""
    container = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + struct.pack(f"<{len(rows)}H", *rows)
    return struct.pack("<IQI", 1681511377, 1, 0) + container


def _z85(data: bytes) -> str:
    """Return bytes as Z85 (rfc.zeromq.org/spec/32), padded to groups of four."""
    letters = string.digits + string.ascii_letters + ".-:+=^!/*?&<>()[]{}@%$#"
    groups = struct.unpack(f">{len(data) // 4}I", data)
    return "".join(letters[g // 85**i % 85] for g in groups for i in (4, 3, 2, 1, 0))


def _mark(folder: Path, *rows: int, removes: bool = True) -> None:
    """Delete rows of the table's only file by a deletion vector."""
    log = folder / "t" / "_delta_log"
    version = DeltaTable(str(folder / "t")).version()
    last = [json.loads(line) for i in range(version + 1) for line in (log / f"{i:020}.json").read_text().splitlines()]
    add = [action["add"] for action in last if "add" in action][-1]
    bitmap = _bitmap(list(rows))
    padded = bitmap + bytes(-len(bitmap) % 4)
    marks = {"storageType": "i", "pathOrInlineDv": _z85(padded), "sizeInBytes": len(bitmap), "cardinality": len(rows)}
    features = ["deletionVectors", "timestampNtz"]
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": features,
        "writerFeatures": features,
    }
    remove = {"path": add["path"], "dataChange": True, "deletionTimestamp": 0}
    actions = [{"protocol": protocol}, *([{"remove": remove}] if removes else [])]
    actions.append({"add": {**add, "deletionVector": marks}})
    (log / f"{version + 1:020}.json").write_text("\n".join(map(json.dumps, actions)))


def test_rows_that_a_deletion_vector_marks_are_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "a b%"
    _put(folder, 1, 2, 3, 4)
    _mark(folder, 0, 2)
    _put(folder, 5)
    assert _drained(_reader(folder)) == [[2, 4, 5]]
    assert not READER.why_not(_table(folder))


def test_rows_are_marked_by_place_also_over_several_row_groups(tmp_path: Path) -> None:
    _put(tmp_path, *range(1000), writer_properties=WriterProperties(max_row_group_size=100))
    _mark(tmp_path, 0, 99, 100, 555)
    found = _drained(_reader(tmp_path))[0]
    assert found == [i for i in range(1000) if i not in (0, 99, 100, 555)]


def test_files_with_marks_and_without_come_in_their_order(tmp_path: Path) -> None:
    for first in (1, 4, 7):
        _put(tmp_path, first, first + 1, first + 2)
        _mark(tmp_path, 1)
    _put(tmp_path, 10)
    reader = _reader(tmp_path)
    assert _drained(reader) == [[1, 3, 4, 6, 7, 9, 10]]
    begin = reader.initial()
    pieces = reader.slices(begin, reader.latest(begin, None))
    assert [p.part for p in pieces] == list(range(len(pieces)))
    assert len(pieces) == 3  # three files with marks are two slices, as there are two tasks


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, None),
        ({"ignoreDeletes": "true"}, None),
        ({"skipChangeCommits": "true"}, [4]),
        ({"ignoreChanges": "true"}, [2, 3, 4]),
    ],
)
def test_a_deletion_by_a_vector_is_one_as_any_other(
    tmp_path: Path, options: dict[str, str], found: list[int] | None
) -> None:
    _put(tmp_path, 1, 2, 3)
    begin = _reader(tmp_path).latest(_reader(tmp_path).initial(), None)[SPLIT]
    _mark(tmp_path, 0)
    _put(tmp_path, 4)
    reader = _reader(tmp_path, **options)  # after a restart
    _require_rows(reader, begin, found)


def test_a_version_that_is_gone_is_told(tmp_path: Path) -> None:
    _put(tmp_path, 1)
    _put(tmp_path, 2)
    DeltaTable(str(tmp_path / "t")).create_checkpoint()
    (tmp_path / "t" / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(SqlExtError) as refused:
        _reader(tmp_path).latest({SPLIT: DeltaPosition(0, True, 0).number}, None)
    assert refused.value.code == "RUN-068"


def test_rows_of_a_version_that_went_while_they_were_admitted_are_not_lost(tmp_path: Path) -> None:
    for i in range(3):
        _put(tmp_path, i)
    reader = _reader(tmp_path, startingVersion="1")
    begin = reader.initial()
    end = reader.latest(begin, None)
    DeltaTable(str(tmp_path / "t")).create_checkpoint()
    (tmp_path / "t" / "_delta_log" / f"{1:020}.json").unlink()
    with pytest.raises(SqlExtError) as refused:
        _reader(tmp_path).slices(begin, end)  # another process, after a restart
    assert refused.value.code == "RUN-068"


def test_a_look_for_what_is_new_does_not_open_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(tmp_path, 1)
    reader = _reader(tmp_path)
    at = reader.latest(reader.initial(), None)
    reader.commit(at)
    opened: list[object] = []
    version = DeltaLog.version
    monkeypatch.setattr(DeltaLog, "version", lambda log: opened.append(log) or version(log))
    for i in (2, 3, 4):
        assert reader.latest(at, None) == at
        _put(tmp_path, i)
        at = reader.latest(at, None)
        reader.commit(at)
    assert not opened


def _rewrite_metadata(folder: Path, **configuration: str) -> None:
    """Write a commit that sets properties of a table."""
    log = folder / "t" / "_delta_log"
    metadata = next(
        action
        for line in (log / f"{0:020}.json").read_text().splitlines()
        if "metaData" in (action := json.loads(line))
    )
    metadata["metaData"]["configuration"] = configuration
    (log / f"{1:020}.json").write_text(json.dumps(metadata))


def test_columns_are_found_by_the_names_that_files_have(tmp_path: Path) -> None:
    """As a table is after RENAME COLUMN: a file of before, one of after, and a query that began before."""
    _put(tmp_path, 1)
    begun = _reader(tmp_path)
    at = begun.initial()[SPLIT]
    log = tmp_path / "t" / "_delta_log"
    _rewrite_metadata(tmp_path, **{"delta.columnMapping.mode": "name"})
    action = json.loads((log / f"{1:020}.json").read_text())
    schema = json.loads(action["metaData"]["schemaString"])
    for number, column in enumerate(schema["fields"], 1):
        column["metadata"] = {"delta.columnMapping.physicalName": column["name"], "delta.columnMapping.id": number}
    schema["fields"][0]["name"] = "key"
    action["metaData"]["schemaString"] = json.dumps(schema)
    features = ["columnMapping", "timestampNtz"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    (log / f"{1:020}.json").write_text(json.dumps({"protocol": protocol}) + "\n" + json.dumps(action))
    table = _table(tmp_path, {"key": BIGINT, "ts": TIMESTAMP3})
    assert READER.why_not(table) == ""
    reader = READER.source(table, None, 2).reader
    assert isinstance(reader, DeltaReader)
    assert _drained(reader) == [[1]]
    assert READER.newest(table, 5).column("key").to_pylist() == [1]
    with pytest.raises(SqlExtError) as ended:
        _drained(begun, start=at)
    assert ended.value.code == "RUN-082"
    assert ended.value.message.endswith("gives column `id` the name `key`, while the query reads it")


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        ({"id": "long", "ts": "timestamp_ntz", "more": "string"}, None),
        ({"id": "long"}, "drops column `ts`"),
        ({"id": "decimal(20,0)", "ts": "timestamp_ntz"}, "gives column `id` another type"),
    ],
)
def test_columns_that_change_under_a_query(tmp_path: Path, fields: dict[str, str], change: str | None) -> None:
    _put(tmp_path, 1)
    reader = _reader(tmp_path)
    at = reader.initial()[SPLIT]
    log = tmp_path / "t" / "_delta_log"
    _rewrite_metadata(tmp_path)
    action = json.loads((log / f"{1:020}.json").read_text())
    columns = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields.items()]
    action["metaData"]["schemaString"] = json.dumps({"type": "struct", "fields": columns})
    (log / f"{1:020}.json").write_text(json.dumps(action))
    if change is None:
        assert _drained(reader, start=at) == [[1]]
        return
    with pytest.raises(SqlExtError) as ended:
        _drained(reader, start=at)
    assert ended.value.code == "RUN-082"
    assert change in ended.value.message


def test_columns_under_other_names_in_the_files_are_refused(tmp_path: Path) -> None:
    _put(tmp_path, 1)
    reader = _reader(tmp_path)
    begin = reader.initial()
    _rewrite_metadata(tmp_path, **{"delta.columnMapping.mode": "id"})
    for call in (lambda: reader.latest(begin, None), lambda: _reader(tmp_path)):
        with pytest.raises(SqlExtError) as refused:
            call()
        assert refused.value.code == "RUN-067"
    assert "columnMapping" in str(READER.why_not(_table(tmp_path)))  # so that Spark reads it where there is a choice


@pytest.mark.parametrize(
    "columns",
    [
        {**_COLUMNS, "more": STRING},
        {**_COLUMNS, "id": INT},
        {**_COLUMNS, "ts": TIMESTAMP_LTZ3},
    ],
)
def test_columns_that_are_not_those_of_the_table(tmp_path: Path, columns: dict[str, LogicalType]) -> None:
    _put(tmp_path, 1)
    with pytest.raises(SqlExtError) as refused:
        READER.source(_table(tmp_path, columns), None, 2)
    assert refused.value.code == "OPT-012"


@pytest.mark.parametrize(
    "options",
    [{"startingTimestamp": "2024-01-01"}, {"readChangeFeed": "true"}, {"path": "s3://bucket/t"}],
)
def test_what_delta_s_own_reader_is_for(tmp_path: Path, options: dict[str, str]) -> None:
    assert READER.why_not(_table(tmp_path, **options))
    assert not READER.why_not(_table(tmp_path))
