"""Files and Delta tables in an object store, read by our own readers: as on a local disk."""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import uuid
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from sqlext.connectors.delta.reader.tables import READER as DELTA
from sqlext.connectors.delta.reader.versions import SPLIT as VERSIONS
from sqlext.connectors.filesystem.reader.folder import SPLIT, FolderReader, listed
from sqlext.connectors.filesystem.reader.tables import READER
from sqlext.connectors.options import OptionError
from sqlext.connectors.splits import Limit
from sqlext.errors import SqlExtError
from sqlext.sources.decoding.line_blocks import blocks
from sqlext.sources.file_log import FileLog, FoundFile
from sqlext.sources.file_slices import Range
from sqlext.stores.access import reached_by
from sqlext.stores.files import FileAccess, holds_bytes
from sqlext.stores.location import Location
from sqlext.stores.object_files import ObjectFiles
from sqlext.types import BIGINT, STRING
from sqlext_catalog.model import Column, ObjectName, Table
from tests.s3_server import BUCKET, KEY, SECRET, S3Server


@pytest.fixture
def url() -> str:
    return f"s3a://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(autouse=True)
def reached(s3: S3Server) -> Iterator[None]:
    """Settings, as a session has them."""
    with reached_by(lambda: s3.settings):
        yield


def table(url: str, form: str = "csv", **options: str) -> Table:
    columns = (Column("id", BIGINT), Column("name", STRING))
    chosen = {"connector": "filesystem", "path": url, "format": form, **options}
    return Table(ObjectName("c", "d", "t"), columns, options=tuple(chosen.items()))


def delta(url: str) -> Table:
    columns = (Column("id", BIGINT), Column("name", STRING))
    return Table(ObjectName("c", "d", "t"), columns, options=(("connector", "delta"), ("path", url)))


def put(s3: S3Server, url: str, name: str, data: bytes) -> None:
    ObjectFiles(url, s3.settings).put(name, data)


def parquet(*ids: int) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"id": list(ids), "name": [str(i) for i in ids]}), out)
    return out.getvalue()


def ids(reader: FolderReader, start: int, end: int) -> list[int]:
    # Workers get both by pickle.
    reader = pickle.loads(pickle.dumps(reader))
    pieces = pickle.loads(pickle.dumps(reader.slices({SPLIT: start}, {SPLIT: end})))
    return [v for p in pieces for b in reader.read(p) for v in b.column(0).to_pylist()]


def reader(url: str, state: Path, form: str = "csv", **options: str) -> FolderReader:
    found = READER.reader(table(url, form, **options), ("id",), Location.of(state), 2)
    assert isinstance(found, FolderReader)
    return found


@pytest.mark.parametrize(
    ("form", "name", "data"),
    [
        ("csv", "1.csv", b"1,a\n2,b\n"),
        ("csv", "k v=%2F.csv", b"1,a\n2,b\n"),
        ("csv", "1.csv.gz", gzip.compress(b"1,a\n2,b\n", mtime=0)),
        ("csv", "1.csv.bz2", bz2.compress(b"1,a\n2,b\n")),
        ("json", "1.json", b'{"id": 1}\n{"id": 2}'),
        ("parquet", "1.parquet", parquet(1, 2)),
    ],
)
@pytest.mark.parametrize("scheme", ["s3", "s3a", "S3A"])
def test_formats(s3: S3Server, url: str, tmp_path: Path, form: str, name: str, data: bytes, scheme: str) -> None:
    url = f"{scheme}{url[3:]}"
    put(s3, url, f"sub/{name}", data)
    put(s3, url, "_sqlext/q/0/1.csv", b"nonsense")
    put(s3, url, "sub/_hidden/1.csv", b"nonsense")
    put(s3, url, "sub/.1.csv", b"nonsense")
    found = reader(url, tmp_path, form)
    assert found.latest({SPLIT: 0}, None) == {SPLIT: 1}
    assert ids(found, 0, 1) == [1, 2]
    assert READER.why_not(table(url, form)) == ""


