"""Write constraints.txt: the exact versions that pip chooses, for each Python it is run with.

    python tools/lock.py python3.10 python3.11 python3.12 python3.13 python3.14

constraints-dbt.txt is the same for dbt's own environment.

A constraint that only some Pythons need gets a marker; the newest Python stands for all later ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADER = "# Exact versions of what make installs. Made by: make lock\n"
#: What each file is for: extras of the project. dbt wants older versions of what the others need.
FILES = {"constraints.txt": "dev,demo", "constraints-dbt.txt": "dbt,objects"}


def resolve(python: str, extras: str) -> tuple[str, dict[str, str]]:
    """Return the interpreter's version (3.11) and what pip would install for these extras with it, by name."""
    with tempfile.TemporaryDirectory() as folder:
        _run(python, "-m", "venv", folder)
        pip = [f"{folder}/bin/python", "-m", "pip"]
        _run(*pip, "install", "--quiet", "--upgrade", "pip")
        report = _run(*pip, "install", "--quiet", "--dry-run", "--report", "-", f"{ROOT}[{extras}]")
        version = _run(f"{folder}/bin/python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    chosen = (item["metadata"] for item in json.loads(report)["install"])
    return version.strip(), {m["name"].lower(): m["version"] for m in chosen if m["name"] != "sqlext-spark"}


def merge(resolved: dict[str, dict[str, str]]) -> list[str]:
    """Return the lines of the file, sorted by name."""
    by_name: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for python, versions in resolved.items():
        for name, version in versions.items():
            by_name[name][version].append(python)
    newest = max(resolved, key=_number)
    lines = []
    for name, choices in sorted(by_name.items()):
        for version, pythons in choices.items():
            same = len(pythons) == len(resolved)
            marks = (f'python_version {">=" if p == newest else "=="} "{p}"' for p in pythons)
            lines.append(f"{name}=={version}" + ("" if same else f" ; {' or '.join(marks)}"))
    return lines


def _number(python: str) -> tuple[int, ...]:
    return tuple(map(int, python.split(".")))


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout  # noqa: S603


if __name__ == "__main__":
    for name, extras in FILES.items():
        lines = merge(dict(resolve(python, extras) for python in sys.argv[1:] or [sys.executable]))
        (ROOT / name).write_text(HEADER + "\n".join(lines) + "\n")
