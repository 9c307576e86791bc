"""Queries of a set share a table of dead letters, which one of them writes itself; a source has a dot in its name."""

from __future__ import annotations

from tests.workspace import Workspace

SCRIPT = """
CREATE TABLE `raw.1` (k STRING, v STRING) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, source STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
CREATE TABLE clean (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/clean');
SET 'sqlext.dead-letters.table' = 'letters';
SET 'sqlext.bounded' = 'catch-up';
EXECUTE STATEMENT SET BEGIN
  INSERT INTO clean SELECT k, CAST(v AS INT) FROM `raw.1`;
  INSERT INTO letters SELECT NULL, 'mine', 'none', k, CAST(CAST(v AS INT) + 1 AS STRING) FROM `raw.1` WHERE k <> 'a';
END;
"""
SOURCE = "default_catalog.default_database.raw.1"


def letters(workspace: Workspace) -> list[tuple[str, ...]]:
    """Return all but the names."""
    return sorted(row[1:] for row in workspace.delta("letters"))


def test_each_has_its_own(workspace: Workspace) -> None:
    workspace.put("0", "a,1", "b,x", "c,5")
    workspace.run(SCRIPT)
    found = [
        ("mine", "none", "c", "6"),
        ("sql.clean", "expression", SOURCE, '{"k":"b","v":"x"}'),
        ("sql.letters", "expression", SOURCE, '{"k":"b","v":"x"}'),
    ]
    assert letters(workspace) == found
    (fed,) = workspace.run("REPLAY letters WHERE query_name = 'sql.clean' SET v = '7';")[-1].rows
    assert fed[:2] == ("sql.clean", SOURCE)
    workspace.put("1", "a,y")
    workspace.run(SCRIPT)
    replayed = ("sql.clean", "replayed", SOURCE, '{"k":"b","v":"7"}')
    assert letters(workspace) == sorted([*found, ("sql.clean", "expression", SOURCE, '{"k":"a","v":"y"}'), replayed])
    assert workspace.delta("clean") == [("a", "1"), ("b", "7"), ("c", "5")]