def test_files_that_come_later_and_a_restart(s3: S3Server, url: str, tmp_path: Path) -> None:
    for number in range(3):
        put(s3, url, f"{number}.csv", f"{number},x\n".encode())
    found = reader(url, tmp_path)
    assert found.latest({SPLIT: 0}, Limit("files", 2)) == {SPLIT: 2}
    put(s3, url, "9.csv", b"9,x\n")
    again = reader(url, tmp_path)
    assert again.latest({SPLIT: 2}, None) == {SPLIT: 4}
    assert sorted(ids(again, 0, 4)) == [0, 1, 2, 9]


def test_the_log_of_files_at_a_url(s3: S3Server, url: str) -> None:
    """Its entries are merged as in a folder; who lost it puts nothing in place of a longer one."""
    place = Location.of(url, s3.settings)
    log, old = FileLog(place), FileLog(place)
    for number in range(25):
        log.append([FoundFile(f"/{number}", number, 1)])
        if number == 9:
            assert len(old) == 10
    log.merge(20)
    old.merge(10)
    assert len(list(place.names())) == 1 + 5
    for reading in (log, FileLog(Location.of(url, s3.settings))):
        assert [file.path for file in reading.between(0, 25)] == [f"/{n}" for n in range(25)]


def test_every_cut_gives_every_line_once(s3: S3Server, url: str) -> None:
    data = b"".join(b"x" * (i % 13) + b"\n" for i in range(100)) + b"last"
    put(s3, url, "f", data)
    access = FileAccess(s3.settings)
    for step in (1_000, 97, 250):
        bounds = [*range(0, len(data), step), len(data)]
        ranges = [Range(f"{url}/f", a, b, access) for a, b in pairwise(bounds)]
        assert b"".join(b for r in ranges for b in blocks(r)) == data


def test_one_file_and_a_pattern(s3: S3Server, url: str) -> None:
    put(s3, url, "a.csv", b"1,x\n")
    put(s3, url, "b.txt", b"2,x\n")
    access, inside = FileAccess(s3.settings), url.partition(BUCKET)[2]
    assert [f.path for f in listed(f"{url}/a.csv", None, access)] == [f"{url}/a.csv"]
    # A pattern is of the path without the bucket, as for Spark's reader.
    assert [f.path for f in listed(url, rf"{inside}/.*\.csv", access)] == [f"{url}/a.csv"]
    assert listed(f"{url}/none", None, access) == []


def test_what_is_not_there(url: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as missing:
        reader(url, tmp_path)
    assert missing.value.code == "OPT-009"
    with pytest.raises(SqlExtError) as no_bucket:
        reader("s3a://no-such-bucket-here/x", tmp_path).latest({SPLIT: 0}, None)
    assert no_bucket.value.code in ("OPT-009", "RUN-015")


def test_a_store_without_credentials() -> None:
    """Azure's library fails in a way of its own."""
    with pytest.raises(SqlExtError) as refused:
        FileAccess({}).is_there("abfss://c@nobody.invalid/x")
    assert (refused.value.code, "abfss://c@nobody.invalid/x" in refused.value.message) == ("RUN-015", True)


@pytest.mark.parametrize("place", [f"s3a://{KEY}:{SECRET}@{BUCKET}/x", f"s3a://{KEY}@{BUCKET}/x"])
def test_no_credentials_in_urls(place: str, tmp_path: Path) -> None:
    with pytest.raises(SqlExtError) as refused:
        reader(place, tmp_path)
    assert refused.value.code == "RUN-015"
    assert KEY not in str(refused.value)


def test_a_bucket_for_all(s3: S3Server, url: str) -> None:
    import boto3

    endpoint, key = s3.settings["spark.hadoop.fs.s3a.endpoint"], f"{url.rpartition('/')[2]}/a.csv"
    login = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "region_name": "us-east-1"}
    owner = boto3.client("s3", endpoint_url=endpoint, **login)
    owner.put_object(Bucket=BUCKET, Key=key, Body=b"1,x\n", ACL="public-read")
    provider = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
    open_to_all = {**s3.settings, "spark.hadoop.fs.s3a.endpoint": endpoint, "fs.s3a.aws.credentials.provider": provider}
    assert FileAccess(open_to_all).text(f"{url}/a.csv") == "1,x\n"
    assert ObjectFiles(url, open_to_all).get("a.csv") == b"1,x\n"


