"""Catalogs of lakes without a Spark: what they mean in Spark's settings, what is refused, what is kept of secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.connectors.lake.kinds import KINDS
from sqlext.connectors.registry import connector_of
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.policy import Restrictions, policy_of
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.model import Table
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.store import CatalogStore

ICE = "CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '/lake')"


def interpreted(text: str, state: SessionState | None = None) -> tuple[SessionState, DryRun]:
    state = state or new_state(None)
    handler = DryRun(state)
    interpreter = Interpreter(state, handler)
    for statement in parse_script(SourceText.of(text), state.settings.expressions):
        interpreter.run(statement)
    return state, handler


def table_named(state: SessionState, *parts: str) -> Table:
    found = state.catalog.lookup(parts)
    assert isinstance(found, Table)
    return found


@pytest.mark.parametrize(
    ("kind", "options", "settings"),
    [
        (
            "iceberg",
            {"catalog-type": "hadoop", "warehouse": "s3://b/w", "property-version": "1", "io-impl": "X"},
            {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": "s3://b/w", ".io-impl": "X"},
        ),
        ("iceberg", {"uri": "thrift://h:9083"}, {".type": "hive", ".uri": "thrift://h:9083"}),
        (
            "iceberg",
            {"catalog-impl": "a.B", "default-database": "d"},
            {".catalog-impl": "a.B", ".default-namespace": "d"},
        ),
        ("paimon", {"warehouse": "file:/w"}, {"": "org.apache.paimon.spark.SparkCatalog", ".metastore": "filesystem"}),
        ("paimon", {"metastore": "hive", "uri": "thrift://h"}, {".metastore": "hive", ".uri": "thrift://h"}),
    ],
)
def test_options_become_settings_of_spark(kind: str, options: dict[str, str], settings: dict[str, str]) -> None:
    found = dict(KINDS[kind].catalog("c", (("type", kind), *options.items())).settings)
    assert {f"spark.sql.catalog.c{key}": value for key, value in settings.items()}.items() <= found.items()
    assert not any(key.endswith(("property-version", "catalog-type")) for key in found)
    assert found["spark.sql.catalog.c.cache-enabled"] == "false"
    assert ("catalog-impl" in options) != ("spark.sql.catalog.c.type" in found or kind == "paimon")


def test_a_table_in_the_catalog_is_one_of_it() -> None:
    state, _ = interpreted(
        f"{ICE}; USE CATALOG ice; CREATE DATABASE IF NOT EXISTS shop; USE shop;"
        "CREATE TABLE t (id INT, v SMALLINT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (v)"
        " WITH ('format-version' = '2', 'my.own' = 'x')"
    )
    table = table_named(state, "ice", "shop", "t")
    connector = connector_of(table)
    spec = connector.write_spec(table)
    assert (connector.name, spec.table) == ("iceberg", "ice.shop.t")
    assert dict(spec.options) == {"format-version": "2", "my.own": "x"}
    assert spec.catalog is not None
    assert dict(spec.catalog.settings)["spark.sql.catalog.ice.warehouse"] == "/lake"
    assert connector.merges(table)
    read = connector.read_spec(table)
    assert [c.expression for c in read.columns] == ["id", "CAST(v AS SMALLINT)"]
    assert read.bounded


def test_a_table_names_its_catalog_itself() -> None:
    state, _ = interpreted(
        "CREATE TABLE t (id INT) WITH ('connector' = 'iceberg', 'catalog-name' = 'c', 'catalog-type' = 'hadoop',"
        " 'warehouse' = '/w', 'catalog-database' = 'd', 'format-version' = '2', 's3.endpoint' = 'http://m')"
    )
    table = table_named(state, "t")
    spec = connector_of(table).write_spec(table)
    assert spec.catalog is not None
    assert spec.catalog.name.startswith("c_")
    assert spec.table == f"{spec.catalog.name}.d.t"
    assert dict(spec.options) == {"format-version": "2"}
    assert dict(spec.catalog.settings)[f"spark.sql.catalog.{spec.catalog.name}.s3.endpoint"] == "http://m"


def test_a_stream_of_it_is_asked_for() -> None:
    start = f"{ICE}; CREATE TABLE ice.`default`.t (id INT); CREATE TABLE o (id INT) WITH ('connector' = 'blackhole');"
    _, handler = interpreted(f"{start} INSERT INTO o SELECT * FROM ice.`default`.t")
    assert not handler.compiled[0].script.streaming
    hint = "/*+ OPTIONS('streaming' = 'true', 'monitor-interval' = '10s') */"
    _, handler = interpreted(f"{start} INSERT INTO o SELECT * FROM ice.`default`.t {hint}")
    assert handler.compiled[0].script.streaming


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop')", "OPT-004", "'iceberg'"),
        ("CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadop')", "OPT-005", "'hadop'"),
        ("CREATE CATALOG c WITH ('type' = 'paimon')", "OPT-004", "'paimon'"),
        (f"{ICE}; ALTER CATALOG ice SET ('warehouse' = '/x')", "CAT-045", "ALTER"),
        (f"{ICE}; CREATE TABLE ice.d.t (a INT) WITH ('connector' = 'kafka')", "OPT-005", "'kafka'"),
        (f"{ICE}; SELECT * FROM ice.d.nope", "NAME-002", "ice.d.nope"),
    ],
)
def test_refused(text: str, code: str, at: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        interpreted(f"SET 'sqlext.expressions' = 'flink'; {text}")
    assert caught.value.code == code
    assert caught.value.span is not None
    assert caught.value.span.source.text[caught.value.span.start :].startswith(at)


def test_a_temporary_table_has_its_own_connector() -> None:
    state, _ = interpreted(f"{ICE}; USE CATALOG ice; CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'datagen')")
    assert table_named(state, "t").options == (("connector", "datagen"),)


def test_secrets_of_a_catalog_are_its_sessions_alone(tmp_path: Path) -> None:
    catalog = SessionCatalog(CatalogStore(tmp_path))
    state = new_state(None)
    state.catalog = catalog
    secret = "'s3.secret-access-key' = 'planted-4711'"
    text = f"CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = 'http://h:1', {secret})"
    interpreted(f"{text}; CREATE TABLE c.d.t (a INT)", state)
    assert "planted" not in repr(catalog.snapshot().catalog("c"))
    found = table_named(state, "c", "d", "t")
    assert found.option("lake.s3.secret-access-key") == "planted-4711"
    assert "planted" not in repr(connector_of(found).write_spec(found).catalog)
    files = [f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()]
    assert files
    assert not any(b"planted" in content for content in files)
    later = SessionCatalog(CatalogStore(tmp_path))
    stored = later.snapshot().catalog("c")
    assert stored is not None
    assert dict(stored.options)["s3.secret-access-key"] == "******"
    state = new_state(None)
    state.catalog = later
    interpreted(f"{text}; CREATE TABLE c.d.t (a INT)", state)
    assert table_named(state, "c", "d", "t").option("lake.s3.secret-access-key") == "planted-4711"


@pytest.mark.parametrize(
    ("allowed", "options", "code", "at"),
    [
        (
            (("path", "/lake"),),
            "'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '/lake'",
            "RESTRICT-001",
            "'type'",
        ),
        (
            (("connector", "iceberg"), ("path", "/data")),
            "'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '/lake'",
            "RESTRICT-002",
            "'warehouse'",
        ),
        (
            (("connector", "iceberg"),),
            "'type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = 'http://h:8181/api'",
            "RESTRICT-003",
            "'uri'",
        ),
        (
            (("connector", "iceberg"), ("path", "/lake")),
            "'type' = 'iceberg', 'catalog-impl' = 'evil.Code', 'warehouse' = '/lake'",
            "RESTRICT-004",
            "'catalog-impl'",
        ),
    ],
)
def test_restricted(allowed: tuple[tuple[str, str], ...], options: str, code: str, at: str) -> None:
    state = new_state(None)
    state.policy = policy_of(Restrictions.parse(allowed))
    text = f"CREATE CATALOG c WITH ({options})"
    with pytest.raises(SqlExtError) as caught:
        interpreted(text, state)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert caught.value.span.start == text.index(at)


def test_restricted_where_it_is_allowed() -> None:
    state = new_state(None)
    state.policy = policy_of(Restrictions.parse((("connector", "iceberg"), ("path", "/lake"))))
    interpreted(
        f"{ICE}; CREATE TABLE ice.d.t (a INT) WITH ('format-version' = '2'); INSERT INTO ice.d.t VALUES (1)", state
    )
