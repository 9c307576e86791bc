"""One notebook, executed once in a real kernel with a Spark of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sqlext
from tests.markdown import ROOT, indented

if TYPE_CHECKING:
    from nbformat import NotebookNode

HERE = Path(__file__).parent


class Executed:
    """An executed notebook; its cells are found by the name in their first line (``# name``)."""

    def __init__(self, notebook: NotebookNode) -> None:
        self.notebook = notebook

    def outputs(self, name: str) -> list[Any]:
        """Return the outputs of a cell."""
        return next(c for c in self.notebook.cells if c.metadata["name"] == name).outputs

    def html(self, name: str) -> str:
        """Return what a cell shows as HTML."""
        return "\n".join(o.data["text/html"] for o in self.outputs(name) if "text/html" in o.get("data", {}))

    def text(self, name: str) -> str:
        """Return what a cell shows and prints as text."""
        shown = (o.get("text") or o.get("data", {}).get("text/plain") or "" for o in self.outputs(name))
        return "\n".join(shown)

    def error(self, name: str) -> list[str]:
        """Return what is shown of the error that a cell ended with."""
        return next(o.traceback for o in self.outputs(name) if o.output_type == "error")


@pytest.fixture(scope="package")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Executed:
    """Return the notebook of ``cells.txt``, executed, those of ``sqlext init`` and the page behind it."""
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("notebook")
    (folder / "in").mkdir()
    (folder / "in" / "a.csv").write_text("a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:03\nb,4,2024-01-01 00:00:12\n")
    notebook = nbformat.v4.new_notebook()
    for part in (HERE / "cells.txt").read_text("utf-8").split("\n# cell ")[1:]:
        name, _, source = part.partition("\n")
        cell = nbformat.v4.new_code_cell(source.strip(), metadata={"name": name.strip()})
        notebook.cells.append(cell)
    # The notebook of ``sqlext init`` comes behind the others, which have unloaded the extension.
    starter = Path(sqlext.__file__).parent / "starters" / "notebook"
    shutil.copytree(starter / "data", folder / "data")
    code = [c.source for c in nbformat.read(starter / "orders.ipynb", 4).cells if c.cell_type == "code"]
    for number, source in enumerate(code):
        notebook.cells.append(nbformat.v4.new_code_cell(source, metadata={"name": f"starter {number}"}))
    # Those of the page come last: it says that they stand beside that notebook.
    page = indented((ROOT / "docs" / "notebook.md").read_text("utf-8"))
    for number, source in enumerate(b.strip() for b in page if b.split()[0] not in ("pip", "sqlext")):
        notebook.cells.append(nbformat.v4.new_code_cell(source, metadata={"name": f"page {number}"}))
    client = NotebookClient(notebook, timeout=600, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute()
    nbformat.write(notebook, folder / "executed.ipynb")
    return Executed(notebook)
