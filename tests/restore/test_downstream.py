"""A deployment of a query renews those that read its table: in its script, in others, and those that read theirs."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.session.deploying.report import Deployment
from tests.restore.deployments import HEAD
from tests.workspace import Workspace

PASSED = """CREATE TABLE IF NOT EXISTS passed (k STRING, v INT, ts TIMESTAMP(3),
WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'delta', 'path' = '${OUT}/passed'%s);
"""
SUMS = """CREATE TABLE IF NOT EXISTS sums (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/sums');
"""
TOTALS = """CREATE TABLE IF NOT EXISTS totals (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
"""
PASS = "INSERT INTO passed SELECT k, v, ts FROM events WHERE v > %d;\n"
SUM = """INSERT INTO sums SELECT k, SUM(CAST(v AS BIGINT))
FROM TABLE(TUMBLE(TABLE passed, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""
TOTAL = "INSERT INTO totals SELECT k, SUM(n) FROM sums GROUP BY k;\n"
FIRST = ("a,1,1", "a,2,2", "b,3,12", "b,1,13", "a,5,25")
BEFORE = {"sums": [("a", "3"), ("b", "4")], "totals": [("a", "3"), ("b", "4")]}
AFTER = {"sums": [("a", "2"), ("b", "3")], "totals": [("a", "2"), ("b", "3")]}
#: Behind 26 comes the window of 20 to 30, by each version: b has 1 and 4 in it.
SECOND = ("b,1,26", "b,4,27", "c,9,45")
MORE_BEFORE = {"sums": [*BEFORE["sums"], ("a", "5"), ("b", "5")], "totals": [("a", "8"), ("b", "9")]}
MORE_AFTER = {"sums": [*AFTER["sums"], ("a", "5"), ("b", "4")], "totals": [("a", "7"), ("b", "7")]}


def tables(workspace: Workspace) -> dict[str, list[tuple[str, ...]]]:
    return {name: workspace.delta(name) for name in BEFORE}


def in_order(rows: dict[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    return {name: sorted(found, key=repr) for name, found in rows.items()}


def scripts(source: str, least: int, options: str = "") -> list[str]:
    """Return three scripts, each of a query that reads what the one before writes."""
    head = HEAD.format(source).replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
    parts = (PASSED % options + PASS % least, SUMS + SUM, TOTALS + TOTAL)
    return [head.replace("'q'", f"'{name}'") + part for name, part in zip("pst", parts, strict=True)]


def outcomes(found: Deployment) -> dict[str, str]:
    return {query.name: query.outcome for query in found.queries}


def ran(workspace: Workspace, found: list[str]) -> None:
    for text in found:
        workspace.run(text)


@pytest.mark.parametrize("source", ["spark", pytest.param("arrow", marks=pytest.mark.costly)])
def test_a_chain_of_three(workspace: Workspace, source: str) -> None:
    """Each is in a script of its own; only the first one is deployed, and brought back."""
    old, new = scripts(source, 0), scripts(source, 1)
    workspace.put("1.csv", *FIRST)
    ran(workspace, old)
    assert tables(workspace) == BEFORE
    found = workspace.session().deploy(new[0], workspace.variables)
    assert outcomes(found) == {"p": "differs", "s": "held back"}
    assert "  query s reads the table as a stream, and is renewed" in str(found).splitlines()
    with pytest.raises(SqlExtError) as refused:
        workspace.session().deploy(new[0], workspace.variables, allow_differences="100%", renew=False)
    assert (refused.value.code, "query `s` reads the table as a stream" in refused.value.message) == ("RUN-084", True)
    assert tables(workspace) == BEFORE

    found = workspace.session().deploy(new[0], workspace.variables, allow_differences="100%")
    assert outcomes(found) == {"p": "switched", "s": "switched", "t": "switched"}
    assert tables(workspace) == AFTER
    workspace.put("2.csv", *SECOND)
    ran(workspace, new)
    assert tables(workspace) == in_order(MORE_AFTER)

    found = workspace.session().roll_back(old[0], workspace.variables)
    assert outcomes(found) == {"p": "rolled back", "s": "rolled back", "t": "rolled back"}
    assert tables(workspace) == BEFORE
    ran(workspace, old)
    assert tables(workspace) == in_order(MORE_BEFORE)


@pytest.mark.costly
def test_a_set_and_a_view_in_one_script(workspace: Workspace) -> None:
    """One of two readers in a set is changed too; another one is a materialized view."""
    head = HEAD.format("spark") + PASSED % "" + SUMS + TOTALS
    views = "CREATE MATERIALIZED VIEW seen AS SELECT k, COUNT(*) AS n FROM passed GROUP BY k;"
    total = "INSERT INTO totals SELECT k, SUM(CAST(v AS BIGINT)) FROM passed GROUP BY k;"
    both = "EXECUTE STATEMENT SET BEGIN {}\n{} END;"
    old = head + PASS % 0 + both.format(SUM, total) + views
    new = head + PASS % 1 + both.format(SUM.replace("SUM(CAST(v AS BIGINT))", "COUNT(*)"), total) + views

    def seen() -> list[tuple[object, ...]]:
        return sorted(workspace.session().sql("SELECT k, n FROM seen").rows)

    workspace.put("1.csv", *FIRST)
    workspace.run(old)
    workspace.run(old)
    assert (workspace.delta("sums"), seen()) == (BEFORE["sums"], [("a", 3), ("b", 2)])
    assert workspace.delta("totals") == [("a", "8"), ("b", "4")]
    found = workspace.session().deploy(new, workspace.variables, allow_differences="100%")
    assert set(outcomes(found).values()) == {"switched"}
    assert (workspace.delta("sums"), seen()) == ([("a", "1"), ("b", "1")], [("a", 2), ("b", 1)])
    assert workspace.delta("totals") == [("a", "7"), ("b", "3")]
    workspace.put("2.csv", *SECOND)
    workspace.run(new)
    assert seen() == [("a", 2), ("b", 2), ("c", 1)]


@pytest.mark.costly
def test_what_has_not_read_all_is_refused(workspace: Workspace) -> None:
    """A rollback would lose the rows that it has still to read."""
    old, new = scripts("spark", 0), scripts("spark", 1)
    workspace.put("1.csv", *FIRST)
    ran(workspace, old)
    workspace.put("2.csv", *SECOND)
    workspace.run(old[0])
    with pytest.raises(SqlExtError) as refused:
        workspace.session().deploy(new[0], workspace.variables, allow_differences="100%")
    assert (refused.value.code, "has not read all rows" in refused.value.message) == ("RUN-084", True)
    assert refused.value.hint == "run it once more as it was, stop it, and then deploy"
    ran(workspace, old[1:])
    found = workspace.session().deploy(new[0], workspace.variables, allow_differences="100%")
    assert set(outcomes(found).values()) == {"switched"}
    assert tables(workspace) == in_order(MORE_AFTER)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("options", "rows"),
    [
        (", 'skipChangeCommits' = 'true'", MORE_BEFORE["totals"]),
        (", 'delta.enableChangeDataFeed' = 'true', 'readChangeFeed' = 'true'", [("a", "7"), ("b", "8"), ("c", "9")]),
    ],
)
def test_who_reads_past_the_commit_goes_on(workspace: Workspace, options: str, rows: list[tuple[str, str]]) -> None:
    old, new = (scripts("spark", least, options)[0] for least in (0, 1))
    reader = HEAD.format("spark").replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS").replace("'q'", "'t'") + TOTALS
    reader += "INSERT INTO totals SELECT k, SUM(CAST(v AS BIGINT)) FROM passed GROUP BY k;"
    workspace.put("1.csv", *FIRST)
    ran(workspace, [old, reader])
    assert workspace.delta("totals") == [("a", "8"), ("b", "4")]
    found = workspace.session().deploy(new, workspace.variables, allow_differences="100%")
    assert outcomes(found) == {"p": "switched"}
    assert "query t reads the table as a stream, and goes on: " in str(found)
    workspace.put("2.csv", "b,1,26", "b,5,27", "c,9,45")
    ran(workspace, [new, reader])
    if "skip" in options:
        rows = [("a", "8"), ("b", "9"), ("c", "9")]
    assert workspace.delta("totals") == rows
