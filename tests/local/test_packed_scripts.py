"""What Spark's workers leave of a table is finished in this process, with the rows of a query that runs here whole."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sqlext.local.engine import computed
from sqlext.local.reading import ReadRows, worked
from sqlext.rewrite.arrow.in_process import compiled_script
from sqlext.rewrite.script.model import ArrowView, SparkScript
from sqlext.session.offline.compilation import compile_source, new_state, read_source
from sqlext.sources.packed import MEMBER, READ, PackedWork, SharedWork, Together
from sqlext.sources.tables import reader_of
from sqlext.sources.together import works_together
from sqlext.stores.location import Location
from sqlext_udfs.making import made
from sqlext_udfs.windows.shares import Share
from tests.local.test_statement_sets import LINES, QUERIES, put, run, script, written


def _scripts(folder: Path, queries: list[str]) -> list[SparkScript]:
    """Return the scripts of queries for Spark."""
    text = script(queries).replace("SET 'sqlext.engine' = 'local'", "SET 'sqlext.source' = 'arrow'")
    source = read_source(text.replace("${IN}", str(folder / "in")).replace("${OUT}", str(folder / "out")))
    return [c.script for _, compiled in compile_source(source, new_state(None)) for c in compiled]


def _packed(views: list[tuple[ArrowView, int]], folder: Path) -> pa.Table:
    """Return the packed rows of views of one table, as workers give them, one slice after the other."""
    works = works_together([worked(step, buckets) for step, buckets in views])
    done = {share.member for work in works for share in work.shares}
    for number, (step, buckets) in enumerate(views):
        if number not in done:
            of = worked(step, buckets)
            here = made(of.function, of.arguments, [f"c{i}" for i in range(len(of.types))], of.types)
            works.append(Together(PackedWork(of.program, here.operator, here.keys, buckets), (Share(number),)))
    table = views[0][0].table
    needed = tuple(c.name for c in table.columns if any(c.name in step.needed for step, _ in views))
    reader, work = reader_of(table).reader(table, needed, Location(str(folder)), 2), SharedWork(tuple(works))
    start = reader.initial()
    batches = [
        batch
        for piece in reader.slices(start, reader.latest(start, None))
        for batch in work.process(piece.split, lambda passes, piece=piece: reader.read(piece))  # type: ignore[misc]
    ]
    reader.close()
    return pa.Table.from_batches(batches)


@pytest.mark.parametrize("chosen", [[0, 1, 2, 3, 6], [6, 2], [0]])
def test_the_rows_are_the_same(tmp_path: Path, chosen: list[int]) -> None:
    queries = [QUERIES[number] for number in chosen]
    put(tmp_path / "in", *LINES)
    run(tmp_path, queries)
    scripts = _scripts(tmp_path, queries)
    views = [(step, of.buckets) for of in scripts for step in of.read_by_arrow]
    assert len(views) == len(queries)
    with TemporaryDirectory() as folder:
        packed = _packed(views, Path(folder))
    found = []
    for number, (of, (step, _)) in enumerate(zip(scripts, views, strict=True)):
        mine = packed.filter(pc.equal(packed[MEMBER], number))
        rows = mine.filter(pc.is_valid(mine["rows"])).select(["bucket", "rows", "now"])
        given = {step.view: ReadRows(rows, pc.sum(mine[READ]).as_py())}
        found.append(computed(compiled_script(of, "UTC"), None, given).rows)
    here = [[json.loads(line) for line in lines] for lines in written(tmp_path, len(queries))]
    assert [_sorted(table.to_pylist()) for table in found] == [_sorted(rows) for rows in here]


def _sorted(rows: list[dict[str, object]]) -> list[str]:
    """Return rows as texts; json has no NULL."""
    return sorted(repr({name: value for name, value in row.items() if value is not None}) for row in rows)
