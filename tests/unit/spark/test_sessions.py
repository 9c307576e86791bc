"""What is given in place of Spark's own objects."""

from __future__ import annotations

import pandas as pd
import pytest

import sqlext
from sqlext import SqlExtError


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
