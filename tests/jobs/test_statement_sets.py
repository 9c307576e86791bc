"""Statement sets whose queries read their table once: each sink has its rows, once, wherever the driver dies."""

from __future__ import annotations

import pytest
from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

from sqlext.errors import SqlExtError
from sqlext.local import engine
from sqlext.sinks import small_results
from sqlext.spark.reading import data_source
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

ARROW = "SET 'sqlext.source' = 'arrow';\n"
_HOPPING = WINDOWED.replace("TUMBLE(", "HOP(").replace(", INTERVAL", ", INTERVAL '5' SECOND, INTERVAL")
_LARGE = WINDOWED.replace("'10' SECOND)) ", "'10' SECOND)) WHERE v > 2 ")
_LARGEST = WINDOWED.replace("SUM(CAST(v AS BIGINT))", "MAX(CAST(v AS BIGINT))")
#: Table -> what is written there.
_INSERTS = {"counts": WINDOWED, "hopping": _HOPPING, "large": _LARGE, "largest": _LARGEST}
_TABLES = "".join(COUNTS.replace("counts", name) for name in _INSERTS)
_EACH = [insert.replace("INTO counts", f"INTO {name}") for name, insert in _INSERTS.items()]
_SET = f"{ARROW}{EVENTS}{_TABLES}EXECUTE STATEMENT SET BEGIN {' '.join(_EACH)} END;"


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    """Two files: the second has a row that would be late if the first were a micro-batch of its own."""
    workspace.put("0.csv", "a,1,1", "b,2,2", "a,5,15")
    workspace.put("1.csv", "a,3,3")
    return workspace


def _written(workspace: Workspace) -> dict[str, list[tuple[object, ...]]]:
    return {name: workspace.delta(name) for name in _INSERTS}


def _expected() -> dict[str, list[tuple[str, ...]]]:
    def rows(*found: tuple[str, int, int, int]) -> list[tuple[str, ...]]:
        def when(second: int) -> str:
            return f"2024-01-01 00:00:{second:02d}" if second >= 0 else f"2023-12-31 23:59:{60 + second}"

        return sorted((k, when(s), str(n), str(v)) for k, s, n, v in found)

    return {
        "counts": rows(("a", 0, 2, 4), ("a", 10, 1, 5), ("b", 0, 1, 2)),
        "hopping": rows(
            ("a", -5, 2, 4), ("a", 0, 2, 4), ("a", 10, 1, 5), ("a", 15, 1, 5), ("b", -5, 1, 2), ("b", 0, 1, 2)
        ),
        "large": rows(("a", 0, 1, 3), ("a", 10, 1, 5)),
        "largest": rows(("a", 0, 2, 3), ("a", 10, 1, 5), ("b", 0, 1, 2)),
    }


#: The settings under which this process finishes the queries, or Spark.
_HERE, _SPARK = "", "SET 'sqlext.engine.local-bytes' = '0';\n"
_BOTH = pytest.mark.parametrize("who", [_HERE, _SPARK], ids=["here", "spark"])


@_BOTH
def test_a_table_is_opened_once(events: Workspace, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    finished: list[object] = []
    monkeypatch.setattr(small_results, "computed", lambda *given: finished.append(given) or engine.computed(*given))
    opened: list[object] = []
    original = data_source.open_at_once

    def counted(spark: SparkSession, source: data_source.ArrowInput) -> object:
        opened.append(source)
        return original(spark, source)

    monkeypatch.setattr(data_source, "open_at_once", counted)
    query = events.run(who + _SET)[-1].query
    query.await_termination()
    assert _written(events) == _expected()
    assert len(opened) == 1
    assert len(finished) == (len(_INSERTS) if who == _HERE else 0)
    progress = query.progress
    # Each query has read the whole table, as it says.
    assert (progress["rows_in"], progress["rows_out"], progress["status"]) == (16, 14, "finished")


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_kept_goes_with_the_job(events: Workspace, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    kept: list[DataFrame] = []
    original = DataFrame.persist

    def persist(self: DataFrame) -> DataFrame:
        kept.append(self)
        return original(self)

    monkeypatch.setattr(DataFrame, "persist", persist)
    if fails:
        events.put("2.csv", "a,1,")
        with pytest.raises(SqlExtError):
            events.run(_SET)[-1].query.await_termination()
    else:
        events.run(_SET)[-1].query.await_termination()
    assert [frame.storageLevel for frame in kept] == [StorageLevel.NONE]


def test_a_row_that_cannot_be_read_ends_the_job(events: Workspace) -> None:
    events.put("2.csv", "a,1,")
    with pytest.raises(SqlExtError) as caught:
        events.run(_SET)[-1].query.await_termination()
    assert caught.value.code == "RUN-066"
    assert _written(events) == {name: [] for name in _INSERTS}
    (events.input / "2.csv").unlink()
    events.run(_SET)[-1].query.await_termination()
    assert _written(events) == _expected()


def test_what_is_large_is_left_to_spark(events: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query keeps all values of a key; the partial results of the others are small."""
    for n in range(20):
        events.put(f"more{n}.csv", *(f"c,{value},1" for value in range(n * 100, n * 100 + 100)))
    different = _EACH[3].replace("MAX(CAST(v AS BIGINT))", "COUNT(DISTINCT v)")
    names: list[str] = []
    original = small_results.SmallResult.written

    def written(self: small_results.SmallResult, batch_id: int, *, repeated: bool) -> engine.Computed | None:
        found = original(self, batch_id, repeated=repeated)
        if found is not None:
            names.append(self.context.query.rpartition(".")[2])
        return found

    monkeypatch.setattr(small_results.SmallResult, "written", written)
    little = "SET 'sqlext.engine.local-bytes' = '8000';\n"
    events.run(little + _SET.replace(_EACH[3], different))[-1].query.await_termination()
    assert sorted(names) == ["counts", "hopping", "large"]
    assert ("c", "2024-01-01 00:00:00", "2000", "2000") in events.delta("largest")


@_BOTH
def test_an_expression_that_fails_is_told_of_at_its_insert(events: Workspace, who: str) -> None:
    """No query is told of a fault of another one."""
    events.put("2.csv", "b,2000000000,3")
    failing = _EACH[3].replace("MAX(CAST(v AS BIGINT))", "MAX(CAST(v * 2 AS BIGINT))")
    assert failing != _EACH[3]
    with pytest.raises(SqlExtError) as caught:
        events.run(who + _SET.replace(_EACH[3], failing))[-1].query.await_termination()
    assert caught.value.code == "RUN-041"
    assert caught.value.span is not None
    assert "INTO largest" in caught.value.span.text
    (events.input / "2.csv").unlink()
    assert events.delta("largest") == []


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "moment",
    [
        "before-commit:1",
        "before-commit:3",
        "after-commit:1",
        "after-commit:2",
        "after-commit:3",
        "after-commit:4",
        "before-finish:2",
        "after-finish:1",
        "between-finish:1",
        "between-finish:3",
    ],
)
@pytest.mark.parametrize(("before", "after"), [(_HERE, _HERE), (_SPARK, _SPARK), (_HERE, _SPARK), (_SPARK, _HERE)])
def test_killed_and_restarted(events: Workspace, moment: str, before: str, after: str) -> None:
    """Sinks that have their rows get no others; those that have none get all, whoever has begun."""
    events.killed(before + _SET, moment)
    events.run(after + _SET)[-1].query.await_termination()
    assert _written(events) == _expected()
    assert {q["status"] for q in events.queries().values()} == {"finished"}
