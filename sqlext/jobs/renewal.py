"""Let a query that its checkpoint no longer fits go on from its place, with a new checkpoint.

Spark's checkpoint has two parts: how far each source was read (``offsets``, ``commits``, ``sources``), and the state of
operators. A renewal takes these steps:

1. Spark begins a new checkpoint with a micro-batch that takes nothing. So its state is empty, or that of the old
   checkpoint in other buckets.
2. The old checkpoint's place is written over the place of that micro-batch. Every source goes on from there.

Where only the sources are others, the checkpoint stays, and what it says of them is written anew (``rearrangement``).

Sources in the query's own folder (heartbeats, ticks) begin anew, but for the dead letters that come back once. So does
the watermark: the old one followed the old rule. Where state goes along, the watermark does too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlext.analysis.inserts.changes import changes
from sqlext.analysis.inserts.fingerprint import digest
from sqlext.connectors.places import moved_line
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import DIVIDED, QueryHome
from sqlext.jobs.decisions import hands_over, rearranges, rebuckets
from sqlext.jobs.handover.ends import FirstBatch, Handover, ReadTables
from sqlext.jobs.progress import begins_anew
from sqlext.jobs.query_files import TIME, last_number
from sqlext.jobs.rearrangement import last_offsets, rearrange
from sqlext.jobs.runs import QueryRun
from sqlext.spark.reading.views import CarriedState
from sqlext.spark.sessions import patiently
from sqlext.spark.settings_scope import spark_settings
from sqlext.stores.location import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Below the query's folder: its checkpoint, and one that is made only to ask Spark for its sources.
CHECKPOINT, SCRATCH = "checkpoint", "scratch"
#: What Spark writes for a source that has not been read.
NOTHING = "-"
#: Whether what is filtered out as a whole is not even read.
PRUNES = "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan"


#: Begins a checkpoint in a folder below the query's, and returns what its first micro-batch tells. State that is still
#: to be divided is only put at its place.
Sources = Callable[[str, CarriedState | None], FirstBatch]


def begin_empty(rows: DataFrame, home: QueryHome, output_mode: str, folder: str) -> FirstBatch:
    """Run a first micro-batch that takes nothing, and return what it tells of its sources.

    Args:
        rows: the query's, its sources filtered out.
        output_mode: Spark's.
        folder: of the checkpoint, below the query's.

    Raises:
        SqlExtError: RUN-027 where Spark cannot: no source has anything now, for instance.
    """
    # ``once`` makes one micro-batch whatever the limits of the sources; ``availableNow`` could make several.
    writer = rows.writeStream.format("noop").outputMode(output_mode).trigger(once=True)
    try:
        with spark_settings(rows.sparkSession, {PRUNES: "true"}):
            query = patiently(writer.option("checkpointLocation", f"{home.location.for_spark}/{folder}").start)
        query.awaitTermination()
    except Exception as error:
        raise _impossible(home, str(error).partition("\n")[0]) from error
    report = query.lastProgress
    # Spark runs no micro-batch where no source has data, and then there is no place to write over.
    if report is None or last_number(home.location, f"{folder}/commits") != 0:
        raise _impossible(home, "its sources have nothing now that would say how they are to be read")
    return FirstBatch(folder, [source.description for source in report.sources], ends_of(home.location, folder))


def refit(
    home: QueryHome, run: QueryRun, clock: str | None, sources: Sources, reads: ReadTables, *, at_once: bool
) -> None:
    """Give a query whose checkpoint does not fit as it is one that does; the run begins later.

    One that leaves its state behind gets a checkpoint that has its place. One whose state is to have other buckets
    gets one that has its state too. One that becomes endless, or scheduled, or has other readers, keeps its own.
    Closing the folder puts back what is set aside or overwritten here.

    Args:
        run: under which it goes on.
        clock: see ``QueryHome.own_sources``.
        sources: begins a checkpoint.
        reads: the tables of the query as it is now.
        at_once: whether it is one batch.

    Raises:
        SqlExtError: RUN-027 where it cannot go on.
    """
    before = home.run()
    if before is None:
        return
    found = changes(before.fingerprint, run.fingerprint)
    renews, carries = run.renews(before), rebuckets(found)
    if not renews and not rearranges(found) and not hands_over(found):
        return
    # Without a micro-batch there is no place to keep, and no state.
    is_kept = not at_once and last_number(home.location, f"{CHECKPOINT}/offsets") >= 0
    state = f"{home.location.for_spark}/{DIVIDED}"
    if carries and is_kept:
        sources(SCRATCH, CarriedState(state, home.checkpoint))
    old = home.set_aside(keeps=(TIME,) if carries else ()) if renews else CHECKPOINT
    if not is_kept:
        return
    if not renews:
        folders = sorted({name.partition("/")[0] for name in home.sources.names()})
        first = sources(SCRATCH, None)
        handover = Handover(home, first, reads, folders) if hands_over(found) else None
        move_sources(home, first.sources, clock, digest(run.fingerprint), handover)
        home.location.store.remove(SCRATCH)
        return
    first = sources(CHECKPOINT, CarriedState(state, None) if carries else None)
    carry_over(old, home, first.sources, clock, watermark=carries)


def carry_over(
    old: str, home: QueryHome, sources: Sequence[str], clock: str | None, *, watermark: bool = False
) -> None:
    """Make the place of a query's first micro-batch the one that an old checkpoint has.

    Args:
        old: what ``QueryHome.set_aside`` returned.
        sources: what ``begin_empty`` returned.
        clock: see ``QueryHome.own_sources``.
        watermark: whether it goes on from where it is.

    Raises:
        SqlExtError: RUN-027 where the old query had more sources, or less.
    """
    place, store = home.location, home.location.store
    ends = ends_of(place, old)
    moved = _one_by_one(home, *_users(home, old, len(ends), sources, clock))
    carried = [NOTHING] * len(sources)
    for n in range(len(sources)):
        # What the empty batch noted there does not belong to the old offsets.
        store.remove(f"{CHECKPOINT}/sources/{n}")
    for now, before in moved.items():
        carried[now] = moved_line(ends[before])
        for name in list(place.names(f"{old}/sources/{before}")):
            kept = store.read(f"{old}/sources/{before}/{name}")
            store.write(f"{CHECKPOINT}/sources/{now}/{name}", kept.data if kept is not None else b"")
    reached = _reached(place, old) if watermark else 0
    _write_ends(place, f"{CHECKPOINT}/offsets/0", carried, reached)
    if watermark:
        version, text, *more = lines_of(place, f"{CHECKPOINT}/commits/0")
        changed = json.dumps({**json.loads(text), "nextBatchWatermarkMs": reached})
        place.put(f"{CHECKPOINT}/commits/0", "\n".join([version, changed, *more]))


def move_sources(
    home: QueryHome, sources: Sequence[str], clock: str | None, mark: str, handover: Handover | None = None
) -> None:
    """Give the sources of a query's checkpoint the numbers that they have now; its state stays.

    Args:
        sources: what ``begin_empty`` returned, for a checkpoint elsewhere.
        clock: see ``QueryHome.own_sources``.
        mark: see ``rearrangement.rearrange``.
        handover: to other readers, if there are others.

    Raises:
        SqlExtError: RUN-027 where the old query had more sources, or less, or another reader cannot have a place.
    """
    offsets = {key: lines_of(home.location, key)[2:] for key in last_offsets(home.location)}
    theirs, ours = _users(home, CHECKPOINT, len(ends_of(home.location, CHECKPOINT)), sources, clock)
    if handover is None:
        rearrange(home.location, _one_by_one(home, theirs, ours), len(sources), mark)
        return
    moved = handover.joined(theirs, ours, offsets) or _one_by_one(home, theirs, ours)
    rearrange(home.location, moved, len(sources), mark, handover.handed(offsets, moved))


def _users(
    home: QueryHome, old: str, count: int, sources: Sequence[str], clock: str | None
) -> tuple[list[int], list[int]]:
    """Return the numbers of the user's sources in a checkpoint, and those that they have now."""
    theirs = home.sources_of_the_user(old, count)
    own = home.own_sources(clock)
    return theirs, [n for n, description in enumerate(sources) if not begins_anew(description, own, home.fed_back)]


