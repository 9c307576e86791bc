"""A place has one owner at a time: whoever dies or stays away loses it, and writes no more."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sqlext.stores.base import ByteStore, KeptBytes
from sqlext.stores.folder import FolderStore
from sqlext.stores.lease import FencedError, HeldError, Lease, last_term, take
from sqlext.stores.opening import open_store
from sqlext.stores.owners import Owner, is_known_dead, this_process
from tests.s3_server import BUCKET, S3Server

LASTS = 1000
ELSEWHERE = Owner("another/boot/room", 7, "1")


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        """Return the time."""
        return self.now


@pytest.fixture(params=["folder", "s3a"])
def store(request: pytest.FixtureRequest, tmp_path: Path, s3: S3Server) -> ByteStore:
    """An empty place."""
    s3a = f"s3a://{BUCKET}/{uuid.uuid4().hex}"
    return open_store(tmp_path if request.param == "folder" else s3a, s3.settings)


@pytest.fixture
def clock() -> Time:
    """A clock of the test's own."""
    return Time()


def is_free(store: ByteStore, clock: Time) -> bool:
    try:
        take(store, clock=clock, lasts=LASTS).release()
    except HeldError:
        return False
    return True


def test_one_owner(store: ByteStore, clock: Time) -> None:
    lease = take(store, clock=clock, lasts=LASTS)
    assert lease.previous is None
    lease.check()
    with pytest.raises(HeldError) as held:
        take(store, clock=clock, lasts=LASTS)
    assert (held.value.term.owner, held.value.term.expires) == (this_process(), clock.now + LASTS)
    lease.release()
    lease.release()
    assert is_free(store, clock)


def test_epochs_count_on(store: ByteStore, clock: Time) -> None:
    for epoch in (1, 2, 3):
        lease = take(store, clock=clock, lasts=LASTS)
        assert lease.previous is None
        assert list(store.keys()) == [f"lease/{epoch}.json"]
        lease.release()
        last = last_term(store)
        assert last is not None
        assert (last.epoch, last.expires) == (epoch, 0)


def test_renewal(store: ByteStore, clock: Time) -> None:
    lease = take(store, clock=clock, lasts=LASTS)
    for _ in range(3):
        clock.now += LASTS - 1
        lease.renew()
        assert not is_free(store, clock)
    lease.release()
    lease.renew()  # it has come late, and does nothing
    assert is_free(store, clock)


def test_expiry_fences(store: ByteStore, clock: Time) -> None:
    away = take(store, owner=ELSEWHERE, clock=clock, lasts=LASTS)
    clock.now += LASTS - 1
    assert not is_free(store, clock)
    clock.now += 1
    away.check()  # nobody else wanted it
    lease = take(store, clock=clock, lasts=LASTS)
    assert lease.previous is not None
    assert lease.previous.owner == ELSEWHERE
    for act in (away.check, away.renew):
        with pytest.raises(FencedError) as fenced:
            act()
        assert fenced.value.term is not None
        assert fenced.value.term.owner == this_process()
    away.release()
    away.remove()
    lease.check()
    assert not is_free(store, clock)


def test_force_fences(store: ByteStore, clock: Time) -> None:
    one = take(store, clock=clock, lasts=LASTS)
    other = take(store, force=True, clock=clock, lasts=LASTS)
    assert other.previous is not None
    with pytest.raises(FencedError):
        one.check()
    other.check()


def test_a_place_that_is_removed(store: ByteStore, clock: Time) -> None:
    one = take(store, clock=clock, lasts=LASTS)
    one.remove()
    assert list(store.keys()) == []
    with pytest.raises(FencedError, match="gone"):
        one.check()
    other = take(store, clock=clock, lasts=LASTS)
    with pytest.raises(FencedError):  # its epoch has the same number
        one.check()
    one.remove()
    one.release()
    other.check()


def test_the_dead_of_this_host_hold_nothing(store: ByteStore, clock: Time) -> None:
    here = this_process()
    for dead in (replace(here, started="1"), replace(here, pid=_dead())):
        take(store, owner=dead, clock=clock, lasts=LASTS)
        lease = take(store, clock=clock, lasts=LASTS)
        assert lease.previous is None  # there is nothing to tell: it cannot write any more
        lease.release()
    for unknown in (replace(here, host="another"), replace(here, pid=os.getppid(), started="")):
        alive = take(store, owner=unknown, clock=clock, lasts=LASTS)
        assert not is_free(store, clock)
        alive.release()


def _dead() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_process_that_is_dead_and_not_buried() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    code = (
        f"from sqlext.stores.owners import *; from sqlext.stores import owners; print(owners._start_of({process.pid}))"
    )
    started = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    owner = Owner(this_process().host, process.pid, started)
    assert not is_known_dead(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_known_dead(owner)
    process.communicate()
    assert is_known_dead(owner)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"expires": 0}', b'{"owner": 1, "expires": 0, "token": ""}'])
def test_what_cannot_be_read_holds(tmp_path: Path, clock: Time, data: bytes) -> None:
    store = FolderStore(tmp_path)
    store.write("lease/3.json", data)
    with pytest.raises(HeldError):
        take(store, clock=clock, lasts=LASTS)
    take(store, force=True, clock=clock, lasts=LASTS).release()
    last = last_term(store)
    assert last is not None
    assert last.epoch == 4


