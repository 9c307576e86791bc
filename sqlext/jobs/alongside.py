"""Let the new version of a query read exactly what the old one has read: micro-batches are planned for it.

Spark runs a micro-batch that stands in ``offsets`` and not in ``commits`` as it was planned. So a new checkpoint gets

1. a first micro-batch that takes nothing (``renewal.begin_empty``): from it Spark's form of the sources is known;
2. a micro-batch from the beginning to the place that the old version has committed;
3. another one, when the old version has gone on meanwhile;
4. one without rows, where the watermark has moved: what it closes comes out. That is what the old version has closed,
   where both have the same watermark: its own may be further by now, and closes the rest in the next micro-batch.

A version that fills its state reads instead by the micro-batches of the old version, under the same watermarks, as far
back as Spark has kept them: the old version has judged each row by its watermark, and a late one is in no state.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlext.connectors.places import moved_line
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.progress import begins_anew
from sqlext.jobs.query_files import last_number, watermark_in
from sqlext.jobs.renewal import CHECKPOINT, NOTHING, PRUNES, ends_of, lines_of
from sqlext.stores.location import Location

_OFFSETS, _COMMITS = f"{CHECKPOINT}/offsets", f"{CHECKPOINT}/commits"
#: In a query's folder: what readers of ours must remember.
_READERS = "sources"


@dataclass(frozen=True, slots=True)
class ReachedBatch:
    """How far the old version is.

    Attributes:
        batch: its last micro-batch whose rows count. It may have planned another one.
    """

    home: QueryHome
    batch: int


def plan_first(
    old: ReachedBatch, new: QueryHome, sources: Sequence[str], clock: str | None, whole: Sequence[int] = ()
) -> None:
    """Plan the first micro-batch with rows, up to the place of the old version.

    Args:
        new: its first micro-batch has taken nothing.
        sources: how Spark describes those of the new version, from ``begin_empty``.
        clock: see ``QueryHome.own_sources``.
        whole: the numbers of sources that are read as far as they go: the old version has read other rows there.

    Raises:
        SqlExtError: RUN-027, RUN-084 where the two do not read the same sources.
    """
    own = [n for n, text in enumerate(sources) if begins_anew(text, new.own_sources(clock), new.fed_back)]
    new.note_own_sources(own)
    _require_same_readers(old.home, new)
    version, settings, *taken = lines_of(new.location, f"{_OFFSETS}/0")
    wanted = [
        end if n in whole else there for n, (end, there) in enumerate(zip(taken, _wanted(old, new, taken), strict=True))
    ]
    _take_over(old.home, new)
    new.location.put(f"{_OFFSETS}/0", "\n".join([version, settings, *[NOTHING] * len(taken)]))
    _plan(new.location, 1, wanted)


def plan_next(old: ReachedBatch, new: QueryHome) -> bool:
    """Plan a micro-batch with what the old version has read since; return whether there is anything."""
    if _reached_by(old, new):
        return False
    plan_as(old, new, watermark=False)
    return True


def plan_as(old: ReachedBatch, new: QueryHome, *, watermark: bool) -> None:
    """Plan a micro-batch up to the end of one of the old version.

    Args:
        watermark: whether it gets the watermark of that one too; else its own.
    """
    wanted = _wanted(old, new, ends_of(new.location, CHECKPOINT))
    _take_over(old.home, new)
    mark = watermark_in(old.home.location, old.batch) if watermark else None
    _plan(new.location, last_number(new.location, _OFFSETS) + 1, wanted, mark)


def _reached_by(old: ReachedBatch, new: QueryHome, *, watermark: bool = False) -> bool:
    """Return whether the new version has read what a micro-batch of the old one has.

    Args:
        watermark: whether it must have had its watermark as well.
    """
    taken = ends_of(new.location, CHECKPOINT)
    if _wanted(old, new, taken) != taken:
        return False
    last = last_number(new.location, _OFFSETS)
    return not watermark or watermark_in(old.home.location, old.batch) <= watermark_in(new.location, last)


def first_cut(old: ReachedBatch) -> ReachedBatch:
    """Return the first micro-batch of the old version that is still known; what lies before it is read with it."""
    return next(_cuts(old))


def next_cut(old: ReachedBatch, new: QueryHome, *, alike: bool) -> ReachedBatch | None:
    """Return up to which micro-batch of the old version the new one reads next; None if it has come to its place.

    Args:
        alike: whether both have the same watermark. Else micro-batches without rows tell nothing.
    """
    cuts = list(_cuts(old))
    done = [n for n, cut in enumerate(cuts) if _reached_by(cut, new, watermark=alike)]
    # What the new one has read the old one may have forgotten by now: it keeps its last micro-batches.
    left = cuts[done[-1] + 1 :] if done else cuts
    return left[0] if left else None


def plan_watermark(new: QueryHome, old: ReachedBatch | None = None) -> bool:
    """Plan a micro-batch without rows, if the watermark has moved behind the last one; return whether it has.

    Args:
        old: whose watermark it gets: that by which it has closed windows. None: its own.
    """
    last = last_number(new.location, _COMMITS)
    reached = _watermark(new.location, last) if old is None else watermark_in(old.home.location, old.batch)
    if reached <= watermark_in(new.location, last):
        return False
    _plan(new.location, last + 1, ends_of(new.location, CHECKPOINT), reached)
    return True


def first_ends(home: QueryHome) -> Sequence[str]:
    """Return how far each source of a query goes, by its first micro-batch, which has taken nothing."""
    return lines_of(home.location, f"{_OFFSETS}/0")[2:]


def last_ends(home: QueryHome) -> Sequence[str]:
    """Return where each source of a query was at the end of its last micro-batch."""
    return ends_of(home.location, CHECKPOINT)


def move_ends(home: QueryHome, moved: Callable[[Sequence[str]], Sequence[str | None]]) -> None:
    """Give sources other places in all micro-batches that Spark remembers; a second time is none.

    Args:
        moved: returns the new place of each source, None for one that stays.
    """
    for number in _numbers(home.location):
        version, settings, *ends = lines_of(home.location, f"{_OFFSETS}/{number}")
        now = [new if new is not None else end for end, new in zip(ends, moved(ends), strict=True)]
        if now != ends:
            home.location.put(f"{_OFFSETS}/{number}", "\n".join([version, settings, *now]))


def keep_watermark(new: QueryHome, old: ReachedBatch) -> None:
    """Let the watermark of the next micro-batch be what it would be for the old version; a second time is none."""
    last, place = last_number(new.location, _COMMITS), old.home.location
    # The micro-batch without rows has moved it no further than it was told.
    found = [_watermark(new.location, n) for n in (last - 1, last) if n >= 0]
    if old.batch <= last_number(place, _COMMITS):
        found.append(_watermark(place, old.batch))
    if max(found) > _watermark(new.location, last):
        version, text, *more = lines_of(new.location, f"{_COMMITS}/{last}")
        changed = json.dumps({**json.loads(text), "nextBatchWatermarkMs": max(found)})
        new.location.put(f"{_COMMITS}/{last}", "\n".join([version, changed, *more]))


def _cuts(old: ReachedBatch) -> Iterator[ReachedBatch]:
    """Yield the last one of all micro-batches in a row that had the same watermark, behind the same watermark."""
    place = old.home.location
    known = [n for n in _numbers(place) if n <= old.batch]
    # Before it was scheduled, or endless, it had other sources beside the user's, whose places stand otherwise.
    counts = {n: len(lines_of(place, f"{_OFFSETS}/{n}")) for n in known}
    known = [n for n in known if all(counts[m] == counts[known[-1]] for m in known if m >= n)]
    marks = {n: watermark_in(place, n) for n in known}
    for _, same in groupby(known, lambda n: (marks.get(n - 1), marks[n])):
        yield ReachedBatch(old.home, list(same)[-1])


def _numbers(place: Location) -> list[int]:
    return sorted(int(name) for name in place.names(_OFFSETS) if name.isdecimal())


def _wanted(old: ReachedBatch, new: QueryHome, taken: Sequence[str]) -> list[str]:
    """Return where each source of the new version must be, to be where the old one is."""
    ends = lines_of(old.home.location, f"{_OFFSETS}/{old.batch}")[2:]
    wanted = list(taken)
    for before, now in _matched(old.home, new, len(ends), len(taken)):
        wanted[now] = moved_line(ends[before], taken[now])
    return wanted


def _matched(old: QueryHome, new: QueryHome, before: int, now: int) -> list[tuple[int, int]]:
    """Return the numbers that each source of the user's has in the old version and in the new one."""
    theirs = old.sources_of_the_user(CHECKPOINT, before)
    ours = new.sources_of_the_user(CHECKPOINT, now)
    if len(theirs) != len(ours):
        raise _other_sources(new, f"it has {len(ours)} sources, and had {len(theirs)}")
    return list(zip(theirs, ours, strict=True))


