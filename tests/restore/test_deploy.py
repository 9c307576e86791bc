"""A new version reads what the old one has read; one commit makes it the current one; it goes on, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext import Session, SqlExtError
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.report import SAME, Deployment
from tests.restore.deployments import HEAD, KEYED, SINK, TUMBLE, dies_before
from tests.workspace import Workspace

WINDOWS = f"INSERT INTO counts SELECT k, {{}} FROM {TUMBLE} GROUP BY k, window_start, window_end;"
TOTALS = "INSERT INTO counts SELECT k, CAST(SUM(v) AS BIGINT) FROM events {} GROUP BY k;"


def deploy(workspace: Workspace, script: str, allow: str = "0", session: Session | None = None) -> Deployment:
    found = session or workspace.session()
    return found.deploy(script, workspace.variables, allow_differences=allow)


def commits(workspace: Workspace) -> int:
    history = workspace.spark.sql(f"DESCRIBE HISTORY delta.`{workspace.variables['OUT']}/counts`")
    return history.count()


def last_commit(workspace: Workspace) -> Path:
    """Return the log of the last micro-batch that Spark counts in the old version."""
    found = (workspace.folder / "catalog" / "queries").glob("q-*/checkpoint/commits/*")
    return max((f for f in found if f.name.isdecimal()), key=lambda f: int(f.name))


@pytest.mark.parametrize("source", ["spark", pytest.param("arrow", marks=pytest.mark.costly)])
def test_windows(workspace: Workspace, source: str) -> None:
    head = HEAD.format(source) + SINK
    old, new = head + WINDOWS.format("COUNT(*)"), head + WINDOWS.format("CAST(SUM(v) AS BIGINT)")
    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12", "b,4,13")
    workspace.run(old)
    # It is not in what the old version has read, so the new one leaves it alone.
    workspace.put("2.csv", "b,5,31", "b,6,32")
    found = deploy(workspace, new)
    assert str(found).splitlines() == [
        "query q  differs",
        "  SELECT was k, COUNT(*), is k, CAST(SUM(v) AS BIGINT)",
        "  1 rows before, 1 now: 1 missing, 1 extra",
        "  missing  k=a, n=2",
        "  extra  k=a, n=3",
        "1 query differs",
    ]
    assert workspace.delta() == [("a", "2")]

    # The old version is still the current one.
    workspace.run(old)
    before = [("a", "2"), ("b", "2")]
    assert workspace.delta() == before
    # Spark does not count the last micro-batch, which the sink has.
    last = last_commit(workspace)
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
    made = commits(workspace)
    assert deploy(workspace, new, "100%").queries[0].outcome == "switched"
    after = [("a", "3"), ("b", "7")]
    assert (workspace.delta(), commits(workspace) - made) == (after, 1)
    with pytest.raises(SqlExtError) as refused:
        workspace.run(old)
    assert refused.value.code == "RUN-020"

    workspace.put("3.csv", "c,1,57", "c,2,59")
    workspace.run(new)
    assert workspace.delta() == [*after[:1], ("b", "11"), *after[1:]]

    session = workspace.session()
    assert session.roll_back(old, workspace.variables).queries[0].outcome == "rolled back"
    assert workspace.delta() == before
    workspace.run(old)
    assert workspace.delta() == [*before, ("b", "2")]


@pytest.mark.costly
def test_the_statement(workspace: Workspace) -> None:
    """It says the same in SQL; where more rows differ than may, what stands behind it does not run."""
    head = HEAD.format("spark") + KEYED
    old, new = TOTALS.format(""), TOTALS.format("WHERE v > 1")
    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(head, old)
    with pytest.raises(SqlExtError) as refused:
        workspace.run(head, f"DEPLOY {new} DROP QUERY q;")
    assert (refused.value.code, "missing  k=a, n=1" in refused.value.message) == ("RUN-089", True)
    assert workspace.delta() == [("a", "1"), ("b", "5")]
    *_, done = workspace.run(head, f"DEPLOY WITH ('allow-differences' = '50%', 'show' = '0') {new}")
    assert done.columns == ("query", "table", "outcome", "details")
    assert [row[:3] for row in done.rows] == [("q", "default_catalog.default_database.counts", "switched")]
    assert workspace.delta() == [("b", "5")]
    workspace.put("2.csv", "a,4,14", "b,1,15")
    workspace.run(head, new)
    assert workspace.delta() == [("a", "4"), ("b", "5")]
    *_, back = workspace.run(head, f"DEPLOY WITH ('rollback' = 'true') {new}")
    assert (back.rows[0][2], workspace.delta()) == ("rolled back", [("a", "1"), ("b", "5")])
    workspace.run(head, f"DEPLOY WITH ('keep-rows' = 'true') {new}", new)
    assert workspace.delta() == [("a", "4"), ("b", "5")]


@pytest.mark.costly
def test_windows_that_the_old_version_has_not_closed(workspace: Workspace) -> None:
    """It was killed behind the rows, before the micro-batch that closes windows: the new one leaves them open, too."""
    head = HEAD.format("spark") + SINK
    old, new = head + WINDOWS.format("COUNT(*)"), head + WINDOWS.format("COUNT(v)")
    workspace.put("0.csv", "a,1,1")
    workspace.run(old)
    workspace.put("1.csv", "a,2,2", "b,3,12", "b,4,13")
    workspace.killed(old, "before-commit:2")
    assert workspace.delta() == []
    found = deploy(workspace, new)
    assert "0 rows before, 0 now: the same" in str(found)
    workspace.put("2.csv", "b,5,24")
    workspace.run(new)
    assert workspace.delta() == [("a", "2"), ("b", "2")]


@pytest.mark.costly
def test_it_is_broken_off_and_goes_on(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    head = HEAD.format("spark") + KEYED
    old, new = head + TOTALS.format(""), head + TOTALS.format("WHERE v > 1")
    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(old)
    before, after = [("a", "1"), ("b", "5")], [("b", "5")]
    assert workspace.delta() == before
    # A micro-batch more was planned, which the sink does not have.
    last = last_commit(workspace)
    planned = last.parents[1] / "offsets" / str(int(last.name) + 1)
    planned.write_text((planned.parent / last.name).read_text())

    for lost, rows in (("switching", before), ("current", after)):
        with monkeypatch.context() as broken:
            broken.setattr(NewVersions, "change", dies_before(lost))
            with pytest.raises(KeyboardInterrupt):
                deploy(workspace, new, "1")
        assert workspace.delta() == rows
    # Its rows are the new ones, and its place is the old one: nobody may begin there.
    for script in (old, new):
        with pytest.raises(SqlExtError) as refused:
            workspace.run(script)
        assert refused.value.code == "RUN-083"
    made = commits(workspace)
    (query,) = deploy(workspace, new).queries
    assert (query.outcome, workspace.delta(), commits(workspace)) == ("switched", after, made)

    workspace.put("2.csv", "a,1,14", "a,4,15", "b,1,16")
    workspace.run(new)
    assert workspace.delta() == [("a", "4"), ("b", "5")]
    for lost in ("step", "current"):
        with monkeypatch.context() as broken:
            broken.setattr(NewVersions, "change", dies_before(lost))
            with pytest.raises(KeyboardInterrupt):
                workspace.session().roll_back(new, workspace.variables)
    assert workspace.delta() == before
    workspace.session().roll_back(new, workspace.variables)
    workspace.run(old)
    assert workspace.delta() == [("a", "6"), ("b", "6")]
    with pytest.raises(SqlExtError) as none:
        workspace.session().roll_back(new, workspace.variables)
    assert none.value.code == "RUN-085"


@pytest.mark.costly
def test_an_endless_query_of_ours(workspace: Workspace) -> None:
    """A timer of ours is in state; the new version runs while the old one does, which is stopped for the switch."""
    head = (
        HEAD.format("spark")
        .replace("SET 'sqlext.bounded' = 'catch-up';", "")
        .replace("'format'", "'source.monitor-interval' = '1 s', 'format'")
    )
    head += SINK.replace("n BIGINT", "w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED")
    query = (
        f"INSERT INTO counts SELECT k, window_start, {{}} FROM {TUMBLE} GROUP BY k, window_start, window_end"
        " EMIT AFTER WATERMARK EARLY EVERY 1 ROWS;"
    )
    old, new = head + query.format("COUNT(*)"), head + query.format("CAST(MAX(v) AS BIGINT)")
    workspace.put("1.csv", "a,5,1", "a,7,2", "b,9,12")
    session = workspace.session()
    workspace.run(old, session=session)
    at = ("2024-01-01 00:00:00", "2024-01-01 00:00:10")
    workspace.until(lambda: workspace.delta() == [("a", at[0], "2"), ("b", at[1], "1")])
    with pytest.raises(SqlExtError) as refused:
        deploy(workspace, new, session=session)
    assert (refused.value.code, "--stop" in (refused.value.hint or "")) == ("RUN-022", True)
    found, *_ = workspace.session().deploy(new, workspace.variables, allow_differences="100%", stop=True).queries
    assert found.comparison is not None
    assert (found.comparison.changed, dict(found.comparison.columns)) == (2, {"n": 2})
    workspace.run(new, session=session)
    workspace.put("2.csv", "b,11,13", "c,1,24")
    third = [("a", at[0], "7"), ("b", at[1], "11"), ("c", "2024-01-01 00:00:20", "1")]
    workspace.until(lambda: workspace.delta() == third)
    session.stop()


@pytest.mark.costly
def test_a_materialized_view(workspace: Workspace) -> None:
    view = "CREATE MATERIALIZED VIEW totals AS SELECT k, SUM(v) AS n FROM events {} GROUP BY k;"
    old, new = (HEAD.format("spark") + view.format(text) for text in ("", "WHERE v > 1"))

    def rows() -> list[tuple[object, ...]]:
        return sorted(workspace.session().sql("SELECT k, n FROM totals").rows)

    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(old)
    assert rows() == [("a", 1), ("b", 5)]
    workspace.put("2.csv", "a,7,14")
    (found,) = deploy(workspace, new, "1").queries
    assert found.comparison is not None
    assert [str(row) for row in found.comparison.shown] == ["missing  k=a, n=1"]
    assert rows() == [("b", 5)]
    # The catalog has the new text: it goes on by its name alone.
    workspace.run("SET 'sqlext.bounded' = 'catch-up'; ALTER MATERIALIZED TABLE totals RESUME;")
    assert rows() == [("a", 7), ("b", 5)]


@pytest.mark.costly
def test_other_columns_of_a_materialized_view(workspace: Workspace) -> None:
    """The table gets them with the rows, in one commit, and loses them in another."""
    view = "CREATE MATERIALIZED VIEW totals AS SELECT {} FROM events GROUP BY k;"
    old, new = (
        HEAD.format("spark") + view.format(c) for c in ("k, SUM(v) AS n, MIN(v) AS m", "k, SUM(v) AS n, COUNT(*) AS c")
    )
    resume = "SET 'sqlext.bounded' = 'catch-up'; ALTER MATERIALIZED TABLE totals RESUME;"

    def rows() -> list[tuple[object, ...]]:
        return sorted(workspace.session().sql("SELECT * FROM totals").rows)

    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(old)
    found = workspace.session().deploy(new, workspace.variables)
    assert str(found).splitlines()[-4:] == [
        "  column c is new",
        "  column m is gone",
        "  2 rows before, 2 now: the same",
        "1 query switched",
    ]
    assert rows() == [("a", 1, 1), ("b", 5, 2)]
    workspace.put("2.csv", "a,7,14")
    workspace.run(new)
    assert rows() == [("a", 8, 2), ("b", 5, 2)]
    workspace.put("3.csv", "b,1,15")
    workspace.run(resume)
    assert rows() == [("a", 8, 2), ("b", 6, 3)]
    # The new file is as good as the old one: what the catalog said comes back.
    workspace.session().roll_back(new, workspace.variables)
    assert rows() == [("a", 1, 1), ("b", 5, 2)]
    workspace.run(resume)
    assert rows() == [("a", 8, 1), ("b", 6, 1)]
    workspace.run(old)


@pytest.mark.costly
def test_other_columns_of_a_named_table(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is broken off between the rows and its end; then the same rows are no other commit."""
    name = f"default.deployed_{workspace.folder.name}"
    sink = f"CREATE OR REPLACE TABLE counts (k STRING{{}}) WITH ('connector' = 'delta', 'table-name' = '{name}');"
    old, new = (
        HEAD.format("spark") + sink.format(columns) + f"INSERT INTO counts SELECT k{query} FROM events;"
        for columns, query in ((", v INT, w INT", ", v, v"), (", v BIGINT, x STRING", ", CAST(v AS BIGINT), 'new'"))
    )

    def rows() -> list[tuple[object, ...]]:
        return sorted(tuple(row) for row in workspace.spark.newSession().table(name).collect())

    workspace.put("1.csv", "a,1,1", "b,2,2")
    workspace.run(old)
    with monkeypatch.context() as broken:
        broken.setattr(NewVersions, "change", dies_before("current"))
        with pytest.raises(KeyboardInterrupt):
            deploy(workspace, new)
    assert rows() == [("a", 1, "new"), ("b", 2, "new")]
    made = workspace.spark.sql(f"DESCRIBE HISTORY {name}").count()
    (found,) = deploy(workspace, new).queries
    assert (found.outcome, workspace.spark.sql(f"DESCRIBE HISTORY {name}").count()) == ("switched", made)
    workspace.put("2.csv", "c,3,3")
    workspace.run(new)
    assert rows() == [("a", 1, "new"), ("b", 2, "new"), ("c", 3, "new")]
    workspace.session().roll_back(old, workspace.variables)
    workspace.run(old)
    assert rows() == [("a", 1, 1), ("b", 2, 2), ("c", 3, 3)]


