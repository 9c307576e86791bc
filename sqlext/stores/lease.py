"""Make one owner at a time of a place, wherever it is.

``lease/<epoch>.json`` says who owns the place, and until when. Epochs count from 1; the greatest one counts.

- An owner takes the place by creating the next epoch. Of several who try, the store lets one through.
- It renews its lease by writing its own epoch again, and gives the place free by writing that it ends now.
- The place is free if its lease has ended, or if its owner is known to be dead.
- An owner that was away too long finds a greater epoch, or another's lease. It is *fenced*, and must write no more.

A lease bears a token of its own: an epoch may be counted anew when a place was removed and made again.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from sqlext.stores.base import Store
from sqlext.stores.owners import Owner, is_known_dead, this_process

#: How long a lease holds without being renewed, in milliseconds. Three renewals may fail, and clocks may differ.
LASTS = 60_000
#: How often a lease is renewed within that time.
_RENEWALS = 4
#: How often one tries to become the owner of a place that changes hands meanwhile.
_TRIES = 100
_FOLDER = "lease"

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Term:
    """What a lease says.

    Attributes:
        epoch: the number of the lease among those of its place, from 1.
        owner: who has it; None if what is kept cannot be read.
        expires: when it ends, in milliseconds since 1970 (UTC).
        token: what no other lease has.
    """

    epoch: int
    owner: Owner | None = None
    expires: int = 0
    token: str = ""

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
        super().__init__(f"taken over by {term.owner}" if term else "gone")
        self.term = term


def now() -> int:
    """Return the time of this machine, in milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000


class Lease:
    """A place that is this process's own until ``release``.

    Attributes:
        previous: the lease that was taken over before its owner gave it free; None if the place was free.
    """

    def __init__(self, store: Store, term: Term, previous: Term | None, clock: Clock, lasts: int) -> None:
        self.previous = previous
        self._store = store
        self._term = term
        self._clock = clock
        self._lasts = lasts
        self._ended = threading.Event()
        # A renewal must not come behind the release.
        self._writing = threading.Lock()

    def check(self) -> None:
        """Return if the place is still this lease's.

        Raises:
            FencedError: it is not.
        """
        last = last_term(self._store)
        if last is None or last.token != self._term.token:
            raise FencedError(last)

    def renew(self) -> None:
        """Say that the owner still is there.

        Raises:
            FencedError: the place is another's by now.
        """
        with self._writing:
            if not self._ended.is_set():
                self.check()
                self._write(self._clock() + self._lasts)

    def release(self) -> None:
        """Give the place free, if it still is this lease's; a second time does nothing."""
        with self._writing:
            if self._ended.is_set():
                return
            self._ended.set()
            try:
                self.check()
            except FencedError:
                return
            self._write(0)

    def keep(self, failed: Callable[[Exception], None]) -> None:
        """Renew it in a thread of its own, until it is given free or is another's.

        Args:
            failed: is told why a renewal failed. The next one may succeed, but for ``FencedError``.
        """
        threading.Thread(target=self._renew_again, args=(failed,), name="sqlext-lease", daemon=True).start()

    def _renew_again(self, failed: Callable[[Exception], None]) -> None:
        while not self._ended.wait(self._lasts / _RENEWALS / 1000):
            try:
                self.renew()
            except FencedError as error:
                failed(error)
                return
            except Exception as error:  # noqa: BLE001 - a store may fail in any way, and answer the next time
                failed(error)

    def _write(self, expires: int) -> None:
        self._term = replace(self._term, expires=expires)
        self._store.write(_key(self._term.epoch), self._term.to_bytes())


def take(
    store: Store, *, force: bool = False, owner: Owner | None = None, clock: Clock = now, lasts: int = LASTS
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
    last = None
    for _ in range(_TRIES):
        last = last_term(store)
        held = last is not None and last.expires > clock()
        if last is not None and held and not force and not (last.owner is not None and is_known_dead(last.owner)):
            break
        epoch = last.epoch + 1 if last is not None else 1
        term = Term(epoch, owner or this_process(), clock() + lasts, uuid.uuid4().hex)
        if store.create(_key(epoch), term.to_bytes()):
            for older in _epochs(store):
                if older < epoch:
                    store.delete(_key(older))
            return Lease(store, term, last if last is not None and last.expires else None, clock, lasts)
    raise HeldError(last or Term(0))


def last_term(store: Store) -> Term | None:
    """Return the lease of a place that counts, None if there was none ever."""
    for _ in range(_TRIES):
        epoch = max(_epochs(store), default=0)
        if not epoch:
            return None
        data = store.read(_key(epoch))
        if data is not None:  # else it was deleted since: there is a greater one, or the place is gone
            return _term(epoch, data)
    return None


def _key(epoch: int) -> str:
    return f"{_FOLDER}/{epoch}.json"


def _epochs(store: Store) -> list[int]:
    names = (key.rpartition("/")[2].removesuffix(".json") for key in store.keys(_FOLDER))
    return [int(name) for name in names if name.isdecimal()]


def _term(epoch: int, data: bytes) -> Term:
    """Return what a lease says; one that cannot be read has ended."""
    try:
        found: Mapping[str, object] = json.loads(data)
        owner = found["owner"]
        assert isinstance(owner, dict)
        who = Owner(str(owner["host"]), int(owner["pid"]), str(owner["started"]))
        return Term(epoch, who, int(str(found["expires"])), str(found["token"]))
    except (ValueError, TypeError, KeyError, AssertionError):
        return Term(epoch)
