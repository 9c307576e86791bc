"""One Spark for each process of a run; the folder of reference cases is an option."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from .few_rows_as_streams import keep_streams
from .kafka_broker import kafka_broker
from .opensearch_server import has_compiler, opensearch_server
from .postgresql_server import postgresql_server
from .s3_server import S3Server, s3_server
from .schema_registry import schema_registry
from .workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).parent
CORES = 2
SAMPLE = 8
#: Into how many parts the tests with Spark, and other slow ones, are cut; a usual run takes one of them.
PARTS = 16
# Of a JVM that runs small jobs: its second compiler and a concurrent collector take half of the processor's time there.
# Spark's launcher hands it to each Spark that a test starts, in this process or another.
# Without its second compiler the JVM has a code cache of 48 MB, which it clears again and again.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC")
# How fast a machine is decides no test.
for _profile, _examples in (("usual", 50), ("all", 100)):
    settings.register_profile(
        _profile, max_examples=_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("usual")
keep_streams()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register ``--cases DIR``: any folder of the form of the recorded cases."""
    parser.addoption(
        "--cases",
        metavar="DIR",
        type=Path,
        default=HERE / "conformance" / "cases" / "flink",
        help="folder of reference cases, <area>/<name>/script.sql (default: the project's own copy)",
    )
    parser.addoption(
        "--source",
        choices=("auto", "arrow", "spark"),
        help="who reads the tables of the reference cases: the setting sqlext.source "
        "(default: auto; the project's own cases run by arrow too)",
    )
    parser.addoption(
        "--part",
        type=_part,
        default=0,
        help=f"which of {PARTS} parts of the slow tests runs: each in turn, folder by folder (default: 0)",
    )
    parser.addoption(
        "--scenarios",
        type=int,
        help="how many scenarios each test of tests/simulation tries (default: as many as --minutes allow)",
    )
    parser.addoption(
        "--minutes",
        type=float,
        default=4,
        help="how long tests/simulation tries scenarios, two thirds of it on Spark (default: 4)",
    )
    parser.addoption(
        "--all",
        action="store_true",
        help=f"run all of what is marked sampled: by default one in {SAMPLE} or fewer, so that a run takes 40 minutes",
    )


def _part(text: str) -> int:
    """Return the number of a part."""
    if (part := int(text)) not in range(PARTS):
        raise ValueError(text)
    return part


def pytest_configure(config: pytest.Config) -> None:
    """Let property tests try more examples where all tests run."""
    if config.getoption("--all"):
        settings.load_profile("all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark by need: what asks for ``spark`` is spark, what lies in tests/unit is unit; leave a sample of some."""
    if not config.getoption("--all") and not config.getoption("keyword") and not _are_named(config):
        _leave_sample(config, items)
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        elif HERE / "unit" in item.path.parents:
            item.add_marker(pytest.mark.unit)


def _are_named(config: pytest.Config) -> bool:
    """Whether the command names tests, not files or folders: then those run."""
    return bool(config.args) and all("::" in argument for argument in config.args)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep a file in one process, where its fixtures are made once; of recorded cases an area."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            area, slash, _ = test.partition("[")[2].partition("/")
            return f"{file} {area}" if slash else file

    return ByFile(config, log)


def _leave_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is costly, and all but some of the others; not where ``-k`` or the command names tests."""
    seen: Counter[str] = Counter()
    left_out = []
    for item in items:
        group, one_of, wanted = _group(item, config.getoption("--part"))
        if item.get_closest_marker("costly") is not None or seen[group] % one_of != wanted:
            left_out.append(item)
        seen[group] += 1
    config.hook.pytest_deselected(items=left_out)
    gone = set(map(id, left_out))
    items[:] = [item for item in items if id(item) not in gone]


def _group(item: pytest.Item, part: int) -> tuple[str, int, int]:
    """Return what a test is counted with, of how many one runs, and which: of a sampled function, or of a folder."""
    sampled = item.get_closest_marker("sampled")
    if sampled is not None:
        one_of = sampled.args[0] if sampled.args else SAMPLE
        return item.nodeid.partition("[")[0], one_of, part % one_of
    fixtures = getattr(item, "fixturenames", ())
    takes_long = "spark" in fixtures or item.get_closest_marker("slow") is not None
    # Recorded cases are sampled one by one: what is refused needs no query of Spark.
    in_parts = takes_long and "case" not in fixtures
    return (str(item.path.parent), PARTS, part) if in_parts else (item.nodeid, 1, 0)


@pytest.fixture(scope="session")
def cases_dir(pytestconfig: pytest.Config) -> Path:
    """Return the folder given with ``--cases``."""
    return Path(pytestconfig.getoption("--cases"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return the one Spark (with Delta) that all tests of a process share. Isolate with ``newSession()``."""
    from sqlext.spark.local import local_spark

    # Threads of Spark's pools hold the session that was active when they were made: hundreds of sessions, a MB each.
    memory = {"spark.driver.memory": "5g"}
    session = local_spark(cores=CORES, folder=tmp_path_factory.mktemp("spark"), settings=memory)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of the one Kafka broker that all tests share: give topics names of your own."""
    with kafka_broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of the one schema registry that all tests of a process share."""
    with schema_registry(tmp_path_factory.mktemp("registry")) as url:
        yield url


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of the one OpenSearch that all tests of a process share: give indexes names of your own."""
    if not has_compiler():
        pytest.skip("OpenSearch is started from a source file, which needs a JDK")
    with opensearch_server(tmp_path_factory.mktemp("opensearch")) as url:
        yield url


@pytest.fixture(scope="session")
def search_address(opensearch: str) -> str:
    """Return where that OpenSearch is, as host and port."""
    return opensearch.removeprefix("http://")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Return the URL of the one PostgreSQL that all tests of a process share."""
    with postgresql_server() as url:
        yield url


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A server of S3, shared by all tests that read or write objects."""
    with s3_server() as server:
        yield server


@pytest.fixture
def workspace(spark: SparkSession, tmp_path: Path) -> Workspace:
    """Return a folder with inputs, a catalog and outputs, to run jobs in."""
    return Workspace(spark, tmp_path)
