"""A bounded query that begins anew says so where its table has its rows."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.jobs.runs import QueryRun
from sqlext.session.api import Session
from sqlext.session.notices import RepeatedRowsNotice, repeated, tell_repeats
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


def told(made: BoundInsert, before: QueryRun | None, *, unknown: bool = False) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedRowsNotice)
        return tell_repeats([repeated("job.s", made, before, unknown)])


@pytest.fixture
def full(tmp_path: Path) -> str:
    (tmp_path / "rows").touch()
    return f"'connector' = 'delta', 'path' = '{tmp_path}'"


def test_rows_that_come_again(full: str) -> None:
    (text,) = told(insert(full), ENDED)
    assert text.startswith("`s` has the rows of the last run of `job.s`, and gets them again; ")
    with pytest.warns(RepeatedRowsNotice):
        tell_repeats([repeated("job.s", insert(full), ENDED, False)])


def test_where_nothing_comes_again(full: str, tmp_path: Path) -> None:
    assert told(insert(full), None) == ()
    assert told(insert(full), QueryRun("r", {})) == ()
    assert told(insert(full, ", PRIMARY KEY (k) NOT ENFORCED"), ENDED) == ()
    assert told(insert(f"'connector' = 'delta', 'path' = '{tmp_path / 'gone'}'"), ENDED) == ()
    assert told(insert("'connector' = 'blackhole'"), ENDED) == ()


def test_places_that_are_not_looked_at() -> None:
    assert told(insert("'connector' = 'delta', 'path' = 's3a://b/s'"), ENDED) != ()


def test_rows_of_another_catalogs_query(full: str, tmp_path: Path) -> None:
    (text,) = told(insert(full), None, unknown=True)
    assert text.startswith("`s` has rows that no query of this catalog wrote: those of `job.s` come on top; ")
    assert "INSERT OVERWRITE" in text
    assert told(insert(full, ", PRIMARY KEY (k) NOT ENFORCED"), None, unknown=True) == ()
    assert told(insert("'connector' = 'delta', 'path' = 's3a://b/s'"), None, unknown=True) == ()
    (tmp_path / "new" / "_delta_log").mkdir(parents=True)
    assert told(insert(f"'connector' = 'delta', 'path' = '{tmp_path / 'new'}'"), None, unknown=True) == ()


def test_another_catalog_over_the_same_tables(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": "a", "v": 1}')
    sink = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json'"
    made, *statements = SCRIPT.format("", sink).replace("'/in'", f"'{tmp_path / 'in'}'").split(";\n")
    script = ";\n".join([made, *statements, "INSERT INTO s SELECT k, v + 1 FROM t;"])
    said = []
    for catalog in ("first", "second", "second"):
        session = Session(catalog=tmp_path / catalog, settings={"sqlext.engine": "local"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RepeatedRowsNotice)
            told = [text for plan in session.plan(script).queries for text in plan.notes]
            said.append([len(told), sum(len(result.notices) for result in session.run(script))])
    # The second INSERT of a run goes on top of the first one's rows, and is meant to.
    assert said == [[0, 0], [1, 1], [2, 2]]
