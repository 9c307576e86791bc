"""Every path that a user gives is local, a URL that works, or a URL that is refused by name: none becomes a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sqlext
from sqlext import SqlExtError
from sqlext.cli.main import main
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.runs import begun_run
from sqlext.locations import (
    absolute,
    beside,
    catalog_place,
    checkpoint_place,
    holds_bytes,
    is_object_store,
    is_remote,
    local_path,
    on_disk,
    scheme_of,
)
from sqlext.session.offline.commands import check_file, check_files, explain_file, rewrite_file, rewrite_project
from sqlext.session.opening import catalog_folder
from sqlext.settings import Settings
from sqlext.stores.opening import has_store
from sqlext.testing.runner import find_cases
from sqlext_catalog.store import CatalogStore

REMOTE = [
    *("s3://b/x", "s3a://b/x", "s3n://b/x", "abfss://c@a.dfs.core.windows.net/x", "abfs://c@a/x", "gs://b/x"),
    *("hdfs://n:8020/x", "hdfs:///x", "hdfs:/x", "dbfs:/x", "dbfs:///x", "wasbs://c@a/x", "wasb://c@a/x"),
    *("viewfs://n/x", "adl://a/x", "oss://b/x", "http://h/x", "unheard-of://b/x", "unheard-of:/b"),
    *("S3A://b/x", "s3a:/b/x", "s3a:b", "DBFS:/x", " s3a://b/x", "\ts3://b", "s3a:", "s3a://"),
    *("file://host/x", "file:x", "file:", "file://", "FILE://host/x"),
]
LOCAL = [
    "x",
    "/x",
    "./x",
    "../x",
    "./a:b/c",
    "a:b/c",
    "ab:c/d",
    "C:\\x",
    "C:/x",
    "./s3a:/b",
    "/s3a:/b",
    "x/s3a://b",
    ":/x",
    "1s:/x",
]
FILES = {
    "file:///x/y": "/x/y",
    "file:/x/y": "/x/y",
    "FILE:///x/y": "/x/y",
    "File:/x": "/x",
    "file://localhost/x": "/x",
    "file:////x": "/x",
    "file:///": "/",
    " file:///x": "/x",
    "file:///a%20b": "/a b",
    "file:///a%2520b": "/a%20b",
    "file:///a b+c": "/a b+c",
    "file:///a:b": "/a:b",
    "file:///%C3%A4": "/ä",
}
TABLES = """
CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE events (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
"""
QUERY = f"{TABLES}INSERT INTO t SELECT k FROM t;"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory in which nothing may be made."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    yield here
    assert list(here.iterdir()) == []


def code(function: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(SqlExtError) as refused:
        function(*arguments, **named)
    found = re.search("that is a URL with the scheme `(.+)`$", refused.value.message)
    assert found is not None or refused.value.code.startswith("OPT")
    assert refused.value.hint
    return refused.value.code


@pytest.mark.parametrize("place", REMOTE)
def test_urls(place: str) -> None:
    assert scheme_of(place)
    assert is_remote(place)
    assert not holds_bytes(place, 0)


@pytest.mark.parametrize("place", LOCAL)
def test_paths(place: str) -> None:
    assert scheme_of(place) is None
    assert local_path(place) == place
    assert absolute(place) == str(Path(place).absolute())


@pytest.mark.parametrize("place", FILES)
def test_file_urls(place: str) -> None:
    assert (scheme_of(place), local_path(place)) == ("file", FILES[place])
    told = absolute(place)
    assert told is not None
    assert on_disk(told) == FILES[place]
    assert told in (place, f"file://{FILES[place]}")


def test_what_pathlib_makes_of_urls() -> None:
    assert is_remote(Path("s3a://b/x"))
    assert local_path(Path("file:///x")) == "/x"
    assert local_path(Path("/a b").as_uri()) == "/a b"


@pytest.mark.parametrize("place", ["s3a://b/x", "S3A://b/x", "dbfs:/x", "hdfs:/x", "s3a:b", "unheard-of://b", "file:x"])
def test_spark_gets_urls_as_they_are(place: str) -> None:
    assert absolute(place) == place


@pytest.mark.parametrize("place", [*REMOTE, *FILES, "/x"])
def test_urls_lie_beside_no_folder(place: str, tmp_path: Path) -> None:
    assert beside(tmp_path, place) == place
    assert beside(tmp_path, "x") == str(tmp_path / "x")


def test_a_volume_by_its_url_is_told_its_path() -> None:
    for act in (catalog_place, checkpoint_place):
        with pytest.raises(SqlExtError) as refused:
            act("dbfs:/Volumes/main/streaming/sqlext")
        assert refused.value.hint == "a volume is named by its path: `/Volumes/main/streaming/sqlext`"


@pytest.mark.parametrize("place", [place for place in REMOTE if not is_object_store(place)])
def test_catalogs(place: str) -> None:
    assert code(sqlext.connect, catalog=place) == "CAT-038"
    assert code(CatalogStore, place) == "CAT-038"
    assert code(catalog_folder, None, place) == "CAT-038"
    assert code(rewrite_file, QUERY, catalog=place) == "CAT-038"
    assert code(explain_file, QUERY, catalog=place) == "CAT-038"
    assert code(check_file, QUERY, catalog=place) == "CAT-038"


@pytest.mark.parametrize("place", ["s3://b/x", "S3A://b/x/", "gs://b", "abfss://c@a.dfs.core.windows.net/x"])
def test_catalogs_in_object_stores(place: str) -> None:
    assert catalog_folder(None, place) == catalog_place(place) == place.rstrip("/")
    assert sqlext.connect(catalog=place).folder == place.rstrip("/")


def test_a_catalog_as_a_path_object() -> None:
    assert code(sqlext.connect, catalog=Path("s3a://b/catalog")) == "CAT-038"


@pytest.mark.parametrize("place", [p for p in REMOTE if not is_object_store(p.strip())])
def test_checkpoints(place: str, tmp_path: Path) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog")
    assert code(session.run, QUERY, checkpoint=place) == "RUN-028"
    assert code(session.run, "nothing that can be read", checkpoint=place) == "RUN-028"
    assert code(QueryHome, tmp_path / "catalog", "q", place) == "RUN-028"
    assert not (tmp_path / "catalog").exists()


@pytest.mark.parametrize(
    "key",
    ["execution.checkpointing.dir", "state.checkpoints.dir", "state.savepoints.dir", "execution.state-recovery.path"],
)
def test_flinks_keys(key: str) -> None:
    assert code(sqlext.connect, settings={key: "hdfs://b/ck"}) == "RUN-028"
    assert Settings().with_value(key, "s3://b/ck").get(key) == "s3://b/ck"
    assert Settings().with_value(key, "file:///ck").get(key) == "file:///ck"
    assert Settings().with_value(key, "/ck").get(key) == "/ck"
    (error,) = sqlext.connect().check(f"SET '{key}' = 'dbfs:/ck'; {QUERY}")
    assert (error.code, error.line) == ("RUN-028", 1)
    with pytest.raises(SqlExtError) as refused:
        sqlext.connect().run(f"{TABLES}\nSET '{key}' = 'wasbs://b/ck';")
    assert (refused.value.code, refused.value.line) == ("RUN-028", 6)


def test_where_flinks_keys_put_checkpoints() -> None:
    def place(*pairs: tuple[str, str]) -> str | None:
        return Settings(dict(pairs)).checkpoint

    assert place(("execution.checkpointing.dir", "s3://b/ck/")) == "s3://b/ck"
    assert place(("state.checkpoints.dir", "gs://b/old")) == "gs://b/old"
    assert (
        place(("state.checkpoints.dir", "gs://b/old"), ("execution.checkpointing.dir", "s3a://b/new")) == "s3a://b/new"
    )
    assert place(("execution.checkpointing.dir", "/of/flinks/machine")) is None
    assert place(("state.savepoints.dir", "s3://b/ck")) is None


def test_the_clock() -> None:
    assert code(sqlext.connect, settings={"sqlext.clock": "s3a://b/clock"}) == "RUN-014"
    assert Settings().with_value("sqlext.clock", "file:///clock").get("sqlext.clock") == "/clock"
    assert Settings().with_value("sqlext.clock", "clock").get("sqlext.clock") == "clock"


@pytest.mark.parametrize("key", ["path", "warehouse", "location"])
def test_create_catalog(key: str) -> None:
    (error,) = sqlext.connect().check(f"CREATE CATALOG c WITH ('type' = 'generic_in_memory',\n '{key}' = 's3a://b/c')")
    assert (error.code, error.line) == ("CAT-038", 2)
    assert (
        sqlext.connect().check(
            f"CREATE CATALOG c WITH ('type' = 'generic_in_memory', '{key}' = '/c', 'url' = 'jdbc:x:y')"
        )
        == []
    )


@pytest.mark.parametrize("place", ["s3a://b/x", "S3://b/x", "dbfs:/x", "s3a:/b", "gs://b/x"])
def test_scripts_and_what_is_written(place: str, tmp_path: Path) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog")
    assert code(session.run, f"{place}/x.sql") == "RUN-014"
    assert code(session.run, Path(f"{place}/x.sql")) == "RUN-014"
    assert code(check_files, [place]) == "RUN-014"
    assert code(find_cases, [Path(place)]) == "RUN-014"
    assert code(rewrite_project, QUERY, place) == "RUN-014"


def test_the_folder_of_a_local_spark() -> None:
    from sqlext.spark.local import local_spark, persistent_spark

    assert code(persistent_spark, "s3a://b/spark") == "RUN-014"
    assert code(local_spark, folder="dbfs:/spark") == "RUN-014"


SINK = "CREATE TABLE far (k STRING{}) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json');\n"
INSERTS = {
    "insert": "INSERT INTO far SELECT k FROM t;",
    "set": "BEGIN STATEMENT SET; INSERT INTO t SELECT k FROM t; INSERT INTO far SELECT k FROM t; END;",
    "batch": "SET 'execution.runtime-mode' = 'batch'; INSERT INTO far SELECT k FROM t;",
    "partition": "INSERT INTO far PARTITION (p = 'x') SELECT k FROM t;",
}


@pytest.mark.parametrize("place", ["s3n://b/x", "dbfs:/x", "hdfs://n/x", "s3a:/b"])
@pytest.mark.parametrize("insert", INSERTS)
def test_filesystem_sinks(place: str, insert: str) -> None:
    columns = ", p STRING) PARTITIONED BY (p" if insert == "partition" else ""
    script = TABLES + SINK.format(columns, place) + INSERTS[insert]
    (error,) = sqlext.connect().check(script)
    assert error.span is not None
    assert (error.code, error.span.text) == ("OPT-018", f"'path' = '{place}'")
    assert place in error.message
    assert code(sqlext.connect().run, script) == "OPT-018"


@pytest.mark.parametrize("place", ["s3a://b/x", "S3://b", "gs://b/x", "abfss://c@a.dfs.core.windows.net/x"])
@pytest.mark.parametrize("insert", INSERTS)
def test_filesystem_sinks_in_object_stores(place: str, insert: str) -> None:
    columns = ", p STRING) PARTITIONED BY (p" if insert == "partition" else ""
    assert sqlext.connect().check(TABLES + SINK.format(columns, place) + INSERTS[insert]) == []


def test_a_hint_at_a_url() -> None:
    insert = "INSERT INTO t /*+ OPTIONS('path' = 'hdfs://b/x') */ SELECT k FROM t;"
    (error,) = sqlext.connect().check(TABLES + insert)
    assert error.code == "OPT-018"


def test_create_table_as() -> None:
    create = "CREATE TABLE far WITH ('connector'='filesystem','path'='hdfs://b','format'='json') AS SELECT k FROM t;"
    session = sqlext.connect()
    assert code(session.run, TABLES + create) == "OPT-018"
    assert session.catalog.snapshot().relations() == []


@pytest.mark.parametrize("query", ["INSERT INTO t SELECT k FROM bad;", "SELECT k FROM bad;"])
def test_bad_rows_at_a_url(query: str) -> None:
    far = "CREATE TABLE far (text STRING, reason STRING) WITH ('connector'='filesystem','path'='hdfs://b','format'='json');\n"
    bad = (
        "CREATE TABLE bad (k STRING) WITH ('connector'='filesystem','path'='/in','format'='json',"
        "'sqlext.bad-rows'='far');\n"
    )
    (error,) = sqlext.connect().check(TABLES + far + bad + query)
    assert error.code == "OPT-018"


def test_late_rows_at_a_url() -> None:
    far = "CREATE TABLE far (k STRING, ts TIMESTAMP(3)) WITH ('connector'='filesystem','path'='hdfs://b','format'='json');\n"
    query = (
        "SET 'sqlext.late-rows.table' = 'far';\n"
        "INSERT INTO t SELECT k FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
        " GROUP BY k, window_start, window_end;"
    )
    (error,) = sqlext.connect().check(TABLES + far + query)
    assert error.code == "OPT-018"


@pytest.mark.parametrize("connector", ["'delta'", "'spark', 'format' = 'parquet'"])
def test_what_spark_writes(connector: str) -> None:
    far = f"CREATE TABLE far (k STRING) WITH ('connector' = {connector}, 'path' = 's3a://b/x');\n"
    assert sqlext.connect().check(f"{TABLES}{far}INSERT INTO far SELECT k FROM t;") == []


@pytest.mark.parametrize("place", ["s3a://b/x", "s3a:/b/x", "dbfs:/x"])
@pytest.mark.parametrize("options", ["'filesystem', 'format' = 'json'", "'delta'"])
def test_sources(place: str, options: str) -> None:
    far = f"CREATE TABLE far (k STRING) WITH ('connector' = {options}, 'path' = '{place}');\n"
    insert = "INSERT INTO t SELECT k FROM far;"
    text = sqlext.connect().rewrite(f"{TABLES}{far}{insert}")
    assert place in text
    assert str(Path.cwd()) not in text


@pytest.mark.parametrize("place", ["s3a://b/x", "s3a:/b/x", "S3A://b/x", "dbfs:/x"])
@pytest.mark.parametrize("options", ["'filesystem', 'format' = 'json'", "'delta'"])
def test_spark_reads_urls(place: str, options: str) -> None:
    far = (
        "CREATE TABLE far (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
        f" WITH ('connector' = {options}, 'path' = '{place}');\n"
    )
    windows = "TABLE(TUMBLE(TABLE far, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    query = f"SELECT k FROM {windows} GROUP BY k, window_start, window_end;"
    (text,) = sqlext.connect().explain(f"SET 'sqlext.source' = 'arrow';{far}{query}")
    # Of Delta the columns that are there are asked for, which needs a Spark session.
    assert ("its path is a URL" in text) == (options == "'delta'" or not has_store(place))


@pytest.mark.parametrize("role", ["INSERT INTO far SELECT k FROM t", "INSERT INTO t SELECT k FROM far"])
def test_files_of_another_machine(role: str) -> None:
    far = "CREATE TABLE far (k STRING) WITH ('connector' = 'delta', 'path' = 'file://host/x');\n"
    (error,) = sqlext.connect().check(f"{TABLES}{far}{role};")
    assert (error.code, "no absolute path of this machine" in error.message) == ("OPT-018", True)


@pytest.mark.parametrize("target", ["databricks", "pipelines"])
def test_other_tools_write_where_they_like(target: str) -> None:
    source = SINK.replace("far", "near").format("", "s3://b/in")
    far = SINK.format("", "abfss://c@a.dfs.core.windows.net/x")
    text = sqlext.connect().rewrite(f"{source}{far}INSERT INTO far SELECT k FROM near;", target=target)
    assert "s3://b/in" in text


ELSEWHERE = ["s3a://b/x", "dbfs:/x", "S3://b/x", "hdfs://n/x"]
COMMANDS = {
    "run": (["run", "{script}", "--catalog", "{url}"], "CAT-038"),
    "script": (["run", "{url}/x.sql", "--catalog", "{out}/catalog"], "RUN-014"),
    "rewrite": (["rewrite", "{script}", "--catalog", "{url}"], "CAT-038"),
    "out": (["rewrite", "{script}", "--target", "pipelines", "--out", "{url}"], "RUN-014"),
    "explain": (["explain", "{script}", "--catalog", "{url}"], "CAT-038"),
    "check": (["check", "{script}", "--catalog", "{url}"], "CAT-038"),
    "check folder": (["check", "{url}"], "RUN-014"),
    "init": (["check", "{script}", "-i", "{url}"], "RUN-014"),
    "shell": (["shell", "--catalog", "{url}", "-e", "SHOW TABLES"], "CAT-038"),
    "shell file": (["shell", "--catalog", "{out}/catalog", "-f", "{url}"], "RUN-014"),
    "watermarks": (["watermarks", "--catalog", "{url}"], "CAT-038"),
    "test": (["test", "{url}"], "RUN-014"),
}


# A catalog in an object store is taken.
@pytest.mark.parametrize(
    ("command", "url"),
    [
        (name, url)
        for name, (_, code) in COMMANDS.items()
        for url in ELSEWHERE
        if code != "CAT-038" or not is_object_store(url)
    ],
)
def test_the_command_line(command: str, url: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(QUERY)
    arguments, wanted = COMMANDS[command]
    given = [a.format(script=script, url=url, out=tmp_path / "out") for a in arguments]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 1, result.output
    assert f"{wanted}: " in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_checkpoint_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(QUERY)
    given = ["run", str(tmp_path / "job.sql"), "--catalog", str(tmp_path / "out"), "--checkpoint", "dbfs:/ck"]
    result = CliRunner().invoke(main, given)
    assert (result.exit_code, "RUN-028: " in result.stderr) == (1, True)
    assert not (tmp_path / "out").exists()


def test_files_by_url(tmp_path: Path) -> None:
    script = tmp_path / "a job.sql"
    script.write_text(QUERY)
    url = script.as_uri()
    for arguments in (["check", url], ["check", tmp_path.as_uri()], ["explain", url], ["rewrite", url]):
        result = CliRunner().invoke(main, [*arguments, "--catalog", (tmp_path / "catalog").as_uri()])
        assert result.exit_code == 0, result.output
    script.write_text(QUERY.replace("INTO t SELECT k FROM t", "INTO t SELECT k FROM events"))
    out = tmp_path / "out"
    made = CliRunner().invoke(main, ["rewrite", url, "--target", "pipelines", "--out", out.as_uri()])
    assert made.exit_code == 0, made.output
    assert (out / "spark-pipeline.yml").is_file()


def test_a_catalog_by_url(tmp_path: Path) -> None:
    place = tmp_path / "a catalog"
    sqlext.connect(catalog=place.as_uri()).run(TABLES)
    assert (place / "definitions").is_dir()
    session = sqlext.connect(catalog=place)
    assert [r.name.name for r in session.catalog.snapshot().relations()] == ["events", "t"]
    assert session.folder == place


def test_a_folder_of_an_older_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dbfs:" / "ck").mkdir(parents=True)
    with pytest.raises(SqlExtError) as refused:
        sqlext.connect().run(QUERY, checkpoint="dbfs:/ck")
    assert str(tmp_path / "dbfs:" / "ck") in (refused.value.hint or "")
    with QueryHome(tmp_path, "q", "./dbfs:/ck") as home:
        assert Path(home.location.place).parent == tmp_path / "dbfs:" / "ck"
    assert begun_run(tmp_path, "q", os.fspath(tmp_path / "dbfs:" / "ck"), {}) is None
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path / "here")
