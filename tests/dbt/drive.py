"""Run by dbt's own Python in a copy of the example project: runs of dbt that share one Spark, and what they left.

The first process of the test was `dbt build`: what this one finds, it finds on disk.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet
from deltalake import DeltaTable

from dbt.cli.main import dbtRunner

MODEL = Path("models/per_minute.sql")
LATER = """\
{"item": "tea", "amount": 40.0, "ts": "2024-01-01 10:02:50"}
{"item": "tea", "amount": 50.0, "ts": "2024-01-01 10:04:00"}
"""


def main() -> None:
    """Print, as JSON, what each step of the story gave."""
    original = MODEL.read_text()
    two_minutes = original.replace("INTERVAL '1' MINUTE", "INTERVAL '2' MINUTE")
    story = {}
    Path("input/orders/2.json").write_text(LATER)
    story["caught up"] = step("run")
    story["nothing new"] = step("run")
    for choice in ("fail", "continue", "apply"):
        MODEL.write_text(f"{{{{ config(on_configuration_change='{choice}') }}}}\n{two_minutes}")
        story[choice] = step("run")
    story["below"] = step("run", model="per_hour")
    MODEL.write_text(original)
    story["full refresh"] = step("run", "--full-refresh")
    MODEL.write_text(original.replace("SUM(amount)", "SUM(amout)"))
    story["mistake"] = step("run")
    MODEL.write_text(original)
    story["one script"] = step("run", model="path:models/one_script")
    story["shown"] = step("show", model="large_orders")
    story["docs"] = step("docs", "generate", model="")
    print("STORY", json.dumps(story, default=str))


def step(*command: str, model: str = "per_minute") -> dict[str, object]:
    """Run dbt for one model, or for all; return its messages, whether all is well, and the rows of ``per_minute``."""
    said: list[str] = []
    runner = dbtRunner(callbacks=[lambda event: said.append(event.info.msg)])
    result = runner.invoke([*command, *(["--select", model] if model else [])])
    # Not to_pyarrow_table(): it reads in threads of C++ that call Python, and abort a process that ends just then.
    files = DeltaTable(".spark/warehouse/shop.db/per_minute").file_uris()
    rows = pyarrow.parquet.read_table(files).to_pylist()
    return {"success": result.success, "said": "\n".join(said), "rows": sorted(map(shown, rows))}


def shown(row: dict[str, object]) -> str:
    """Return a row of ``per_minute`` as text."""
    return f"{row['minute']:%H:%M} {row['item']} {row['total']:g}"


if __name__ == "__main__":
    main()
    sys.stdout.flush()
