"""Make one owner at a time of a place, wherever it is.

``lease/<epoch>.json`` says who owns the place, and until when. Epochs count from 1; the greatest one counts.

- An owner takes the place by creating the next epoch. Of several who try, the store lets one through.
- It renews its lease by replacing its own epoch, and gives the place free by writing there that it has ended.
- The place is free if its lease has ended, or if its owner is known to be dead.
- An owner that was away too long finds another's lease. It is *fenced*, and must write no more.

A lease bears a token of its own: epochs are counted anew when a place was removed and made again.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from sqlext.stores.base import ByteStore, KeptBytes
from sqlext.stores.owners import Owner, is_known_dead, this_process

#: How long a lease holds without being renewed, in milliseconds. Three renewals may fail, and clocks may differ.
LASTS = 60_000
#: How often a lease is renewed within that time.
_RENEWALS = 4
#: How often one tries to become the owner of a place that changes hands meanwhile.
_TRIES = 100
#: Below this key of the store lie the leases.
FOLDER = "lease"
#: When a lease ends that cannot be read: never by itself. Another version may have written it.
_NEVER = 1 << 62

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Term:
    """What a lease says.

    Attributes:
        epoch: the number of the lease among those of its place, from 1.
        owner: who has it; None if what is kept cannot be read.
        expires: when it ends, in milliseconds since 1970 (UTC); 0: its owner has given the place free.
        token: what no other lease has.
    """

    epoch: int
    owner: Owner | None
    expires: int
    token: str

    def to_bytes(self) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(self)).encode()


class HeldError(Exception):
    """The place is another's.

    Attributes:
        term: the lease of the other.
    """

    def __init__(self, term: Term) -> None:
        super().__init__(f"held by {term.owner} until {term.expires}")
        self.term = term


class FencedError(Exception):
    """The place was this lease's, and is no more.

    Attributes:
        term: the lease of the next owner, None if the place is gone.
    """

    def __init__(self, term: Term | None) -> None:
        super().__init__(f"taken over by {term.owner}" if term is not None else "gone")
        self.term = term


def now() -> int:
    """Return the time of this machine, in milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000


class Lease:
    """A place that is this process's own until ``release``.

    Attributes:
        previous: the lease of an owner that has not given the place free, and is not known to be dead; else None.
        lost: why a renewal has found that the place is another's; None while it is this lease's.
    """

    def __init__(
        self, store: ByteStore, term: Term, stamp: object, previous: Term | None, clock: Clock, lasts: int
    ) -> None:
        self.previous = previous
        self.lost: FencedError | None = None
        self._store = store
        self._term = term
        self._stamp = stamp
        self._clock = clock
        self._lasts = lasts
        self._ended = threading.Event()
        # A renewal must not come behind the release.
        self._writing = threading.Lock()

    @property
    def term(self) -> Term:
        """What it says."""
        return self._term

    def check(self) -> None:
        """Return if the place is still this lease's.

        Raises:
            FencedError: it is not.
        """
        check_owner(self._store, self._term)

    def renew(self) -> None:
        """Say that the owner still is there.

        Raises:
            FencedError: the place is another's by now.
        """
        with self._writing:
            if not self._ended.is_set():
                self.check()
                self._write(self._clock() + self._lasts)
                # Who takes the place looks for this renewal behind the creation of an epoch. So either of both sees.
                self.check()

    def release(self) -> None:
        """Give the place free, if it still is this lease's; a second time does nothing."""
        with self._writing:
            if not self._ended.is_set():
                self._ended.set()
                self._release()

    def remove(self) -> None:
        """Give the place free, and leave no epoch there: the place itself goes."""
        with self._writing:
            self._ended.set()
            if self._release():
                for epoch in _epochs(self._store):
                    if epoch <= self._term.epoch:
                        self._store.delete(key_of(epoch))

    def keep(self, failed: Callable[[Exception], None] = lambda _: None) -> None:
        """Renew it in a thread of its own, until it is given free or is another's.

        Args:
            failed: is told why a renewal failed. The next one may succeed, but for ``FencedError``.
        """
        threading.Thread(target=self._renew_again, args=(failed,), name="sqlext lease", daemon=True).start()

    def _renew_again(self, failed: Callable[[Exception], None]) -> None:
        while not self._ended.wait(self._lasts / _RENEWALS / 1000):
            try:
                self.renew()
            except FencedError as error:
                self.lost = error
                failed(error)
                return
            except Exception as error:  # noqa: BLE001 - a store may fail in any way, and answer the next time
                failed(error)

    def _release(self) -> bool:
        try:
            self.check()
            try:
                self._write(0)
            except OSError:  # a full disk still takes a name away
                self._store.delete(key_of(self._term.epoch))
        except FencedError:
            return False
        return True

    def _write(self, expires: int) -> None:
        term = replace(self._term, expires=expires)
        key, data = key_of(term.epoch), term.to_bytes()
        stamp = self._store.replace(key, data, self._stamp) or _stamp_of(self._store.read(key), data)
        if stamp is None:
            raise FencedError(last_term(self._store))
        self._term, self._stamp = term, stamp


