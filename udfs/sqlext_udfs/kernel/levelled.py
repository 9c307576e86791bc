"""Keep the state of a bucket in levels: a micro-batch reads and writes what it touches, not all that is kept.

The newest level is small, and is written anew in each micro-batch. When it has grown it becomes a level of its own. It
takes with it the levels behind it that are not much larger, as in a log-structured merge tree. So a row is written a
few times for each factor of ``LevelRules.ratio`` by which the state is larger than a micro-batch.

When a deadline of a large level has come, all levels are stepped as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, NamedTuple, Protocol
from uuid import uuid4

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.dividing import least
from sqlext_udfs.kernel.levels import MOST_ROWS, NO_HASHES, Hashes, Level, LevelWork, united
from sqlext_udfs.kernel.operator import BucketOperator, Clock, State, StepResult, Wakeup
from sqlext_udfs.kernel.table_codec import LIMIT_BYTES, cells, of_cells

# The first byte of a state in levels; that of a state that is one value is ``table_codec.VERSION``.
VERSION = 2
_HEADER = bytes([VERSION]).ljust(8, b"\0")
_FACTS = b"sqlext.levels"
# All is stepped, if the levels in which something is due are more than one in so many bytes.
_MOST_DUE = 2


@dataclass(frozen=True, slots=True)
class LevelRules:
    """When a state is kept in levels.

    Attributes:
        smallest: bytes of a state that is worth it.
        newest: bytes up to which the newest level is written anew in each micro-batch.
        ratio: how many times larger than all newer ones a level must be, to stay as it is.
        share: how many times larger the state must be than the rows that come.
    """

    smallest: int = 4 << 20
    newest: int = 2 << 20
    ratio: int = 1
    share: int = 8


@dataclass(frozen=True, slots=True)
class LevelEntry:
    """What is known of a level without reading it.

    Attributes:
        number: under which it is kept; those of newer levels are greater.
        id: tells it from all others that ever had the number.
        size: in bytes.
        event, processing: when it has something to do (``Wakeup``).
    """

    number: int
    id: str
    size: int
    event: int | None = None
    processing: int | None = None

    @property
    def wakeup(self) -> Wakeup:
        """When it has something to do."""
        return Wakeup(self.event, self.processing)


@dataclass(frozen=True, slots=True)
class KeptLevels:
    """The state of a bucket in levels.

    Attributes:
        newest: the newest level's state, encoded.
        gone: hashes that the newest level owns without entries.
        entries: the levels behind it, newest first.
        wakeup: when the newest level has something to do.
        open_groups: how many keys and windows all levels hold.
    """

    newest: bytes
    gone: Hashes
    entries: tuple[LevelEntry, ...]
    wakeup: Wakeup
    open_groups: int

    def encoded(self) -> bytes:
        """Return it as bytes: the newest level, and what is known of the others."""
        facts = {
            "entries": [asdict(entry) for entry in self.entries],
            "wakeup": self.wakeup,
            "open": self.open_groups,
        }
        return of_cells([self.newest, self.gone.tobytes()], _HEADER, {_FACTS: json.dumps(facts)})

    @classmethod
    def decoded(cls, data: bytes) -> KeptLevels:
        """Return what ``encoded`` gave."""
        (newest, gone), metadata = cells(data)
        facts = json.loads(metadata[_FACTS])
        entries = tuple(LevelEntry(**entry) for entry in facts["entries"])
        return cls(newest, np.frombuffer(gone, np.uint64), entries, Wakeup(*facts["wakeup"]), facts["open"])

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self.newest) + sum(entry.size for entry in self.entries)

    def next_wakeup(self) -> Wakeup:
        """Return when one of the levels has something to do."""
        event = least([self.wakeup.event, *(e.event for e in self.entries)])
        return Wakeup(event, least([self.wakeup.processing, *(e.processing for e in self.entries)]))


def is_levelled(data: bytes) -> bool:
    """Return whether a state value is one in levels."""
    return data[0] == VERSION


def damaged_level(entry: LevelEntry, why: str) -> SqlExtError:
    """Return what is raised for a level that cannot be read."""
    return SqlExtError(
        "RUN-031",
        f"state is damaged: level {entry.number}: {why}",
        hint="DROP QUERY starts the query anew, without what it has in state",
    )


class LevelReader(Protocol):
    """Reads the levels of a bucket, but for the newest one."""

    def read(self, entry: LevelEntry) -> tuple[bytes, Hashes]:
        """Return the state of a level, and hashes that it owns without entries."""


class LevelStore(LevelReader, Protocol):
    """Keeps the levels of a bucket, but for the newest one."""

    def load(self, entry: LevelEntry) -> Level | None:
        """Return a level with its index, if it is at hand."""

    def write(self, entry: LevelEntry, level: Level) -> None:
        """Keep a level."""

    def remember(self, entry: LevelEntry, level: Level) -> None:
        """Have a level at hand from now on."""

    def remove(self, entry: LevelEntry) -> None:
        """Forget a level."""


class Done(NamedTuple):
    """A step of a bucket.

    Attributes:
        step: what it did. Its state is that of what was touched, where the bucket has levels.
        kept: the state value that is to be written; None where nothing has changed.
        wakeup: when the bucket must be called although no rows come.
        open_groups: how many keys and windows it holds.
    """

    step: StepResult[Any]
    kept: bytes | None
    wakeup: Wakeup
    open_groups: int


class Stepped(NamedTuple, Generic[State]):
    """The newest level after a step.

    Attributes:
        rest: what of it was not stepped.
        stepped: what was.
        came: the hashes of rows that came.
        gone: hashes that may be gone, which older levels may have.
    """

    rest: State
    stepped: State
    came: Hashes
    gone: Hashes


class StepTimes(NamedTuple):
    """What time it is, and what the batch clock said before (ms; None if it was not there)."""

    clock: Clock
    before: int | None = None

    def are_due(self, wakeup: Wakeup) -> bool:
        """Return whether a deadline has come."""
        return is_due(wakeup, self.clock.watermark, self.clock.now)

    def are_due_again(self, wakeup: Wakeup) -> bool:
        """Return whether a deadline will have come when time has moved once more as far as it just did."""
        event, late, now = self.clock.watermark, self.clock.late_watermark, self.clock.now
        next_event = None if event is None else event + (event - (Clock.BEGIN if late is None else late))
        next_now = None if now is None else now + (now - (Clock.BEGIN if self.before is None else self.before))
        return is_due(wakeup, next_event, next_now)


def is_due(wakeup: Wakeup, watermark: int | None, now: int | None) -> bool:
    """Return whether one of the deadlines has come, by the watermark or by the batch clock (ms)."""
    event = wakeup.event is not None and watermark is not None and watermark >= wakeup.event
    return event or (wakeup.processing is not None and now is not None and now >= wakeup.processing)


class Levelled(Generic[State]):
    """Step a bucket whose state may be in levels.

    Args:
        operator: the semantics.
        keys: how many columns choose the bucket.
        rules: when state is kept in levels.
    """

    def __init__(self, operator: BucketOperator[State], keys: int, rules: LevelRules) -> None:
        self._operator = operator
        self._work = LevelWork(operator, keys)
        self._rules = rules

    def step(self, data: bytes | None, rows: pa.Table | None, times: StepTimes, store: LevelStore | None) -> Done:
        """Do a micro-batch.

        Args:
            data: the state value; None for a bucket that has seen nothing.
            rows: as of ``BucketOperator.step``.
            times: what time it is.
            store: of the levels behind the newest one; None where there can be none.
        """
        if data is not None and is_levelled(data):
            assert store is not None
            return self._of_levels(KeptLevels.decoded(data), rows, times, store)
        state = self._operator.empty() if data is None else self._operator.decode(data)
        if store is None or data is None or rows is None or not self._is_worth_it(len(data), rows):
            return self._whole(state, rows, times)
        wakeup = self._operator.next_wakeup(state)
        if times.are_due(wakeup):
            return self._divided(state, rows, times, store)
        base = self._work.level(state, data)
        if base.rows > MOST_ROWS:
            return self._whole(state, rows, times)
        entry = _entry(0, base, wakeup)
        store.write(entry, base)
        open_groups = self._operator.open_groups(state)
        return self._touched(
            KeptLevels(self._nothing(base), NO_HASHES, (entry,), Wakeup(), open_groups), rows, times, store
        )

    def whole(self, data: bytes, levels: LevelReader) -> State:
        """Return all of a state."""
        if not is_levelled(data):
            return self._operator.decode(data)
        kept = KeptLevels.decoded(data)
        return self._together(kept, (self._made(*levels.read(entry)) for entry in kept.entries))

    def _of_levels(self, kept: KeptLevels, rows: pa.Table | None, times: StepTimes, store: LevelStore) -> Done:
        is_worth_it = self._operator.separable and (rows is None or self._is_worth_it(kept.size, rows))
        # A state that is converted as it is read has other rows than its index says.
        is_current = self._operator.is_current(kept.newest)
        due = [entry for entry in kept.entries if times.are_due(entry.wakeup)]
        if is_worth_it and is_current and _MOST_DUE * sum(entry.size for entry in due) <= kept.size:
            return self._touched(kept, rows, times, store, due)
        levels = (self._load(e, store) if is_current else self._made(*store.read(e)) for e in kept.entries)
        state = self._together(kept, levels)
        for entry in kept.entries:
            store.remove(entry)
        return self._divided(state, rows, times, store) if is_worth_it else self._whole(state, rows, times)

    def _is_worth_it(self, size: int, rows: pa.Table) -> bool:
        large = size >= self._rules.smallest and rows.nbytes * self._rules.share <= size
        return large and self._operator.separable and self._work.can_hash(rows)

    def _whole(self, state: State, rows: pa.Table | None, times: StepTimes) -> Done:
        """Step all that there is, and keep it as one value."""
        step = self._operator.step(state, rows, times.clock)
        return self._as_one(step, None if step.state is state else self._operator.encode(step.state))

    def _divided(self, state: State, rows: pa.Table | None, times: StepTimes, store: LevelStore) -> Done:
        """Step all that there is, and keep it in levels if most of it will have nothing to do next time."""
        step = self._operator.step(state, rows, times.clock)
        hashes = NO_HASHES if rows is None else self._work.hashes(rows)
        touched, others = self._work.parts(step.state, hashes)
        wakeup = self._operator.next_wakeup(others)
        data = None if times.are_due_again(wakeup) else self._operator.encode(others)
        base = None if data is None or len(data) < self._rules.smallest else self._work.level(others, data)
        if base is None or base.rows > MOST_ROWS:
            return self._as_one(step, self._operator.encode(step.state))
        entry = _entry(0, base, wakeup)
        store.write(entry, base)
        kept = KeptLevels(
            self._operator.encode(touched), NO_HASHES, (entry,), self._operator.next_wakeup(touched), step.open_groups
        )
        return self._done(step, kept)

    def _touched(
        self,
        kept: KeptLevels,
        rows: pa.Table | None,
        times: StepTimes,
        store: LevelStore,
        due: Sequence[LevelEntry] = (),
    ) -> Done:
        """Step what belongs to the keys that came, and to those of levels in which something is due."""
        work, operator = self._work, self._operator
        newest = self._made(kept.newest, kept.gone)
        came = NO_HASHES if rows is None else work.hashes(rows)
        levels = [self._load(entry, store) for entry in due] + ([newest] if times.are_due(kept.wakeup) else [])
        hashes = united(came, *(level.hashes() for level in levels))
        state, older = self._entries_of(newest, kept.entries, hashes, store)
        before = operator.open_groups(state)
        step = operator.step(state, rows, times.clock)
        if step.state is state and not levels:
            return Done(step, None, kept.next_wakeup(), kept.open_groups)
        # What was due is all in the step.
        for entry in due:
            store.remove(entry)
        entries = tuple(entry for entry in kept.entries if entry not in due)
        after = Stepped(work.without(newest, hashes), step.state, came, united(newest.gone, older))
        open_groups = kept.open_groups - before + step.open_groups
        return self._done(step, self._written(after, entries, open_groups, store))

    def _entries_of(
        self, newest: Level, entries: Sequence[LevelEntry], hashes: Hashes, store: LevelStore
    ) -> tuple[State, Hashes]:
        """Return what is known of some hashes, and those of them that levels behind the newest one own."""
        own = newest.owns(hashes)
        # Always of the newest level too: it knows best what time it is.
        parts, left, older = [self._work.of(newest, hashes[own])], hashes[~own], [NO_HASHES]
        for entry in entries:
            if not len(left):
                break
            level = self._load(entry, store)
            own = level.owns(left)
            if own.any():
                parts.append(self._work.of(level, left[own]))
                older.append(left[own])
            left = left[~own]
        return self._work.together(parts[::-1]), np.concatenate(older)

    def _written(
        self, after: Stepped[State], entries: tuple[LevelEntry, ...], open_groups: int, store: LevelStore
    ) -> KeptLevels:
        """Keep what was stepped before other levels; where that has grown a part of it becomes one of them."""
        level = self._encoded(self._work.together([after.rest, after.stepped]), after.gone if entries else NO_HASHES)
        if level.size > self._rules.newest:
            # Keys that have just come often have something to do soon. They stay, so that levels seldom have.
            hot, cold = self._work.parts(after.stepped, after.came)
            colder = self._encoded(self._work.together([after.rest, cold]), after.gone if entries else NO_HASHES)
            level = self._encoded(hot, NO_HASHES)
            entries = self._pushed(colder, entries, store)
        wakeup = self._operator.next_wakeup(self._operator.decode(level.data))
        return KeptLevels(level.data, level.gone, entries, wakeup, open_groups)

    def _pushed(self, level: Level, entries: tuple[LevelEntry, ...], store: LevelStore) -> tuple[LevelEntry, ...]:
        """Return the levels with a new one before them, which takes those with it that are not much larger."""
        if not level.rows and not len(level.gone):
            return entries
        number, left = max((entry.number for entry in entries), default=-1) + 1, list(entries)
        state = self._operator.decode(level.data)
        while left and left[0].size < self._rules.ratio * level.size:
            older = self._load(left[0], store)
            if older.rows + level.rows > MOST_ROWS or older.size + level.size > LIMIT_BYTES:
                break
            state = self._work.together([self._work.but(older, [level]), state])
            store.remove(left.pop(0))
            level = self._encoded(state, united(older.gone, level.gone) if left else NO_HASHES)
        entry = _entry(number, level, self._operator.next_wakeup(state))
        store.write(entry, level)
        return (entry, *left)

    def _encoded(self, state: State, gone: Hashes) -> Level:
        return self._work.level(state, self._operator.encode(state), gone)

    def _together(self, kept: KeptLevels, others: Iterable[Level]) -> State:
        """Return what the newest level and the others, newest first, say of all keys."""
        levels, states = [self._made(kept.newest, kept.gone)], [self._operator.decode(kept.newest)]
        for level in others:
            states.append(self._work.but(level, levels))
            levels.append(level)
        return self._work.together(states[::-1])

    def _load(self, entry: LevelEntry, store: LevelStore) -> Level:
        found = store.load(entry)
        if found is None:
            found = self._made(*store.read(entry))
            store.remember(entry, found)
        return found

    def _made(self, data: bytes, gone: Hashes) -> Level:
        return self._work.level(self._operator.decode(data), data, gone)

    def _nothing(self, level: Level) -> bytes:
        """Return a state without keys that knows what time it is."""
        return self._operator.encode(self._work.of(level, NO_HASHES))

    def _as_one(self, step: StepResult[State], data: bytes | None) -> Done:
        return Done(step, data, self._operator.next_wakeup(step.state), step.open_groups)

    def _done(self, step: StepResult[State], kept: KeptLevels) -> Done:
        return Done(step, kept.encoded(), kept.next_wakeup(), kept.open_groups)


def _entry(number: int, level: Level, wakeup: Wakeup) -> LevelEntry:
    return LevelEntry(number, uuid4().hex, level.size, *wakeup)
