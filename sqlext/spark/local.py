"""Start a local Spark with Delta, with its log in a file."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from sqlext.capabilities import CHECKPOINTING, UNIX_SOCKETS, has
from sqlext.environment import Problem, require_java, spark_problem
from sqlext.errors import SqlExtError
from sqlext.extras import package
from sqlext.locations import local_file
from sqlext.secrets import spark_redaction
from sqlext.spark.packages import DELTA_EXTENSION, EXTENSIONS, has_delta
from sqlext.spark.worker_processes import spark_home, worker_environment

_CHECKPOINT_FILES = "FileSystemBasedCheckpointFileManager"
_STREAMING = "org.apache.spark.sql.execution.streaming"
#: From here on the names of Delta's jars say for which Spark they are.
_JARS_BY_SPARK = (4, 1)
_SCALA = "2.13"
#: The longest path of a Unix domain socket, on Linux and macOS; the beginning of their folder's name; Spark's names.
_LONGEST_SOCKET, _SOCKETS, _SOCKET_NAME = 103, "sqlext-", ".00000000-0000-0000-0000-000000000000.sock"
_PACKAGES, _EXCLUDES = "spark.jars.packages", "spark.jars.excludes"

#: The classes that Spark loads, made by ``python -m sqlext.spark.class_archive``.
CLASS_ARCHIVE = Path(sys.prefix) / "share" / "sqlext" / "spark-classes.jsa"
# A JVM that does not fit the archive would say so on standard output.
ARCHIVE_LOGS_OFF = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"

# Delta's POM asks for jars that Spark has already (70 MB of Hadoop, Parquet, Log4j, ...). Spark's own
# copies are loaded first, so these would only be downloaded, resolved and never used.
_SHIPPED_WITH_SPARK = (
    "com.fasterxml.jackson.core:jackson-annotations",
    "com.fasterxml.jackson.core:jackson-core",
    "com.fasterxml.jackson.core:jackson-databind",
    "com.fasterxml.jackson.datatype:jackson-datatype-jdk8",
    "com.github.luben:zstd-jni",
    "com.google.code.findbugs:jsr305",
    "commons-logging:commons-logging",
    "commons-pool:commons-pool",
    "io.airlift:aircompressor",
    "javax.annotation:javax.annotation-api",
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.apache.logging.log4j:log4j-api",
    "org.apache.logging.log4j:log4j-core",
    "org.apache.logging.log4j:log4j-slf4j2-impl",
    "org.apache.parquet:parquet-column",
    "org.apache.parquet:parquet-common",
    "org.apache.parquet:parquet-encoding",
    "org.apache.parquet:parquet-format-structures",
    "org.apache.parquet:parquet-hadoop",
    "org.apache.parquet:parquet-jackson",
    "org.roaringbitmap:RoaringBitmap",
    "org.roaringbitmap:shims",
    "org.slf4j:slf4j-api",
    "org.xerial.snappy:snappy-java",
)


def local_spark(
    *,
    cores: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    packages: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    java_options: str | None = None,
    starting: Callable[[str], None] | None = None,
) -> SparkSession:
    """Return the Spark of this process, or start one with Delta.

    Args:
        cores: how many threads work; all cores if not given.
        folder: where the warehouse and the JVM's log go; by default a temporary folder that is
            deleted at exit. Never the working directory.
        packages: further Maven coordinates, for instance Spark's Kafka connector.
        settings: Spark settings that win over ours.
        java_options: options of the JVM in place of our own (the class archive).
        starting: is told Spark's version before one starts, which takes seconds.

    Raises:
        SqlExtError: ENV-001, ENV-002 (Java), ENV-005 (jars), ENV-011 (no delta-spark), ENV-006 (anything else that
            keeps Spark from starting, or a running Spark without Delta); RUN-014 for a folder at a URL.
    """
    home = None if folder is None else local_file(folder, "the folder of a local Spark")
    if running := _running():
        return running
    require_java()
    package("delta", "local", "a local Spark")
    if starting is not None:
        starting(version("pyspark"))
    home = home or _temporary_folder()
    home.mkdir(parents=True, exist_ok=True)
    # Workers must be this interpreter: it is the one that has pandas, pyarrow and protobuf.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Else Spark warns about host names, and a laptop that changes networks loses its driver.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    chosen = dict(settings or {})
    # Beside ours, not in their place.
    further, excluded = (_listed(chosen.pop(name, "")) for name in (_PACKAGES, _EXCLUDES))
    conf = configuration(cores or os.cpu_count() or 1, home, [*packages, *further], excluded)
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    tuning = archive_options() if java_options is None else java_options
    conf.set("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={log4j} {_process_starts()} {tuning}")
    conf.setAll(list({**python_sockets(), **chosen}.items()))
    return _start(conf, home / "spark.log")


def persistent_spark(
    folder: str | os.PathLike[str], *, packages: Sequence[str] = (), settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the Spark of this process, or start one whose tables are there again when the next one starts.

    Args:
        folder: where warehouse and metastore (Derby: one process at a time) lie, absolute or below the working
            directory.

    Raises:
        SqlExtError: as ``local_spark``; RUN-014 for a URL.
    """
    home = local_file(folder, "the folder of a local Spark").absolute()
    metastore = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home / 'metastore'};create=true",
    }
    options = f"{archive_options()} -Dderby.stream.error.file={home / 'derby.log'}"
    settings = {**metastore, **(settings or {})}
    return local_spark(folder=home, packages=packages, settings=settings, java_options=options)


def archive_options() -> str:
    """Return the JVM's options that use the archive, none if there is no archive."""
    return (
        f"-XX:SharedArchiveFile={CLASS_ARCHIVE} {ARCHIVE_LOGS_OFF}"
        if CLASS_ARCHIVE.exists() and " " not in str(CLASS_ARCHIVE)
        else ""
    )


