"""Run by dbt's own Python in a copy of the example project: ``dbt build``, one change, and the same again.

usage: one_change.py FILE OLD NEW: prints, as JSON, what each build said, and the rows of the streaming tables.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import unquote

import pyarrow
import pyarrow.parquet
from deltalake import DeltaTable

from dbt.cli.main import dbtRunner

#: How delta-rs names the values of the columns that a file is partitioned by.
_BY = "partition."
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
    folder = Path(f".spark/warehouse/shop.db/{name}")
    # Not to_pyarrow_table(): it reads in threads of C++ that call Python, and abort a process that ends just then.
    files = pyarrow.table(DeltaTable(str(folder)).get_add_actions(flatten=True)).to_pylist()
    found = []
    for file in files:
        # The columns that a table is partitioned by are in no file.
        by = {key.removeprefix(_BY): value for key, value in file.items() if key.startswith(_BY)}
        read = pyarrow.parquet.ParquetFile(folder / unquote(file["path"])).read().to_pylist()
        found += [{**row, **by} for row in read]
    return sorted(str(sorted((k, str(v)) for k, v in row.items())) for row in found)


if __name__ == "__main__":
    main(*sys.argv[1:])
