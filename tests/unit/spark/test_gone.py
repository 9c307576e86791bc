"""Which errors say that Spark has ended, also where Spark is not installed."""

from __future__ import annotations

import sys

import pytest
from py4j.protocol import Py4JNetworkError

from sqlext import SqlExtError
from sqlext.spark.gone import answering, has_gone


def test_spark_does_not_answer() -> None:
    assert has_gone(Py4JNetworkError())
    assert has_gone(ConnectionRefusedError())
    assert not has_gone(ValueError())


def test_a_refusal_passes_where_spark_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "py4j.protocol")
    monkeypatch.setitem(sys.modules, "py4j", None)  # who imports it is told that there is none
    with pytest.raises(SqlExtError, match="NAME-003"), answering():
        raise SqlExtError("NAME-003", "there is no column `itm`")
