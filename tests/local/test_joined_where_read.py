"""Joins that are done where rows are read: the same rows as joins of whole tables, whatever the slices are."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.result import Result
from sqlext.local import engine
from sqlext.rewrite.arrow.in_process import Joined, LocalScript, LocalStep
from sqlext.rewrite.arrow.joined import joined_where_read
from sqlext.sources import joined

_TABLES = """
CREATE TABLE t (k STRING, j INT, v INT, d DOUBLE, big BIGINT, ts TIMESTAMP(3),
WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'json', 'sqlext.source' = 'arrow');
CREATE TABLE names (k STRING, j INT, name STRING, w INT, x DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '{folder}/names', 'format' = 'json');
CREATE TABLE groups (name STRING, team STRING)
WITH ('connector' = 'filesystem', 'path' = '{folder}/groups', 'format' = 'json');
"""
#: Another table, whose rows have a time and a key.
_TIMED = """
CREATE TABLE u (k STRING, z INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '{folder}/u', 'format' = 'json');
"""
_NEAR = "u b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '9' SECOND"
#: Joins of other kinds, and whether rows are combined before they are joined.
_KINDS = [
    (f"SELECT a.k, SUM(a.v), COUNT(*) FROM t a JOIN {_NEAR} GROUP BY a.k", True),
    (f"SELECT a.k, SUM(a.v + b.z), COUNT(*) FROM t a LEFT JOIN {_NEAR} GROUP BY a.k", False),
    ("SELECT b.z, SUM(a.v) FROM t a LEFT JOIN u FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k GROUP BY b.z", True),
    ("SELECT a.k, a.v, COUNT(b.z) FROM t a LEFT JOIN u b ON a.k = b.k GROUP BY a.k, a.v", False),
    (
        "SELECT k, COUNT(*) FROM t a WHERE NOT EXISTS (SELECT 1 FROM u b WHERE b.k = a.k AND b.z > a.v) GROUP BY k",
        False,
    ),
    ("SELECT k, SUM(v) FROM t WHERE v NOT IN (SELECT z FROM u) GROUP BY k", False),
    ("SELECT k, SUM(v) FROM t WHERE v IN (SELECT z FROM u) GROUP BY k", True),
]
#: Rows are combined before they are joined.
_EARLY = [
    "SELECT b.name, COUNT(*), SUM(a.v), MIN(a.v), MAX(a.ts) FROM t a JOIN names b ON a.k = b.k GROUP BY b.name",
    "SELECT b.name, COUNT(a.v), COUNT(DISTINCT a.v) FROM names b JOIN t a ON a.k = b.k GROUP BY b.name",
    "SELECT a.j, b.w, SUM(a.v + 1) FROM t a JOIN names b ON a.k = b.k AND a.j = b.j WHERE a.v > 1 GROUP BY a.j, b.w",
    "SELECT SUM(a.v), COUNT(*) FROM t a JOIN names b ON a.k = b.k WHERE a.v + b.w > 4",
    "SELECT a.k, SUM(a.v) FROM t a JOIN names b ON a.k = b.k AND a.j < b.w GROUP BY a.k",
    "SELECT b.w + a.j, SUM(a.v) FROM t a JOIN names b ON a.j + b.w = 4 GROUP BY b.w + a.j",
    "SELECT g.team, AVG(a.v) FROM t a JOIN names b ON a.k = b.k JOIN groups g ON b.name = g.name GROUP BY g.team",
    "SELECT a.k, COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM names b WHERE b.k = a.k) GROUP BY a.k",
    "SELECT b.name, CAST(a.v AS STRING), COUNT(*) FROM t a CROSS JOIN names b GROUP BY b.name, CAST(a.v AS STRING)",
    (
        "SELECT b.name, SUM(a.v), STDDEV_POP(a.v) FROM (SELECT k, v FROM t WHERE v < 8) a JOIN names b ON a.k = b.k"
        " GROUP BY b.name HAVING COUNT(*) > 1"
    ),
    "SELECT COUNT(*) FROM t a CROSS JOIN names b",
    "SELECT COUNT(*) FROM t a JOIN names b ON a.k = b.k",
    "SELECT b.name, SUM(a.big) FROM t a JOIN names b ON a.k = b.k GROUP BY b.name",
]
#: They are joined as they are.
_PLAIN = [
    "SELECT b.name, SUM(a.v * b.w) FROM t a JOIN names b ON a.k = b.k GROUP BY b.name",
    "SELECT b.name, MAX(b.w), COUNT(*) FROM t a JOIN names b ON a.k = b.k GROUP BY b.name",
    "SELECT a.d, COUNT(*) FROM t a JOIN names b ON a.k = b.k GROUP BY a.d",
    "SELECT DISTINCT a.j, b.name FROM t a JOIN names b ON a.k = b.k",
    (
        "SELECT k, v, name FROM (SELECT a.k, a.v, b.name, ROW_NUMBER() OVER (PARTITION BY a.k ORDER BY a.v) AS n"
        " FROM t a JOIN names b ON a.k = b.k) WHERE n <= 2"
    ),
]
#: They are joined as a whole.
_NOT = [
    "SELECT b.name, COUNT(*) FROM t a FULL JOIN names b ON a.k = b.k GROUP BY b.name",
    "SELECT b.name, COUNT(*) FROM names b LEFT JOIN t a ON a.k = b.k GROUP BY b.name",
    "SELECT b.name, FIRST_VALUE(a.v) FROM names b JOIN t a ON a.k = b.k GROUP BY b.name",
    "SELECT b.n, SUM(a.v) FROM t a JOIN (SELECT k, COUNT(*) AS n FROM names GROUP BY k) b ON a.k = b.k GROUP BY b.n",
    "SELECT k, COUNT(*) FROM names b WHERE k NOT IN (SELECT k FROM t) GROUP BY k",
]
_VALUES = st.one_of(st.none(), st.integers(0, 9))
_KEYS = st.one_of(st.none(), st.sampled_from("abcd"))
_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "k": _KEYS,
            "j": st.one_of(st.none(), st.integers(0, 3)),
            "v": _VALUES,
            "d": st.sampled_from([None, 0.0, -0.0, 1.5]),
            "big": st.sampled_from([None, 1, 1 << 62]),
            "ts": st.integers(0, 59).map(lambda s: f"2024-01-01 00:00:{s:02}"),
        }
    ),
    max_size=40,
)
_NAMES = st.lists(
    st.fixed_dictionaries(
        {
            "k": _KEYS,
            "j": st.one_of(st.none(), st.integers(0, 3)),
            "name": st.one_of(st.none(), st.sampled_from(["x", "y", "z"])),
            "w": _VALUES,
            "x": st.sampled_from([None, 0.5]),
        }
    ),
    max_size=8,
)


def _whole(script: LocalScript) -> tuple[LocalStep, ...]:
    """Return the steps of a script as without the rule."""
    return script.steps


def _put(folder: Path, rows: list[dict[str, Any]], files: int = 1) -> None:
    folder.mkdir()
    for number in range(files):
        (folder / f"{number}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows[number::files]))


@pytest.fixture(autouse=True)
def largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take `t` for the largest table."""
    monkeypatch.setattr("sqlext.rewrite.arrow.joined.weight", lambda table: int(table.name.name == "t"))