def test_what_others_put_there(tmp_path: Path, clock: Time) -> None:
    store = FolderStore(tmp_path)
    for key in ("lease/readme.txt", "lease/x.json", "lease/deeper/text.json"):
        store.write(key, b"")
    take(store, clock=clock, lasts=LASTS).release()
    assert len(list(store.keys())) == 4


def test_a_lease_keeps_no_secret(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    take(store)
    kept = store.read("lease/1.json")
    assert kept is not None
    assert set(json.loads(kept.data)) == {"epoch", "owner", "expires", "token"}


def test_one_of_many_takes_it(store: ByteStore) -> None:
    def attempt(_: int) -> Lease | None:
        try:
            return take(store)
        except HeldError:
            return None

    with ThreadPoolExecutor(8) as pool:
        (lease,) = filter(None, pool.map(attempt, range(8)))
    lease.check()


def test_a_renewal_that_is_late_is_told(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    told: list[Exception] = []
    lost = threading.Event()

    def failed(error: Exception) -> None:
        told.append(error)
        lost.set()

    lease = take(store, lasts=40)
    lease.keep(failed)
    take(store, force=True)
    assert lost.wait(60)
    assert [type(error) for error in told] == [FencedError]
    assert lease.lost is told[0]


def test_answers_that_are_lost(clock: Time) -> None:
    """A write that was done although the store said nothing is found again."""
    store = Deaf()
    lease = take(store, clock=clock, lasts=LASTS)
    clock.now += LASTS - 1
    lease.renew()
    assert not is_free(store, clock)
    lease.release()
    assert is_free(store, clock)


@pytest.mark.parametrize("seed", range(150))
def test_any_order_of_steps(seed: int) -> None:
    """Three owners who come, go and remove the place: between any two steps of the store another goes on."""
    choices = random.Random(seed)
    steps = Steps(choices)
    inside: list[int] = []

    def live(number: int) -> None:
        store = Stepped(steps.memory, steps, number)
        for _ in range(4):
            try:
                lease = take(store, clock=lambda: 1, lasts=LASTS)
            except HeldError:
                continue
            inside.append(number)
            assert len(inside) == 1
            lease.renew()
            lease.check()
            inside.remove(number)
            (lease.remove if choices.random() < 0.6 else lease.release)()

    steps.run(live, 3)
    assert inside == []


class Memory(dict[str, KeptBytes]):
    """A store within the process."""

    def read(self, key: str) -> KeptBytes | None:
        """See ``ByteStore``."""
        return self.get(key)

    def write(self, key: str, data: bytes) -> None:
        """See ``ByteStore``."""
        self[key] = KeptBytes(data, object())

    def create(self, key: str, data: bytes) -> object | None:
        """See ``ByteStore``."""
        return None if key in self else self._put(key, data)

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        """See ``ByteStore``."""
        return self._put(key, data) if key in self and self[key].stamp is stamp else None

    def keys(self, prefix: str = "") -> Iterator[str]:  # type: ignore[override]
        """See ``ByteStore``."""
        return iter([key for key in self if key.startswith(f"{prefix}/")])

    def delete(self, key: str) -> None:
        """See ``ByteStore``."""
        self.pop(key, None)

    def _put(self, key: str, data: bytes) -> object:
        self.write(key, data)
        return self[key].stamp


class Deaf(Memory):
    """A store whose conditional writes come through, and whose answers do not."""

    def create(self, key: str, data: bytes) -> object | None:
        """See ``ByteStore``."""
        super().create(key, data)
        return None

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        """See ``ByteStore``."""
        super().replace(key, data, stamp)
        return None


class Steps:
    """Lets one of several threads take one step at a time."""

    def __init__(self, choices: random.Random) -> None:
        self.memory = Memory()
        self._choices = choices
        self._turns: dict[int, threading.Semaphore] = {}
        self._done = threading.Semaphore(0)

    def run(self, live: Callable[[int], None], count: int) -> None:
        """Run so many threads to their ends."""
        self._turns = {n: threading.Semaphore(0) for n in range(count)}
        with ThreadPoolExecutor(count) as pool:
            ends = {n: pool.submit(self._live, live, n) for n in range(count)}
            while self._turns:
                self._turns[self._choices.choice(sorted(self._turns))].release()
                self._done.acquire()
        for end in ends.values():
            end.result()

    def wait(self, number: int) -> None:
        """Wait for the turn of a thread, from the second step on end the one before."""
        self._done.release()
        self._turns[number].acquire()

    def _live(self, live: Callable[[int], None], number: int) -> None:
        self._turns[number].acquire()
        try:
            live(number)
        finally:
            del self._turns[number]
            self._done.release()


class Stepped:
    """A store whose every use is one step of a thread."""

    def __init__(self, store: Memory, steps: Steps, number: int) -> None:
        self._store = store
        self._wait = lambda: steps.wait(number)

    def read(self, key: str) -> KeptBytes | None:
        """See ``ByteStore``."""
        self._wait()
        return self._store.read(key)

    def write(self, key: str, data: bytes) -> None:
        """See ``ByteStore``."""
        self._wait()
        self._store.write(key, data)

    def create(self, key: str, data: bytes) -> object | None:
        """See ``ByteStore``."""
        self._wait()
        return self._store.create(key, data)

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        """See ``ByteStore``."""
        self._wait()
        return self._store.replace(key, data, stamp)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """See ``ByteStore``."""
        self._wait()
        return self._store.keys(prefix)

    def delete(self, key: str) -> None:
        """See ``ByteStore``."""
        self._wait()
        self._store.delete(key)
