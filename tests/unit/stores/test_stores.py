"""Every kind of store keeps, replaces and lists bytes alike; of several who write under a condition one wins."""

from __future__ import annotations

import errno
import fcntl
import os
import traceback
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from sqlext import SqlExtError
from sqlext.stores import objects
from sqlext.stores.base import ByteStore, KeptBytes
from sqlext.stores.folder import FolderStore
from sqlext.stores.objects import ObjectStore, s3_config
from sqlext.stores.opening import has_store, open_store, remove_all
from tests.s3_server import BUCKET, KEY, SECRET, S3Server


@pytest.fixture(params=["folder", "file:///", "s3", "s3a"])
def opened(request: pytest.FixtureRequest, tmp_path: Path, s3: S3Server) -> Callable[[], ByteStore]:
    """Open one and the same place, each time anew."""
    place = f"{request.param}://{BUCKET}/{uuid.uuid4().hex}/a place"
    if request.param == "folder":
        place = str(tmp_path / "not" / "there")
    if request.param == "file:///":
        place = (tmp_path / "a place").as_uri()
    return lambda: open_store(place, s3.settings)


@pytest.fixture
def store(opened: Callable[[], ByteStore]) -> ByteStore:
    """An empty place."""
    return opened()


def data(found: KeptBytes | None) -> bytes | None:
    return found.data if found is not None else None


def test_what_is_written_is_read(opened: Callable[[], ByteStore], store: ByteStore) -> None:
    assert store.read("a/b.json") is None
    store.write("a/b.json", b"one")
    assert data(opened().read("a/b.json")) == b"one"
    store.write("a/b.json", b"")
    assert data(opened().read("a/b.json")) == b""


def test_create_takes_a_free_key(store: ByteStore) -> None:
    stamp = store.create("a/1", b"one")
    assert stamp is not None
    assert store.create("a/1", b"two") is None
    assert store.read("a/1") == KeptBytes(b"one", stamp)
    store.delete("a/1")
    assert store.create("a/1", b"three") is not None


def test_replace_takes_what_it_has_seen(store: ByteStore) -> None:
    first = store.create("k", b"one")
    second = store.replace("k", b"two", first)
    assert second is not None
    assert store.replace("k", b"three", first) is None
    assert store.read("k") == KeptBytes(b"two", second)
    found = store.read("k")
    assert found is not None
    assert store.replace("k", b"three", found.stamp) is not None


def test_replace_does_not_bring_back(store: ByteStore) -> None:
    stamp = store.create("k", b"one")
    store.delete("k")
    assert store.replace("k", b"two", stamp) is None
    assert store.read("k") is None


def test_keys(store: ByteStore) -> None:
    assert list(store.keys()) == list(store.keys("a")) == []
    for key in ("a/1", "a/2", "a/b/3", "ab/4", "c"):
        store.write(key, b"")
    assert sorted(store.keys()) == ["a/1", "a/2", "a/b/3", "ab/4", "c"]
    assert sorted(store.keys("a")) == ["a/1", "a/2", "a/b/3"]  # whole parts
    assert list(store.keys("a/b")) == ["a/b/3"]
    assert list(islice(store.keys(), 0)) == []


def test_delete(store: ByteStore) -> None:
    store.delete("a/b/c")
    store.write("a/b/c", b"")
    store.write("a/d", b"")
    store.delete("a/b/c")
    store.delete("a/b/c")
    assert list(store.keys()) == ["a/d"]


def test_no_key_leaves_the_store(store: ByteStore) -> None:
    for key in ("", "/a", "a/", "a//b", "..", "../a", "a/../b", ".", "a/.b", "a b", "a\n", "ä"):
        for act in (store.read, store.delete, lambda k: store.write(k, b""), lambda k: store.create(k, b"")):
            with pytest.raises(ValueError, match="no key"):
                act(key)


def test_one_of_many_creates(opened: Callable[[], ByteStore]) -> None:
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: opened().create("k", b"%d" % n), range(8)))
    (winner,) = (n for n, stamp in enumerate(won) if stamp is not None)
    assert data(opened().read("k")) == b"%d" % winner


def test_no_replacement_is_lost(opened: Callable[[], ByteStore]) -> None:
    """Eight writers count together: each counts on from what it has read, or tries again."""
    opened().write("n", b"0")

    def count(_: int) -> None:
        store = opened()
        for _ in range(5):
            while True:
                found = store.read("n")
                assert found is not None
                if store.replace("n", b"%d" % (int(found.data) + 1), found.stamp) is not None:
                    break

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    assert data(opened().read("n")) == b"40"


def test_a_folder_has_no_half_files(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "place")
    stamp = store.create("a/k", b"one")
    store.replace("a/k", b"two", stamp)
    store.write("a/k", b"three")
    store.create("a/k", b"four")
    assert [file.name for file in (tmp_path / "place" / "a").iterdir()] == ["k"]


def test_a_folder_keeps_its_root_alone(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "place")
    for key in ("k", "a/b/k"):
        store.write(key, b"")
        store.delete(key)
    assert list((tmp_path / "place").iterdir()) == []
    store.delete("k")
    assert (tmp_path / "place").is_dir()


