"""A session that has run a thousand queries has left nothing behind: no folder, thread, file or memory."""

from __future__ import annotations

import gc
import os
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

import sqlext

_TABLES = """
CREATE TABLE orders (item STRING, amount BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE totals (item STRING, amount BIGINT) WITH ('connector' = 'blackhole');
"""
_SELECT = "SELECT item, SUM(amount) FROM orders GROUP BY item"
_INSERT = "INSERT INTO totals SELECT item, amount FROM orders"
#: How many queries run before the first look: imports and caches have their places by then.
_WARM, _ALL = 100, 1_000
#: What Python and Arrow keep for themselves, in bytes.
_MARGIN = 64 << 20


class Held(NamedTuple):
    """What a process holds: open files, threads, temporary files."""

    files: int
    threads: int
    temporary: list[Path]


def held(temporary: Path) -> Held:
    gc.collect()
    return Held(len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), list(temporary.rglob("*")))


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.slow
def test_a_thousand_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    for folder in (temporary, tmp_path / "in"):
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "in" / "a.json").write_text('{"item": "pen", "amount": 1}\n{"item": "ink", "amount": 2}\n')
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    session.run(_TABLES, variables={"IN": str(tmp_path / "in")})
    before, size = held(temporary), 0
    for number in range(_ALL):
        if number == _WARM:
            before, size = held(temporary), memory()
        assert len(session.sql(_SELECT).rows) == 2
        if number % 20 == 0:
            session.sql(_INSERT)
    assert held(temporary) == before
    assert before.temporary == []
    assert memory() < size + _MARGIN
