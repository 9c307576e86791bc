"""The built page is that of its sources, needs nothing from elsewhere, and says whose code is in it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import sqlext.ui

STATIC = Path(sqlext.ui.__file__).parent / "static"
SOURCES = Path(sqlext.ui.__file__).parents[2] / "tools" / "ui"


def test_the_build_is_that_of_the_sources() -> None:
    names = ["build.mjs", "package.json", "package-lock.json", *(f"src/{p.name}" for p in (SOURCES / "src").iterdir())]
    counted = hashlib.sha256()
    for name in sorted(names):
        counted.update(name.encode() + b"\0" + (SOURCES / name).read_bytes() + b"\0")
    assert (STATIC / "sources.sha256").read_text().strip() == counted.hexdigest(), "run `make ui`"


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
