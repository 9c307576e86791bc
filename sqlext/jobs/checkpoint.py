"""Keep a query's place: one folder a query, owned by one driver, tied to one plan.

<catalog>/queries/<name>/     (or <checkpoint>/<name>/, where ``--checkpoint`` names a folder; never a URL: RUN-028)
    lease/           whose it is, and until when (``sqlext.stores.lease``): that of the driver that runs the query
    run.json         the run's id, its plan's fingerprint, whether it came to its end
    checkpoint/      Spark's own checkpoint
    heartbeat/       the row that ends a bounded input
    ticks/           the tick with which it begins, where an operator asks what time it is
    sources/         what readers of our own must remember
    time/            heartbeats, and what its time keeper knows (``timekeeping``), where its input has no end
    staging/         what a sink keeps until the end
    before/          while a checkpoint is made that goes on from another's place: what was there (``renewal``)
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.errors import SqlExtError
from sqlext.jobs.query_files import last_number, query_folder, write_whole
from sqlext.jobs.runs import QueryRun, run_from_json
from sqlext.settings import LEAVES_STATE, TAKES_OVER
from sqlext.stores import lease
from sqlext.stores.fence import Fence, lost
from sqlext.stores.lease import FencedError, HeldError, Lease, Term
from sqlext.stores.opening import open_store

#: In Spark's checkpoint: the run that it belongs to. Sinks know a run's batches by their numbers, so a checkpoint
#: that was removed, emptied or exchanged must not go on under the same run: its first batches would be taken for
#: repetitions and dropped.
_MARK = "sqlext-run"
#: Beside it: which of the sources that Spark counts in there are none of the user's, as JSON.
_OWN = "sqlext-own-sources"
_TIME = "time"
_BEFORE = "before"
#: What goes with the state of a query, its checkpoint first.
_STATE = ("checkpoint", "heartbeat", "ticks", _TIME, "staging")
#: In place of a time: the input has ended (``sqlext_udfs.kernel.operator.Clock.END``).
END_TICK = (1 << 63) - 1


class QueryHome:
    """A query's folder, this driver's own while this object is open.

    Args:
        root: the catalog's folder.
        name: the query's name, any text.
        checkpoint: the local folder where checkpoints go, if not into the catalog's.
        looks: it is only looked at: it belongs to nobody, and nothing may be written.
        force: it is taken also from a driver that has it, which writes no more then (RUN-029).

    Raises:
        SqlExtError: RUN-022 if another driver has it.
    """

    def __init__(
        self, root: Path, name: str, checkpoint: str | None = None, *, looks: bool = False, force: bool = False
    ) -> None:
        self.name = name
        self.folder = query_folder(root, name, checkpoint)
        self._lease = None if looks else self._taken(force)
        if not looks:
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
        """The location of Spark's checkpoint."""
        return str(self.folder / "checkpoint")

    @property
    def staging(self) -> Path:
        """A folder for what a sink has to keep until the end."""
        return self.folder / "staging"

    @property
    def heartbeat(self) -> Path:
        """The folder of the row that ends a bounded input."""
        return self.folder / "heartbeat"

    @property
    def ticks(self) -> Path:
        """The folder of the tick with which it begins."""
        return self.folder / "ticks"

    @property
    def fence(self) -> Fence:
        """What lets nobody but this driver write."""
        assert self._lease is not None
        return Fence(self.name, str(self.folder), self._lease.term, taken_over=self._lease.previous is not None)

    @property
    def taken_from(self) -> Term | None:
        """The lease of a driver that may still live, and from which the folder was taken; None if it was free."""
        return self._lease.previous if self._lease is not None else None

    def refuse_if_lost(self) -> None:
        """Raise RUN-029 if the folder has become another driver's, as far as is known without a look."""
        if self._lease is not None and self._lease.lost is not None:
            raise lost(self.name, self._lease.lost)

    def own_sources(self, clock: str | None) -> tuple[str, ...]:
        """Return the folders of what it reads as streams and what is none of the user's rows.

        Args:
            clock: the folder of files that its clock is, None for the machine's.
        """
        own = str(self.folder.resolve())
        return (own, str(Path(clock).resolve())) if clock is not None else (own,)

    @property
    def sources(self) -> Path:
        """The folder of what readers of ours must remember, a folder for each."""
        return self.folder / "sources"

    @property
    def time(self) -> Path:
        """The folder of its time keeper."""
        return self.folder / _TIME

    def run(self) -> QueryRun | None:
        """Return the run that was begun here last, None if there is none.

        Raises:
            SqlExtError: RUN-023 if it cannot be read.
        """
        path = self.folder / "run.json"
        try:
            return run_from_json(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise SqlExtError(
                "RUN-023",
                f"`{path}` is damaged",
                hint=f"{self._anew}, without what it has in state",
            ) from None

    def check(self, previous: QueryRun | None, fingerprint: Fingerprint, *, leaves_state: bool = False) -> bool:
        """Refuse to go on from what lies here.

        Args:
            leaves_state: whether it may go on from its place alone.

        Returns:
            Whether it must do so.

        Raises:
            SqlExtError: RUN-020 the query changed, naming what; RUN-021 the checkpoint is not that of ``previous``;
                RUN-024 it is gone; RUN-026 what becomes of its rows changed within a micro-batch.
        """
        leaves = previous is not None and self._compare(previous.fingerprint, fingerprint, leaves_state)
        mark, used = self._read_mark(), self._is_used()
        if (previous is None and not used) or (previous is not None and mark == previous.checkpoint_id):
            return leaves
        if previous is not None and mark is None and not used:
            raise SqlExtError(
                "RUN-024",
                f"the checkpoint of query `{self.name}` is gone: nothing lies at `{self.checkpoint}`",
                hint=f"put it back; {self._anew}, and what it wrote before stays",
            )
        raise SqlExtError(
            "RUN-021",
            f"`{self.checkpoint}` holds a checkpoint of something else",
            hint="give another --checkpoint, or remove that folder",
        )

    def note_own_sources(self, places: Sequence[int]) -> None:
        """Remember which of the sources in Spark's checkpoint are the query's own (heartbeats, ticks)."""
        write_whole(Path(self.checkpoint) / _OWN, json.dumps(list(places)))

    def sources_of_the_user(self, checkpoint: Path, count: int) -> list[int]:
        """Return which of so many sources in a checkpoint are the user's.

        Raises:
            SqlExtError: RUN-027 where nobody has noted it: the query never ran long enough, or an older version did.
        """
        try:
            own = json.loads((checkpoint / _OWN).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SqlExtError(
                "RUN-027",
                f"query `{self.name}` cannot go on without its state: nothing says which sources its checkpoint counts",
                hint="run it once more as it was, stop it, and then change it",
            ) from None
        return [n for n in range(count) if n not in own]

    def repeats_a_batch(self) -> bool:
        """Whether Spark begins with a batch that was begun before: its driver died, or its sink failed."""
        begun, done = (last_number(Path(self.checkpoint) / name) for name in ("offsets", "commits"))
        return begun > done

    def clear(self) -> None:
        """Remove the state of a run that ended; ``run.json`` stays until another run begins."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)
        for name in (*_STATE, "sources"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def set_aside(self) -> Path:
        """Put what goes with the state aside and return where: until the next ``begin``, ``close`` puts it back."""
        self._before.mkdir()
        for name in _STATE:  # the checkpoint first: without it nobody takes a half of this for the whole
            if (self.folder / name).exists():
                (self.folder / name).rename(self._before / name)
        return self._before

    def begin(self, run: QueryRun) -> None:
        """Remember the run, before its first batch; raises RUN-029 if the folder has become another driver's."""
        self.fence.check()
        # The mark comes first. Alone it says nothing, but ``run.json`` without it would be a lost checkpoint (RUN-024).
        if self._read_mark() != run.checkpoint_id:
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._mark, run.checkpoint_id)
        write_whole(self.folder / "run.json", json.dumps(asdict(run), indent=1))
        shutil.rmtree(self._before, ignore_errors=True)

    def finish(self, run: QueryRun) -> None:
        """Remember that the query came to its end."""
        self.begin(replace(run, finished=True))

    def write_heartbeat(self) -> None:
        """Put the row that moves the watermark to the end of time, once; in place in one step."""
        self._put(self.heartbeat / "end.txt", "9999-01-01 00:00:00Z\n")

    def write_first_tick(self) -> None:
        """Put the tick with which a query begins, once; the time is now."""
        self._put(self.ticks / "start.txt", f"{time.time_ns() // 1_000_000}\n")

    def write_tick(self) -> None:
        """Put a tick of a run of its own, in place of those of runs before; the time is now."""
        now = time.time_ns() // 1_000_000
        # A micro-batch that is run again reads the tick that it had.
        for old in self.ticks.glob("[0-9]*.txt") if not self.repeats_a_batch() else ():
            old.unlink()
        self._put(self.ticks / f"{now}.txt", f"{now}\n")

    def write_last_tick(self) -> None:
        """Put the tick that says that the input has ended, once."""
        self._put(self.ticks / "end.txt", f"{END_TICK}\n")

    def close(self) -> None:
        """Give the folder free for another driver; a second time does nothing."""
        taken = self._lease
        if taken is None:
            return
        try:
            if self._is_mine(taken):
                self._settle()
        finally:
            self._lease = None
            taken.release()

    def _put(self, target: Path, text: str) -> None:
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            # Outside of the folder that Spark reads: its file source could take a file that is half written.
            temporary = self.folder / f"{target.name}.tmp"
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(target)

    def remove(self) -> None:
        """Remove the query's state and give its folder free."""
        assert self._lease is not None
        self.fence.check()
        self.clear()
        for entry in self.folder.iterdir():
            if entry.name != lease.FOLDER:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        # Last: until then nobody else may begin here.
        self._lease.remove()
        self._lease = None
        with suppress(OSError):  # another driver has begun
            self.folder.rmdir()

    def _settle(self) -> None:
        """End what ``set_aside`` began, also in a process that died: with what the last run has begun with."""
        if not self._before.exists():
            return
        run = self.run()
        if run is None or run.checkpoint_id != self._read_mark():
            for name in reversed(_STATE):  # the checkpoint last: it says that all is there again
                if (self._before / name).exists():
                    shutil.rmtree(self.folder / name, ignore_errors=True)
                    (self._before / name).rename(self.folder / name)
        shutil.rmtree(self._before)

    @property
    def _before(self) -> Path:
        return self.folder / _BEFORE

    @property
    def _anew(self) -> str:
        return f"DROP QUERY `{self.name}` (or removing `{self.folder}`) starts it anew"

    @property
    def _mark(self) -> Path:
        return Path(self.checkpoint) / _MARK

    def _read_mark(self) -> str | None:
        return self._mark.read_text(encoding="utf-8") if self._mark.exists() else None

    def _is_used(self) -> bool:
        """Whether Spark has written into the checkpoint."""
        folder = Path(self.checkpoint)
        return folder.is_dir() and any(entry.name not in (_MARK, _OWN) for entry in folder.iterdir())

    def _taken(self, force: bool) -> Lease:
        try:
            taken = lease.take(open_store(self.folder), force=force)
        except HeldError as held:
            raise self._runs_already(held.term) from None
        taken.keep()
        return taken

    def _runs_already(self, term: Term) -> SqlExtError:
        seconds = max(0, term.expires - lease.now()) // 1000 + 1
        who = f"as {term.owner}" if term.owner is not None else "and its lease cannot be read"
        ends = f"its lease ends in {seconds} s, or " if term.owner is not None else ""
        return SqlExtError(
            "RUN-022",
            f"query `{self.name}` runs already, {who}: its checkpoint belongs to one driver at a time",
            hint="stop it first, or give this one another name: SET 'pipeline.name' = '...'; if it is gone for sure,"
            f" {ends}SET '{TAKES_OVER}' = 'true'",
        )

    def _is_mine(self, taken: Lease) -> bool:
        try:
            taken.check()
        except FencedError:
            return False
        return True

    def _compare(self, old: Fingerprint, new: Fingerprint, leaves_state: bool) -> bool:
        """Return whether the state has to be left behind."""
        found = changes(old, new)
        carried = not any(c.kind is ChangeKind.PLACE for c in found)
        changed = "; ".join(str(c) for c in found if c.kind in (ChangeKind.STATE, ChangeKind.PLACE))
        if changed and not (leaves_state and carried):
            without = f"; SET '{LEAVES_STATE}' = 'true' goes on from its place without its state" if carried else ""
            raise SqlExtError(
                "RUN-020",
                f"query `{self.name}` is not the one that its checkpoint was made by: {changed}",
                hint=f"{self._anew}; another 'pipeline.name' leaves the old one alone{without}",
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


def plan_runs(
    queries: Sequence[tuple[QueryHome, Fingerprint]], *, restart_finished: bool, leaves_state: bool = False
) -> list[QueryRun]:
    """Return the runs under which the queries of a job go on, or begin; nothing has begun yet.

    A job that was interrupted goes on as one: the queries of it that had ended rest. One that had ended as a whole
    begins again from fresh checkpoints if ``restart_finished``. One that its checkpoint does not fit any more goes on
    with a new one, counted as a renewal, if ``leaves_state``.

    Raises:
        SqlExtError: RUN-020 ... RUN-026 for a query that cannot go on; nothing has changed then.
    """
    found = [home.run() for home, _ in queries]
    interrupted = [r.run_id for r in found if r is not None and not r.finished]
    run_id = interrupted[0] if interrupted else uuid.uuid4().hex
    runs: list[QueryRun] = []
    ended: list[QueryHome] = []
    for (home, fingerprint), previous in zip(queries, found, strict=True):
        if previous is not None and previous.finished and restart_finished and previous.run_id != run_id:
            ended.append(home)
            previous = None
        else:
            goes_on = previous is not None and not previous.finished
            leaves = home.check(previous, fingerprint, leaves_state=leaves_state and goes_on)
            previous = replace(previous, renewals=previous.renewals + 1) if previous and leaves else previous
        runs.append(replace(previous, fingerprint=fingerprint) if previous else QueryRun(run_id, fingerprint))
    # Last: if a query of the job is refused, nothing may have changed.
    for home in ended:
        home.clear()
    return runs


def time_folder(root: Path, name: str, checkpoint: str | None = None) -> Path:
    """Return the folder of the time keeper of a query that may run elsewhere; arguments as of ``QueryHome``."""
    return query_folder(root, name, checkpoint) / _TIME