def test_a_folder_that_others_remove(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "place")

    def work(n: int) -> None:
        store.write(f"a/{n % 3}", b"")
        store.delete(f"a/{n % 3}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert list(store.keys()) == []


@pytest.mark.parametrize(
    ("place", "there_is"),
    [
        ("here", True),
        ("./s3a:/b", True),
        ("file:///x", True),
        ("s3://b", True),
        ("S3A://b/x", True),
        ("gs://b/x", True),
        ("abfss://c@a.dfs.core.windows.net/x", True),
        ("s3a:/b", False),
        ("s3a:b", False),
        ("s3://", False),
        ("s3:///x", False),
        ("hdfs://h/x", False),
        ("dbfs:/x", False),
        ("memory:///", False),
    ],
)
def test_which_places_have_a_store(place: str, there_is: bool) -> None:
    assert has_store(place) is there_is
    if not there_is:
        with pytest.raises(SqlExtError) as refused:
            open_store(place)
        assert refused.value.code == "RUN-015"


@pytest.mark.parametrize("place", ["gs://bucket/x", "abfss://container@account.dfs.core.windows.net/x"])
def test_stores_of_other_clouds_are_there(place: str) -> None:
    assert isinstance(open_store(place), ObjectStore)


@pytest.mark.parametrize("name", ["a b", "a%20b", "ä"])
def test_a_path_is_read_literally(s3: S3Server, name: str) -> None:
    place = f"{uuid.uuid4().hex}/{name}"
    open_store(f"s3a://{BUCKET}/{place}", s3.settings).write("k", b"")
    assert f"{place}/k" in list(open_store(f"s3://{BUCKET}", s3.settings).keys())


def test_settings_of_hadoop() -> None:
    every = {
        "spark.hadoop.fs.s3a.access.key": "a",
        "fs.s3a.secret.key": "b",
        "fs.s3a.session.token": "c",
        "fs.s3a.endpoint": "host:9000",
        "fs.s3a.endpoint.region": "here",
        "fs.s3a.threads.max": "1",
        "spark.sql.ansi.enabled": "true",
    }
    assert s3_config(every, "bucket") == {
        "access_key_id": "a",
        "secret_access_key": "b",
        "session_token": "c",
        "endpoint": "https://host:9000",
        "region": "here",
    }
    for plain in ("fs.s3a.connection.ssl.enabled", "spark.hadoop.fs.s3a.connection.ssl.enabled"):
        assert s3_config({**every, plain: "false"}, "bucket")["endpoint"] == "http://host:9000"
    own = {**every, "fs.s3a.bucket.bucket.access.key": "mine", "fs.s3a.bucket.other.secret.key": "theirs"}
    assert s3_config(own, "bucket")["access_key_id"] == "mine"
    assert s3_config(own, "bucket")["secret_access_key"] == "b"
    assert s3_config({}, "bucket") == s3_config({"fs.s3a.access.key": ""}, "bucket") == {}


def test_a_store_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_RETRY_SECONDS", 0)
    nobody = {"fs.s3a.endpoint": "http://127.0.0.1:1", "fs.s3a.access.key": KEY, "fs.s3a.secret.key": SECRET}
    with pytest.raises(SqlExtError, match=r"RUN-015.*`s3a://bucket/x` .*: it cannot be reached"):
        open_store("s3a://bucket/x", nobody).read("k")


def test_only_of_s3_are_sparks_settings_a_hint() -> None:
    assert "spark.hadoop.fs.s3a.*" in (objects.unanswered("s3://b/x", "404").hint or "")
    assert "s3a" not in (objects.unanswered("abfss://c@a.dfs.core.windows.net/x", "403 Forbidden").hint or "")


def test_what_fails_is_said_without_secrets(s3: S3Server) -> None:
    for place, settings in (
        ("s3://no-such-bucket/x", s3.settings),
        (f"s3a://{KEY}:{SECRET}@{BUCKET}/x", s3.settings),
        (f"s3a://{KEY}@{BUCKET}/x", s3.settings),
        (f"s3a://{BUCKET}/x?secret={SECRET}", s3.settings),
    ):
        with pytest.raises(SqlExtError) as failed:
            open_store(place, settings).read("k")
        assert failed.value.code == "RUN-015"
        shown = failed.value.render() + "".join(traceback.format_exception(failed.value))
        assert KEY not in shown
        assert SECRET not in shown
    assert "NoSuchBucket" in _failure(s3)


def _failure(s3: S3Server) -> str:
    with pytest.raises(SqlExtError) as failed:
        list(open_store("s3://no-such-bucket/x", s3.settings).keys())
    return failed.value.message


def test_all_of_a_place_is_removed(opened: Callable[[], ByteStore], s3: S3Server, tmp_path: Path) -> None:
    below = f"{tmp_path.as_uri()}/rows" if isinstance(opened(), FolderStore) else f"s3://{BUCKET}/{uuid.uuid4().hex}"
    place = open_store(below, s3.settings)
    opened().write("kept", b"")
    for key in ("a", "b/c", "b/d/e"):
        place.write(key, b"1")
    remove_all(below, s3.settings)
    assert list(place.keys()) == []
    assert list(opened().keys()) == ["kept"]
    remove_all(below, s3.settings)


def test_names_of_other_writers_are_removed_too(s3: S3Server) -> None:
    place = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    for part in ("k=1", "k=a%20b", "_x"):
        open_store(f"{place}/{part}", s3.settings).write("part-0.parquet", b"1")
    remove_all(place, s3.settings)
    assert list(ObjectStore(place, s3.settings).keys()) == []


def test_move(store: ByteStore) -> None:
    for key in ("a/1", "a/b/2", "a/mark", "ab/3", "to/old"):
        store.write(key, key.encode())
    store.move("a", "to", "mark")
    assert sorted(store.keys()) == ["ab/3", "to/1", "to/b/2", "to/mark"]
    assert data(store.read("to/b/2")) == b"a/b/2"
    store.move("a", "to", "mark")
    assert sorted(store.keys("to")) == ["to/1", "to/b/2", "to/mark"], "nothing was there to be moved"
    store.move("to", "x/y/z", "mark")
    assert sorted(store.keys()) == ["ab/3", "x/y/z/1", "x/y/z/b/2", "x/y/z/mark"]


@pytest.mark.parametrize("steps", range(12))
def test_a_move_that_stopped_leaves_one_place_whole(s3: S3Server, steps: int) -> None:
    store = ObjectStore(f"s3://{BUCKET}/{uuid.uuid4().hex}", s3.settings)
    for key in ("a/1", "a/mark", "a/z", "to/left", "to/mark"):
        store.write(key, b"")
    left = iter(range(steps))
    checked = store._checked

    def stopping(act: Callable[[], object]) -> object:
        if next(left, None) is None:
            raise InterruptedError
        return checked(act)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "_checked", stopping)
        with suppress(InterruptedError):
            store.move("a", "to", "mark")
    source, target = sorted(store.keys("a")), sorted(store.keys("to"))
    whole = (source == ["a/1", "a/mark", "a/z"], target == ["to/1", "to/mark", "to/z"])
    assert any(whole)
    assert "a/mark" not in source or whole[0], "the mark says that the source is whole"
    assert "to/mark" not in target or whole[1] or (whole[0] and "to/left" in target)