def _run(folder: Path, query: str, source: str = "arrow") -> Result:
    """Run a query; ``source`` says of the small tables who reads them: then their rows are packed too, or not."""
    session = sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})
    arrow = f"SET 'sqlext.source' = '{source}';"
    *_, result = session.run(f"{arrow}{(_TABLES + _TIMED).format(folder=folder)}{query};")
    for name in ("t", "names", "groups", "u"):
        session.sql(f"DROP TABLE {name}")
    return result


def _found(folder: Path, query: str, source: str) -> object:
    """Return the rows of a query, or the code of what it fails with."""
    try:
        return _run(folder, query, source).rows
    except SqlExtError as error:
        return error.code


def _both(folder: Path, query: str, source: str = "arrow") -> Any:
    """Return what a query gives with the rule, and without it."""
    found = []
    for chosen in (joined_where_read, _whole):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(engine, "joined_where_read", chosen)
            found.append(_found(folder, query, source))
    return found


@settings(max_examples=40, deadline=None)
@given(
    _ROWS,
    _NAMES,
    st.sampled_from([*_EARLY, *_PLAIN, *_NOT]),
    st.integers(100, 900),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([1, 1 << 20]),
    st.sampled_from(["auto", "arrow"]),
)
def test_the_rule_makes_no_difference(
    rows: list[dict[str, Any]],
    names: list[dict[str, Any]],
    query: str,
    size: int,
    patience: int,
    few: bool,
    most: int,
    source: str,
) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        folder = Path(name)
        _put(folder / "t", rows, 2)
        _put(folder / "names", names)
        _put(folder / "groups", [{"name": n, "team": t} for n, t in zip("xyzy", "mnnm", strict=True)])
        patched.setattr("sqlext.sources.file_slices._LEAST", size)
        patched.setattr("sqlext.sources.file_slices._MOST", size)
        patched.setattr("sqlext.rewrite.arrow.joined.weight", lambda table: int((table.name.name == "t") is not few))
        patched.setattr(joined, "PATIENCE", patience)
        patched.setattr(joined, "_MOST", most)
        patched.setattr(joined, "_TIMES", 0)
        patched.setattr(joined, "_MANY", 1.0 if few else 0.4)
        patched.setattr(joined, "_FEW", 3 if few else 1 << 16)
        with_rule, without = _both(folder, query, source)
        assert _sorted(with_rule) == _sorted(without)


