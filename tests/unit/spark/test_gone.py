"""Which errors say that Spark has ended, also where Spark is not installed."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from sqlext import SqlExtError
from sqlext.spark.gone import answering, has_gone


def through(module: str, error: Exception) -> Exception:
    """Return an error as it comes out of a module."""
    names: dict[str, Any] = {"__name__": module}
    exec("def fail(error):\n    raise error", names)
    with pytest.raises(type(error)):
        names["fail"](error)
    return error


def test_spark_does_not_answer() -> None:
    assert has_gone(Py4JNetworkError())
    assert has_gone(through("py4j.clientserver", ConnectionRefusedError()))
    # A database, a broker: what the query itself speaks to.
    assert not has_gone(through("somebody.else", ConnectionRefusedError()))
    assert not has_gone(ConnectionResetError())
    assert not has_gone(ValueError())


def test_a_refusal_passes_where_spark_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "py4j.protocol")
    monkeypatch.setitem(sys.modules, "py4j", None)  # who imports it is told that there is none
    with pytest.raises(SqlExtError, match="NAME-003"), answering():
        raise SqlExtError("NAME-003", "there is no column `itm`")
