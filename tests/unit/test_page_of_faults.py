"""The page of faults names tests that are there, and says of how many faults there is none."""

from __future__ import annotations

import ast
import inspect
import re

import pytest

from tests.defences.cuts import CUTS, Cut
from tests.defences.cutting import function
from tests.markdown import ROOT

PAGE = ROOT / "docs" / "internals" / "faults.md"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_FAULT = re.compile(r"^\| \d+ \|", re.MULTILINE)


def test_the_tests_are_there() -> None:
    named = _TEST.findall(PAGE.read_text("utf-8"))
    lost = [
        f"{file}::{name}"
        for file, name in named
        if name not in {n.name for n in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))) if hasattr(n, "name")}
    ]
    assert lost == []
    assert len(named) >= len(_FAULT.findall(PAGE.read_text("utf-8")))


def test_each_fault_has_one_or_says_that_it_has_none() -> None:
    faults = [line for line in PAGE.read_text("utf-8").splitlines() if _FAULT.match(line)]
    assert len(faults) == 37
    assert [line for line in faults if not _TEST.search(line) and "none" not in line] == []


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: str(cut.fault))
def test_what_is_taken_out_is_there(cut: Cut) -> None:
    assert cut.old in inspect.getsource(function(cut.of))
    (row,) = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {cut.fault} |")]
    assert f"`{cut.test}`" in row
    assert row.endswith("| command |")
