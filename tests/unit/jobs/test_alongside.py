"""A new version's micro-batches are planned in Spark's own logs: up to where the old one is, then what that closes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext import SqlExtError
from sqlext.jobs.alongside import ReachedBatch, keep_watermark, plan_first, plan_next, plan_watermark
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.renewal import PRUNES
from sqlext.sources.file_log import FileLog, FoundFile
from sqlext.stores.base import KeptBytes
from sqlext.stores.folder import FolderStore

SETTINGS = {"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": {PRUNES: "true", "a": "b"}}


def home(folder: Path, version: str) -> QueryHome:
    return QueryHome(folder, "q", version=version, looks=True)


def batch(
    place: QueryHome, number: int, *ends: str, watermark: int = 0, before: int = 0, committed: bool = True
) -> None:
    """Put a micro-batch where Spark would have it; ``watermark`` is that behind it, ``before`` its own."""
    settings = {**SETTINGS, "batchWatermarkMs": before}
    place.location.put(f"checkpoint/offsets/{number}", "\n".join(["v1", json.dumps(settings), *ends]))
    if committed:
        commit(place, number, watermark)


def commit(place: QueryHome, number: int, watermark: int) -> None:
    place.location.put(f"checkpoint/commits/{number}", f'v1\n{{"nextBatchWatermarkMs":{watermark}}}')


def planned(place: QueryHome, number: int) -> tuple[int, str, list[str]]:
    """Return the watermark of a planned micro-batch, whether it prunes its sources, and its offsets."""
    version, settings, *ends = (place.location.text(f"checkpoint/offsets/{number}") or "").splitlines()
    found = json.loads(settings)
    assert (version, found["conf"]["a"]) == ("v1", "b")
    return found["batchWatermarkMs"], found["conf"][PRUNES], ends


@pytest.fixture
def old(tmp_path: Path) -> QueryHome:
    """The old version: one source of files, and the query's own, which comes first."""
    place = home(tmp_path, "")
    batch(place, 0, '{"logOffset":0}', '{"logOffset":3}')
    batch(place, 1, '{"logOffset":0}', '{"logOffset":4}', committed=False)
    place.note_own_sources([0])
    place.location.put("checkpoint/sources/1/0", "v1\na file")
    place.sources.put("events/0", "a file")
    return place


@pytest.fixture
def new(tmp_path: Path) -> QueryHome:
    """The new version behind its empty micro-batch: the query's own source comes last."""
    place = home(tmp_path, "a1")
    batch(place, 0, '{"logOffset":9}', '{"logOffset":0}')
    place.location.put("checkpoint/sources/0/0", "v1\nall files")
    place.location.put("checkpoint/sources/1/0", "v1\na tick")
    place.sources.put("events/0", "all files")
    return place


def sources(new: QueryHome) -> list[str]:
    return ["FileStreamSource[file:/in]", f"FileStreamSource[file:{new.location.place}/ticks]"]


def test_it_reads_up_to_where_the_old_version_is(old: QueryHome, new: QueryHome) -> None:
    plan_first(ReachedBatch(old, 0), new, sources(new), None)
    # The empty micro-batch has taken nothing at all, so the planned one has the tick, too.
    assert planned(new, 0)[2] == ["-", "-"]
    assert planned(new, 1) == (0, "false", ['{"logOffset":3}', '{"logOffset":0}'])
    assert new.repeats_a_batch()
    assert new.location.text("checkpoint/sources/0/0") == "v1\na file"
    assert new.location.text("checkpoint/sources/1/0") == "v1\na tick"
    assert new.sources.text("events/0") == "a file"

    commit(new, 1, 500)
    assert plan_watermark(new)
    assert planned(new, 2) == (500, "false", ['{"logOffset":3}', '{"logOffset":0}'])
    commit(new, 2, 500)
    assert not plan_watermark(new)

    assert not plan_next(ReachedBatch(old, 0), new)
    assert plan_next(ReachedBatch(old, 1), new)
    assert planned(new, 3) == (500, "false", ['{"logOffset":4}', '{"logOffset":0}'])


class _Merging(FolderStore):
    """The old version's folder, whose reader merges the entries of its log amid a copy of them."""

    def __init__(self, folder: Path, log: FileLog, reads: int) -> None:
        super().__init__(folder)
        self._log, self._left = log, reads

    def read(self, key: str) -> KeptBytes | None:
        if key.startswith("sources/events/"):
            self._left -= 1
            if not self._left:
                self._log.merge(len(self._log))
        return super().read(key)


@pytest.mark.parametrize("reads", range(1, 11))
def test_a_log_that_is_merged_while_it_is_copied(reads: int, old: QueryHome, new: QueryHome) -> None:
    log = FileLog(old.sources.below("events"))
    old.sources.store.remove("events/0")
    for number in range(10):
        log.append([FoundFile(f"/{number}", number, 1)])
    assert old.location.path is not None
    vars(old.location)["store"] = _Merging(old.location.path, log, reads)
    plan_first(ReachedBatch(old, 0), new, sources(new), None)
    assert len(list(old.sources.names("events"))) == 1
    copied = FileLog(new.sources.below("events"))
    assert [file.path for file in copied.between(0, len(copied))] == [f"/{n}" for n in range(10)]


@pytest.mark.parametrize(("closed", "behind"), [(0, 500), (300, 500), (500, 500), (700, 700)])
def test_it_closes_what_the_old_version_has_closed(closed: int, behind: int, old: QueryHome, new: QueryHome) -> None:
    """The old one was stopped before it had closed all, or has closed more by an idle timeout."""
    batch(old, 1, '{"logOffset":0}', '{"logOffset":4}', before=closed, watermark=behind)
    reached = ReachedBatch(old, 1)
    plan_first(reached, new, sources(new), None)
    commit(new, 1, 500)
    last = 1
    if closed:
        assert plan_watermark(new, reached)
        assert planned(new, 2)[0] == closed
        last = 2
        commit(new, last, closed)
    for _ in range(2):
        assert not plan_watermark(new, reached)
        keep_watermark(new, reached)
        assert json.loads((new.location.text(f"checkpoint/commits/{last}") or "").splitlines()[1]) == {
            "nextBatchWatermarkMs": behind
        }


def test_other_sources_are_refused(old: QueryHome, new: QueryHome) -> None:
    with pytest.raises(SqlExtError) as refused:
        plan_first(ReachedBatch(old, 0), new, ["FileStreamSource[file:/in]", "FileStreamSource[file:/more]"], None)
    assert (refused.value.code, "it has 2 sources, and had 1" in refused.value.message) == ("RUN-084", True)
    new.sources.put("other/0", "")
    with pytest.raises(SqlExtError) as refused:
        plan_first(ReachedBatch(old, 0), new, sources(new), None)
    assert "its readers keep other places" in refused.value.message
