"""Keep the levels of a bucket's state in Spark's state, and what was written last in files that workers map.

Spark's state has all levels. A file spares a worker the reading of a level: whichever worker of the host has the bucket
next maps it into its memory. Without a file, or on another host, the level is read from Spark's state.

A level's id is written with the state that names it, so a query that goes back finds the levels of then.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql.streaming.stateful_processor import MapState

from sqlext_udfs.kernel.levelled import LevelEntry, damaged_level
from sqlext_udfs.kernel.levels import Hashes, Level
from sqlext_udfs.kernel.table_codec import cells, of_cells

# As the header of a state value, so that what follows lies at a multiple of eight bytes.
_HEADER = bytes(8)
_FOLDER, _ANY = "sqlext-levels", "any"
# A file that no worker has used for so long (s) is of a query that has stopped.
_UNUSED_S = 3600.0
# The disk must have so many times more room than a file takes.
_ROOM = 4
# How many bytes of levels a worker keeps in its own memory, where there is no file.
_OWN_BYTES = 1 << 28


class LevelFiles:
    """The levels that this worker has at hand.

    Args:
        folder: of the files of all workers of an application; None: where Spark keeps the application's files, which
            it removes with it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._mapped: dict[str, Level] = {}
        self._own: dict[str, Level] = {}

    def load(self, id_: str) -> Level | None:
        """Return a level that is at hand."""
        level = self._mapped.get(id_) or self._own.get(id_)
        if id_ not in self._own:
            level = level if _is_used(self._path(id_)) and level is not None else self._map(id_)
        return level

    def remember(self, id_: str, level: Level) -> None:
        """Have a level at hand: in a file, or in memory where none can be written."""
        if not self._write(id_, level) or self._map(id_) is None:
            self._own[id_] = level
            while sum(own.size for own in self._own.values()) > _OWN_BYTES:
                del self._own[next(iter(self._own))]

    def remove(self, id_: str) -> None:
        """Forget a level."""
        self._mapped.pop(id_, None)
        self._own.pop(id_, None)
        # A worker that has it mapped still keeps its pages.
        with suppress(OSError):
            self._path(id_).unlink()

    def _map(self, id_: str) -> Level | None:
        try:
            with pa.memory_map(str(self._path(id_))) as file:
                buffer = file.read_buffer()
        except OSError:
            return None
        (data, gone, *indexes), _ = cells(cast("bytes", memoryview(buffer)))
        level = Level(data, tuple(_hashes(index) for index in indexes), _hashes(gone))
        # A file that is gone takes room on the disk as long as one worker has it mapped.
        self._mapped = {known: of for known, of in self._mapped.items() if self._path(known).exists()}
        self._mapped[id_] = level
        return level

    def _write(self, id_: str, level: Level) -> bool:
        path = self._path(id_)
        try:
            path.parent.mkdir(exist_ok=True)
            self._sweep()
            data = of_cells([level.data, level.gone.tobytes(), *(i.tobytes() for i in level.indexes)], _HEADER, {})
            if shutil.disk_usage(path.parent).free < _ROOM * len(data):
                return False
            # Moved into place: no worker sees a part of it.
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            return False
        return True

    def _sweep(self) -> None:
        for path in self._path(_ANY).parent.iterdir():
            with suppress(OSError):  # another worker may have been faster
                if path.stat().st_mtime < time.time() - _UNUSED_S:
                    path.unlink()

    def _path(self, id_: str) -> Path:
        # Without a folder of Spark's none can be made, as where no disk can be written.
        return (self._folder or Path(SparkFiles.getRootDirectory() or os.devnull)) / _FOLDER / id_


#: Of this worker: buckets come and go, and so do tasks.
_FILES = LevelFiles()


class SparkLevels:
    """The levels of the bucket that is at work (a ``LevelStore``).

    Args:
        state: has them, by number.
        files: has some at hand.
    """

    def __init__(self, state: MapState, files: LevelFiles = _FILES) -> None:
        self._state = state
        self._files = files

    def load(self, entry: LevelEntry) -> Level | None:
        """Return a level, if it is at hand."""
        return self._files.load(entry.id)

    def read(self, entry: LevelEntry) -> tuple[bytes, Hashes]:
        """Return a level from Spark's state.

        Raises:
            SqlExtError: RUN-031 if it is not there.
        """
        kept = self._state.getValue((entry.number,))
        if kept is None or kept[0] != entry.id:
            raise damaged_level(entry, "it is not there")
        return bytes(kept[1]), _hashes(bytes(kept[2]))

    def write(self, entry: LevelEntry, level: Level) -> None:
        """Keep a level in Spark's state, and at hand."""
        self._state.updateValue((entry.number,), (entry.id, bytes(level.data), level.gone.tobytes()))
        self.remember(entry, level)

    def remember(self, entry: LevelEntry, level: Level) -> None:
        """Have a level at hand from now on."""
        self._files.remember(entry.id, level)

    def remove(self, entry: LevelEntry) -> None:
        """Forget a level."""
        self._state.removeKey((entry.number,))
        self._files.remove(entry.id)


def _hashes(data: Any) -> Hashes:
    return np.frombuffer(data, np.uint64)


def _is_used(path: Path) -> bool:
    """Note that a file is in use; return whether it is there."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True
