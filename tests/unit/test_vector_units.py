"""The command has numpy sort fast, before anything imports numpy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sqlext.local import vector_units

_VARIABLE = "NPY_DISABLE_CPU_FEATURES"


@pytest.fixture
def zen_4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_units, "vector_environment", lambda: {_VARIABLE: "X86_V4"})
    monkeypatch.delenv(_VARIABLE, raising=False)
    monkeypatch.delitem(sys.modules, "numpy", raising=False)


@pytest.mark.usefixtures("zen_4")
def test_it_is_set_for_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_VARIABLE, "mine")
    vector_units.use_fast_units()
    assert vector_units.os.environ[_VARIABLE] == "mine"
    monkeypatch.delenv(_VARIABLE)
    vector_units.use_fast_units()
    assert vector_units.os.environ[_VARIABLE] == "X86_V4"
    monkeypatch.delenv(_VARIABLE)


@pytest.mark.usefixtures("zen_4")
def test_it_is_too_late_where_numpy_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", sys)
    vector_units.use_fast_units()
    assert _VARIABLE not in vector_units.os.environ


def test_the_command_does_not_import_numpy_before() -> None:
    code = "import sys, sqlext.cli.main; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
