"""Let a scenario happen: drivers that die at one of their writes, a clock that jumps, a rival, and what came of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sqlext
from sqlext import SqlExtError
from tests.simulation.scenario import LAST_KEY, LAST_TIME, LOCAL, Life, Question, Row, Scenario
from tests.write_points import watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIRST_FILE = 1_700_000_000
_TAKES_OVER = "SET 'sqlext.take-over' = 'true';\n"
_LAST = datetime.fromtimestamp(LAST_TIME, timezone.utc).strftime("%Y-%m-%d")
Answer = list[tuple[str, ...]]


class DiedError(Exception):
    """The driver is dead: nothing that it writes arrives."""


class Driver:
    """The driver that lives now. It counts its writes, before and behind each; from one of them on it is dead.

    Attributes:
        dead: whether it has died.
    """

    def __init__(self, dies_at: int | None = None, meets: tuple[int, Callable[[], None]] | None = None) -> None:
        self.dead = False
        self._dies_at = dies_at
        self._meets = meets
        self._writes = 0

    def at_write(self) -> None:
        """Go on, or die."""
        self._writes += 1
        if self._writes == self._dies_at:
            self.dead = True
        if self.dead:
            raise DiedError
        if self._meets is not None and self._writes == self._meets[0]:
            meets, self._meets = self._meets[1], None
            meets()
            if self.dead:
                raise DiedError


class World:
    """A folder with inputs, outputs and a catalog, in which drivers live one after the other.

    Attributes:
        ended: how many drivers came to their end; died: how many did not; rivals: how many others were refused.
    """

    def __init__(self, spark: SparkSession | None, folder: Path, scenario: Scenario) -> None:
        self.ended = self.died = self.rivals = 0
        self._spark = spark
        self._folder = folder
        self._scenario = scenario
        self._files = 0
        self._driver = Driver()
        for name in scenario.tables:
            (folder / "in" / name).mkdir(parents=True)
            (folder / "all" / name).mkdir(parents=True)
        for life in scenario.lives:
            for table, rows in life.files:
                self._put("all", table, rows)
        self._ahead = 0

    def happen(self) -> None:
        """Let all lives pass.

        Raises:
            SqlExtError: a driver failed of itself, or a rival was refused by another rule.
        """
        with self._watched():
            for life in self._scenario.lives:
                self._live(life)
                # A bounded job that came to its end begins anew, also if its driver died then.
                if self._scenario.settings == LOCAL and self._is_marked():
                    break

    def answer(self, number: int) -> Answer:
        """Return what the table of a question has now, sorted; without what the last row made."""
        return _sorted(_stored(self._folder / "out" / f"out{number}", self._scenario.questions[number]))

    def expected(self, number: int) -> Answer:
        """Return the answer to a question over all rows at once, sorted; without what the last row made."""
        variables = {"IN": str(self._folder / "all")}
        result = self._session("asked").run(self._scenario.asked(number), variables)[-1]
        return _sorted(result.rows)

    @property
    def _variables(self) -> dict[str, str]:
        return {"IN": str(self._folder / "in"), "OUT": str(self._folder / "out")}

    def _session(self, catalog: str = "catalog") -> sqlext.Session:
        return sqlext.connect(self._spark, catalog=self._folder / catalog)

    def _is_marked(self) -> bool:
        """Return whether all queries of the job say that they are finished."""
        runs = list((self._folder / "catalog").rglob("run.json"))
        return bool(runs) and all(json.loads(run.read_text())["finished"] for run in runs)

    def _live(self, life: Life) -> None:
        self._ahead += life.clock
        for table, rows in life.files:
            self._put("in", table, rows)
        meets = (life.rival, self._rival) if life.rival is not None else None
        self._driver = Driver(life.dies_at, meets)
        try:
            # The driver before may have died, and its lease holds for some time yet.
            self._session().run(_TAKES_OVER + self._scenario.job(), self._variables)
            self.ended += 1
        except Exception:
            if not self._driver.dead:
                raise
            self.died += 1
        finally:
            # Spark lives on where a driver dies; what it still hands out reaches nobody.
            self._driver.dead = True
            for query in self._spark.streams.active if self._spark is not None else ():
                query.stop()

    def _rival(self) -> None:
        """Try to take the job from the driver that lives."""
        driver, self._driver = self._driver, Driver()
        try:
            self._session().run(self._scenario.job(), self._variables)
            if self._scenario.settings == LOCAL:
                # It was there first, and did all: the job would begin anew.
                self.ended += 1
                driver.dead = True
        except SqlExtError as error:
            if error.code != "RUN-022":
                raise
            self.rivals += 1
        finally:
            self._driver = driver

    def _put(self, folder: str, table: str, rows: tuple[Row, ...]) -> None:
        self._files += 1
        lines = [json.dumps({"n": r.n, "k": r.k, "v": r.v, "ts": _text(r.ts)}) for r in rows]
        new = self._folder / "new.json"
        new.write_text("".join(f"{line}\n" for line in lines))
        # Files are read in the order of their times.
        os.utime(new, (_FIRST_FILE + self._files,) * 2)
        new.replace(self._folder / folder / table / f"{self._files}.json")

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Count what is written, and let the clock be ahead."""
        clock = time.time_ns
        with pytest.MonkeyPatch.context() as patched:
            watch(lambda _: self._driver.at_write(), patched.setattr)
            patched.setattr(time, "time_ns", lambda: clock() + self._ahead * 1_000_000_000)
            yield


def _stored(folder: Path, question: Question) -> list[tuple[Any, ...]]:
    names = [name for name, _ in question.columns]
    if question.form == "delta":
        from deltalake import DeltaTable

        if not DeltaTable.is_deltatable(str(folder)):
            return []
        rows = DeltaTable(str(folder)).to_pyarrow_table().to_pylist()
    else:
        files = (f for f in folder.rglob("part-*") if not any(p.startswith(("_", ".")) for p in f.parts))
        rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [tuple(row.get(name) for name in names) for row in rows]


def _sorted(rows: list[tuple[Any, ...]]) -> Answer:
    """Return rows as texts, sorted, but for those that the last row is in."""
    texts = [tuple(map(_plain, row)) for row in rows]
    return sorted(t for t in texts if LAST_KEY not in t and not any(v.startswith(_LAST) for v in t))


def _plain(value: Any) -> str:
    """Return a value as one text, whoever has written it."""
    if isinstance(value, str) and value[4:5] == "-":
        value = datetime.fromisoformat(value.replace("Z", ""))
    return value.strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(value, datetime) else str(value)


def _text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
