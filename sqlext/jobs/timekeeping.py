"""Keep the time of a query: watch what its inputs give, and write what must move or wait.

Each query of a job has a keeper (``sqlext.watermarks``), woken five times a second by a thread of the job. It takes
what Spark's progress says of finished micro-batches, and writes into the query's folder:

time/beats/<n>.json  the last heartbeat of its n-th input: the watermark, which the input's reader tells with its rows
time/<n>/<ms>.txt    heartbeats of its n-th input where Spark reads them: as a row that only moves the watermark there
time/held/<n>.json   the splits of that input that must wait, and how far was looked (``sources.stream.Holds``)
time/keeper.json     what a restart needs, and what SHOW WATERMARKS and EXPLAIN WHY tell
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from sqlext.connectors.moments import ProcessingClock, heartbeat, heartbeat_key
from sqlext.jobs.progress import InputCounts, InputsRead
from sqlext.rewrite.script.model import KeptInput
from sqlext.sources.stream import holds_key
from sqlext.stores.location import Location
from sqlext.watermarks.inputs import WHOLE, Input, Known
from sqlext.watermarks.keeper import Decisions, Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport

#: Seconds between two looks; Flink's ``pipeline.auto-watermark-interval`` is as long by default.
LOOK_SECONDS = 0.2
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_STATE = "keeper.json"


class KeptTime:
    """What is known of the time of one query, and where people find it.

    Args:
        place: ``QueryHome.time``.
        inputs: of the query.
        now: when it starts.
        before: what was known when the query ran last (``TimeKeeper.to_json``).

    Attributes:
        keeper: what it knows.
        report: the same for people, as of its last look; safe to read from any thread.
        written: what it wrote last (``read_state``).
    """

    def __init__(self, place: Location, inputs: Sequence[Input], now: int, before: Mapping[str, Any]) -> None:
        self._place = place
        self.keeper = TimeKeeper(inputs, now, before)
        self.report = TimeReport.of(self.keeper)
        self._reported: TimeReport | None = None
        self.written: Mapping[str, Any] | None = None

    def save(self) -> None:
        """Write what is known if it has changed; what a restart needs and what people ask for are one file."""
        self.report = TimeReport.of(self.keeper)
        # Five looks a second must not be five writes.
        if self.report != self._reported:
            self.written = state = {"known": self.keeper.to_json(), "report": self.report.to_json()}
            self._place.put(_STATE, json.dumps(state))
            self._reported = self.report


class Timekeeping(KeptTime):
    """Keeps the time of one query that Spark runs.

    Args:
        place: ``QueryHome.time``.
        kept: its inputs.
        clock: what time it is.

    Attributes:
        looks: how often it has looked.
    """

    def __init__(self, place: Location, kept: Sequence[KeptInput], clock: ProcessingClock) -> None:
        state = read_state(place)
        super().__init__(place, [k.input for k in kept], clock.now(), state["known"] if state else {})
        self._kept = {k.input.name: (number, k) for number, k in enumerate(kept)}
        self._clock = clock
        self._taken: dict[str, Mapping[str, InputCounts]] = {}
        self._next = 0  # of the micro-batches whose times were not taken yet
        self.looks = 0
        self._looked = threading.Condition()
        self._taking = threading.Lock()  # its own thread looks, the job's settles
        self._held: dict[int, str] = {}

    def begin(self) -> None:
        """Do what must be done before the first micro-batch: sources are told that they are looked after."""
        # A source without a file of holds runs freely, so the file must be there before its first micro-batch.
        self._act(self.keeper.decide(self._clock.now()), ())

    def look(self, inputs: InputsRead, *, resting: bool) -> None:
        """Take what was read so far and do what follows from it.

        Args:
            inputs: what micro-batches that are done have read.
            resting: whether no micro-batch is under way: then whoever gives nothing is silent, not just waiting.
        """
        with self._taking:
            now = self._clock.now()
            read = self._take(inputs, now, resting=resting)
            if resting or read:  # while a batch is under way nobody knows who gives it rows
                self._act(self.keeper.decide(now), inputs.ends)
            self.save()
        with self._looked:
            self.looks += 1
            self._looked.notify_all()

    def settle(self, inputs: InputsRead) -> None:
        """Take what the micro-batches of a query that has ended have read since the last look; nothing follows."""
        with self._taking:
            self._take(inputs, self._clock.now(), resting=False)
            self.save()

    def _take(self, inputs: InputsRead, now: int, *, resting: bool) -> bool:
        """Tell the keeper what was read; return whether that was anything."""
        read = False
        for arrived in inputs.arrived:
            if arrived.number >= self._next:
                self._next = arrived.number + 1
                self.keeper.arrived(arrived)
        for name, splits_of in inputs.counts.items():
            before = self._taken.get(name, {})
            every = splits_of[WHOLE]
            if every.batches > before.get(WHOLE, InputCounts()).batches:
                read = True
                self.keeper.saw(name, _seen(splits_of, before), now)
            self._taken[name] = splits_of
            if self._kept[name][1].input.bounded and (every.last_rows == 0 or resting):
                self.keeper.ended(name)
        return read

    def await_looks(self, more: int, alive: Callable[[], bool]) -> None:
        """Wait until it has looked so many times more, or nobody looks any more."""
        with self._looked:
            wanted = self.looks + more
            # In steps: the thread that looks ends with the job and then notifies nobody.
            while not self._looked.wait_for(lambda: self.looks >= wanted, LOOK_SECONDS) and alive():
                pass

    def _act(self, decisions: Decisions, ends: Sequence[Mapping[str, Any]]) -> None:
        for name, watermark in decisions.beats.items():
            number, kept = self._kept[name]
            if not kept.view:
                self._place.put(heartbeat_key(number), heartbeat(watermark))
                continue
            # Named by the watermark: Spark's file source knows files by path, and reads none of them twice.
            self._place.put(f"{number}/{watermark}.txt", f"{_timestamp(watermark)}\n")
        for name, held in decisions.held.items():
            self._hold(self._kept[name][0], json.dumps({"held": sorted(held), "seen": list(ends)}))

    def _hold(self, number: int, text: str) -> None:
        if self._held.get(number) != text:
            self._place.put(holds_key(number), text)
            self._held[number] = text


def read_state(place: Location) -> dict[str, Any] | None:
    """Return what a keeper wrote last into a query's folder ``time``, None if none ran there."""
    state: dict[str, Any] | None = place.json(_STATE)
    for known in state["known"].values() if state is not None else ():
        Known.from_json(known)
    return state


def read_report(place: Location) -> TimeReport | None:
    """Return what the keeper of a query's folder ``time`` knew last, None if none ran there."""
    state = read_state(place)
    try:
        return TimeReport.from_json(state["report"]) if state else None
    except (KeyError, TypeError):  # of another version of sqlext; a keeper that runs writes it anew
        return None


def _seen(counts: Mapping[str, InputCounts], before: Mapping[str, InputCounts]) -> list[Seen]:
    """Return what is new of an input: of its splits, where it has some."""
    names = [n for n in counts if n != WHOLE] or [WHOLE]
    first = counts[WHOLE].smallest
    return [Seen(counts[n].largest, counts[n].rows - before.get(n, InputCounts()).rows, n, first) for n in names]


def _timestamp(ms: int) -> str:
    return f"{(_EPOCH + timedelta(milliseconds=ms)).strftime('%Y-%m-%d %H:%M:%S.%f')[:-3]}Z"
