"""How near jobs over files are to what the machine can do: sqlext beside DuckDB and Polars over the same files.

python -m tests.benchmarks.limits --tables PYTHON [--rows 16000000] [--keys 1000] [--runs 3]
    [--forms csv json parquet] [--only NAME ...] [--spark]

``--tables`` is a Python with duckdb and polars (``make bench`` has one). Each side has a process of its own with two
threads, stays warm, and works while the others wait. Each question is asked ``--runs`` times on a small input and on
the whole, the sides in turns, once more before that to warm them up. Seconds are of the whole job, from the statement
to the last byte of one parquet answer; what the small input takes is the start. Answers must be equal. ``--spark``
adds sqlext on a local Spark. The last line of a form says what looking at each byte once costs. ``--report`` writes
all lines to a file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from tests.benchmarks.arrow import write_round
from tests.benchmarks.engines.process import Engine
from tests.benchmarks.engines.tasks import Taken, Task
from tests.benchmarks.questions import table_set

_SMALL, _FILES, _BLOCK = 2_000, 2, 1 << 23
_OURS, _THEIRS = "sqlext", ("duckdb", "polars")


class Line(NamedTuple):
    """What each side took for a question: medians over the whole input, and over the small one."""

    whole: dict[str, Taken]
    start: dict[str, float]

    def text(self, name: str, form: str, rows: int) -> str:
        """Return the line for a terminal."""
        sides = [f"{s} {t.wall:.2f} s ({self.start[s]:.2f}, CPU {t.cpu:.2f})" for s, t in self.whole.items()]
        best, ours = min(self.whole[s].wall for s in _THEIRS), self.whole[_OURS]
        beyond = min(self.whole[s].wall - self.start[s] for s in _THEIRS)
        ratios = f"whole {ours.wall / best:.2f}, beyond starts {(ours.wall - self.start[_OURS]) / beyond:.2f}"
        return f"{form:8} {name:9} {', '.join(sides)}; {ratios}; {ours.wall / rows * 1e9:.0f} ns a row"


def measure(running: Sequence[Engine], name: str, form: str, inputs: Sequence[Path], runs: int, root: Path) -> Line:
    """Ask all sides, in turns."""
    times: dict[tuple[str, Path], list[Taken]] = {}
    script = next(q for q in table_set() if q.name == name)
    for run in range(runs + 1):
        for source in inputs:
            answers = {}
            for engine in running[:: 1 if run % 2 else -1]:
                out = root / f"{engine.side}.parquet"
                text = script.script(str(source), out, form)
                task = Task(side=engine.side, name=name, script=text, source=str(source), out=str(out), form=form)
                taken = engine.ask(task)
                if isinstance(taken, str):
                    raise RuntimeError(f"{engine.side}: {taken}")
                if run:
                    times.setdefault((engine.side, source), []).append(taken)
                answers[engine.side] = _answer(out)
            if len(set(answers.values())) > 1:
                raise RuntimeError(f"{name} over {form}: the answers differ")
            shutil.rmtree(root)
            root.mkdir()
    whole = {e.side: _median(times[e.side, inputs[1]]) for e in running}
    return Line(whole, {e.side: _median(times[e.side, inputs[0]]).wall for e in running})


def _median(taken: Sequence[Taken]) -> Taken:
    return Taken(*(median(of) for of in zip(*taken, strict=True)))


def _answer(out: Path) -> str:
    """Return an answer as a text that is equal for equal rows."""
    found = pyarrow.dataset.dataset(out / "result" if out.is_dir() else out, format="parquet").to_table()
    table = pa.table([_plain(column) for column in found.columns], found.column_names)
    table = table.select(sorted(n for n in table.column_names if n != "window_end"))
    return str(hash(str(table.sort_by([(name, "ascending") for name in table.column_names]).to_pydict())))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts as they are, numbers and times (microseconds) as integers."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us")).cast(pa.int64())
    numeric = pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)
    return column.cast(pa.int64() if numeric else pa.string())


def write_names(folder: Path, keys: int, form: str) -> None:
    """Write a table of keys with names, ten keys a name."""
    folder.mkdir()
    table = pa.table({"k": range(keys), "name": [f"name {k // 10}" for k in range(keys)]})
    path = folder / f"0.{form}"
    if form == "csv":
        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(include_header=False))
    elif form == "json":
        path.write_text("".join(f'{{"k":{k},"name":"name {k // 10}"}}\n' for k in range(keys)))
    else:
        pyarrow.parquet.write_table(table, path)


def reading_once(folder: Path, rows: int) -> str:
    """Return what it costs to look at each byte of some files once, by one thread."""
    files = [path for path in folder.iterdir() if path.is_file()]
    size, began = sum(path.stat().st_size for path in files), time.perf_counter()
    for path in files:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                block.count(b"\n")
    taken = time.perf_counter() - began
    return (
        f"{size / rows:.1f} bytes a row; each read and looked at once {taken:.2f} s, {taken / rows * 1e9:.0f} ns a row"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=16_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--forms", nargs="*", default=["csv", "json", "parquet"])
    parser.add_argument("--only", nargs="*", default=[q.name for q in table_set()])
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--log", type=Path, default=os.devnull)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        root, work = Path(folder), Path(folder) / "work"
        work.mkdir()
        log = stack.enter_context(Path(given.log).open("w", encoding="utf-8"))
        tables = stack.enter_context(
            Engine("duckdb", [str(given.tables), "-m", "tests.benchmarks.engines.tables"], log)
        )
        here = stack.enter_context(Engine(_OURS, [sys.executable, "-m", "tests.benchmarks.engines.here"], log))
        running = [here, tables, Engine("polars", [], log, tables)]
        if given.spark:
            command = [sys.executable, "-m", "tests.benchmarks.engines.spark"]
            running.append(stack.enter_context(Engine("on Spark", command, log)))
        lines: list[str] = []
        for form in given.forms:
            inputs = [root / f"{form}-{rows}" for rows in (_SMALL, given.rows)]
            for source, rows in zip(inputs, (_SMALL, given.rows), strict=True):
                write_round(source, 0, rows, given.keys, form, _FILES)
                write_names(Path(f"{source}-names"), given.keys, form)
            for name in given.only:
                line = measure(running, name, form, inputs, given.runs, work)
                lines.append(line.text(name, form, given.rows))
                print(lines[-1], flush=True)
            lines.append(f"{form:8} {reading_once(inputs[1], given.rows)}")
            print(lines[-1], flush=True)
            for source in inputs:
                shutil.rmtree(source)
    if given.report:
        given.report.mkdir(parents=True, exist_ok=True)
        (given.report / "limits.txt").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
