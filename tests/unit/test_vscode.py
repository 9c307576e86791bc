"""The extension for VS Code: its manifest names what is there, and its settings are options of the server."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from zipfile import ZipFile

import pytest

from sqlext.lsp.server import EXPLAIN, REWRITE, RUN, ServerOptions

FOLDER = Path(__file__).parents[2] / "tools" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text("utf-8"))


def test_the_manifest_names_what_is_there() -> None:
    contributes = MANIFEST["contributes"]
    (language,), grammars = contributes["languages"], contributes["grammars"]
    assert (FOLDER / language["configuration"]).is_file()
    for grammar in grammars:
        assert json.loads((FOLDER / grammar["path"]).read_text("utf-8"))["scopeName"] == grammar["scopeName"]
    # Cells of notebooks are Python to VS Code: the second grammar finds those of our magics there.
    assert [grammar.get("injectTo") for grammar in grammars] == [None, ["source.python"]]
    assert MANIFEST["activationEvents"] == [f"onLanguage:{language['id']}"]
    assert f'language: "{language["id"]}"' in (FOLDER / "src" / "extension.ts").read_text("utf-8")


def test_settings_are_options_of_the_server() -> None:
    settings = {key.removeprefix("sqlext.") for key in MANIFEST["contributes"]["configuration"]["properties"]}
    assert settings - {"command", "allow"} == {f.name for f in fields(ServerOptions)} - {"run"}


def test_a_project_cannot_widen_what_the_server_may_read() -> None:
    assert MANIFEST["contributes"]["configuration"]["properties"]["sqlext.allow"]["scope"] == "machine"


def test_the_extension_has_the_command_that_the_server_leaves_to_it() -> None:
    assert [c["command"] for c in MANIFEST["contributes"]["commands"]] == [RUN]
    assert RUN not in (EXPLAIN, REWRITE)


@pytest.mark.costly
@pytest.mark.skipif(shutil.which("npm") is None, reason="Node.js is not installed")
def test_the_package_is_built(tmp_path: Path) -> None:
    folder = tmp_path / "vscode"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    for command in (["install"], ["test"], ["run", "package"]):
        done = subprocess.run(["npm", *command], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    with ZipFile(folder / "sqlext.vsix") as package:
        names = set(package.namelist())
    assert {
        "extension/dist/extension.js",
        *(f"extension/syntaxes/{g}.tmLanguage.json" for g in ("sqlext", "cells")),
    } <= names
    assert not any("node_modules" in name for name in names)
