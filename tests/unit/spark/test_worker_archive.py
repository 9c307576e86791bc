"""The archive that workers import our code from."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from sqlext.spark.workers import archive as module
from sqlext.spark.workers.archive import PACKAGES, archive


def test_modules_come_from_it(tmp_path: Path) -> None:
    # -S and -I: neither what is installed nor the tests' own path.
    code = (
        f"import sys; sys.path.insert(0, {str(archive())!r}); import sqlext.errors, sqlext_udfs.kernel;"
        " print(sqlext.errors.__file__)"
    )
    command = [sys.executable, "-S", "-I", "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert told.stdout.startswith(f"{archive()}/sqlext/errors.py"), told.stderr


def test_it_has_all_modules_and_nothing_else() -> None:
    names = zipfile.ZipFile(archive()).namelist()
    assert {name.partition("/")[0] for name in names} == set(PACKAGES)
    assert {Path(name).suffix for name in names} == {".py"}


def test_the_same_code_is_the_same_archive() -> None:
    first = archive()
    module.archive.cache_clear()
    again = archive()
    assert first.name == again.name
    assert first.read_bytes() == again.read_bytes()
