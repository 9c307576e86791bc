"""Sessions and commands whose catalog lies at a URL; none of them needs Spark."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner

import sqlext
from sqlext import SqlExtError
from sqlext.cli.main import main
from sqlext.stores.objects import ObjectStore
from tests.s3_server import BUCKET, KEY, SECRET, S3Server

TABLES = """
CREATE TABLE orders (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE sold (item STRING) WITH ('connector' = 'delta', 'path' = '/out');
CREATE VIEW items AS SELECT item FROM orders;
"""
QUERY = "INSERT INTO sold SELECT item FROM orders;"


@pytest.fixture
def url(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place where nothing lies; the environment says how to reach it."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3a://{BUCKET}/{uuid.uuid4().hex}/catalog"


def test_sessions_see_each_other(url: str) -> None:
    one, other = sqlext.connect(catalog=url), sqlext.connect(catalog=url.replace("s3a", "s3"))
    one.run(TABLES)
    assert [row[0] for row in other.sql("SHOW TABLES").rows] == ["items", "orders", "sold"]
    other.sql("ALTER TABLE sold SET ('mergeSchema' = 'true')")
    assert "mergeSchema" in one.sql("SHOW CREATE TABLE sold").rows[0][0]
    assert one.sql("SHOW QUERIES").rows == one.sql("SHOW WATERMARKS").rows == []


def test_settings_of_spark_reach_the_store(s3: S3Server) -> None:
    url = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    sqlext.connect(catalog=url, settings=s3.settings).run(TABLES)
    session = sqlext.connect(catalog=url, settings=s3.settings)
    assert len(session.catalog.snapshot().relations()) == 3
    files = ObjectStore(url, s3.settings)
    kept = b"".join(found.data for key in files.keys("") if (found := files.read(key)) is not None)
    assert KEY.encode() not in kept
    assert SECRET.encode() not in kept
    shown = f"{session.settings.items()} {session.sql('SET').rows} {session._state!r}"
    assert SECRET not in shown


def test_versions(url: str) -> None:
    session = sqlext.connect(catalog=url)
    session.run(TABLES)
    assert [v.version for v in session.catalog.history()] == [2, 1, 0]
    assert [r.name.name for r in session.catalog.at_version(0).relations()] == ["orders"]


def test_a_place_of_queries_is_looked_for_before_anything_runs(url: str) -> None:
    session = sqlext.connect(catalog=url)
    with pytest.raises(SqlExtError) as refused:
        session.run(f"{TABLES}{QUERY}", checkpoint="s3://key:secret@bucket/checkpoints")
    assert (refused.value.code, refused.value.line) == ("RUN-015", 6)
    assert "secret" not in str(refused.value)
    assert session.catalog.history() == []
    assert session.check(f"{TABLES}{QUERY}") == []
    assert "Scan" in session.explain(f"{TABLES}{QUERY}")[0]


def test_create_catalog_takes_no_url(url: str) -> None:
    (error,) = sqlext.connect(catalog=url).check(f"CREATE CATALOG c WITH ('path' = '{url}')")
    assert error.code == "CAT-038"
    assert "--catalog" in (error.hint or "")


def test_the_command_line(url: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(TABLES + QUERY)

    def said(*arguments: str) -> str:
        result = CliRunner().invoke(main, [*arguments, "--catalog", url])
        assert result.exit_code == 0, result.output
        return result.output

    assert said("check", str(script))
    assert "Scan" in said("explain", str(script))
    assert "SELECT" in said("rewrite", str(script))
    said("shell", "-e", TABLES)
    assert "orders" in said("shell", "-S", "--format", "csv", "-e", "SHOW TABLES")
    said("watermarks")
    refused = CliRunner().invoke(main, ["run", str(script), "--catalog", url, "--checkpoint", "hdfs://host/x"])
    assert refused.exit_code == 1
    assert "RUN-028" in refused.stderr


def test_wrong_credentials_are_one_line(url: str, s3: S3Server) -> None:
    with s3.locked():
        refused = CliRunner().invoke(main, ["shell", "-e", "SHOW TABLES", "--catalog", url])
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"RUN-015: the store of `{url}/definitions` does not answer as it should: ")
    assert KEY not in refused.stderr
