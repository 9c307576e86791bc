"""A query goes on by the reader that it began with, and takes each file once."""

from __future__ import annotations

from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

_CATCH_UP = "SET 'sqlext.bounded' = 'catch-up'; SET 'sqlext.source' = '{source}'; SET 'pipeline.name' = 'q';"


def _explained(workspace: Workspace, source: str) -> set[str]:
    """Run the query once more; return which of the files beside its checkpoint say who read its table."""
    workspace.run(_CATCH_UP.format(source=source), EVENTS, COUNTS, WINDOWED)
    (home,) = (workspace.folder / "catalog" / "queries").iterdir()
    return {p.name for p in (home / "sources").iterdir()} if (home / "sources").exists() else set()


def test_a_query_of_spark_s_source_stays_one(workspace: Workspace) -> None:
    """Spark's source has left its own offsets in the checkpoint."""
    workspace.put("a.csv", "a,1,1", "a,2,15")
    assert _explained(workspace, "spark") == set()
    workspace.put("b.csv", "a,3,40")
    assert _explained(workspace, "arrow") == set()
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("1", "1"), ("1", "2")]


def test_arrow_takes_each_file_once(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,15")
    assert _explained(workspace, "arrow") == {"sqlext_events"}
    workspace.put("b.csv", "a,3,2", "a,4,40")  # the first row is late
    assert _explained(workspace, "auto") == {"sqlext_events"}
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("1", "1"), ("1", "2")]
