"""A checkpoint in an object store goes on, is refused and is removed as one in a folder; nothing is lost with it."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.stores.location import Location
from sqlext.stores.opening import remove_all
from tests.s3_server import BUCKET, SECRET, S3Server
from tests.s3_spark import s3a_session
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
SCRIPT = (CATCH_UP, EVENTS, COUNTS, WINDOWED)
EMIT = f"{WINDOWED.rstrip().rstrip(';')} EMIT ON WINDOW CLOSE;"


@pytest.fixture(scope="module")
def connected(spark: SparkSession, s3: S3Server) -> SparkSession:
    """A Spark that knows the server."""
    session = s3a_session(spark, s3)
    for name, value in s3.settings.items():
        session.conf.set(name, value)
    return session


class Queries:
    """The queries of one workspace, whose checkpoints lie in an object store."""

    def __init__(self, workspace: Workspace, connected: SparkSession, s3: S3Server) -> None:
        self.workspace, self.spark, self.settings = workspace, connected, s3.settings
        self.url = f"s3://{BUCKET}/{uuid.uuid4().hex}/check points"

    def run(self, *script: str, catalog: str = "catalog", checkpoint: str | None = None) -> None:
        place = self.workspace.folder / catalog
        session = sqlext.connect(self.spark, catalog=place)
        self.workspace.run(*(script or SCRIPT), session=session, checkpoint=checkpoint or self.url)

    def code(self, *script: str, catalog: str = "catalog") -> str:
        before = self.workspace.delta()
        with pytest.raises(SqlExtError) as refused:
            self.run(*script, catalog=catalog)
        assert self.workspace.delta() == before
        return refused.value.code

    @property
    def location(self) -> Location:
        """Where they lie."""
        return Location.of(self.url, self.settings)

    def home(self) -> Location:
        """The folder of the one query."""
        (name,) = {key.partition("/")[0] for key in self.location.names()}
        return self.location.below(name)


@pytest.fixture
def queries(workspace: Workspace, connected: SparkSession, s3: S3Server) -> Queries:
    """A catalog without a query, and one file to be read."""
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    return Queries(workspace, connected, s3)


@pytest.fixture
def begun(queries: Queries) -> Queries:
    """A query that has read the first file, and a second one."""
    queries.run()
    queries.workspace.put("b.csv", "a,7,14", "a,1,40")
    return queries


@pytest.mark.parametrize(
    ("source", "insert"),
    [
        pytest.param("spark", EMIT, marks=pytest.mark.costly),
        pytest.param("arrow", WINDOWED, marks=pytest.mark.costly),
        ("spark", WINDOWED),
        ("arrow", EMIT),
    ],
    ids=["EMIT-spark", "native-arrow", "native-spark", "EMIT-arrow"],
)
def test_it_goes_on(queries: Queries, source: str, insert: str) -> None:
    script = (CATCH_UP, f"SET 'sqlext.source' = '{source}';", EVENTS, COUNTS, insert)
    queries.run(*script)
    queries.workspace.put("b.csv", "a,7,14", "a,1,40")
    queries.run(*script)
    once = queries.workspace.delta()
    queries.run(*script)
    assert queries.workspace.delta() == once
    queries.workspace.run(*script[1:], session=queries.workspace.session("another"))
    local = queries.workspace.delta()
    assert len(local) > len(once) > 0, "another catalog's query reads all again"
    assert [f.name for f in (queries.workspace.folder / "catalog").iterdir()].count("queries") == 0


def test_gone(begun: Queries) -> None:
    begun.home().store.remove("checkpoint")
    assert begun.code() == "RUN-024"
    begun.run("DROP QUERY `sql.counts`;")
    assert list(begun.location.names()) == []
    begun.run()


@pytest.mark.parametrize("what", ["", "checkpoint/offsets", "checkpoint/sources"])
def test_removed(begun: Queries, what: str) -> None:
    """All that the query kept, or a part of it: no row is lost, and none comes twice."""
    if what:
        begun.home().store.remove(what)
    else:
        remove_all(begun.url, begun.settings)
    assert begun.code() == ("RUN-023" if what else "RUN-024")
    begun.run("DROP QUERY `sql.counts`;")
    begun.run()


def test_of_something_else(begun: Queries) -> None:
    begun.home().put("checkpoint/sqlext-run", "another")
    assert begun.code() == "RUN-021"


def test_another_catalog_goes_on_or_is_refused(begun: Queries) -> None:
    begun.home().store.delete("run.json")
    assert begun.code() == "RUN-021"
    assert begun.code(catalog="another") == "RUN-021"


def test_changed(begun: Queries) -> None:
    changed = WINDOWED.replace("GROUP BY", "WHERE v > 1 GROUP BY")
    assert begun.code(CATCH_UP, EVENTS, COUNTS, changed) == "RUN-020"
    assert begun.code(CATCH_UP, EVENTS, COUNTS, changed, catalog="another") == "RUN-020"


def test_held(begun: Queries) -> None:
    with QueryHome("elsewhere", "sql.counts", begun.url, settings=begun.settings):
        assert begun.code() == "RUN-022"
        assert begun.code(catalog="another") == "RUN-022"
        assert begun.code("DROP QUERY `sql.counts`;") == "RUN-022"


def test_it_leaves_its_state(begun: Queries) -> None:
    changed = WINDOWED.replace("GROUP BY", "WHERE v > 0 GROUP BY")
    begun.run(CATCH_UP, "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';", EVENTS, COUNTS, changed)
    begun.run("SET 'sqlext.bounded' = 'catch-up';", EVENTS, COUNTS, changed)
    assert not list(begun.home().names("before"))


def test_flinks_own_setting(queries: Queries) -> None:
    session = sqlext.connect(queries.spark, catalog=queries.workspace.folder / "catalog")
    queries.workspace.run(f"SET 'execution.checkpointing.dir' = '{queries.url}';", *SCRIPT, session=session)
    assert queries.home().text("run.json") is not None
    (record,) = queries.workspace.queries().values()
    assert str(record["checkpoint"]).startswith("s3a://")
    assert SECRET not in "".join(
        file.read_text(errors="replace") for file in Path(queries.workspace.folder).rglob("*") if file.is_file()
    )


def test_nobody_is_there(queries: Queries) -> None:
    queries.url = "s3://no-such-bucket/checkpoints"
    assert queries.code() == "RUN-015"
    assert not queries.workspace.queries()


def test_a_spark_without_the_connector(queries: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlext.spark.object_urls._knows", lambda *_: False)
    assert queries.code() == "OPT-014"
    assert not queries.workspace.queries()
    assert list(queries.location.names()) == []


def test_a_spark_that_starts_later(queries: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own files say how the store is reached; the session is told nothing."""
    monkeypatch.setattr("sqlext.spark.local.local_spark", lambda **_: queries.spark)
    session = sqlext.connect(catalog=queries.workspace.folder / "catalog")
    queries.workspace.run(*SCRIPT, session=session, checkpoint=queries.url)
    assert queries.home().text("run.json") is not None
