"""Keep a query's place: one folder a query, owned by one driver, tied to one plan.

<catalog>/queries/<name>/     (or <checkpoint>/<name>/, where ``--checkpoint`` names a folder, or a URL)
    lease/           whose it is, and until when (``sqlext.stores.lease``): that of the driver that runs the query
    run.json         the run's id, its plan's fingerprint, whether it came to its end
    checkpoint/      Spark's own checkpoint
    heartbeat/       the row that ends a bounded input
    ticks/           the tick with which it begins, where an operator asks what time it is
    sources/         what readers of our own must remember
    replays/         the dead letters that are fed back into it, into each of its versions (``replays``)
    progress/        its plan, how it went, and why it failed (``recording``)
    time/            heartbeats, and what its time keeper knows (``timekeeping``), where its input has no end
    staging/         what a sink keeps until the end
    sinks/           what it has committed (``sinks.commit_notes``)
    rearranged.json  while the sources of its checkpoint get other numbers: what was there (``rearrangement``)
    divided/         while its state is divided into other buckets: that state (``renewal``)
    local/           the batches that were begun without Spark
    commits/         those that are done, of a query without an end, with its state (``jobs.local.commits``)
    levels/          the levels of its large states
    before/          while a checkpoint is made that goes on from another's place: what was there (``renewal``)
    versions/        the same of versions that were deployed, and ``versions.json`` says which is the current one
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from types import TracebackType
from typing import Any

from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext.analysis.inserts.fingerprint import Fingerprint, digest
from sqlext.errors import SqlExtError
from sqlext.jobs.damage import damage_of, unreadable_file
from sqlext.jobs.query_files import (
    COMMITS,
    HERE,
    LEVELS,
    PROGRESS,
    REPLAYS,
    TIME,
    folder_name,
    last_number,
    query_folder,
)
from sqlext.jobs.rearrangement import undo
from sqlext.jobs.runs import QueryRun, run_from_json
from sqlext.jobs.versions import FILE as VERSIONS_FILE
from sqlext.jobs.versions import FOLDER as VERSIONS
from sqlext.jobs.versions import version_location, versions_of
from sqlext.locations import PathOrText
from sqlext.settings import LEAVES_STATE, TAKES_OVER
from sqlext.sinks.commit_notes import SINKS
from sqlext.stores import lease
from sqlext.stores.checksums import damaged_file
from sqlext.stores.fence import Fence, lost
from sqlext.stores.lease import FencedError, HeldError, Lease, Term
from sqlext.stores.location import Location, StoreSettings

#: In Spark's checkpoint: the run that it belongs to. Sinks know a run's batches by their numbers, so a checkpoint
#: that was removed, emptied or exchanged must not go on under the same run: its first batches would be taken for
#: repetitions and dropped.
_MARK = "sqlext-run"
#: Beside it: which of the sources that Spark counts in there are none of the user's, as JSON.
_OWN = "sqlext-own-sources"
_RUN = "run.json"
_CHECKPOINT = "checkpoint"
_HEARTBEAT = "heartbeat"
_TICKS = "ticks"
_SOURCES = "sources"
_STAGING = "staging"
_BEFORE = "before"
#: State in other buckets, until the run begins that has them.
DIVIDED = "divided"
#: What goes with the state of a query, its checkpoint first.
_STATE = (_CHECKPOINT, _HEARTBEAT, _TICKS, TIME, _STAGING, HERE, COMMITS, LEVELS)
#: In place of a time: the input has ended (``sqlext_udfs.kernel.operator.Clock.END``).
END_TICK = (1 << 63) - 1


class QueryHome:
    """A query's folder, this driver's own while this object is open.

    Args:
        root: the catalog's folder.
        name: the query's name, any text.
        checkpoint: the folder where checkpoints go, if not into the catalog's.
        settings: Spark's, for URLs.
        looks: it is only looked at: it belongs to nobody, and nothing may be written.
        force: it is taken also from a driver that has it, which writes no more then (RUN-029).
        version: one of those that were deployed (``versions``), None for the current one.

    Raises:
        SqlExtError: RUN-022 if another driver has it. Every method raises ENV-011, RUN-015 where its store does.
    """

    def __init__(
        self,
        root: PathOrText,
        name: str,
        checkpoint: str | None = None,
        *,
        settings: StoreSettings | None = None,
        looks: bool = False,
        force: bool = False,
        version: str | None = None,
    ) -> None:
        self.name = name
        self.folder = query_folder(root, name, checkpoint, settings)
        self.version = versions_of(self.folder).current if version is None else version
        self.location = version_location(self.folder, self.version)
        self._lease = None if looks else self._taken(force)
        if not looks:
            self._refuse_if_replaced(version)
            self._settle()

    def __enter__(self) -> QueryHome:
        """Return itself; leaving the block gives the folder free."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the folder free."""
        self.close()

    @property
    def checkpoint(self) -> str:
        """The location of Spark's checkpoint, as Spark names it."""
        return f"{self.location.for_spark}/{_CHECKPOINT}"

    @property
    def staging(self) -> str:
        """A folder for what a sink has to keep until the end, as Spark names it."""
        return f"{self.location.for_spark}/{_STAGING}"

    @property
    def heartbeat(self) -> Location:
        """The folder of the row that ends a bounded input."""
        return self.location.below(_HEARTBEAT)

    @property
    def ticks(self) -> Location:
        """The folder of the tick with which it begins."""
        return self.location.below(_TICKS)

    @property
    def fence(self) -> Fence:
        """What lets nobody but this driver write."""
        assert self._lease is not None
        return Fence(self.name, self.location, self._lease.term, taken_over=self._lease.previous is not None)

    @property
    def taken_from(self) -> Term | None:
        """The lease of a driver that may still live, and from which the folder was taken; None if it was free."""
        return self._lease.previous if self._lease is not None else None

    def refuse_if_held(self) -> None:
        """Raise RUN-022 if a driver has the folder; for one that is only looked at."""
        term = lease.holder(self.location.store)
        if term is not None:
            raise self._runs_already(term)

    def refuse_if_lost(self) -> None:
        """Raise RUN-029 if the folder has become another driver's, as far as is known without a look."""
        if self._lease is not None and self._lease.lost is not None:
            raise lost(self.name, self._lease.lost)

    def own_sources(self, clock: str | None) -> tuple[str, ...]:
        """Return the folders of what it reads as streams and what is none of the user's rows.

        Args:
            clock: the folder of files that its clock is, None for the machine's.
        """
        places = (self.location, *(() if clock is None else (Location.of(clock),)))
        # Dead letters of the user's rows were counted when they came first.
        return (*map(self._described, places), self.fed_back)

    @staticmethod
    def _described(place: Location) -> str:
        return place.for_spark if place.path is None else str(place.path.resolve())

    @property
    def sources(self) -> Location:
        """The folder of what readers of ours must remember, a folder for each."""
        return self.location.below(_SOURCES)

    @property
    def time(self) -> Location:
        """The folder of its time keeper."""
        return self.location.below(TIME)

    def replays(self, table: str) -> Location:
        """Return the folder of the dead letters that are fed back as rows of a table, whichever version reads them."""
        return self.folder.below(REPLAYS).below(folder_name(table))

    @property
    def fed_back(self) -> str:
        """The folder of all dead letters that are fed back, as Spark describes its sources."""
        return self._described(self.folder.below(REPLAYS))

    @property
    def progress(self) -> Location:
        """The folder of how it goes; it outlives the state."""
        return self.location.below(PROGRESS)

    def run(self) -> QueryRun | None:
        """Return the run that was begun here last, None if there is none.

        Raises:
            SqlExtError: RUN-023 if it cannot be read.
        """
        try:
            found = self.location.json(_RUN)
            return run_from_json(found) if found is not None else None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self.damaged(f"`{self.location.place}/{_RUN}` is damaged") from None

    def check(self, previous: QueryRun | None, fingerprint: Fingerprint, *, leaves_state: bool = False) -> bool:
        """Refuse to go on from what lies here.

        Args:
            leaves_state: whether it may go on from its place alone.

        Returns:
            Whether it must do so.

        Raises:
            SqlExtError: RUN-020 the query changed, naming what; RUN-021 the checkpoint is not that of ``previous``;
                RUN-023 a part of it is missing; RUN-024 it is gone; RUN-026 what becomes of its rows changed
                within a micro-batch.
        """
        leaves = previous is not None and self._compare(previous.fingerprint, fingerprint, leaves_state)
        mark, used = self._read_mark(), self._is_used()
        if (previous is None and not used and self.last_batch() < 0) or (
            previous is not None and mark == previous.checkpoint_id
        ):
            if used and (wrong := damage_of(self.location, _CHECKPOINT)) is not None:
                raise self.damaged(f"the checkpoint of query `{self.name}` is damaged: {wrong}")
            return leaves
        if previous is not None and mark is None and not used:
            raise self.gone()
        raise self._of_something_else(previous, mark)

    def damage(self, said: str | None) -> SqlExtError | None:
        """Return the failure of a checkpoint with a damaged file (RUN-023), None if none is seen.

        Args:
            said: what Spark says, where it says that something of the checkpoint is damaged; it may not say which file.
        """
        path = self.location.path
        if path is None:
            return None
        folder = path / _CHECKPOINT
        what = damaged_file(folder) or unreadable_file(folder)
        if what is None and said is not None:
            what = f"it is a file below `{folder}`. Spark says: {said}"
        return self.damaged(f"the checkpoint of query `{self.name}` is damaged: {what}") if what is not None else None

    def _of_something_else(self, previous: QueryRun | None, mark: str | None) -> SqlExtError:
        hint = "give another --checkpoint, or remove that folder"
        if previous is None:
            why = f"`{self.location.place}/{_RUN}` is not there"
            hint = f"{hint}; if it is the query's own, put that file back, or DROP QUERY `{self.name}` starts it anew"
        else:
            file = f"{self.location.place}/{_CHECKPOINT}/{_MARK}"
            why = f"`{file}` is not there" if mark is None else f"`{file}` names another run"
            hint = f"{hint}; if it is the query's own, write {previous.checkpoint_id} into that file, and it goes on"
        return SqlExtError("RUN-021", f"`{self.checkpoint}` holds a checkpoint of something else: {why}", hint=hint)

    def damaged(self, what: str) -> SqlExtError:
        """Return the refusal of a query whose place cannot be read (RUN-023)."""
        return SqlExtError("RUN-023", what, hint=f"{self._anew}, without what it has in state")

    def gone(self) -> SqlExtError:
        """Return the refusal of a query whose checkpoint was removed (RUN-024)."""
        mark = f"`{self.location.place}/{_CHECKPOINT}/{_MARK}`"
        lost = f"nothing lies at `{self.checkpoint}`, not even {mark}"
        if self._read_mark() is not None:
            lost = f"`{self.location.place}/{_RUN}` is not there"
        return SqlExtError(
            "RUN-024",
            f"the checkpoint of query `{self.name}` is gone: {lost}",
            hint=f"put it back; DROP QUERY `{self.name}` starts it anew, and what it wrote before stays",
        )

    def require_noted_sources(self) -> None:
        """Raise RUN-027 if nothing says which of the sources in Spark's checkpoint are the user's."""
        if last_number(self.location, f"{_CHECKPOINT}/offsets") >= 0:
            self.sources_of_the_user(_CHECKPOINT, 0)

    def note_own_sources(self, places: Sequence[int]) -> None:
        """Remember which of the sources in Spark's checkpoint are the query's own (heartbeats, ticks)."""
        self.location.put(f"{_CHECKPOINT}/{_OWN}", json.dumps(list(places)))

    def sources_of_the_user(self, checkpoint: str, count: int) -> list[int]:
        """Return which of so many sources are the user's, in a checkpoint below this folder.

        Raises:
            SqlExtError: RUN-027 where nobody has noted it: the query never ran long enough, or an older version did.
        """
        own = self.location.json(f"{checkpoint}/{_OWN}")
        if own is None:
            raise SqlExtError(
                "RUN-027",
                f"nothing says which sources the checkpoint of query `{self.name}` counts: it has ended no micro-batch"
                " yet, or an older version made it",
                hint="run it once more as it was, stop it, and then change it",
            )
        return [n for n in range(count) if n not in own]

    def repeats_a_batch(self) -> bool:
        """Whether a query begins with a batch that was begun before: its driver died, or its sink failed."""
        begun = max(last_number(self.location, f"{_CHECKPOINT}/offsets"), last_number(self.location, HERE))
        return begun > self.last_batch()

    def last_batch(self) -> int:
        """Return the last batch that is counted as done, by Spark or without it; -1 if there is none."""
        return max(last_number(self.location, folder) for folder in (f"{_CHECKPOINT}/commits", COMMITS))

    def begin_batch(
        self, batch_id: int, ends: Mapping[str, Mapping[str, int]], more: Mapping[str, Any] | None = None
    ) -> None:
        """Note, before a sink writes, that a batch without Spark is begun; whoever goes on may find it written.

        Args:
            ends: how far each table was read, by split, for EXPLAIN ROW.
            more: what else who repeats it has to know.
        """
        self.fence.check()
        noted = {"at": time.time_ns() // 1_000_000, "ends": {name: dict(end) for name, end in ends.items()}}
        self._put(f"{HERE}/{batch_id}", json.dumps({**noted, **(more or {})}))

    def begun_batch(self, batch_id: int) -> dict[str, Any] | None:
        """Return what ``begin_batch`` has noted of a batch, None if it was not begun; raises ValueError for no JSON."""
        noted: dict[str, Any] | None = self.location.json(f"{HERE}/{batch_id}")
        return noted

    def clear(self) -> None:
        """Remove the state of a run that ended; ``run.json`` stays until another run begins."""
        for name in (*_STATE, _SOURCES, SINKS):
            self.location.store.remove(name)

    def set_aside(self, *, keeps: Collection[str] = ()) -> str:
        """Put what goes with the state aside, until the next ``begin``; ``close`` puts it back.

        Args:
            keeps: folders that stay where they are.

        Returns:
            Where the checkpoint lies now, as a path below the folder.
        """
        # The checkpoint first: without it nobody takes a half of this for the whole.
        for name in (name for name in _STATE if name not in keeps):
            self.location.store.move(name, f"{_BEFORE}/{name}", _MARK)
        return f"{_BEFORE}/{_CHECKPOINT}"

    def begin(self, run: QueryRun) -> None:
        """Remember the run, before its first batch; raises RUN-029 if the folder has become another driver's."""
        self.fence.check()
        # The mark comes first. Alone it says nothing, but ``run.json`` without it would be a lost checkpoint (RUN-024).
        if self._read_mark() != run.checkpoint_id:
            self.location.put(f"{_CHECKPOINT}/{_MARK}", run.checkpoint_id)
        self.location.put(_RUN, json.dumps(asdict(run), indent=1))
        for left in (_BEFORE, DIVIDED):
            self.location.store.remove(left)
        undo(self.location, digest(run.fingerprint))

    def finish(self, run: QueryRun) -> None:
        """Remember that the query came to its end."""
        self.begin(replace(run, finished=True))

    def write_heartbeat(self) -> None:
        """Put the row that moves the watermark to the end of time, once; in place in one step."""
        self._put(f"{_HEARTBEAT}/end.txt", "9999-01-01 00:00:00Z\n")

    def write_first_tick(self) -> None:
        """Put the tick with which a query begins, once; the time is now."""
        self._put(f"{_TICKS}/start.txt", f"{time.time_ns() // 1_000_000}\n")

    def write_tick(self) -> None:
        """Put a tick of a run of its own, in place of those of runs before; the time is now."""
        now = time.time_ns() // 1_000_000
        # A micro-batch that is run again reads the tick that it had.
        for old in list(self.location.names(_TICKS)) if not self.repeats_a_batch() else ():
            if old[:1].isdecimal():
                self.location.store.delete(f"{_TICKS}/{old}")
        self._put(f"{_TICKS}/{now}.txt", f"{now}\n")

    def write_last_tick(self) -> None:
        """Put the tick that says that the input has ended, once."""
        self._put(f"{_TICKS}/end.txt", f"{END_TICK}\n")

    def close(self) -> None:
        """Give the folder free for another driver; a second time does nothing."""
        taken = self._lease
        if taken is None:
            return
        try:
            with suppress(FencedError):
                taken.check()
                self._settle()
        finally:
            self._lease = None
            taken.release()

    def _put(self, key: str, text: str) -> None:
        self.location.store.create(key, text.encode("utf-8"))

    def remove(self) -> None:
        """Remove the query's state and give its folder free."""
        assert self._lease is not None
        self.fence.check()
        self.clear()
        # What nobody goes on in comes first, and the lease last: until then nobody else may begin here.
        self._remove_others()
        store = self.location.store
        left = {name.partition("/")[0] for name in self.location.names()} - {lease.FOLDER}
        for name in (*left, _BEFORE):
            store.remove(name)
        self._lease.remove()
        self._lease = None
        store.leave()
        if self.version:
            self.folder.below(VERSIONS).store.leave()
            self.folder.store.leave()

    def _remove_others(self) -> None:
        """Remove the other versions: first what they keep, then what says which one is the current one."""
        if not self.version:  # they lie below the folder of this one
            return
        names = [name.split("/") for name in self.folder.names()]
        parts = {"/".join(name[:2]) if name[0] == VERSIONS else name[0] for name in names}
        for part in parts - {f"{VERSIONS}/{self.version}", VERSIONS_FILE}:
            self.folder.store.remove(part)
        self.folder.store.remove(VERSIONS_FILE)

    def _settle(self) -> None:
        """End what ``set_aside`` began, also in a process that died: with what the last run has begun with."""
        store = self.location.store
        run = self._begun()
        undo(self.location, digest(run.fingerprint) if run is not None else "")
        if next(iter(store.keys(_BEFORE)), None) is None:
            return
        if run is None or run.checkpoint_id != self._read_mark():
            for name in reversed(_STATE):  # the checkpoint last: it says that all is there again
                store.move(f"{_BEFORE}/{name}", name, _MARK)
        store.remove(_BEFORE)

    def _refuse_if_replaced(self, version: str | None) -> None:
        """Raise RUN-022 if another version has become the current one before the lease was taken."""
        assert self._lease is not None
        if version is None and versions_of(self.folder).current != self.version:
            term = self._lease.term
            self.close()
            raise self._runs_already(term)

    def _begun(self) -> QueryRun | None:
        """Return the run that was begun last, None if there is none that can be read."""
        try:
            return self.run()
        except SqlExtError:
            return None

    @property
    def _anew(self) -> str:
        forgets = f"where the catalog does not know it, removing `{self.location.place}` does"
        return f"DROP QUERY `{self.name}` starts it anew ({forgets})"

    def _read_mark(self) -> str | None:
        return self.location.text(f"{_CHECKPOINT}/{_MARK}")

    def _is_used(self) -> bool:
        """Whether Spark has written into the checkpoint."""
        return any(name not in (_MARK, _OWN) for name in self.location.names(_CHECKPOINT))

    def _taken(self, force: bool) -> Lease:
        try:
            taken = lease.take(self.location.store, force=force)
        except HeldError as held:
            raise self._runs_already(held.term) from None
        taken.keep()
        return taken

    def _runs_already(self, term: Term) -> SqlExtError:
        seconds = max(0, term.expires - lease.now()) // 1000 + 1
        file = f"{self.location.place}/{lease.key_of(term.epoch)}"
        who = f"as {term.owner}" if term.owner is not None else f"and its lease `{file}` cannot be read"
        ends = f"its lease ends in {seconds} s, or " if term.owner is not None else ""
        return SqlExtError(
            "RUN-022",
            f"query `{self.name}` runs already, {who}: its checkpoint belongs to one driver at a time",
            hint="stop it first, or give this one another name: SET 'pipeline.name' = '...'; if it is gone for sure,"
            f" {ends}SET '{TAKES_OVER}' = 'true'",
        )

    def _compare(self, old: Fingerprint, new: Fingerprint, leaves_state: bool) -> bool:
        """Return whether the state has to be left behind."""
        found = changes(old, new)
        carried = not any(c.kind in (ChangeKind.PLACE, ChangeKind.READER) for c in found)
        changed = "; ".join(str(c) for c in found if c.kind in (ChangeKind.STATE, ChangeKind.PLACE))
        if changed and not (leaves_state and carried):
            without = f"; SET '{LEAVES_STATE}' = 'true' goes on from its place without its state" if carried else ""
            raise SqlExtError(
                "RUN-020",
                f"query `{self.name}` is not the one that its checkpoint was made by: {changed}",
                hint=f"{self._anew}; sqlext deploy runs it beside the old one; "
                f"another 'pipeline.name' leaves the old one alone{without}",
            )
        rows = "; ".join(str(c) for c in found if c.kind is not ChangeKind.TIME)
        if rows and self.repeats_a_batch():
            raise SqlExtError(
                "RUN-026",
                f"query `{self.name}` may have a micro-batch that was begun and not finished, and its rows are to be "
                f"treated otherwise now: {rows}",
                hint="run it once more as it was, stop it, and then change it",
            )
        return bool(changed)
