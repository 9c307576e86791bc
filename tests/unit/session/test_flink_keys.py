"""No key of SET that Flink 2.3 has is taken for a misspelt one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext.settings import require_known

#: The options that the classes of Flink 2.3 define, with the names that they had before.
KEYS = (Path(__file__).parent / "flink_keys.txt").read_text("utf-8").split()


def test_every_key_of_flink_passes() -> None:
    assert len(KEYS) == 1209
    for key in KEYS:
        require_known(key, None)


def test_a_misspelt_one_does_not() -> None:
    with pytest.raises(SqlExtError, match="OPT-010"):
        require_known("execution.checkpointing.intervall", None)
