"""A query in a folder of its own: its input, its catalog with the checkpoint, its sinks.

The folder is the same for each who runs it: catalogs, checkpoints and fingerprints hold whole paths of files and sinks.
Nothing but the public API of ``sqlext`` is used here, so that a re-organisation of the code needs no change of this.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.jobs.query import Query

KEPT = Path(__file__).parent
#: Where all of them run, whoever runs them.
ROOT = Path("/tmp/sqlext-kept")
#: The name of every query.
QUERY = "kept"
_FIRST_FILE = 1_700_000_000
#: How long a query without end has for all that it is given, and how long nothing happens when it has done that.
_SECONDS = 60
_QUIET = 8
Rows = list[list[str]]
JsonRow = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """What is beside a checkpoint, as JSON.

    Attributes:
        version: of the engine that made the checkpoint.
        name: of the query.
        script: the query; ``${IN}`` and ``${OUT}`` are folders.
        endless: whether it runs until it is stopped.
        files: how many files had been read when the checkpoint was made.
        later: the files that are to come, by their path below ``${IN}``, in order.
        answer: the rows of each sink after all files, of a run that was not interrupted.
    """

    version: str
    name: str
    script: str
    endless: bool
    files: int
    later: Mapping[str, Sequence[JsonRow]]
    answer: Mapping[str, Rows]

    @property
    def folder(self) -> Path:
        """Where it runs."""
        return ROOT / self.version / self.name

    @property
    def packed(self) -> Path:
        """The folder as it was when the checkpoint was made, packed."""
        return KEPT / self.version / f"{self.name}.tar.xz"

    @property
    def home(self) -> Path:
        """The folder of the query in its catalog."""
        (run,) = (self.folder / "catalog" / "queries").glob("*/run.json")
        return run.parent

    def write(self) -> None:
        """Write what stands beside the checkpoint."""
        self.packed.parent.mkdir(exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        (KEPT / self.version / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")

    def pack(self) -> None:
        """Pack the folder as it is now."""
        self.packed.parent.mkdir(exist_ok=True)
        with tarfile.open(self.packed, "w:xz", preset=9) as packed:
            packed.add(self.folder, arcname=".", filter=_nobodys)

    def unpack(self) -> None:
        """Put the folder back."""
        self.clear()
        self.folder.mkdir(parents=True)
        with tarfile.open(self.packed) as packed:
            packed.extraction_filter = tarfile.data_filter
            packed.extractall(self.folder)

    def clear(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, files: Mapping[str, Sequence[JsonRow]], first: int) -> None:
        """Write files of input; ``first`` is the number of the first of them: Spark reads them in order of time."""
        for number, (path, rows) in enumerate(files.items(), first):
            place, hidden = self.folder / "in" / path, self.folder / "new"
            place.parent.mkdir(parents=True, exist_ok=True)
            hidden.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            os.utime(hidden, (_FIRST_FILE + 60 * number,) * 2)
            hidden.replace(place)

    def change_what_was_read(self, row: JsonRow) -> None:
        """Make other files of those that have been read: who reads one of them again has other rows."""
        for place in (self.folder / "in").rglob("*.json"):
            seen = place.stat().st_mtime_ns
            text = f"{json.dumps(row)}\n"
            place.write_text(text * len(place.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
            os.utime(place, ns=(seen, seen))

    def run(self, spark: SparkSession, rows: int, *, answer: Mapping[str, Rows] | None = None) -> Mapping[str, Any]:
        """Run the script and return how far the query got.

        One that does not end is stopped when it has read so many rows and has given the answer, if there is one to
        wait for, else when nothing has happened for a while.
        """
        session = sqlext.connect(spark.newSession(), catalog=self.folder / "catalog")
        variables = {"IN": str(self.folder / "in"), "OUT": str(self.folder / "out")}
        query = session.run(self.script, variables=variables)[-1].query
        assert query is not None
        if self.endless:
            _settle(query, rows, None if answer is None else lambda: self.rows() == answer)
            query.stop()
        if query.exception is not None:
            raise query.exception
        return query.progress

    def rows(self) -> dict[str, Rows]:
        """Return the rows of all sinks, sorted, as text."""
        found = {}
        for place in sorted((self.folder / "out").iterdir()):
            table = DeltaTable(place).to_pyarrow_table().to_pylist()
            found[place.name] = sorted([str(v) for v in row.values()] for row in table)
        return found

    def run_id(self) -> tuple[str, int]:
        """Return the id of the run that is under way, and how often it left its state behind."""
        run = json.loads((self.home / "run.json").read_text(encoding="utf-8"))
        return run["run_id"], run["renewals"]

    def offsets(self) -> dict[int, str]:
        """Return what each micro-batch was planned to read, by its number."""
        folder = self.home / "checkpoint" / "offsets"
        return {int(f.name): f.read_text(encoding="utf-8") for f in folder.iterdir() if f.name.isdigit()}


def all_kept() -> list[Kept]:
    """Return all checkpoints that are kept."""
    return [Kept(**json.loads(place.read_text(encoding="utf-8"))) for place in sorted(KEPT.glob("*/*.json"))]


def number_of_rows(files: Mapping[str, Sequence[JsonRow]]) -> int:
    """Return how many rows are in files."""
    return sum(map(len, files.values()))


@contextmanager
def alone() -> Iterator[None]:
    """Have the folders alone: other processes of this machine wait."""
    ROOT.mkdir(exist_ok=True)
    with (ROOT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _settle(query: Query, rows: int, done: Callable[[], bool] | None) -> None:
    """Wait for the end of what a query without end has to do; whoever asks sees what did not come."""
    deadline = time.monotonic() + _SECONDS
    before, since = None, time.monotonic()
    while query.is_active and time.monotonic() < deadline:
        now = (query.progress["rows_in"], query.progress["batch"])
        if now != before:
            before, since = now, time.monotonic()
        if now[0] >= rows and (done() if done else time.monotonic() - since > _QUIET):
            return
        time.sleep(0.1)
