"""A client in Java by LSP4J, with which the plugin LSP4IJ of JetBrains' IDEs speaks: it takes no loose JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.maven_jars import fetched, java
from tests.opensearch_server import has_compiler

VERSION = "0.24.0"
SCRIPT = """CREATE TABLE orders (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');
SELECT itm FROM orders;
"""


@pytest.mark.slow
@pytest.mark.skipif(not has_compiler(), reason="Java has no compiler: a JDK is needed")
def test_every_answer_is_read(tmp_path: Path) -> None:
    """What an IDE does with the answers is not seen here."""
    jars = fetched(f"lsp4j-{VERSION}", (("org.eclipse.lsp4j", "org.eclipse.lsp4j", VERSION),), transitive=True)
    (tmp_path / "a.sql").write_text(SCRIPT, "utf-8")
    # The name `orders` behind FROM.
    asked = [str(tmp_path / "a.sql"), "2", "18"]
    server = [sys.executable, "-m", "sqlext.cli.main", "lsp"]
    command = [java(), "-cp", f"{jars}/*", str(Path(__file__).with_name("Lsp4jClient.java")), *asked, *server]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (wrong,) = found["diagnostics"]
    # LSP4J writes what may be of two types as `left` or `right`.
    assert wrong["code"] == {"left": "NAME-003"}
    assert wrong["range"] == {"start": {"line": 2, "character": 7}, "end": {"line": 2, "character": 10}}
    assert "*ROWTIME*" in json.dumps(found["hover"]["contents"])
    assert "orders" in {item["label"] for item in found["completion"]["items"]}
    assert [place["range"]["start"]["line"] for place in found["definition"]] == [0]
    assert len(found["references"]) == 2
    (edits,) = found["rename"]["changes"].values()
    assert [edit["newText"] for edit in edits] == ["sales", "sales"]
    assert isinstance(found["lenses"], list)