def _process_starts() -> str:
    """Return the option of the JVM by which it starts a process in half of the time, for what Hadoop starts of them.

    On Linux it was the JVM's own way until version 13; other systems do not have it (``java.lang.ProcessImpl``).
    """
    return "-Djdk.lang.Process.launchMechanism=VFORK" if sys.platform == "linux" else ""


def python_sockets() -> Mapping[str, str]:
    """Return the settings by which Spark talks to its Python processes by Unix domain sockets, where it can.

    Over TCP a task that writes twice before Python answers waits 40 ms for an acknowledgement: in each micro-batch with
    rows for Python.
    """
    # ``mkdtemp`` puts eight letters behind its prefix.
    longest = Path(tempfile.gettempdir()).absolute() / f"{_SOCKETS}12345678" / _SOCKET_NAME
    if sys.platform == "win32" or not has(UNIX_SOCKETS) or len(os.fsencode(longest)) > _LONGEST_SOCKET:
        return {}
    # Nobody asks who connects, so the folder is the user's alone.
    made = tempfile.mkdtemp(prefix=_SOCKETS)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return {"spark.python.unix.domain.socket.enabled": "true", "spark.python.unix.domain.socket.dir": made}


def _running() -> SparkSession | None:
    if SparkContext._active_spark_context is None:  # noqa: SLF001 - no public question exists
        return None
    spark = SparkSession.builder.getOrCreate()
    if not has_delta(spark):
        message = "this process already runs a Spark without Delta"
        hint = "stop it first, or configure it with delta-spark and pass it to sqlext.connect(spark)"
        raise Problem("ENV-006", message, hint).error()
    return spark


def configuration(cores: int, home: Path, packages: Sequence[str], excluded: Sequence[str] = ()) -> SparkConf:
    """Return the settings of a local Spark.

    Args:
        home: where its files go.
        packages: Maven coordinates beside Delta's.
        excluded: ``group:module`` of what they ask for and is not fetched, beside what Spark has already.
    """
    return (
        SparkConf()
        .setMaster(f"local[{cores}]")
        .setAppName("sqlext")
        .set(_PACKAGES, ",".join([_delta_package(), *packages]))
        .set(_EXCLUDES, ",".join([*_SHIPPED_WITH_SPARK, *excluded]))
        .set(EXTENSIONS, DELTA_EXTENSION)
        .set("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .set("spark.sql.warehouse.dir", (home / "warehouse").resolve().as_uri())
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.memory", "2g")
        .set("spark.ui.enabled", "false")
        .set("spark.ui.showConsoleProgress", "false")
        # Its event log and its plans show options: Spark knows fewer words for secrets.
        .setAll(list(spark_redaction().items()))
        # On a busy machine a Python worker needs longer than 15 s to start; without it the query fails.
        .set("spark.python.authenticate.socketTimeout", "60s")
        .set("spark.sql.session.timeZone", "UTC")
        .set("spark.sql.shuffle.partitions", str(cores))
        # spark.sql(text, args=...) fails under Delta's parser without it.
        .set("spark.sql.legacy.parameterSubstitution.constantsOnly", "true")
        # TIME is behind a switch in Spark 4.2, part of which is read from the first session only.
        .set("spark.sql.timeType.enabled", "true")
        # Hadoop's file system starts a process for each permission it sets and each link it looks at. These two
        # take away half of a checkpoint's files and renames: a query's lock keeps second writers out (what the other
        # manager is for), and the local file system has checksums of its own.
        .set("spark.sql.streaming.checkpointFileManagerClass", _checkpoint_files())
        .set("spark.sql.streaming.checkpoint.fileChecksum.enabled", "false")
        # Spark keeps 100 generated classes. A running query and the checkpoints of the Delta table that it writes have
        # more: every 20 s or so some micro-batches in a row had to compile a dozen of theirs again.
        .set("spark.sql.codegen.cache.maxEntries", "2000")
        # The tables of the catalog are small: one partition reads their log fastest.
        .set("spark.databricks.delta.snapshotPartitions", "1")
    )


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _delta_package() -> str:
    spark, delta = ".".join(version("pyspark").split(".")[:2]), version("delta-spark")
    by_spark = tuple(map(int, delta.split(".")[:2])) >= _JARS_BY_SPARK
    return f"io.delta:delta-spark_{f'{spark}_' if by_spark else ''}{_SCALA}:{delta}"


def _checkpoint_files() -> str:
    package = f"{_STREAMING}.checkpointing" if has(CHECKPOINTING) else _STREAMING
    return f"{package}.{_CHECKPOINT_FILES}"


def _start(conf: SparkConf, log: Path) -> SparkSession:
    """Start the JVM with its stderr (Ivy's chatter, Spark's warnings) in a file.

    SparkSession.builder cannot redirect it, and the JVM inherits our terminal otherwise.
    """
    start = log.stat().st_size if log.exists() else 0
    chosen = {name: value for name, value in worker_environment().items() if name not in os.environ}
    with log.open("ab") as stderr, _environment({**chosen, "SPARK_HOME": str(spark_home())}):
        try:
            gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as e:
            said = log.read_bytes()[start:].decode(errors="replace")
            raise spark_problem(said).error() from e
        except OSError as e:
            message = f"Spark's program cannot be started: {e.strerror}, `{e.filename}`"
            raise SqlExtError("ENV-006", message, hint="unset SPARK_HOME, or let it name a Spark") from e
    SparkContext(conf=conf, gateway=gateway)
    return SparkSession.builder.getOrCreate()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Let a JVM, and what it starts, have variables; what else this process starts has its own."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _temporary_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="sqlext-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
