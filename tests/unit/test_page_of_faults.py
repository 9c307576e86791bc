"""The page of faults names tests that are there, and says of how many faults there is none."""

from __future__ import annotations

import ast
import re

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
    assert len(faults) == 36
    assert [line for line in faults if not _TEST.search(line) and "none" not in line] == []
