"""Small batches are committed to a Delta table in the driver: once each, over the files that can hold their keys."""

from __future__ import annotations

import json
import pickle
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.connectors.delta.sink.direct import DirectWriter, KeptTable
from sqlext.connectors.delta.sink.ranges import bytes_within, key_ranges
from sqlext.connectors.delta.sink.small_batches import SmallBatches, small_batches
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import EXISTS
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sinks.few_rows import Few
from sqlext.types import BIGINT
from sqlext_catalog.model import Options

_SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64())])
_FEW = Few(10_000, 1 << 25)
_UPSERT = SinkContext("query", "checkpoint", mode="upsert", keys=("k",), exists=EXISTS, few=_FEW)
_APPEND = SinkContext("query", "checkpoint", few=_FEW)


def made(path: Path, schema: pa.Schema = _SCHEMA, properties: dict[str, str] | None = None) -> Path:
    """Return the path of a new table."""
    DeltaTable.create(str(path), schema, configuration=dict(properties or {}), raise_if_key_not_exists=False)
    return path


def spec(path: Path, key: tuple[str, ...] = (), **given: Any) -> WriteSpec:
    """Return the sink of a table of two columns."""
    columns = tuple(WriteColumn(name, BIGINT) for name in ("k", "v"))
    return WriteSpec("delta", columns, "t", path=str(path), primary_key=key, **given)


def batches(path: Path, context: SinkContext = _UPSERT) -> SmallBatches:
    """Return what writes to a table."""
    return small_batches(spec(path), context)


def changes(*rows: tuple[Any, Any, bool], schema: pa.Schema = _SCHEMA) -> pa.Table:
    """Return a batch: key, value, whether the row is there."""
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table([list(c) for c in columns], schema=schema.append(pa.field(EXISTS, pa.bool_())))


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a table, sorted by their texts."""
    return sorted((tuple(r.values()) for r in DeltaTable(str(path)).to_pyarrow_table().to_pylist()), key=repr)


# --- what is written ---------------------------------------------------------------------------------------------


def test_keys_are_updated_added_and_taken_away(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    assert batches(path).write(changes((1, 1, True), (2, 2, True), (None, 3, True)), 0)
    assert batches(path).write(changes((1, 10, True), (2, 0, False), (4, 4, True), (None, 30, True)), 1)
    assert rows_of(path) == [(1, 10), (4, 4), (None, 30)]


def test_a_batch_that_comes_again_changes_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    for number in (0, 1):
        assert batches(path).write(changes((1, number, True)), number)
    version = DeltaTable(str(path)).version()
    assert batches(path).write(changes((1, 99, True)), 1)
    assert (rows_of(path), DeltaTable(str(path)).version()) == ([(1, 1)], version)


def test_another_checkpoint_counts_for_itself(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    assert batches(path).write(changes((1, 1, True)), 5)
    assert batches(path, replace(_UPSERT, checkpoint="another")).write(changes((1, 2, True)), 0)
    assert rows_of(path) == [(1, 2)]


def test_appended_rows_carry_the_batch_in_the_commit(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    own = batches(path, _APPEND)
    assert own.write(pa.table({"k": [1], "v": [1]}, schema=_SCHEMA), 3)
    table = DeltaTable(str(path))
    assert [own.direct.has(table, batch) for batch in (2, 3, 4)] == [True, True, False]
    assert rows_of(path) == [(1, 1)]


def test_only_files_that_can_hold_a_key_are_counted_and_read(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    for first in range(0, 50, 10):
        write_deltalake(str(path), pa.table({"k": range(first, first + 10), "v": [0] * 10}), mode="append")
    sizes = {a["min.k"]: a["size_bytes"] for a in _files(path)}
    assert bytes_within(DeltaTable(str(path)), key_ranges(changes((12, 1, True), (14, 1, True)), ["k"])) == sizes[10]
    assert batches(path).write(changes((12, 1, True), (14, 1, True)), 0)
    assert {a["min.k"]: a["size_bytes"] for a in _files(path) if a["min.k"] != 10} == {
        low: size for low, size in sizes.items() if low != 10
    }
    assert len(_files(path)) == 5


def test_spark_merges_what_would_rewrite_too_much(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    assert batches(path).write(changes((1, 1, True)), 0)
    assert not batches(path, replace(_UPSERT, few=Few(10_000, 1))).write(changes((1, 2, True)), 1)
    # A new key beyond all files rewrites none.
    assert batches(path, replace(_UPSERT, few=Few(10_000, 1))).write(changes((2, 2, True)), 1)
    assert rows_of(path) == [(1, 1), (2, 2)]


def _files(path: Path) -> list[dict[str, Any]]:
    return pa.table(DeltaTable(str(path)).get_add_actions(flatten=True)).to_pylist()


# --- statistics ---------------------------------------------------------------------------------------------------


_KEYS = {
    "time": (pa.timestamp("us"), [datetime(2026, 1, 1, 0, 0, 0, us) for us in (0, 1, 499, 999, 1000, 1999, 123_456)]),
    "instant": (
        pa.timestamp("us", tz="UTC"),
        [datetime(2026, 1, 1, 0, 0, 0, us, tzinfo=timezone.utc) for us in (0, 1, 999, 1000, 1999)],
    ),
    "date": (pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(2026, 1, 1), date(9999, 12, 31)]),
    "text": (pa.string(), ["", "a", "a'b", 'a"b', "a" * 40, "a" * 39 + "b", "é" * 40, "\U0010ffff" * 33, "Ω"]),
    "number": (pa.int64(), [-(2**63), -1, 0, 1, 2**63 - 1]),
    "truth": (pa.bool_(), [True, False]),
    "bytes": (pa.binary(), [b"", b"\x00", b"\xff"]),
}
_BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99), st.booleans()), min_size=1, max_size=6), max_size=6
)


@pytest.mark.parametrize("kind", list(_KEYS))
@settings(max_examples=12, deadline=None)
@given(given=_BATCHES, twice=st.booleans())
def test_batches_give_what_a_dictionary_holds(
    kind: str, given: list[list[tuple[int, int, bool]]], twice: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Values of one millisecond, of one long prefix, and NULL: statistics of files say less than they are."""
    of, values = _KEYS[kind]
    schema = pa.schema([("k", of), ("v", pa.int64())])
    path = made(tmp_path_factory.mktemp("t") / "t", schema)
    choices = [*values, None]
    model: dict[Any, int] = {}
    for number, batch in enumerate(given):
        rows = {choices[key % len(choices)]: (value, there) for key, value, there in batch}
        for key, (value, there) in rows.items():
            if there:
                model[key] = value
            else:
                model.pop(key, None)
        coming = changes(*((key, value, there) for key, (value, there) in rows.items()), schema=schema)
        for _ in range(1 + twice):
            assert batches(path).write(coming, number)
    assert rows_of(path) == sorted(model.items(), key=repr)