def _sorted(found: object) -> object:
    return sorted(map(repr, found)) if isinstance(found, list) else found


def _steps(folder: Path, query: str, source: str = "arrow") -> list[Joined]:
    found: list[Joined] = []

    def noted(script: LocalScript) -> tuple[LocalStep, ...]:
        steps = joined_where_read(script)
        found.extend(step for step in steps if isinstance(step, Joined))
        return steps

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "joined_where_read", noted)
        _run(folder, query, source)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"k": "abc"[n % 3], "j": n % 4, "v": n % 7, "d": 0.5, "big": n, "ts": f"2024-01-01 00:00:{n:02}"}
        for n in range(60)
    ]
    _put(tmp_path / "t", rows, 2)
    _put(tmp_path / "names", [{"k": k, "j": 1, "name": n, "w": 4} for k, n in zip("abb", "xyz", strict=True)])
    _put(tmp_path / "groups", [{"name": "x", "team": "m"}])
    return tmp_path


@pytest.mark.parametrize("source", ["auto", "arrow"])
@pytest.mark.parametrize(("query", "early"), [*((q, True) for q in _EARLY), *((q, False) for q in _PLAIN)])
def test_rows_are_joined_where_they_are_read(folder: Path, query: str, early: bool, source: str) -> None:
    (step,) = _steps(folder, query, source)
    assert (step.work.early is not None) is early


@pytest.mark.parametrize("query", _NOT)
def test_other_joins_are_of_whole_tables(folder: Path, query: str) -> None:
    assert all(step.read.table.name.name != "t" for step in _steps(folder, query))


def test_explain_says_so(folder: Path) -> None:
    ((text,),) = _run(folder, f"EXPLAIN {_EARLY[0]}").rows
    assert "rows of `t` are joined and combined where they are read" in str(text)
    ((text,),) = _run(folder, f"EXPLAIN {_NOT[0]}").rows
    assert "joined and combined" not in str(text)


def test_the_order_of_groups_is_that_of_their_first_rows(folder: Path) -> None:
    with_rule, without = _both(
        folder, "SELECT a.j, b.name, SUM(a.v) FROM t a JOIN names b ON a.k = b.k GROUP BY a.j, b.name"
    )
    assert with_rule == without


@pytest.mark.parametrize("matches", [True, False])
def test_a_sum_that_is_too_large_fails_if_its_rows_match(folder: Path, matches: bool) -> None:
    big = {"k": "a" if matches else "q", "j": 1, "v": 1, "d": 0.5, "big": (1 << 63) - 1, "ts": "2024-01-01 00:00:00"}
    (folder / "t" / "9.json").write_text(f"{json.dumps(big)}\n" * 2)
    query = "SELECT b.name, SUM(a.big) FROM t a JOIN names b ON a.k = b.k GROUP BY b.name"
    with_rule, without = _both(folder, query)
    assert with_rule == without
    assert (with_rule == "RUN-035") is matches


def test_a_bad_row_is_told(folder: Path) -> None:
    (folder / "t" / "9.json").write_text('{"k": "b", "v": "many", "ts": "2024-01-01 00:00:01"}\n')
    with pytest.raises(SqlExtError, match="RUN-066"):
        _run(folder, _EARLY[0])


@pytest.mark.parametrize(("rows", "says"), [(60, "this process"), (6000, "Spark: `t` has")])
def test_auto_takes_more_where_rows_are_joined_and_combined(folder: Path, rows: int, says: str) -> None:
    (folder / "t" / "9.json").write_text('{"k": "a", "v": 1}\n' * rows)
    settings = "SET 'sqlext.engine' = 'auto'; SET 'sqlext.engine.local-bytes' = '4000';"
    result = _run(folder, f"{settings} EXPLAIN {_EARLY[1]}")
    assert says in str(result.rows)


@pytest.mark.parametrize("source", ["auto", "arrow"])
@pytest.mark.parametrize(("query", "early"), _KINDS)
def test_other_kinds_of_joins(
    folder: Path, monkeypatch: pytest.MonkeyPatch, query: str, early: bool, source: str
) -> None:
    monkeypatch.setattr("sqlext.sources.file_slices._LEAST", 500)
    monkeypatch.setattr("sqlext.sources.file_slices._MOST", 500)
    monkeypatch.setattr(joined, "PATIENCE", 5)
    monkeypatch.setattr(joined, "_TIMES", 0)
    rows = [{"k": "abcd"[n % 4], "z": n % 5, "ts": f"2024-01-01 00:00:{6 * n:02}"} for n in range(9)]
    _put(folder / "u", rows)
    (step,) = _steps(folder, query, source)
    assert (step.work.early is not None) is early
    with_rule, without = _both(folder, query, source)
    assert isinstance(with_rule, list)
    assert _sorted(with_rule) == _sorted(without)
