"""Gather the pages for the documentation site and build it: ``make docs``.

The pages keep their places below ``build/pages``, so the links between them stay true; ``mkdocs.yml`` has the rest.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "pages"
EXAMPLES = ROOT / "sql_examples"
#: What is copied besides the pages at the top.
COPIED = ("docs", "sqlext/dialect/emit/EMIT.md", "sql_examples")
#: Words behind the language of a block are for the tests: MkDocs does not take them.
_FENCE_WORDS = re.compile(r"^(```\w+) .*$", re.MULTILINE)
_FOLDER_LINK = re.compile(r"\]\(((?:\.\./)*sql_examples(?:/\w+)?)/?\)")


def main() -> None:
    """Build the site; the process ends with the code of mkdocs."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, PAGES)
    for name in COPIED:
        copy(name)
    (PAGES / "sql_examples" / "README.md").write_text(examples(), "utf-8")
    for page in PAGES.rglob("*.md"):
        # A site has no page for a folder: such links go to the page of the examples.
        text = _FOLDER_LINK.sub(r"](\1/README.md)", page.read_text("utf-8"))
        text = re.sub(r"sql_examples/\w+/README.md", "sql_examples/README.md", text)
        page.write_text(_FENCE_WORDS.sub(r"\1", text), "utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)  # noqa: S603


def copy(name: str) -> None:
    """Copy a file or folder of the project to its place among the pages."""
    target = PAGES / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if (ROOT / name).is_dir():
        shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns(".*", "logs", "target"))
    else:
        shutil.copy(ROOT / name, target)


def examples() -> str:
    """Return the page of the examples: each file, and the rows that it gives."""
    parts = ["# Examples\n"]
    for file in sorted(EXAMPLES.glob("*.sql")):
        parts.append(f"## {file.stem[:2]} {file.stem[3:].replace('_', ' ')}\n\n```sql\n{file.read_text('utf-8')}```\n")
        if file.with_suffix(".out").exists():
            parts.append(f"It gives:\n\n```text\n{file.with_suffix('.out').read_text('utf-8')}```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
