"""Make the rows of a query of SELECTs where its table is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from sqlext.sources.packed import READ
from sqlext.sources.program import Facts, Program
from sqlext.sources.stream import Read, Work


@dataclass(frozen=True)
class RowWork(Work):
    """The rows that a program makes.

    Attributes:
        program: makes the columns.
        types: of these.
    """

    program: Program
    types: tuple[pa.DataType, ...]

    def made(self, read: Read, facts: Facts) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice as ``c0``, ``c1``, ...; what was read is counted in ``facts``."""
        schema = pa.schema([(f"c{i}", of) for i, of in enumerate(self.types)])
        passes = (lambda known, rows: self.program.passes(facts, known, rows)) if self.program.filters else None
        for batch in read(passes):
            for columns in self.program.run(batch, facts) if batch.num_rows else ():
                yield pa.record_batch(list(columns.values()), schema)

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice; the column ``READ`` is NULL in them, and says in a last row how many were read."""
        facts = Facts()
        for batch in self.made(read, facts):
            yield batch.append_column(READ, pa.nulls(batch.num_rows, pa.int64()))
        empty = [pa.nulls(1, of) for of in self.types]
        names = [*(f"c{i}" for i in range(len(empty))), READ]
        yield pa.record_batch([*empty, pa.array([facts.rows], pa.int64())], names)