def _one_by_one(home: QueryHome, theirs: Sequence[int], ours: Sequence[int]) -> dict[int, int]:
    if len(theirs) != len(ours):
        raise _impossible(home, f"it has {len(ours)} sources, and had {len(theirs)}")
    return dict(zip(ours, theirs, strict=True))


def ends_of(place: Location, checkpoint: str) -> list[str]:
    """Return where each source was at the end of the last micro-batch, as Spark writes it."""
    # Spark's OffsetSeqLog: a line with the version, one with metadata, then one for each source.
    return lines_of(place, f"{checkpoint}/offsets/{last_number(place, f'{checkpoint}/offsets')}")[2:]


def _reached(place: Location, checkpoint: str) -> int:
    """Return the watermark (ms) behind the last micro-batch, which is done."""
    last = last_number(place, f"{checkpoint}/commits")
    return int(json.loads(lines_of(place, f"{checkpoint}/commits/{last}")[1])["nextBatchWatermarkMs"])


def _write_ends(place: Location, key: str, ends: Sequence[str], watermark: int) -> None:
    version, settings, *_ = lines_of(place, key)
    found = json.loads(settings)
    # On a restart Spark takes this setting from the log (OffsetSeqMetadata), and later batches must read their sources.
    found["conf"][PRUNES] = "false"
    place.put(key, "\n".join([version, json.dumps({**found, "batchWatermarkMs": watermark}), *ends]))


def lines_of(place: Location, key: str) -> list[str]:
    """Return the lines of one of Spark's logs."""
    text = place.text(key)
    if text is None:
        raise FileNotFoundError(f"{place.place}/{key}")
    return text.splitlines()


def _impossible(home: QueryHome, why: str) -> SqlExtError:
    return SqlExtError(
        "RUN-027",
        f"query `{home.name}` cannot go on from where it was: {why}",
        hint="another 'pipeline.name' leaves the old one alone; DROP QUERY starts it anew",
    )
