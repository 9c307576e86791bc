"""What a Spark cannot do is counted as refused, by its capability, and nothing else is."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sqlext.capabilities import CAPABILITIES, TIME_TYPE, missing
from sqlext.errors import SqlExtError
from tests import refusals

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
from sqlext.capabilities import ADMISSION, TIME_TYPE, missing

def test_good(): pass
def test_refused(): raise missing(TIME_TYPE)
def test_refused_below():
    try:
        raise missing(ADMISSION)
    except Exception as error:
        raise RuntimeError("around") from error
def test_bad(): assert False
@pytest.mark.skip(reason="of its own")
def test_skipped(): pass
@pytest.mark.xfail(strict=True)
def test_waits(): assert False
"""


@pytest.fixture(scope="module")
def versions() -> ModuleType:
    """Return the tool, which is no package's."""
    spec = importlib.util.spec_from_file_location("versions_tool", ROOT / "tools" / "versions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_report_is_counted(versions: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.refusals", "-p", "no:cacheprovider"]
    where = [f"--rootdir={tmp_path}", f"--junitxml={report}", str(tmp_path)]
    ended = subprocess.run([*command, *where], cwd=ROOT, check=False, capture_output=True, text=True)
    assert report.exists(), ended.stdout + ended.stderr
    count = versions.counted(report)
    assert count.failed == ["test_some::test_bad"]
    assert str(count) == (
        "1 passed of 4; 1 refused for want of admission control of Python data sources; "
        "1 refused for want of the type TIME; 1 failed"
    )


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.name)
def test_each_refusal_names_its_capability(capability: object) -> None:
    assert refusals.lacks(missing(capability)) is capability  # type: ignore[arg-type]


def test_other_errors_are_none() -> None:
    assert refusals.lacks(SqlExtError("RUN-101", missing(TIME_TYPE).message + "!")) is None
    assert refusals.lacks(ValueError("the type TIME")) is None


def test_the_reason_is_what_the_tool_looks_for(versions: ModuleType) -> None:
    assert versions._REFUSED == refusals.REFUSED
