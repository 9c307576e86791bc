"""What is given in place of Spark's own objects."""

from __future__ import annotations

import pandas as pd
import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.capabilities import CLONE
from sqlext.spark.sessions import own_session, session_with


def test_a_folder_is_no_spark() -> None:
    with pytest.raises(SqlExtError, match="no Spark session, but a str") as refused:
        sqlext.connect("catalog")  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.hint) == ("ENV-013", "a folder is the catalog: catalog='...'")
    with pytest.raises(SqlExtError, match="no Spark session, but a int"):
        sqlext.install(3)  # type: ignore[arg-type]


def test_a_frame_of_pandas_is_none_of_sparks() -> None:
    with pytest.raises(SqlExtError, match=r"no DataFrame of Spark, but a pandas\S*\.DataFrame") as refused:
        sqlext.connect().register(pd.DataFrame({"a": [1]}), "t")  # type: ignore[arg-type]
    assert refused.value.code == "ENV-013"


class Conf(dict[str, str]):
    """The settings of a session, as Spark has them."""

    def set(self, name: str, value: str) -> None:
        if name == "static":
            raise ValueError(name)
        self[name] = value

    def unset(self, name: str) -> None:
        del self[name]


def test_settings_that_are_borrowed_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of Spark 4.0 has one session alone; tests/connect runs there too."""
    monkeypatch.setattr("sqlext.spark.sessions.has", lambda capability: capability is not CLONE)
    conf = Conf(kept="before")
    client = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session", "conf": conf})()
    assert own_session(client, conf) is client
    with session_with(client, {"kept": "within", "new": "within"}) as own:
        assert own is client
        assert conf == {"kept": "within", "new": "within"}
    assert conf == {"kept": "before"}
    with pytest.raises(ValueError, match="static"), session_with(client, {"kept": "within", "static": "1"}):
        pass
    assert conf == {"kept": "before"}
