"""What Databricks takes follows from variables and settings alone."""

from __future__ import annotations

import pytest

from sqlext.databricks import RUNTIME, RUNTIME_TAG, PlatformRules, is_volume, rules_of
from sqlext.errors import SqlExtError
from sqlext.session.doctor.running import platform
from sqlext.spark.sessions import platform_rules

SERVERLESS = rules_of({RUNTIME: "client.4.9"}, {}, connect=True)
STANDARD = rules_of({RUNTIME: "17.3"}, {}, connect=True)
DEDICATED = rules_of({RUNTIME: "17.2"}, {}, connect=False)


@pytest.mark.parametrize("connect", [True, False])
def test_elsewhere_there_are_no_rules(connect: bool) -> None:
    assert rules_of({"HOME": "/root"}, {}, connect=connect) == PlatformRules()
    assert platform_rules(None) == PlatformRules()
    # Set for databricks-connect, and not used by a classic session.
    assert rules_of({"DATABRICKS_SERVERLESS_COMPUTE_ID": "auto"}, {}, connect=False) == PlatformRules()


@pytest.mark.parametrize(
    ("environment", "tag", "serverless"),
    [
        ({RUNTIME: "client.4.9"}, None, True),
        ({RUNTIME: "17.3", "IS_SERVERLESS": "TRUE"}, None, True),
        ({"DATABRICKS_SERVERLESS_COMPUTE_ID": "auto"}, None, True),
        ({RUNTIME: "17.3", "IS_SERVERLESS": "false"}, None, False),
        ({}, "18.0.x-scala2.13", False),
    ],
)
def test_each_mark_tells_it(environment: dict[str, str], tag: str | None, serverless: bool) -> None:
    found = rules_of(environment, {RUNTIME_TAG: tag} if tag else {}, connect=True)
    assert not found.local
    assert (not found.endless) is serverless
    assert (found.settings is not None) is serverless


@pytest.mark.parametrize(
    ("runtime", "rocksdb"),
    [("16.4", False), ("17.2.x-scala2.13", False), ("17.3", True), ("17.10", True), ("18.0", True), ("custom", True)],
)
def test_rocksdb_is_named_before_17_3(runtime: str, rocksdb: bool) -> None:
    assert rules_of({RUNTIME: runtime}, {}, connect=True).rocksdb is rocksdb


def test_what_is_set() -> None:
    provider = "spark.sql.streaming.stateStore.providerClass"
    wanted = {"spark.sql.ansi.enabled": "true", "spark.sql.caseSensitive": "true", provider: "RocksDB"}
    assert PlatformRules().settable(wanted) == wanted
    assert DEDICATED.settable(wanted) == wanted
    assert set(STANDARD.settable(wanted)) == {"spark.sql.ansi.enabled", "spark.sql.caseSensitive"}
    assert set(SERVERLESS.settable(wanted)) == {"spark.sql.ansi.enabled"}


@pytest.mark.parametrize("rules", [SERVERLESS, STANDARD, DEDICATED])
@pytest.mark.parametrize("place", ["/tmp/catalog", "catalog", "/dbfs/catalog", "dbfs:/catalog", "file:///Volumes/c"])
def test_places_that_are_not_seen(rules: PlatformRules, place: str) -> None:
    with pytest.raises(SqlExtError, match="the catalog cannot lie at") as refused:
        rules.require_place(place, "the catalog")
    assert refused.value.code == "ENV-020"
    assert "/Volumes/" in str(refused.value.hint)


@pytest.mark.parametrize("place", ["/Volumes/main/a/b/c", "dbfs:/Volumes/main/a/b", "s3://bucket/x", "abfss://c@a/x"])
def test_places_that_are_seen(place: str) -> None:
    STANDARD.require_place(place, "the catalog")
    PlatformRules().require_place("/tmp/catalog", "the catalog")


def test_volumes() -> None:
    assert is_volume("/Volumes/main/a/b")
    assert not is_volume("/tmp/Volumes/main")


def test_the_doctor_says_the_rules() -> None:
    assert list(platform(PlatformRules())) == []
    found = {f.name: f for f in platform(SERVERLESS)}
    assert found["folders of this machine"].code == "ENV-020"
    assert found["endless queries"].state == "note"
    assert "spark.sql.shuffle.partitions" in found["settings"].found
    assert [f.name for f in platform(DEDICATED)] == ["name", "folders of this machine", "state"]
    assert "named for each query" in [f.found for f in platform(DEDICATED)][-1]
