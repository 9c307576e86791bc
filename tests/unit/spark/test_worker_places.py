"""Which Python is this process's own: nothing is shipped to it."""

from __future__ import annotations

import sys
from pathlib import Path

from sqlext.spark.workers.places import is_this_python


def test_this_one() -> None:
    assert is_this_python(sys.executable)


def test_another_environment_of_the_same_interpreter(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    assert not is_this_python(str(other))


def test_none() -> None:
    assert not is_this_python("no-such-python")
