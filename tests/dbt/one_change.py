"""Run by dbt's own Python in a copy of the example project: ``dbt build``, one change, and the same again.

usage: one_change.py FILE OLD NEW: prints, as JSON, what each build said, and the rows of the streaming tables.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet
from deltalake import DeltaTable

from dbt.cli.main import dbtRunner

TABLES = ("per_minute", "per_hour", "revenue")


def main(file: str, old: str, new: str) -> None:
    """Print what came of it; the last build reads everything anew."""
    story = [build()]
    text = Path(file).read_text()
    assert old in text, (file, old)
    Path(file).write_text(text.replace(old, new, 1))
    story += [build(), build("--full-refresh")]
    print("STORY", json.dumps(story))


def build(*options: str) -> dict[str, object]:
    """Return whether all is well, what was said, and the rows of all tables."""
    said: list[str] = []
    runner = dbtRunner(callbacks=[lambda event: said.append(event.info.msg)])
    success = runner.invoke(["build", "--no-use-colors", *options]).success
    return {"success": success, "said": "\n".join(said), "rows": {name: rows(name) for name in TABLES}}


def rows(name: str) -> list[str]:
    """Return the rows of a table as text."""
    # Not to_pyarrow_table(): it reads in threads of C++ that call Python, and abort a process that ends just then.
    files = DeltaTable(f".spark/warehouse/shop.db/{name}").file_uris()
    found = pyarrow.parquet.read_table(files).to_pylist() if files else []
    return sorted(str(sorted((k, str(v)) for k, v in row.items())) for row in found)


if __name__ == "__main__":
    main(*sys.argv[1:])
