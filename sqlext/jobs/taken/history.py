"""Read which micro-batch of a query took which file or row, and what time it was then.

An end of a source is a number for each split, or stands for files. These are in ``sources/<view>`` where a reader of
ours numbers them, and in ``checkpoint/sources`` where Spark does.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlext.jobs.query_files import COMMITS, HERE, last_number
from sqlext.jobs.taken.logs import OFFSETS, LoggedBatch, found_files, logged_batches, own_sources
from sqlext.jobs.taken.model import END, BatchTime, QueryHistory, Taken, TakenRows, path_key
from sqlext.jobs.taken.ticks import tick_times
from sqlext.sources.file_log import FileLog
from sqlext.stores.location import Location
from sqlext_udfs.kernel.clock import END_OF_INPUT

#: The source of files that a reader of ours gives has one split of this name.
_FILES = "files"


@dataclass(frozen=True)
class TableRead:
    """A table that a query reads as a stream.

    Attributes:
        table: its name.
        reached: the positions by split that an end stands for (``TableReader.reached``); None where a log of files
            says it, or nobody knows.
    """

    table: str
    reached: Callable[[Mapping[str, object]], Mapping[str, int]] | None = None


def query_history(place: Location, began: int | None, reads: Sequence[TableRead], *, at_once: bool) -> QueryHistory:
    """Return what is known of a query's micro-batches.

    Args:
        place: the query's folder.
        began: when it began, in ms since 1970 UTC.
        reads: the tables that it reads as streams, as they stand in its text.
        at_once: whether Spark runs it as one batch without state.
    """
    here = last_number(place, HERE)
    if here >= 0 and last_number(place, OFFSETS) < 0:
        return _of_this_process(place, here, began, reads)
    try:
        batches = logged_batches(place)
        if not batches:
            return QueryHistory(tables=[TakenRows() for _ in reads])
        own = own_sources(place)
        times = _times(place, batches, own, at_once)
        if at_once:  # its only stream is a row without meaning
            whole = Taken(batches[0].number, None)
            return QueryHistory(times, [TakenRows(whole=whole, until=began) for _ in reads])
        sources = _numbers(reads, [n for n in range(len(batches[0].ends)) if n not in own])
        tables = [_taken(place, batches, number, reads, place_of) for place_of, number in enumerate(sources)]
        # One that is planned and not done has closed nothing yet.
        done = [batch.watermark for batch in batches if batch.done] or [batches[-1].watermark]
        return QueryHistory(times, tables, done[-1] or None)
    except (OSError, ValueError, KeyError, TypeError, IndexError):  # another version's
        return QueryHistory(tables=[TakenRows() for _ in reads])


def _of_this_process(place: Location, batch: int, began: int | None, reads: Sequence[TableRead]) -> QueryHistory:
    """Return what a query without Spark has noted: one batch, at the end of its input, or its micro-batches."""
    whole, noted = Taken(batch, None), _noted(place, batch)
    if "moment" in noted:
        return _of_stream(place, reads)
    ends: Mapping[str, Mapping[str, int]] = noted.get("ends", {})
    tables = [TakenRows(whole=whole, until=began, ends=ends.get(read.table)) for read in reads]
    return QueryHistory([BatchTime(batch, END, None, noted.get("at"))], tables)


def _of_stream(place: Location, reads: Sequence[TableRead]) -> QueryHistory:
    """Return what a query without an end has noted in this process."""
    done = last_number(place, COMMITS)
    numbers = sorted(int(name) for name in place.names(HERE) if name.isdecimal())
    noted = [(number, found) for number in numbers if "moment" in (found := _noted(place, number))]
    moments = [found["moment"] for _, found in noted]
    times = [
        BatchTime(number, moment["watermark"], moment["late"], moment["clock"])
        for (number, _), moment in zip(noted, moments, strict=True)
        if number <= done
    ]
    # Its windows end by the watermark of its own rows. While it waits that may move on, and judges the rows to come.
    judging = [*(moment["late"] or 0 for moment in moments[1:]), 0]
    batches = [
        LoggedBatch(number, late, found.get("at"), [found["ends"].get(r.table, {}) for r in reads], number <= done)
        for (number, found), late in zip(noted, judging, strict=True)
    ]
    tables = [_taken(place, batches, n, reads, n) for n in range(len(reads))]
    return QueryHistory(times, tables, times[-1].watermark if times else None)


def _noted(place: Location, batch: int) -> Mapping[str, Any]:
    try:
        found = json.loads(place.text(f"{HERE}/{batch}") or "{}")  # older versions have noted nothing
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _times(place: Location, batches: Sequence[LoggedBatch], own: Iterable[int], at_once: bool) -> list[BatchTime]:
    ticks = tick_times(place, batches, own)
    times, before, ended = [], None, at_once
    for batch in batches:
        tick = ticks.get(batch.number)
        ended = ended or tick == END or batch.watermark >= END_OF_INPUT
        watermark = END if ended else batch.watermark or None
        if batch.done:
            clock = batch.at if tick in (None, END) else tick
            times.append(BatchTime(batch.number, watermark, before, clock))
        before = watermark
    return times


def _numbers(reads: Sequence[TableRead], theirs: Sequence[int]) -> Sequence[int | None]:
    """Return the number of each table's source among those of the user.

    Spark numbers sources as they stand in a query. A table that is read twice is one source, or two.
    """
    if len(theirs) == len(reads):
        return list(theirs)
    tables = list(dict.fromkeys(read.table for read in reads))
    if len(theirs) == len(tables):
        return [theirs[tables.index(read.table)] for read in reads]
    return [None] * len(reads)


def _taken(
    place: Location, batches: Sequence[LoggedBatch], source: int | None, reads: Sequence[TableRead], number: int
) -> TakenRows:
    """Return what a query took of the table that it reads as so many others stand before it."""
    if source is None:
        return TakenRows()
    read = reads[number]
    batches = _by_one_reader(batches, source)
    ends = [batch.ends[source] for batch in batches]
    splits = [read.reached(end) if read.reached is not None else {} for end in ends]
    if any(splits):
        return TakenRows(by_split=_by_split(batches, ends, splits))
    before = sum(other.table == read.table for other in reads[:number])
    ours = any(_FILES in end for end in ends)
    files = _our_files(place, read.table, before) if ours else ((f.batch, f.path) for f in found_files(place, source))
    return TakenRows(dict(_by_path(batches, ends, files)))


def _by_one_reader(batches: Sequence[LoggedBatch], source: int) -> Sequence[LoggedBatch]:
    """Return the micro-batches since another reader of files goes on: what it took over has no batch of its own."""
    ours = [(number, _FILES in batch.ends[source]) for number, batch in enumerate(batches) if batch.ends[source]]
    others = [number for number, by_us in ours if by_us != ours[-1][1]]
    return batches[others[-1] + 1 :] if others else batches


def _judging(batches: Sequence[LoggedBatch], index: int) -> Taken:
    """Return a micro-batch; its rows are judged by the watermark of the one before."""
    return Taken(batches[index].number, (batches[index - 1].watermark or None) if index else None)


def _by_path(
    batches: Sequence[LoggedBatch], ends: Sequence[Mapping[str, Any]], files: Iterable[tuple[int, str]]
) -> Iterator[tuple[str, Taken]]:
    counts = [_count(end) for end in ends]
    for position, path in files:
        index = bisect_left(counts, position + 1)
        # What came before the first batch that is kept was taken by one of those that are gone.
        if index < len(batches) and (index > 0 or batches[0].number == 0):
            yield path_key(path), _judging(batches, index)


def _by_split(
    batches: Sequence[LoggedBatch], ends: Sequence[Mapping[str, Any]], splits: Sequence[Mapping[str, int]]
) -> Mapping[str, Sequence[tuple[int, Taken]]]:
    """Return the ends of micro-batches by split; nothing where one of them is not understood."""
    if any(end and not reached for end, reached in zip(ends, splits, strict=True)):
        return {}
    names = {split for reached in splits for split in reached}
    taken = [_judging(batches, index) for index in range(len(batches))]
    return {name: [(reached.get(name, 0), each) for reached, each in zip(splits, taken, strict=True)] for name in names}


def _count(end: Mapping[str, Any]) -> int:
    """Return how many files lie before an end."""
    if not end:
        return 0
    return int(end[_FILES]) if _FILES in end else int(end["logOffset"]) + 1


def _our_files(place: Location, table: str, before: int) -> Iterator[tuple[int, str]]:
    """Yield positions and paths of the files that a reader of ours has admitted.

    Args:
        before: how often the query reads the table before.
    """
    clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in table)
    view = re.compile(rf"sqlext_{clean}(?:_(\d+))?")  # as ``Environment.source_view`` names it
    folders = {name.partition("/")[0] for name in place.names("sources") if name.endswith(".json")}
    own = {int(found[1] or 1): found[0] for found in map(view.fullmatch, folders) if found is not None}
    if not own:
        return
    log = FileLog(place.below("sources").below(own[sorted(own)[min(before, len(own) - 1)]]))
    yield from enumerate(file.path for file in log.between(0, len(log)))