def test_remove(store: ByteStore) -> None:
    for key in ("a/1", "a/b/2", "ab/3"):
        store.write(key, b"")
    store.remove("a")
    store.remove("a")
    assert list(store.keys()) == ["ab/3"]
    store.remove("ab/3")
    assert list(store.keys()) == []
    store.leave()


def test_a_folder_that_was_made(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "place")
    store.make()
    assert (tmp_path / "place").is_dir()
    (tmp_path / "place" / ".0.crc").write_text("of Hadoop's")
    store.write("0", b"ours")
    assert [file.name for file in (tmp_path / "place").iterdir()] == ["0"], "Hadoop would compare it with ours"
    store.leave()
    assert (tmp_path / "place").is_dir()
    store.delete("0")
    store.leave()
    assert not (tmp_path / "place").exists()


def test_markers_of_folders_are_no_keys(s3: S3Server) -> None:
    folder = uuid.uuid4().hex
    store = ObjectStore(f"s3://{BUCKET}/{folder}", s3.settings)
    store.write("a/real", b"")
    store.write("a/b/c", b"x")
    for marker in ("", "a/", "a/b/", "a/empty/"):
        s3.client().put_object(Bucket=BUCKET, Key=f"{folder}/{marker}", Body=b"")
    assert sorted(store.keys()) == ["a/b/c", "a/real"]
    store.move("a", "to", "real")
    assert sorted(store.keys()) == ["to/b/c", "to/real"]
    store.remove("to")
    assert list(store.keys()) == []
    listed = s3.client().list_objects_v2(Bucket=BUCKET, Prefix=f"{folder}/")
    assert [found["Key"] for found in listed["Contents"]] == [f"{folder}/"], "Spark would find the folders"


@pytest.mark.parametrize(
    "endpoint", ["http://[::1", "http://", "http://host:port", "http://host:99999", "https://:9000"]
)
def test_an_endpoint_that_is_no_url(endpoint: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        open_store(f"s3://{BUCKET}/x", {"fs.s3a.endpoint": endpoint})
    assert (refused.value.code, endpoint in refused.value.message) == ("RUN-015", True)


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
@pytest.mark.parametrize("lacks", ["hard links", "locks"])
def test_a_file_system_that_knows_no_such_thing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, number: int
) -> None:
    """As volumes and mounted buckets answer: nobody could tell there who was first."""
    store = FolderStore(tmp_path)
    stamp = store.create("lease/1.json", b"one")

    def unable(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", unable) if lacks == "hard links" else monkeypatch.setattr(fcntl, "flock", unable)
    with pytest.raises(SqlExtError, match=f"knows no {lacks}") as refused:
        store.create("lease/2.json", b"two") if lacks == "hard links" else store.replace("lease/1.json", b"two", stamp)
    assert refused.value.code == "CAT-035"
    assert [file.name for file in (tmp_path / "lease").iterdir()] == ["1.json"]