def take(
    store: ByteStore, *, force: bool = False, owner: Owner | None = None, clock: Clock = now, lasts: int = LASTS
) -> Lease:
    """Make a place this process's own.

    Args:
        force: also if another has it, who is fenced then.
        owner: who asks, None for this process.
        clock: gives milliseconds since 1970.
        lasts: how long the lease holds without being renewed, in milliseconds.

    Raises:
        HeldError: another has it.
    """
    mine = Term(0, owner or this_process(), 0, uuid.uuid4().hex)
    for _ in range(_TRIES):
        seen, kept = _look(store)
        last = _term(max(seen), kept.data) if kept is not None else None
        if last is not None and not force and _is_held(last, clock()):
            raise HeldError(last)
        mine = replace(mine, epoch=max(seen, default=0) + 1, expires=clock() + lasts)
        key, data = key_of(mine.epoch), mine.to_bytes()
        stamp = store.create(key, data) or _stamp_of(store.read(key), data)
        if stamp is None:
            continue
        if not _is_unchanged(store, seen, kept, mine.epoch):
            store.delete(key)
            continue
        for older in seen:
            store.delete(key_of(older))
        return Lease(store, mine, stamp, _unknown(last), clock, lasts)
    raise HeldError(last_term(store) or mine)


def last_term(store: ByteStore) -> Term | None:
    """Return the lease of a place that counts, None if there was none ever."""
    seen, kept = _look(store)
    return _term(max(seen), kept.data) if kept is not None else None


def holder(store: ByteStore, clock: Clock = now) -> Term | None:
    """Return the lease of who has a place now, None if it is free; nothing is taken."""
    term = last_term(store)
    return term if term is not None and _is_held(term, clock()) else None


def is_held(store: ByteStore, clock: Clock = now) -> bool:
    """Whether a driver has the place, as far as anybody knows."""
    return holder(store, clock) is not None


def check_owner(store: ByteStore, mine: Term) -> None:
    """Return if a place is still of the owner of this lease, renewed or not.

    Raises:
        FencedError: it is not.
    """
    for _ in range(_TRIES):
        last = last_term(store)
        if last is not None and last.token == mine.token:
            return
        own = store.read(key_of(mine.epoch))
        if own is None or _term(mine.epoch, own.data).token != mine.token:
            break
        # Who has created the greater epoch removes either this one, or, if it came too late, its own.
    raise FencedError(last)


def _look(store: ByteStore) -> tuple[frozenset[int], KeptBytes | None]:
    """Return the epochs of a place, and what the greatest one keeps; None where there are none."""
    for _ in range(_TRIES):
        seen = _epochs(store)
        kept = store.read(key_of(max(seen))) if seen else None
        # An epoch that was deleted since has given way to a greater one, or the place is gone.
        if kept is not None or not seen:
            return seen, kept
    return frozenset(), None


def _is_unchanged(store: ByteStore, seen: frozenset[int], kept: KeptBytes | None, epoch: int) -> bool:
    """Whether nobody has taken or renewed the place between a look at it and the creation of an epoch.

    A place that was removed meanwhile counts its epochs anew, so another's epoch may also be a smaller one.
    """
    others = _epochs(store) - {epoch}
    return others <= seen and (not others or store.read(key_of(max(seen))) in (None, kept))


def _is_held(term: Term, time: int) -> bool:
    return term.expires > time and not (term.owner is not None and is_known_dead(term.owner))


def _unknown(term: Term | None) -> Term | None:
    """Return the lease of an owner of which nobody knows whether it still lives and writes."""
    if term is None or not term.expires or (term.owner is not None and is_known_dead(term.owner)):
        return None
    return term


def _stamp_of(kept: KeptBytes | None, data: bytes) -> object | None:
    """Return the stamp of these bytes if they are there: the answer to the write may have been lost."""
    return kept.stamp if kept is not None and kept.data == data else None


def key_of(epoch: int) -> str:
    """Return the key of a lease in its store."""
    return f"{FOLDER}/{epoch}.json"


def _epochs(store: ByteStore) -> frozenset[int]:
    names = (key.rpartition("/")[2].removesuffix(".json") for key in store.keys(FOLDER))
    return frozenset(int(name) for name in names if name.isdecimal())


def _term(epoch: int, data: bytes) -> Term:
    """Return what a lease says; one that cannot be read holds until somebody takes the place by force."""
    try:
        found = json.loads(data)
        owner = found["owner"]
        who = Owner(str(owner["host"]), int(owner["pid"]), str(owner["started"]))
        return Term(epoch, who, int(found["expires"]), str(found["token"]))
    except (ValueError, TypeError, KeyError):
        return Term(epoch, None, _NEVER, "")
