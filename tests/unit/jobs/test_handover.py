"""The places of a query's sources, as another reader writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext import SqlExtError
from sqlext.connectors.delta.reader.places import PLACES as DELTA
from sqlext.connectors.filesystem.reader.places import PLACES as FOLDERS
from sqlext.connectors.kafka.reader.places import PLACES as TOPICS
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.handover.ends import FirstBatch, Handover, ReadTables
from sqlext.jobs.handover.files import files_of_spark
from sqlext.sources.file_log import FileLog, FoundFile

SPARKS_DELTA = {
    "sourceVersion": 1, "reservoirId": "x", "reservoirVersion": 0, "index": 3, "isStartingVersion": True,
}  # fmt: skip
TABLES = (FOLDERS, DELTA, TOPICS)


def spark_log(**parts: list[str]) -> dict[str, str]:
    """Return parts of Spark's log; each file came with the part that its number is."""
    found = {}
    for name, files in parts.items():
        entries = [{"path": f, "timestamp": 5, "batchId": int(name.strip("b"))} for f in files]
        found[name.strip("b")] = "\n".join(["v1", *map(json.dumps, entries)])
    return found


def put(home: QueryHome, checkpoint: str, log: Mapping[str, str]) -> None:
    """Write the parts of a log of files of the first source."""
    for name, text in log.items():
        home.location.put(f"{checkpoint}/sources/0/{name}", text)


@pytest.fixture
def home(tmp_path: Path) -> QueryHome:
    return QueryHome(tmp_path, "q")


def handover(
    home: QueryHome, form: str, log: Mapping[str, str] | None = None, folders: tuple[str, ...] = ()
) -> Handover:
    """Return a handover of one source; the other reader writes its place in a form."""
    put(home, "scratch", log or {})
    return Handover(home, FirstBatch("scratch", ["one"], [form]), ReadTables(TABLES, folders), ["old"])


def offsets(*ends: str) -> dict[str, list[str]]:
    return {f"checkpoint/offsets/{n}": [end] for n, end in enumerate(ends)}


def test_files_of_spark_to_us(home: QueryHome) -> None:
    """Those that no micro-batch has taken yet are new to us, and keep no place."""
    parts = spark_log(
        b0=["file:///in/b%20c.json"], b1=["file:///in/a.json", "file:///gone.json"], b2=["file:///in/z.json"]
    )
    put(home, "checkpoint", parts)
    # What a part sums up may be there as well.
    home.location.put("checkpoint/sources/0/1.compact", parts["0"] + parts["1"].removeprefix("v1"))
    Path(home.location.below("checkpoint").below("sources").below("0").place, ".1.crc").write_text("x")
    there = [FoundFile(f"/in/{name}", 5, 7) for name in ("a.json", "b c.json", "z.json")]
    FileLog(home.sources.below("sqlext_t")).append(there)
    over = handover(home, '{"files": 3}', folders=("sqlext_t",))
    (found,) = over.handed(offsets('{"logOffset": 0}', '{"logOffset": 1}'), {0: 0}).values()
    assert list(found.ends.values()) == ['{"files": 1}', '{"files": 3}']
    ((_, log),) = found.own["sqlext_t"].items()
    assert json.loads(log) == [["/in/b c.json", 5, 7], ["/in/a.json", 5, 7], ["/gone.json", 5, 0]]


def test_our_files_to_spark(home: QueryHome) -> None:
    log = FileLog(home.sources.below("old"))
    log.append([FoundFile(f"/in/{name}", 5, 7) for name in ("b c.json", "a.json", "gone é#.json", "z.json")])
    there = spark_log(b0=["file:///in/a.json", "file:///in/b%20c.json", "file:///in/z.json", "file:///in/new.json"])
    over = handover(home, '{"logOffset": 0}', there)
    (found,) = over.handed(offsets('{"files": 1}', '{"files": 3}'), {0: 0}).values()
    assert list(found.ends.values()) == ['{"logOffset": 0}', '{"logOffset": 1}']
    put(home, "checkpoint", found.log)
    assert [(f.path, f.batch) for f in files_of_spark(home.location, 0, "checkpoint")] == [
        ("file:///in/b%20c.json", 0),
        ("file:///in/a.json", 1),
        ("file:///in/gone%20é%23.json", 1),
    ]
    assert found.own == {"old": {}}


def test_nothing_was_read(home: QueryHome) -> None:
    assert handover(home, '{"logOffset": 0}').handed(offsets("-", "-"), {0: 0}) == {}


def test_the_same_reader(home: QueryHome) -> None:
    for one, form in (('{"files": 1}', '{"files": 0}'), ('{"t":{"0":5}}', '{"t":{"0":9,"1":1}}')):
        assert handover(home, form).handed(offsets(one), {0: 0}) == {}


@given(st.dictionaries(st.sampled_from(["a-0", "a-b-1", "t-12"]), st.integers(0, 9), min_size=1))
def test_topics_there_and_back(ours: dict[str, int]) -> None:
    sparks = TOPICS.carried(ours, {"t": {"0": 1}})
    assert sparks is not None
    assert all(isinstance(partitions, dict) for partitions in sparks.values())
    assert TOPICS.carried(sparks, {"t-0": 1}) == ours
    assert DELTA.carried(ours, SPARKS_DELTA) is None
    assert TOPICS.carried({"versions": 5}, {"t-0": 1}) is None


@given(st.integers(0, 99), st.integers(0, 99))
def test_versions_there_and_back(version: int, files: int) -> None:
    """Amid the files of a commit, too: each reader has them in the order of the commit."""
    sparks = {**SPARKS_DELTA, "reservoirVersion": version, "index": files - 1, "isStartingVersion": False}
    ours = DELTA.carried(sparks, {"versions": 0})
    assert ours is not None
    assert DELTA.is_shared(ours)
    assert DELTA.carried(ours, SPARKS_DELTA) == sparks


def test_amid_what_was_there_when_it_began(home: QueryHome) -> None:
    with pytest.raises(SqlExtError, match="RUN-027") as refused:
        handover(home, '{"versions": 0}').handed(offsets(json.dumps(SPARKS_DELTA)), {0: 0})
    assert refused.value.hint == "let it go on as it is until it has read what is there, and then change it"
    # Before the first of them and behind the last one all is the same.
    for index in (-1, 1 << 41):
        handover(home, '{"versions": 0}').handed(offsets(json.dumps({**SPARKS_DELTA, "index": index})), {0: 0})
