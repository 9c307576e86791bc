"""State as bytes: it comes back as it was, or is refused by name."""

from __future__ import annotations

import base64
import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from rows import keys, tables

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel import table_codec
from sqlext_udfs.kernel.table_codec import VERSION, decode_rows, decode_state, encode_rows, encode_state

_TABLE = pa.table({"a": [1, None, 3], "b": ["x", None, ""]})
# encode_state(_TABLE), as version 1 wrote it.
_VERSION_1 = (
    "AQAAAAAAAAD/////qAAAABAAAAAAAAoADAAGAAUACAAKAAAAAAEEAAwAAAAIAAgAAAAEAAgAAAAEAAAAAgAAAEAAAAAEAAAA2P///wAAAQUQAA"
    "AAGAAAAAQAAAAAAAAAAQAAAGIAAAAEAAQABAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABAhAAAAAcAAAABAAAAAAAAAABAAAAYQAAAAgADAAI"
    "AAcACAAAAAAAAAFAAAAAAAAAAP/////IAAAAFAAAAAAAAAAMABYABgAFAAgADAAMAAAAAAMEABgAAABAAAAAAAAAAAAACgAYAAwABAAIAAoAAA"
    "BsAAAAEAAAAAMAAAAAAAAAAAAAAAUAAAAAAAAAAAAAAAEAAAAAAAAACAAAAAAAAAAYAAAAAAAAACAAAAAAAAAAAQAAAAAAAAAoAAAAAAAAABAA"
    "AAAAAAAAOAAAAAAAAAABAAAAAAAAAAAAAAACAAAAAwAAAAAAAAABAAAAAAAAAAMAAAAAAAAAAQAAAAAAAAAFAAAAAAAAAAEAAAAAAAAAAAAAAA"
    "AAAAADAAAAAAAAAAUAAAAAAAAAAAAAAAEAAAABAAAAAQAAAHgAAAAAAAAA/////wAAAAA="
)


@settings(deadline=None)
@given(tables())
def test_a_table_comes_back_as_it_was(table: pa.Table) -> None:
    read = decode_state(encode_state(table))
    assert read.schema == table.schema
    assert keys(read) == keys(table)
    assert keys(decode_rows(encode_rows(table))) == keys(table)


def test_state_of_version_1_can_be_read() -> None:
    """Checkpoints outlive the code: a later version reads this, or refuses it by name."""
    assert decode_state(base64.b64decode(_VERSION_1)).equals(_TABLE)


def test_only_the_slice_is_kept() -> None:
    large = pa.table({"a": range(100_000)})
    assert len(encode_rows(large.slice(500, 2))) < 1_000


@pytest.mark.parametrize("version", [0, VERSION + 1, 255])
def test_an_unknown_version_is_refused(version: int) -> None:
    with pytest.raises(SqlExtError, match=f"version {version} cannot be read") as refused:
        decode_state(bytes([version]) + encode_state(_TABLE)[1:])
    assert refused.value.code == "RUN-030"


def test_a_pickle_is_refused_and_not_run() -> None:
    with pytest.raises(SqlExtError, match="cannot be read"):
        decode_state(pickle.dumps(print))


@pytest.mark.parametrize("keep", [0, 1, 8, 20, 200])
def test_a_truncated_value_is_refused(keep: int) -> None:
    with pytest.raises(SqlExtError) as refused:
        decode_state(encode_state(_TABLE)[:keep])
    assert refused.value.code in ("RUN-030", "RUN-031")


def test_a_value_too_large_for_spark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_codec, "LIMIT_BYTES", 100)
    with pytest.raises(SqlExtError, match="has grown to") as refused:
        encode_state(_TABLE)
    assert refused.value.code == "RUN-032"