def _require_same_readers(old: QueryHome, new: QueryHome) -> None:
    """Refuse a version whose readers of ours keep what they remember under other names."""
    theirs, ours = ({name.partition("/")[0] for name in home.sources.names()} for home in (old, new))
    if theirs != ours:
        raise _other_sources(new, "its readers keep other places")


def _other_sources(new: QueryHome, why: str) -> SqlExtError:
    return SqlExtError(
        "RUN-084",
        f"query `{new.name}` cannot run beside the version that is there: {why}",
        hint="another 'pipeline.name' and another table leave the old one alone",
    )


def _take_over(old: QueryHome, new: QueryHome) -> None:
    """Copy what Spark and our own readers remember of sources: which files there are, where Kafka began."""
    ends = ends_of(new.location, CHECKPOINT)
    theirs = len(ends_of(old.location, CHECKPOINT))
    for before, now in _matched(old, new, theirs, len(ends)):
        _copy(old.location, f"{CHECKPOINT}/sources/{before}", new.location, f"{CHECKPOINT}/sources/{now}")
    _copy(old.location, _READERS, new.location, _READERS)


def _copy(source: Location, folder: str, target: Location, name: str) -> None:
    target.store.remove(name)
    # From the last one down: a reader that merges entries meanwhile adds those that go to an earlier one.
    for key in sorted(source.names(folder), reverse=True):
        found = source.store.read(f"{folder}/{key}")
        if found is not None:  # a running reader may have tidied up
            target.store.write(f"{name}/{key}", found.data)


def _plan(place: Location, number: int, ends: Sequence[str], watermark: int | None = None) -> None:
    """Write the offsets of a micro-batch as Spark would, behind those of the one before.

    Args:
        watermark: None: that behind the one before.
    """
    version, text, *_ = lines_of(place, f"{_OFFSETS}/{number - 1}")
    settings = json.loads(text)
    # On a restart Spark takes this setting from the log (OffsetSeqMetadata), and these batches must read their sources.
    settings["conf"][PRUNES] = "false"
    settings["batchWatermarkMs"] = _watermark(place, number - 1) if watermark is None else watermark
    settings["batchTimestampMs"] = time.time_ns() // 1_000_000
    place.put(f"{_OFFSETS}/{number}", "\n".join([version, json.dumps(settings), *ends]))


def _watermark(place: Location, number: int) -> int:
    """Return the watermark behind a micro-batch that is done."""
    return int(json.loads(lines_of(place, f"{_COMMITS}/{number}")[1])["nextBatchWatermarkMs"])