def test_names_of_columns_are_taken_as_they_are(tmp_path: Path) -> None:
    schema = pa.schema([("Item no", pa.int64()), ("select", pa.int64()), ("V", pa.string())])
    path = made(tmp_path / "t", schema)
    context = replace(_UPSERT, keys=("Item no", "select"))
    whole = schema.append(pa.field(EXISTS, pa.bool_()))
    for number, text in enumerate("ab"):
        assert batches(path, context).write(pa.table([[1, 2], [5, 5], [text] * 2, [True] * 2], schema=whole), number)
    assert rows_of(path) == [(1, 5, "b"), (2, 5, "b")]


# --- what is left to Spark ----------------------------------------------------------------------------------------


_WRITER_FEATURES = [
    *("deletionVectors", "columnMapping", "changeDataFeed", "checkConstraints", "generatedColumns", "identityColumns"),
    *("rowTracking", "domainMetadata", "clustering", "inCommitTimestamp", "v2Checkpoint", "typeWidening"),
    *("allowColumnDefaults", "icebergCompatV2", "oneOfTheFuture"),
]


#: Those that readers must know too.
_READER_FEATURES = {"deletionVectors", "columnMapping", "v2Checkpoint", "typeWidening"}


@pytest.mark.parametrize("feature", _WRITER_FEATURES)
def test_a_table_with_a_feature_is_left_to_spark(feature: str, tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    needs = {"minWriterVersion": 7, "minReaderVersion": 1, "writerFeatures": [feature]}
    if feature in _READER_FEATURES:
        needs |= {"minReaderVersion": 3, "readerFeatures": [feature]}
    _edited(path, "protocol", lambda p: (p.clear(), p.update(needs)))
    with pytest.raises(Unsuited, match=feature):
        batches(path)


@pytest.mark.parametrize("version", [3, 4, 5, 6])
def test_so_is_one_of_an_older_protocol_that_asks_for_more(version: int, tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    _edited(path, "protocol", lambda p: (p.clear(), p.update(minReaderVersion=1, minWriterVersion=version)))
    with pytest.raises(Unsuited, match=str(version)):
        batches(path)


@pytest.mark.parametrize("name", ["delta.autoOptimize.autoCompact", "delta.autoOptimize.optimizeWrite"])
def test_so_is_one_whose_files_are_put_together(name: str, tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    _edited(path, "metaData", lambda m: m["configuration"].update({name: "true"}))
    with pytest.raises(Unsuited, match=name):
        batches(path)


def test_so_is_one_to_which_rows_are_only_added(tmp_path: Path) -> None:
    path = made(tmp_path / "t", properties={"delta.appendOnly": "true"})
    with pytest.raises(Unsuited, match=r"delta\.appendOnly"):
        batches(path)
    assert batches(path, _APPEND).write(pa.table({"k": [1], "v": [1]}, schema=_SCHEMA), 0)


_INVARIANT = '{"expression":{"expression":"v > 0"}}'


@pytest.mark.parametrize(
    ("field", "why"),
    [
        (pa.field("v", pa.int64(), nullable=False), "NOT NULL"),
        (pa.field("v", pa.list_(pa.int64())), "list"),
        (
            pa.field("v", pa.int64(), metadata={"delta.invariants": '{"expression":{"expression":"v > 0"}}'}),
            "invariant",
        ),
    ],
    ids=["required", "nested", "invariant"],
)
def test_so_is_one_with_a_column(field: pa.Field, why: str, tmp_path: Path) -> None:
    path = made(tmp_path / "t", pa.schema([("k", pa.int64()), field]))
    with pytest.raises(Unsuited, match=why):
        batches(path)


def test_so_are_keys_that_spark_compares_otherwise(tmp_path: Path) -> None:
    path = made(tmp_path / "t", pa.schema([("k", pa.float64()), ("v", pa.int64())]))
    with pytest.raises(Unsuited, match="double"):
        batches(path)
    assert small_batches(spec(path), _APPEND)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"path": None, "table": "db.t"}, "Spark's catalog"),
        ({"path": "s3a://bucket/t"}, "object store"),
        ({"partitioned_by": ("k",)}, "partitions"),
        ({"path": "/nowhere/t"}, "not there"),
    ],
)
def test_so_are_places(changed: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(Unsuited, match=why):
        small_batches(replace(spec(made(tmp_path / "t")), **changed), _UPSERT)


def test_so_is_a_table_that_has_partitions(tmp_path: Path) -> None:
    path = tmp_path / "t"
    DeltaTable.create(str(path), _SCHEMA, partition_by=["k"])
    with pytest.raises(Unsuited, match="partitions"):
        batches(path)


def test_a_table_that_gets_a_feature_while_a_query_runs(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    own = batches(path)
    assert own.write(changes((1, 1, True)), 0)
    DeltaTable(str(path)).alter.add_constraint({"positive": "v > 0"})
    assert not own.write(changes((1, -1, True)), 1)
    assert rows_of(path) == [(1, 1)]


def _edited(path: Path, action: str, edit: Any) -> None:
    """Change an action of a table's first commit."""
    log = path / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for found in actions:
        if action in found:
            edit(found[action])
    log.write_text("".join(f"{json.dumps(a)}\n" for a in actions))


# --- a table that is kept open ------------------------------------------------------------------------------------


def test_a_table_that_is_kept_open_sees_what_others_commit(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    kept = KeptTable()
    own = small_batches(spec(path), _UPSERT, kept)
    for number in range(3):
        assert own.write(changes((1, number, True)), 2 * number)
        assert batches(path, replace(_UPSERT, query="other")).write(changes((1, -1, True), (2, number, True)), number)
        assert own.write(changes((3, number, True), (2, 0, number == 1)), 2 * number + 1)
    assert rows_of(path) == [(1, -1), (3, 2)]
    assert type(pickle.loads(pickle.dumps(kept))) is KeptTable


def test_another_table_at_the_same_path(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    own = batches(path)
    for number in range(3):
        assert own.write(changes((number, 0, True)), number)
    shutil.rmtree(path)
    made(path)
    assert own.write(changes((9, 9, True)), 3)
    assert (rows_of(path), DeltaTable(str(path)).version()) == ([(9, 9)], 1)


# --- others write too ---------------------------------------------------------------------------------------------


class _Meanwhile(DirectWriter):
    """Lets something happen between the opening of the table and the commit, once."""

    def merge(self, table: DeltaTable, coming: pa.Table, batch_id: int) -> None:
        """Merge, later than another writer."""
        if _HAPPENS:
            _HAPPENS.pop()()
        super().merge(table, coming, batch_id)

    def append(self, table: DeltaTable, rows: pa.Table, batch_id: int) -> None:
        """Append, later than another writer."""
        if _HAPPENS:
            _HAPPENS.pop()()
        super().append(table, rows, batch_id)


_HAPPENS: list[Any] = []


@contextmanager
def _meanwhile(path: Path, happens: Any, context: SinkContext = _UPSERT) -> Iterator[SmallBatches]:
    _HAPPENS.append(happens)
    own = batches(path, context)
    try:
        yield replace(own, direct=_Meanwhile(own.direct.path, own.direct.context, own.direct.keys))
        assert not _HAPPENS
    finally:
        _HAPPENS.clear()


def test_a_batch_is_tried_again_over_files_that_were_put_together(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    for number in range(4):
        assert batches(path).write(changes((number, number, True)), number)
    with _meanwhile(path, lambda: DeltaTable(str(path)).optimize.compact()) as own:
        assert own.write(changes((1, 10, True), (5, 5, True)), 4)
    assert rows_of(path) == [(0, 0), (1, 10), (2, 2), (3, 3), (5, 5)]


def test_another_query_updates_the_same_key_meanwhile(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    assert batches(path).write(changes((1, 1, True)), 0)
    other = batches(path, replace(_UPSERT, query="other"))
    with _meanwhile(path, lambda: other.write(changes((1, 50, True), (2, 50, True)), 0)) as own:
        assert own.write(changes((1, 10, True)), 1)
    assert rows_of(path) == [(1, 10), (2, 50)]


def test_the_same_batch_by_two_drivers_is_there_once(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    with _meanwhile(path, lambda: batches(path).write(changes((1, 1, True)), 0)) as own:
        assert own.write(changes((1, 1, True)), 0)
    table = DeltaTable(str(path))
    assert (rows_of(path), table.version()) == ([(1, 1)], 1)


@pytest.mark.parametrize("context", [_UPSERT, _APPEND], ids=["upsert", "append"])
def test_a_driver_that_was_shut_out_commits_nothing(context: SinkContext, tmp_path: Path) -> None:
    """The new driver changes the table's metadata: a commit over the table as it was before does not pass."""
    path = made(tmp_path / "t")
    fence = _Fence()

    def taken_over() -> None:
        fence.lost = True
        DeltaTable(str(path)).alter.set_table_description("taken over")

    with _meanwhile(path, taken_over, context) as own:
        shut_out = replace(own, context=replace(context, fence=fence))  # type: ignore[arg-type]
        with pytest.raises(SqlExtError) as told:
            shut_out.write(changes((1, 1, True)), 0)
    assert told.value.code == "RUN-029"
    assert rows_of(path) == []


class _Fence:
    """The fence of a driver, which another may take."""

    lost = False

    def check(self) -> None:
        """Raise if it is lost."""
        if self.lost:
            raise SqlExtError("RUN-029", "the query is another driver's")


def test_an_append_passes_beside_others(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    rows = pa.table({"k": [1], "v": [1]}, schema=_SCHEMA)
    with _meanwhile(path, lambda: write_deltalake(str(path), rows, mode="append"), _APPEND) as own:
        assert own.write(rows, 0)
    assert rows_of(path) == [(1, 1)] * 2


def test_readers_see_whole_batches(tmp_path: Path) -> None:
    """Each batch gives all keys its number; a reader finds one number alone."""
    path = made(tmp_path / "t")
    assert batches(path).write(changes(*((k, 0, True) for k in range(20))), 0)
    seen, ended = [], threading.Event()

    def read() -> None:
        while not ended.is_set():
            seen.append({v for _, v in rows_of(path)})

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(1, 15):
        assert batches(path).write(changes(*((k, number, True) for k in range(20))), number)
    ended.set()
    reader.join()
    assert {len(values) for values in seen} == {1}


def test_options(tmp_path: Path) -> None:
    options: Options = (("delta.checkpointInterval", "5"),)
    path = made(tmp_path / "t", properties=dict(options))
    for number in range(6):
        assert batches(path).write(changes((number, 0, True)), number)
    assert list((path / "_delta_log").glob("*.checkpoint.parquet"))
