"""The catalog at a URL of an object store: versions, races, refusals, and no secret that is kept."""

from __future__ import annotations

import traceback
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import pytest

from sqlext.errors import SqlExtError
from sqlext.stores.objects import ObjectStore
from sqlext_catalog import ddl
from sqlext_catalog.model import Table
from sqlext_catalog.places import TABLE_FOLDER
from sqlext_catalog.snapshot import Change, Snapshot
from sqlext_catalog.store import CatalogStore
from tests.s3_server import BUCKET, KEY, SECRET, S3Server
from tests.unit.catalog.test_store_processes import WORKERS, race

MakeTable = Callable[..., Table]


@pytest.fixture
def url() -> str:
    """A place where nothing lies."""
    return f"s3://{BUCKET}/{uuid.uuid4().hex}/catalog"


@pytest.fixture
def store(url: str, s3: S3Server) -> CatalogStore:
    """A catalog that nobody has written."""
    return CatalogStore(url, s3.settings)


@pytest.fixture
def environment(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials and the endpoint in the environment, also of processes that are started."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)


def names(snapshot: Snapshot) -> list[str]:
    return sorted(r.name.name for r in snapshot.relations())


def refusal(function: Callable[[], object]) -> SqlExtError:
    with pytest.raises(SqlExtError) as refused:
        function()
    said = "".join(traceback.format_exception(refused.value))
    assert KEY not in said
    assert SECRET not in said
    return refused.value


def test_reading_creates_nothing(store: CatalogStore, url: str, s3: S3Server) -> None:
    assert (store.snapshot().version, store.history()) == (-1, [])
    assert list(ObjectStore(url, s3.settings).keys()) == []


def test_versions_stay_readable(store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable) -> None:
    for name in ("t", "u", "v"):
        store.commit(ddl.create(make_table(name)), f"CREATE {name}")
    found = CatalogStore(url, s3.settings)
    assert [names(found.snapshot(v)) for v in (0, 1, 2)] == [["t"], ["t", "u"], ["t", "u", "v"]]
    assert [(v.version, v.operation) for v in found.history()] == [(2, "CREATE v"), (1, "CREATE u"), (0, "CREATE t")]
    assert refusal(lambda: found.snapshot(3)).code == "CAT-034"


@pytest.mark.parametrize("scheme", ["s3a", "S3A"])
def test_s3_and_s3a_mean_the_same(
    store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable, scheme: str
) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    other = CatalogStore(url.replace("s3", scheme, 1) + "/", s3.settings)
    other.commit(ddl.create(make_table("u")), "CREATE")
    assert names(store.snapshot()) == names(other.snapshot()) == ["t", "u"]


def test_a_commit_between_read_and_write_is_retried(
    store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable
) -> None:
    raced: list[int] = []

    def late(snapshot: Snapshot) -> Sequence[Change]:
        raced.append(snapshot.version)
        if len(raced) == 1:
            CatalogStore(url, s3.settings).commit(ddl.create(make_table("t")), "CREATE")
        return ddl.create(make_table("u"))(snapshot)

    store.commit(late, "CREATE")
    assert raced == [-1, 0]
    assert names(store.snapshot()) == ["t", "u"]


def test_a_commit_whose_answer_got_lost_is_made_once(store: CatalogStore, s3: S3Server, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    s3.lost.append(f"{1:020}.json")
    store.commit(ddl.create(make_table("u")), "CREATE")  # made again it would be refused: it exists already
    assert s3.lost == []
    assert [v.version for v in store.history()] == [1, 0]
    assert names(store.snapshot()) == ["t", "u"]


@pytest.mark.slow
def test_eight_processes_lose_nothing(store: CatalogStore, environment: None) -> None:
    race("create", store, 2)
    assert set(names(store.snapshot())) == {f"t_{w}_{n}" for w in range(WORKERS) for n in range(2)}
    assert [v.version for v in store.history()] == list(range(WORKERS * 2))[::-1]


def test_credentials_of_the_environment(url: str, environment: None, make_table: MakeTable) -> None:
    CatalogStore(url).commit(ddl.create(make_table("t")), "CREATE")
    assert names(CatalogStore(url).snapshot()) == ["t"]


def test_a_place_made_anew_is_noticed(store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("old")), "CREATE")
    ObjectStore(url, s3.settings).clear()
    assert store.snapshot().version == -1
    CatalogStore(url, s3.settings).commit(ddl.create(make_table("new")), "CREATE")
    assert names(store.snapshot()) == ["new"]


@pytest.mark.parametrize("damage", ["truncated", "emptied", "gone", "data", "garbage"])
def test_damage_is_one_clear_error(
    store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable, damage: str
) -> None:
    for name in ("t", "u"):
        store.commit(ddl.create(make_table(name)), "CREATE")
    files = ObjectStore(f"{url}/{TABLE_FOLDER}", s3.settings)
    commit = f"_delta_log/{1:020}.json"
    if damage == "gone":
        files.delete(f"_delta_log/{0:020}.json")
    data = [key for key in files.keys("") if key.endswith(".parquet")]
    if damage in ("truncated", "emptied"):
        files.write(commit, b"{" if damage == "truncated" else b"")
    for key in data if damage in ("data", "garbage") else ():
        if damage == "data":
            files.delete(key)
        else:
            files.write(key, b"PAR1 no")
    error = refusal(lambda: CatalogStore(url, s3.settings).snapshot())
    assert error.code == "CAT-030"
    assert url in error.message


def test_a_bucket_that_is_not_there(s3: S3Server, make_table: MakeTable) -> None:
    store = CatalogStore("s3://no-such-bucket/catalog", s3.settings)
    for act in (store.snapshot, store.history, lambda: store.commit(ddl.create(make_table("t")), "CREATE")):
        error = refusal(act)
        assert (error.code, error.message) == (
            "RUN-015",
            "the store of `s3://no-such-bucket/catalog/definitions` does not answer as it should: NoSuchBucket",
        )


def test_wrong_credentials(store: CatalogStore, s3: S3Server, make_table: MakeTable) -> None:
    def late(snapshot: Snapshot) -> Sequence[Change]:
        locked.enter_context(s3.locked())
        return ddl.create(make_table("u"))(snapshot)

    create = ddl.create(make_table("t"))
    with s3.locked():
        found = [refusal(act) for act in (store.snapshot, store.history, lambda: store.commit(create, "CREATE"))]
    store.commit(create, "CREATE")
    with ExitStack() as locked:
        found.append(refusal(lambda: store.commit(late, "CREATE")))  # what delta-rs says comes first
    assert {error.code for error in found} == {"RUN-015"}
    assert all("InvalidAccessKeyId" in error.message for error in found)
    assert names(store.snapshot()) == ["t"]


def test_who_may_only_read(store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    settings = s3.reader()
    with s3.locked():
        reading = CatalogStore(url, settings)
        assert names(reading.snapshot()) == ["t"]
        error = refusal(lambda: reading.commit(ddl.create(make_table("u")), "CREATE"))
    assert error.code == "RUN-015"
    assert error.message.endswith("AccessDenied")
    assert names(store.snapshot()) == ["t"]


def test_credentials_are_kept_nowhere(store: CatalogStore, url: str, s3: S3Server, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    files = ObjectStore(url, s3.settings)
    for key in files.keys(""):
        found = files.read(key)
        assert found is not None
        assert KEY.encode() not in found.data
        assert SECRET.encode() not in found.data
    assert SECRET not in repr(vars(store)["_place"])


@pytest.mark.parametrize("path", ["a%20b", "a//b", "../b", "a/./b", "[x]", "a\\b"])
def test_paths_that_delta_rs_would_misread_are_refused(path: str) -> None:
    assert refusal(lambda: CatalogStore(f"s3://{BUCKET}/{path}/catalog")).code == "CAT-032"


@pytest.mark.parametrize("path", ["a b", "ü", "a+b", "it's", "k=v", "~"])
def test_unusual_paths_work(path: str, s3: S3Server, make_table: MakeTable) -> None:
    url = f"s3://{BUCKET}/{uuid.uuid4().hex}/{path}"
    CatalogStore(url, s3.settings).commit(ddl.create(make_table("t")), "CREATE")
    CatalogStore(url, s3.settings).commit(ddl.create(make_table("u")), "CREATE")
    assert names(CatalogStore(url, s3.settings).snapshot()) == ["t", "u"]


@pytest.mark.parametrize("url", [f"s3://{KEY}:{SECRET}@bucket/x", "s3://b/x?token=abc", "gs://b:1/x"])
def test_credentials_in_a_url_are_refused(url: str) -> None:
    assert refusal(lambda: CatalogStore(url)).code == "RUN-015"


@pytest.mark.parametrize("url", ["gs://bucket/x", "abfss://container@account.dfs.core.windows.net/x", "s3a://bucket"])
def test_other_stores_are_opened_when_they_are_asked(url: str) -> None:
    assert CatalogStore(url).directory == url
