"""What a statement costs before Spark sees it, and what starting costs.

python tests/benchmarks/compile.py [--profile]

Prints milliseconds for parse + analyse + rewrite of a typical INSERT (warm), for ``import sqlext`` beside
``import sqlglot``, and for ``sqlext rewrite FILE`` in a process of its own.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from sqlext.dialect.script import parse_script
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText

TABLES = """
CREATE TABLE clicks (user_name STRING, amount INT, page STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in/clicks', 'format' = 'json');
CREATE TABLE totals (user_name STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '/out/totals', 'format' = 'json');
"""
TYPICAL = """
INSERT INTO totals
SELECT user_name, window_start, window_end, COUNT(*) AS n, SUM(CASE WHEN amount > 10 THEN amount ELSE 0 END) AS total
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
WHERE page LIKE '/shop/%' AND user_name IS NOT NULL
GROUP BY user_name, window_start, window_end
HAVING COUNT(*) > 1
"""


def compiler() -> Callable[[], None]:
    """Return what parses, analyses and rewrites the typical statement once."""
    handler = DryRun(new_state(None))
    interpreter = Interpreter(handler.state, handler)
    for statement in parse_script(SourceText.of(TABLES), "flink"):
        interpreter.run(statement)
    handler.state.settings = handler.state.settings.with_value("sqlext.expressions", "flink")

    def once() -> None:
        handler.compiled.clear()
        for statement in parse_script(SourceText.of(TYPICAL), "flink"):
            interpreter.run(statement)
        assert handler.compiled

    return once


def milliseconds(action: Callable[[], object], times: int) -> float:
    """Return the median time of an action."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return 1000 * median(taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="show where the time of a statement goes")
    once = compiler()
    for _ in range(20):
        once()
    print(f"parse + analyse + rewrite  {milliseconds(once, 200):8.2f} ms")
    if parser.parse_args().profile:
        profile = cProfile.Profile()
        profile.runcall(lambda: [once() for _ in range(100)])
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
        return
    glot = milliseconds(lambda: _python("import sqlglot"), 9)
    ours = milliseconds(lambda: _python("import sqlext"), 9)
    print(f"import sqlext              {ours:8.0f} ms   import sqlglot {glot:.0f} ms   ratio {glot / ours:.2f}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.sql"
        file.write_text(f"SET 'sqlext.expressions' = 'flink';{TABLES}{TYPICAL};")
        command = [sys.executable, "-m", "sqlext.cli.main", "rewrite", str(file), "--catalog", f"{folder}/catalog"]
        wall = milliseconds(lambda: subprocess.run(command, check=True, capture_output=True), 7)
    print(f"sqlext rewrite FILE        {wall:8.0f} ms")


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
