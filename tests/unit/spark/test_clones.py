"""Where a cloned session ends: in a thread of its own, however and wherever its owner goes."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import pytest

from sqlext.spark.clones import _gone, keep_for, let_go

PATIENCE = 30


class _Clone:
    """Says where it is collected; like Spark's sessions it is part of a circle."""

    def __init__(self, ended: SimpleQueue[str]) -> None:
        self._ended = ended
        self._self = self

    def __del__(self) -> None:
        self._ended.put(threading.current_thread().name)


class _Owner:
    def __init__(self, clone: Any) -> None:
        self.clone = clone
        self._self = self


def _kept(ended: SimpleQueue[str]) -> _Owner:
    owner = _Owner(_Clone(ended))
    keep_for(owner, owner.clone)
    return owner


def _here(collect: Callable[[], int]) -> None:
    collect()


def _in_a_pool(collect: Callable[[], int]) -> None:
    with ThreadPoolExecutor() as pool:
        pool.submit(collect).result()


@pytest.mark.parametrize("collected", [_here, _in_a_pool])
def test_with_its_owner(collected: Callable[[Callable[[], int]], None]) -> None:
    ended: SimpleQueue[str] = SimpleQueue()
    owner = _kept(ended)
    gc.collect()
    assert ended.empty()
    del owner
    collected(gc.collect)
    assert ended.get(timeout=PATIENCE) == "sqlext clones"


def test_when_those_have_left_it_who_let_it_go() -> None:
    ended: SimpleQueue[str] = SimpleQueue()

    def leave() -> None:
        clone = _Clone(ended)
        let_go(clone)  # type: ignore[arg-type]
        while not _gone.empty():  # it is taken while it is still here
            threading.Event().wait(0)
        assert clone is not None

    leave()
    assert ended.get(timeout=PATIENCE) == "sqlext clones"
