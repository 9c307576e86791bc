"""Where a query keeps its place: one folder a query, owned by one driver, tied to one plan.

    <catalog>/queries/<name>/
        lock             held (flock) by the driver that runs the query; the kernel frees it when that driver dies
        run.json         the run's id, its plan's fingerprint, whether it came to its end
        checkpoint/      Spark's own checkpoint (or where ``--checkpoint`` says)
        heartbeat/       the row that ends a bounded input
        staging/         what a sink keeps until the end
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlext.errors import SqlExtError

Fingerprint = dict[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """One life of a query: from a fresh checkpoint until it came to its end, restarts included."""

    run_id: str
    fingerprint: Fingerprint
    finished: bool = False


class QueryHome:
    """A query's folder, locked while this object is open.

    Args:
        root: the catalog's folder.
        name: the query's name, any text.
        checkpoint: where Spark's checkpoint goes, if not below the folder.
    """

    def __init__(self, root: Path, name: str, checkpoint: str | None = None) -> None:
        self.name = name
        self.folder = root / "queries" / folder_name(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = self._acquire()
        self._elsewhere = checkpoint

    @property
    def checkpoint(self) -> str:
        """The location of Spark's checkpoint."""
        if self._elsewhere is None:
            return str(self.folder / "checkpoint")
        return f"{self._elsewhere.rstrip('/')}/{folder_name(self.name)}"

    @property
    def staging(self) -> Path:
        """A folder for what a sink has to keep until the end."""
        return self.folder / "staging"

    @property
    def heartbeat(self) -> Path:
        """The folder of the row that ends a bounded input."""
        return self.folder / "heartbeat"

    def begin(self, fingerprint: Fingerprint, *, restart_finished: bool) -> Run:
        """Return the run to go on with, or a new one.

        Args:
            fingerprint: what the query is; it must be what the checkpoint was made by.
            restart_finished: whether a query that came to its end begins again from a fresh checkpoint.

        Raises:
            SqlExtError: RUN-020 if the query changed, naming what.
        """
        previous = self._read()
        if previous is not None and not (previous.finished and restart_finished):
            self._compare(previous.fingerprint, fingerprint)
            return previous
        if previous is None and os.path.isdir(self.checkpoint) and os.listdir(self.checkpoint):
            raise SqlExtError(
                "RUN-021",
                f"`{self.checkpoint}` holds a checkpoint of something else",
                hint="give another --checkpoint, or remove that folder",
            )
        self._clear()
        run = Run(uuid.uuid4().hex, fingerprint)
        self._write(run)
        return run

    def finish(self, run: Run) -> None:
        """Remember that the query came to its end."""
        self._write(Run(run.run_id, run.fingerprint, finished=True))

    def write_heartbeat(self) -> None:
        """Put the row that moves the watermark to the end of time, once; in place in one step."""
        self.heartbeat.mkdir(exist_ok=True)
        target = self.heartbeat / "end.txt"
        if not target.exists():
            temporary = self.folder / "end.tmp"
            temporary.write_text("9999-01-01 00:00:00Z\n", encoding="utf-8")
            temporary.replace(target)

    def close(self) -> None:
        """Give the folder free for another driver; a second time does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def remove(self) -> None:
        """Remove the query's state and give its folder free."""
        self._clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.close()

    def _acquire(self) -> int:
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise SqlExtError(
                "RUN-022",
                f"query `{self.name}` runs already: its checkpoint belongs to one driver at a time",
                hint="stop it first, or give this one another name: SET 'pipeline.name' = '...'",
            ) from None
        return descriptor

    def _clear(self) -> None:
        shutil.rmtree(self.checkpoint, ignore_errors=True)
        shutil.rmtree(self.heartbeat, ignore_errors=True)
        shutil.rmtree(self.staging, ignore_errors=True)
        (self.folder / "run.json").unlink(missing_ok=True)

    def _read(self) -> Run | None:
        path = self.folder / "run.json"
        try:
            return Run(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            raise SqlExtError(
                "RUN-023",
                f"`{path}` is damaged",
                hint=f"DROP QUERY `{self.name}` starts it anew, without what it has in state",
            ) from None

    def _write(self, run: Run) -> None:
        temporary = self.folder / "run.json.tmp"
        temporary.write_text(json.dumps(asdict(run), indent=1), encoding="utf-8")
        temporary.replace(self.folder / "run.json")

    def _compare(self, old: Fingerprint, new: Fingerprint) -> None:
        changed = [k for k in sorted(old.keys() | new.keys()) if old.get(k) != new.get(k)]
        if changed:
            details = "; ".join(f"{k} was {old.get(k, 'not there')}, is {new.get(k, 'not there')}" for k in changed)
            raise SqlExtError(
                "RUN-020",
                f"query `{self.name}` is not the one that its checkpoint was made by: {details}",
                hint=f"DROP QUERY `{self.name}` starts it anew; another 'pipeline.name' leaves the old one alone",
            )


def folder_name(name: str) -> str:
    """Return a name as a folder's: readable, unique, never a path."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "query"
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
