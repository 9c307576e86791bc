"""The built page is that of its sources, needs nothing from elsewhere, and says whose code is in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import sqlext.ui
from tests.built_files import hash_of_sources

STATIC = Path(sqlext.ui.__file__).parent / "static"
SOURCES = Path(sqlext.ui.__file__).parents[2] / "tools" / "ui"


def test_the_build_is_that_of_the_sources() -> None:
    assert (STATIC / "sources.sha256").read_text().strip() == hash_of_sources(SOURCES), "run `make ui`"


def test_nothing_comes_from_elsewhere() -> None:
    for file in ("index.html", "app.css", "app.js"):
        found = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", (STATIC / file).read_text()))
        # Names of XML, which nobody asks for.
        assert found <= {"http://www.w3.org"}, file


def test_the_licence_of_each_library_is_there() -> None:
    texts = (STATIC / "LICENSES.txt").read_text()
    for name, version in json.loads((SOURCES / "package.json").read_text())["dependencies"].items():
        assert f"{name} {version} (MIT)" in texts
    assert texts.count("Permission is hereby granted") == texts.count("\n----\n") + 1