def test_the_environment(s3: S3Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Spark does not say comes from there."""
    put(s3, url, "a.csv", b"1,x\n")
    variables = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": s3.settings["spark.hadoop.fs.s3a.endpoint"],
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert FileAccess().text(f"{url}/a.csv") == "1,x\n"
    assert ObjectFiles(url).get("a.csv") == b"1,x\n"
    write_deltalake(f"{url}/t", pa.table({"id": [1]}), storage_options={"aws_conditional_put": "etag"})
    assert DeltaTable(f"{url}/t", storage_options=FileAccess().delta_options(url)).version() == 0


def test_enough_bytes(s3: S3Server, url: str) -> None:
    put(s3, url, "a/1", b"x" * 60)
    put(s3, url, "b/2", b"x" * 60)
    assert holds_bytes(url, 120)
    assert not holds_bytes(url, 121)
    put(s3, url, "3", b"x" * 60)
    with reached_by(lambda: s3.settings):  # the next statement
        assert holds_bytes(url, 121)
    assert not holds_bytes(f"{url}/none", 1)
    assert not holds_bytes("hdfs://n/x", 0)
    with reached_by(None):  # nobody has said how it is reached
        assert not holds_bytes(url, 1)


def test_what_readers_hold_is_not_shown(url: str, s3: S3Server, tmp_path: Path) -> None:
    put(s3, url, "a.csv", b"1,x\n")
    found = reader(url, tmp_path)
    found.latest({SPLIT: 0}, None)
    assert SECRET not in repr(found) + repr(found.slices({SPLIT: 0}, {SPLIT: 1}))
    assert all(SECRET not in p.read_text() for p in tmp_path.rglob("*") if p.is_file())


def options(s3: S3Server) -> dict[str, str]:
    access = FileAccess(s3.settings).delta_options(f"s3://{BUCKET}")
    assert access is not None
    return access | {"aws_conditional_put": "etag"}


def test_delta(s3: S3Server, url: str) -> None:
    def rows(*numbers: int) -> pa.Table:
        return pa.table({"id": pa.array(numbers, pa.int64()), "name": pa.array([str(n) for n in numbers])})

    write_deltalake(url, rows(1, 2, 3), storage_options=options(s3))
    definition = delta(url)
    assert DELTA.why_not(definition) == ""
    found = pickle.loads(pickle.dumps(DELTA.reader(definition, ("id",), Location("/none"), 2)))
    start = found.initial()
    end = found.latest(start, None)
    write_deltalake(url, rows(4), storage_options=options(s3), mode="append")
    later = found.latest(end, None)
    read = [
        [v for p in found.slices(a, b) for r in found.read(p) for v in r.column(0).to_pylist()]
        for a, b in ((start, end), (end, later))
    ]
    assert read == [[1, 2, 3], [4]]
    DeltaTable(url, storage_options=options(s3)).delete("id = 4")
    with pytest.raises(SqlExtError) as removed:
        found.latest({VERSIONS: later[VERSIONS]}, None)
    assert removed.value.code == "RUN-069"


def test_no_delta_table(url: str) -> None:
    definition = delta(url)
    assert DELTA.why_not(definition) == ""  # it may come until it is read
    with pytest.raises(OptionError) as missing:
        DELTA.reader(definition, ("id",), Location("/none"), 2)
    assert missing.value.code == "OPT-009"
    with reached_by(None):
        assert "its path is a URL" in DELTA.why_not(definition)
