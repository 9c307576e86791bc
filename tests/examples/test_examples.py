"""Every example runs and gives the output beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlext.session.offline.compilation import compile_source, new_state, read_source
from sqlext.settings import Settings
from tests.kafka_broker import fetch_spark_avro, fetch_spark_connector
from tests.postgresql_server import PASSWORD, USER

from .examples import DATA, DEMO, FOLDER, SERVERS, actual_output, examples, expected_file, servers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUN = [script for script in examples() if script.stem != DEMO]
ALONE = [script for script in RUN if not servers(script)]
WITH_SERVERS = [script for script in RUN if servers(script)]
#: The option of 56 that names its database.
SQLITE = "'url' = 'jdbc:sqlite:${OUT}/shop.db'"
#: What scripts say that show how they are read.
_SHOWS_READER = ("EXPLAIN", "sqlext.source", "SHOW ")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("script", ALONE, ids=lambda script: script.stem)
def test_example(script: Path, spark: SparkSession, tmp_path: Path) -> None:
    assert actual_output(script, tmp_path) == expected_file(script).read_text("utf-8")


def _marked(script: Path) -> Any:
    """Return a parameter; OpenSearch takes long to fetch and to start."""
    return pytest.param(script, marks=[pytest.mark.costly] if "SEARCH" in servers(script) else [], id=script.stem)


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize("script", [_marked(script) for script in WITH_SERVERS])
def test_example_with_servers(
    script: Path, spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The servers that an example names are real ones."""
    session = spark.newSession()
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    variables = {name: request.getfixturevalue(SERVERS[name]) for name in servers(script)}
    found = actual_output(script, tmp_path, variables=variables, spark=session)
    assert found == expected_file(script).read_text("utf-8")


@pytest.mark.slow
def test_example_of_databases_with_postgresql(
    spark: SparkSession, tmp_path: Path, postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What 56 says of PostgreSQL holds: with the options of its comment the same rows come out of a real server."""
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    example = FOLDER / "56_database.sql"
    text = example.read_text("utf-8")
    assert text.count(SQLITE) == 2
    own = tmp_path / example.name
    login = f"'url' = '{postgresql}', 'username' = '{USER}', 'password' = 'env:SHOP_PASSWORD'"
    own.write_text(text.replace(SQLITE, login), "utf-8")
    found = actual_output(own, tmp_path / "run", variables={"IN": str(DATA)})
    assert found == expected_file(example).read_text("utf-8")
    assert not list((tmp_path / "run").rglob("*.db"))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("script", ALONE, ids=lambda script: script.stem)
def test_read_by_arrow(script: Path, spark: SparkSession, tmp_path: Path) -> None:
    """Where Arrow can read and combine an example's rows, the same come out, in some order."""
    if any(said in script.read_text("utf-8") for said in _SHOWS_READER):
        pytest.skip("shows how it is read")
    found = actual_output(script, tmp_path, {"sqlext.source": "arrow"})
    assert sorted(found.splitlines()) == sorted(expected_file(script).read_text("utf-8").splitlines())


def test_every_example_has_an_expected_output() -> None:
    assert RUN
    assert [script.stem for script in RUN if not expected_file(script).is_file()] == []
    orphans = {path.stem for path in RUN[0].parent.glob("*.out")} - {script.stem for script in RUN}
    assert not orphans


def test_numbers_are_consecutive() -> None:
    assert [int(script.name[:2]) for script in examples()] == list(range(1, len(examples()) + 1))


@pytest.mark.parametrize("script", examples(), ids=lambda script: script.stem)
def test_an_example_says_what_it_shows(script: Path) -> None:
    first = script.read_text("utf-8").splitlines()[0]
    assert first.startswith("-- ")
    assert len(first) > 20


def test_all_share_one_catalog(tmp_path: Path) -> None:
    """A newcomer runs them one after the other in one folder, some of them twice: no definition meets another one."""
    state = new_state(tmp_path)
    variables = {"IN": "/in", "OUT": "/out", **dict.fromkeys(SERVERS, "localhost:1")}
    for script in 2 * examples():
        state.created = set()
        state.settings = Settings()
        state.catalog.use_database(("default_catalog", "default_database"))
        for _ in compile_source(read_source(script, variables), state):
            pass
