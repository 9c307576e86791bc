"""A bounded query that begins anew says so where its table has its rows."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.jobs.runs import QueryRun
from sqlext.session.notices import RepeatedRowsNotice, tell_repeats
from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.source import SourceText

ENDED = QueryRun("r", {}, finished=True)
SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE s (k STRING, v INT{}) WITH ({});
INSERT INTO s SELECT k, v FROM t;
"""


def insert(options: str, key: str = "") -> BoundInsert:
    compiled = [
        c for _, found in compile_source(SourceText.of(SCRIPT.format(key, options)), new_state(None)) for c in found
    ]
    assert compiled[-1].insert is not None
    return compiled[-1].insert


def told(made: BoundInsert, before: QueryRun | None) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedRowsNotice)
        return tell_repeats([("job.s", made, before)])


@pytest.fixture
def full(tmp_path: Path) -> str:
    (tmp_path / "rows").touch()
    return f"'connector' = 'delta', 'path' = '{tmp_path}'"


def test_rows_that_come_again(full: str) -> None:
    (text,) = told(insert(full), ENDED)
    assert text.startswith("`s` has the rows of the last run of `job.s`, and gets them again; ")
    with pytest.warns(RepeatedRowsNotice):
        tell_repeats([("job.s", insert(full), ENDED)])


def test_where_nothing_comes_again(full: str, tmp_path: Path) -> None:
    assert told(insert(full), None) == ()
    assert told(insert(full), QueryRun("r", {})) == ()
    assert told(insert(full, ", PRIMARY KEY (k) NOT ENFORCED"), ENDED) == ()
    assert told(insert(f"'connector' = 'delta', 'path' = '{tmp_path / 'gone'}'"), ENDED) == ()
    assert told(insert("'connector' = 'blackhole'"), ENDED) == ()


def test_places_that_are_not_looked_at() -> None:
    assert told(insert("'connector' = 'delta', 'path' = 's3a://b/s'"), ENDED) != ()