#: How a table is keyed; of each the query, and how many rows differ.
KEYS = {
    "another declared key": (
        ("k STRING, v STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", "k, MAX(k), COUNT(*) FROM events GROUP BY k"),
        (
            "k STRING, v STRING, n BIGINT, PRIMARY KEY (k, v) NOT ENFORCED",
            "k, CAST(v AS STRING), COUNT(*) FROM events GROUP BY k, v",
        ),
    ),
    "another grouping": (
        ("k STRING, v INT, n BIGINT", "k, MAX(v), COUNT(*) FROM events GROUP BY k"),
        ("k STRING, v INT, n BIGINT", "MAX(k), v, COUNT(*) FROM events GROUP BY v"),
    ),
    "a key that is new": (
        ("k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", "k, COUNT(*) FROM events GROUP BY k"),
        ("v INT, k STRING, n BIGINT, PRIMARY KEY (v) NOT ENFORCED", "v, MAX(k), COUNT(*) FROM events GROUP BY v"),
    ),
    "no grouping": (
        ("k STRING, v STRING, n BIGINT", "k, MAX(k), COUNT(*) FROM events GROUP BY k"),
        ("k STRING, v STRING, n BIGINT", "k, CAST(v AS STRING), CAST(1 AS BIGINT) FROM events"),
    ),
    "a grouping where there was none": (
        ("k STRING, v STRING, n BIGINT", "k, CAST(v AS STRING), CAST(1 AS BIGINT) FROM events"),
        ("k STRING, v STRING, n BIGINT", "k, MAX(k), COUNT(*) FROM events GROUP BY k"),
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("kind", KEYS)
def test_another_key(workspace: Workspace, kind: str) -> None:
    sink = "CREATE OR REPLACE TABLE counts ({}) WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');"
    old, new = (
        HEAD.format("spark") + sink.format(columns) + f"INSERT INTO counts SELECT {query};"
        for columns, query in KEYS[kind]
    )
    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12", "b,3,13")
    workspace.run(old)
    before = workspace.delta()
    (found,) = deploy(workspace, new, "100%").queries
    assert found.outcome == "switched"
    workspace.put("2.csv", "b,3,14", "c,2,15")
    workspace.run(new)
    after = workspace.delta()
    other = HEAD.format("spark").replace("= 'q'", "= 'whole'")
    workspace.run(other + new.removeprefix(HEAD.format("spark")).replace("counts", "whole"))
    assert after == workspace.delta("whole")
    workspace.session().roll_back(old, workspace.variables)
    assert workspace.delta() == before


DELTA = "'connector' = 'delta', 'path' = '${IN}/rows'"
#: Who reads which table.
SOURCES = {"delta": ("spark", DELTA), "delta by Arrow": ("arrow", DELTA)}


@pytest.mark.costly
@pytest.mark.parametrize("kind", SOURCES)
def test_sources(workspace: Workspace, kind: str) -> None:
    """The new version reads from the beginning, and from there on no row twice; of a set one query is changed."""
    reader, options = SOURCES[kind]
    head = f"""SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q'; SET 'sqlext.source' = '{reader}';
CREATE TABLE events (k STRING, v BIGINT) WITH ({options});
{SINK}{SINK.replace("counts", "others")}
"""
    both = "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT k, {} FROM events; "
    both += "INSERT INTO others SELECT k, v FROM events; END;"
    old, same, new = (head + both.format(text) for text in ("v", "v + 0", "v * 2"))

    def put(*values: int) -> None:
        rows = workspace.spark.createDataFrame([("a", v) for v in values], "k STRING, v BIGINT")
        rows.write.format("delta").mode("append").save(f"{workspace.variables['IN']}/rows")

    put(1, 2)
    workspace.run(old)
    put(3)
    made = commits(workspace)
    # No row differs, so the table is not touched.
    first, second = deploy(workspace, same).queries
    assert (first.name, first.outcome, second.outcome) == ("q.counts", "switched", SAME)
    assert commits(workspace) == made
    workspace.run(same)
    assert workspace.delta() == [("a", "1"), ("a", "2"), ("a", "3")]
    put(4)
    (found, _) = deploy(workspace, new, "4").queries
    assert found.comparison is not None
    assert (found.comparison.missing, found.comparison.extra) == (2, 2)
    assert workspace.delta() == [("a", "2"), ("a", "4"), ("a", "6")]
    workspace.run(new)
    assert workspace.delta() == [("a", "2"), ("a", "4"), ("a", "6"), ("a", "8")]
    assert workspace.delta("others") == [("a", str(n)) for n in (1, 2, 3, 4)]
