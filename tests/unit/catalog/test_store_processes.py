"""Eight writing processes on a local disk lose nothing."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlext_catalog.model import Table
from sqlext_catalog.snapshot import Put
from sqlext_catalog.store import CatalogStore

WORKERS = 8
WORKER = Path(__file__).with_name("commit_worker.py")


def race(mode: str, store: CatalogStore, count: int) -> list[str]:
    """Start the workers, release them together, and return what each printed."""
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), mode, str(store.directory), str(n), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(WORKERS)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=400)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORKERS
    return outputs


@pytest.mark.slow
def test_every_create_of_every_process_is_there(store: CatalogStore) -> None:
    race("create", store, 8)  # the first commit, which makes the table, is part of the race
    found = {r.name.name for r in store.snapshot().relations()}
    assert found == {f"t_{w}_{n}" for w in range(WORKERS) for n in range(8)}
    history = store.history()
    assert [v.version for v in history] == list(range(WORKERS * 8))[::-1]
    assert len({v.operation for v in history}) == WORKERS * 8


@pytest.mark.slow
def test_every_alteration_of_one_table_is_there(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    shared = make_table("shared")
    store.commit(lambda _: [Put(shared)], "CREATE")
    race("alter", store, 8)
    found = store.snapshot().get(shared.name)
    assert isinstance(found, Table)
    assert {k for k, _ in found.options} == {f"o_{w}_{n}" for w in range(WORKERS) for n in range(8)}


@pytest.mark.slow
def test_of_equal_creates_exactly_one_wins(store: CatalogStore) -> None:
    outputs = race("same", store, 5)
    lines = Counter(line for output in outputs for line in output.splitlines())
    expected = {f"{n} won": 1 for n in range(5)} | {f"{n} CAT-001": WORKERS - 1 for n in range(5)}
    assert lines == expected
