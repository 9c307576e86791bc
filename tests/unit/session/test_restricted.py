"""SQL of others: what a restricted session refuses, and what it lets through. No Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.errors import SqlExtError
from sqlext.policy import Restrictions, policy_of
from sqlext.session.api import Session

FILES = "WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json'{})"
KAFKA = "WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = '{}', 'format' = 'json'{})"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "t").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return tmp_path / "data"


def session(data: Path, **more: tuple[str, ...]) -> Session:
    return sqlext.connect(catalog=data / "catalog", restricted=Restrictions(paths=(str(data),), **more))  # type: ignore[arg-type]


def refused(session: Session, script: str) -> tuple[str, str]:
    """Return code and text at the place of what a script is refused for."""
    (found,) = session.check(script)
    assert found.span is not None
    assert found.hint is not None
    return found.code, found.span.text


def table(path: object, more: str = "") -> str:
    return f"CREATE TABLE t (k STRING, v INT) {FILES.format(path, more)};"


def test_what_is_let_through(data: Path) -> None:
    allowed = session(data)
    script = f"""{table(data / "t")}
    CREATE TABLE s (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{data}/s');
    SET 'pipeline.name' = 'job'; SET 'table.exec.state.ttl' = '1 h';
    CREATE VIEW w AS SELECT k, upper(k) AS u FROM t;
    INSERT INTO s SELECT k, COUNT(*) FROM w GROUP BY k;
    SELECT 1 + 1 AS two;
    SHOW TABLES;"""
    assert allowed.check(script) == []


@pytest.mark.parametrize(
    "path",
    [
        "/etc",
        "{data}/../outside",
        "{data}/link",
        "{data}x",
        "{data}/catalog",
        "s3://bucket/x",
        "file:///etc",
        "{data}/catalog/queries",
    ],
)
def test_places(data: Path, path: str) -> None:
    (data / "link").symlink_to(data.parent / "outside")
    place = path.format(data=data)
    assert refused(session(data), table(place)) == ("RESTRICT-002", f"'path' = '{place}'")


@pytest.mark.parametrize(
    ("root", "path", "inside"),
    [
        ("s3://b/in", "s3a://b/in/x", True),
        ("s3://b/in", "s3://b/in/../out", False),
        ("s3://b/in", "s3://b/in/%2e%2e/out", False),
        ("s3://b/in", "s3://b/inner", False),
        ("s3://b/in", "s3://c/in/x", False),
        ("s3://b/in", "gs://b/in/x", False),
        ("s3://b/in", "s3://b/in//x/./y", True),
        ("/in", "s3://b/in", False),
        (".", "file:///etc/passwd", False),
    ],
)
def test_urls(root: str, path: str, inside: bool) -> None:
    assert (policy_of(Restrictions(paths=(root,))).place(path) is None) is inside


def test_a_hint_and_an_older_table_are_asked_about_too(data: Path) -> None:
    sqlext.connect(catalog=data / "catalog").run(table("/etc"))
    allowed = session(data)
    assert refused(allowed, "SELECT k FROM t;") == ("RESTRICT-002", "t")
    assert refused(allowed, "ALTER TABLE t ADD more INT;") == ("RESTRICT-002", "t")
    assert refused(allowed, f"CREATE OR REPLACE {table(data / 't')[7:]}") == ("RESTRICT-002", "t")
    sqlext.connect(catalog=data / "catalog").run(f"CREATE OR REPLACE {table(data / 't')[7:]}")
    assert allowed.check("SELECT k FROM t;") == []
    code, _ = refused(allowed, "SELECT k FROM t /*+ OPTIONS('path' = '/etc') */;")
    assert code == "RESTRICT-002"
    assert refused(allowed, "ALTER TABLE t SET ('path' = '/etc');") == ("RESTRICT-002", "'path' = '/etc'")
    assert (
        refused(
            allowed,
            f"CREATE TABLE u {FILES.format('/etc', '')} LIKE t;".replace(
                f" {FILES.format('/etc', '')} LIKE t", f" {FILES.format('/etc', '')} LIKE t (OVERWRITING OPTIONS)"
            ),
        )[0]
        == "RESTRICT-002"
    )


def test_connectors_hosts_and_options(data: Path) -> None:
    kafka = f"CREATE TABLE k (v INT) {KAFKA};"
    assert refused(session(data), kafka.format("b:1", "")) == ("RESTRICT-001", "'connector' = 'kafka'")
    named = session(data, connectors=("kafka", "jdbc", "delta", "spark"), hosts=("b1:9092", "*.local"))
    assert named.check(kafka.format("b1:9092,x.local:1", "")) == []
    code, at = refused(named, kafka.format("b1:9092,evil:1", ""))
    assert (code, at) == ("RESTRICT-003", "'properties.bootstrap.servers' = 'b1:9092,evil:1'")
    for option in ("'properties.ssl.truststore.location' = '/etc/passwd'", "'properties.client.id' = 'x'"):
        assert refused(named, kafka.format("b1:9092", f", {option}")) == ("RESTRICT-004", option)
    password = "'properties.sasl.password' = 'env:HOME'"
    assert refused(named, kafka.format("b1:9092", f", {password}")) == ("RESTRICT-004", password)
    open_ = session(data, connectors=("kafka",), hosts=("*",), options=("properties.*",), secrets=("env:KAFKA_*",))
    password = "'properties.sasl.password' = 'env:KAFKA_PASSWORD', 'properties.client.id' = 'x'"
    assert open_.check(kafka.format("b1:9092", f", {password}")) == []
    jdbc = "CREATE TABLE j (v INT) WITH ('connector' = 'jdbc', 'url' = '{}', 'table-name' = 'j');"
    assert refused(named, jdbc.format("jdbc:postgresql://evil:1/d"))[0] == "RESTRICT-003"
    assert refused(named, jdbc.format("jdbc:sqlite:/etc/x.db"))[0] == "RESTRICT-002"
    assert named.check(jdbc.format(f"jdbc:sqlite:{data}/x.db")) == []
    named_table = "CREATE TABLE d (v INT) WITH ('connector' = 'delta', 'table-name' = 'secret.t');"
    assert refused(named, named_table) == ("RESTRICT-004", "'table-name' = 'secret.t'")


@pytest.mark.parametrize(
    "key", ["spark.sql.shuffle.partitions", "sqlext.clock", "execution.checkpointing.dir", "sqlext.unbounded-state"]
)
def test_settings(data: Path, key: str) -> None:
    assert refused(session(data), f"SET '{key}' = 'error';")[0] == "RESTRICT-005"
    assert refused(session(data), f"RESET '{key}';")[0] == "RESTRICT-005"
    assert session(data, settings=(key,)).check(f"RESET '{key}';") == []


def test_reset_of_all(data: Path) -> None:
    assert refused(session(data), "RESET;")[0] == "RESTRICT-005"


@pytest.mark.parametrize(
    "statement",
    [
        "ADD JAR '/tmp/evil.jar'",
        "CREATE FUNCTION f AS 'evil.Code' USING JAR '/tmp/evil.jar'",
        "CREATE TABLE s (a INT) USING csv LOCATION '/etc'",
        "INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv SELECT 1",
        "LOAD DATA INPATH '/etc/passwd' INTO TABLE s",
        "CACHE TABLE s",
        "LIST JARS",
    ],
)
def test_statements_of_spark(data: Path, statement: str) -> None:
    assert refused(session(data), f"{statement};") == ("RESTRICT-006", statement)


def test_statistics(data: Path) -> None:
    """Another refusal comes first: the table is not there, or has files that Spark knows nothing of."""
    analyze = "ANALYZE TABLE {} COMPUTE STATISTICS"
    assert refused(session(data), f"{analyze.format('s')};")[0] == "NAME-002"
    (found,) = session(data).check(f"{table(data / 't')}{analyze.format('t')};")
    assert found.code == "CAT-040"


@pytest.mark.parametrize("name", ["csv.`/etc/passwd`", "text.`/etc/passwd`", "default.secrets", "parquet.`s3a://b/x`"])
@pytest.mark.parametrize("query", ["SELECT * FROM {}", "SELECT a.k FROM t AS a JOIN {} AS b ON true", "TABLE {}"])
def test_files_and_tables_of_spark_by_name(data: Path, name: str, query: str) -> None:
    (found,) = session(data).check(table(data / "t") + query.format(name) + ";")
    assert found.code in ("NAME-002", "CAT-002")


@pytest.mark.parametrize(
    "call",
    [
        "reflect('java.lang.System', 'exit', 3)",
        "REFLECT ('java.lang.System', 'exit', 3)",
        "`reflect`('java.lang.System', 'exit', 3)",
        "java_method('java.lang.System', 'getenv', 'HOME')",
        "try_reflect('java.lang.System', 'exit', 3)",
        "upper(reflect('a', 'b'))",
        "reflect /* c */ ( 'a', 'b')",
        "reflect -- c\n('a', 'b')",
        "system.builtin.reflect('a', 'b')",
        "input_file_name()",
    ],
)
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT {} FROM t",
        "SELECT k FROM t WHERE k = {}",
        "CREATE VIEW w AS SELECT {} AS x FROM t",
        "CREATE TABLE c (k STRING, x AS {}) WITH ('connector' = 'datagen')",
        "SELECT {}",
    ],
)
def test_functions(data: Path, call: str, statement: str) -> None:
    (found,) = session(data).check(table(data / "t") + statement.format(call) + ";")
    assert found.code == "RESTRICT-007"


def test_a_function_behind_a_view_of_another_session(data: Path) -> None:
    made = sqlext.connect(catalog=data / "catalog")
    made.run(table(data / "t") + "CREATE VIEW w AS SELECT reflect('java.lang.System', 'exit', 3) AS x FROM t;")
    assert refused(session(data), "SELECT x FROM w;") == ("RESTRICT-007", "SELECT x FROM w")


def test_a_name_of_a_folder(data: Path) -> None:
    option = "'partition.default-name' = '../../outside'"
    assert refused(session(data), table(data / "t", f", {option}")) == ("RESTRICT-004", option)


def test_made_up_rows(data: Path) -> None:
    made = "CREATE TABLE g (n INT) WITH ('connector' = 'datagen', 'fields.n.min' = '1', 'rows-per-second' = '5');"
    assert sqlext.connect(restricted=True).check(made + "SELECT n FROM g;") == []


def test_names_and_texts_are_no_calls(data: Path) -> None:
    query = "SELECT 'reflect(1)' AS reflect, k AS x -- reflect(2)\nFROM t WHERE k IN ('reflect', 'it''s reflect(3)');"
    assert session(data).check(table(data / "t") + query) == []


def test_python_from_text_and_state_without_a_bound(data: Path) -> None:
    allowed = sqlext.connect(restricted=Restrictions(paths=(str(data),)), allow_python_functions=True)
    function = "CREATE FUNCTION f AS 'os.system' LANGUAGE PYTHON;"
    assert refused(allowed, function)[0] == "FUNC-035"
    stream = "CREATE TABLE g (k STRING) WITH ('connector' = 'datagen');"
    assert refused(allowed, f"{stream} SELECT k, COUNT(*) FROM g GROUP BY k;")[0] == "STATE-001"


def test_nothing_runs_of_a_script_that_is_refused(data: Path) -> None:
    allowed = session(data)
    with pytest.raises(SqlExtError, match="may not be set here"):
        allowed.run(table(data / "t") + "SET 'spark.master' = 'x';")
    assert allowed.sql("SHOW TABLES").rows == []


def test_without_restrictions_all_is_let_through(data: Path) -> None:
    own = sqlext.connect()
    assert own.check(f"{table('/etc')} SET 'spark.x' = '1'; ADD JAR '/x.jar'; SELECT reflect('a', 'b') FROM t;") == []


def test_of_a_command_line() -> None:
    made = Restrictions.parse([("path", "/a"), ("path", "/b"), ("rows", "5"), ("host", "h:1")])
    assert (made.paths, made.rows, made.hosts) == (("/a", "/b"), 5, ("h:1",))
    for wrong in [("paths", "/a"), ("rows", "many")]:
        with pytest.raises(ValueError, match=r"none of|invalid literal"):
            Restrictions.parse([wrong])


def test_queries_run_in_spark_which_has_the_limits(data: Path) -> None:
    assert session(data).settings.get("sqlext.engine") == "spark"
    assert refused(session(data), "SET 'sqlext.engine' = 'local';")[0] == "RESTRICT-005"


def test_a_query_of_the_owners_is_neither_dropped_nor_traced(data: Path) -> None:
    """Its sink may be used, what it has read may not."""
    outside = data.parent / "outside"
    (outside / "a.json").write_text('{"k": "a", "v": 1}\n', "utf-8")
    made = sqlext.connect(catalog=data / "catalog", settings={"sqlext.engine": "local"})
    made.run(
        f"{table(outside)} CREATE TABLE s (k STRING) WITH ('connector' = 'delta', 'path' = '{data}/s');"
        "INSERT INTO s SELECT k FROM t;"
    )
    allowed = session(data)
    for statement, code in (("DROP QUERY `sql.s`", "RESTRICT-002"), ("EXPLAIN ROW FROM s WHERE k = 'a'", "DDL-043")):
        with pytest.raises(SqlExtError) as refused_:
            allowed.run(f"{statement};")
        assert refused_.value.code == code
        assert "RESTRICT-002" in refused_.value.render()
    assert len(made.sql("SHOW QUERIES").rows) == 1
    with pytest.raises(SqlExtError, match="lies in no place"):
        allowed.run("DROP TABLE t;")
    allowed.run("DROP TABLE s;")


@pytest.mark.parametrize("to", ["outside", "outside/a.json", "outside/nothing"])
@pytest.mark.parametrize("at", ["link", "deep/er/link", "_delta_log/link"])
def test_a_link_below_a_folder_is_followed_by_readers(data: Path, at: str, to: str) -> None:
    (data.parent / "outside" / "a.json").write_text('{"k": "a", "v": 1}\n', "utf-8")
    link = data / "t" / at
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(data.parent / to)
    for path in (data / "t", f"file://{data}/t"):
        (found,) = session(data).check(table(path))
        assert (found.code, found.message.split("`")[1]) == ("RESTRICT-002", str(link))
    named = Restrictions(paths=(str(data), str(data.parent / "outside")))
    assert sqlext.connect(restricted=named).check(table(data / "t")) == []


def test_links_within_what_is_allowed(data: Path) -> None:
    (data / "more" / "deep").mkdir(parents=True)
    (data / "t" / "link").symlink_to(data / "more")
    (data / "more" / "back").symlink_to(data / "t")
    assert session(data).check(table(data / "t")) == []
    # What is behind an allowed link counts too.
    (data / "more" / "deep" / "out").symlink_to("/etc/passwd")
    assert refused(session(data), table(data / "t"))[0] == "RESTRICT-002"


def test_a_link_that_is_made_after_the_table(data: Path) -> None:
    allowed = session(data)
    allowed.run(table(data / "t"))
    (data / "t" / "link").symlink_to("/etc")
    for statement in ("SELECT k FROM t;", "INSERT INTO t SELECT 'a', 1;", "EXPLAIN SELECT k FROM t;"):
        assert allowed.check(statement)[0].code == "RESTRICT-002"


def test_a_folder_that_holds_the_sessions_own(data: Path) -> None:
    """Its readers would read definitions and states of others, unless they leave such names out."""
    assert refused(session(data), table(data))[0] == "RESTRICT-002"
    hidden = sqlext.connect(catalog=data / ".sqlext", restricted=Restrictions(paths=(str(data),)))
    (data / "a.json").write_text('{"k": "a", "v": 1}\n', "utf-8")
    assert hidden.check(table(data)) == []
    (data / ".sqlext").mkdir()
    (data / ".sqlext" / "x.json").write_text('{"k": "secret", "v": 1}\n', "utf-8")
    rows = sqlext.connect(settings={"sqlext.engine": "local"}).run(f"{table(data)} SELECT k FROM t;")[-1].rows
    assert rows == [("a",)]
