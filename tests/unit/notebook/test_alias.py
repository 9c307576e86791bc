"""docs/notebook.md gives the magic a name that front ends colour; IPython makes such an alias."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import MagicAlias

import sqlext

PAGE = (Path(__file__).parents[3] / "docs" / "notebook.md").read_text("utf-8")
ALIAS = "%alias_magic -c sparksql sqlext"


def test_the_alias_of_the_page() -> None:
    assert f"    {ALIAS}\n" in PAGE
    shell: Any = InteractiveShell()
    sqlext.load_ipython_extension(shell)
    shell.run_cell(ALIAS)
    made = shell.find_cell_magic("sparksql")
    assert isinstance(made, MagicAlias)
    assert made.magic_name == "sqlext"
    assert shell.find_cell_magic("sqlext") is not None
