"""Write part files directly into the table's folder, where any system can read them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sqlext.connectors.filesystem.sink.commit import FileCommit, Folder
from sqlext.connectors.filesystem.table import DEFAULT_PARTITION, spark_name
from sqlext.connectors.formats import csv, json
from sqlext.connectors.formats.changelog import JSON_CHANGELOG_FORMATS, ChangelogFormat
from sqlext.connectors.spec import Alteration, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote, on_disk
from sqlext.quoting import identifier
from sqlext.sinks.base import Foreseen, Sink, SinkContext, WritesParts, refuse_mode
from sqlext.sinks.commit_notes import Commit
from sqlext.sinks.encoding import encoded, message_fields, message_options, partition_text
from sqlext.stores.files import FileAccess

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_SPARK_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class FileSink(Sink):
    """Appends (or, in batch, overwrites) part files; ``commit`` says how exactly once.

    Attributes:
        settings: of object stores, where the folder lies in one.
    """

    spec: WriteSpec
    context: SinkContext
    settings: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def path(self) -> str:
        """The table's folder."""
        return self.spec.path or ""

    @property
    def single_pass(self) -> bool:
        """One job writes all rows."""
        return True

    def open(self, spark: SparkSession) -> None:
        """Make the folder: an empty result is an empty folder."""
        self.require_writable()
        self.folder().create()

    def require(self, spark: SparkSession) -> None:
        """Refuse a mode or a place in which it cannot write."""
        self.require_writable()

    def foreseen(self, coming: Sequence[Alteration] = ()) -> Foreseen:
        """Return whether the folder is made; see ``Sink.foreseen``."""
        self.require_writable()
        return Foreseen(created=not FileAccess(self.settings).is_there(on_disk(self.path)))

    def require_writable(self) -> None:
        """Refuse a mode or a place in which it cannot write."""
        refuse_mode(self.spec, self.context, "append", "overwrite", "final-state")
        if self.folder().is_file():
            raise SqlExtError("SINK-092", f"`{self.spec.name}` writes to a folder, but `{self.path}` is a file")
        self.held()
        self._require_there()

    def _require_there(self) -> None:
        """Refuse a folder that has gone back: it says of itself that it has fewer batches than it had.

        A folder that says nothing was made anew, or its query had come to its end.
        """
        notes, folder = self.context.notes, self.folder()
        expected = notes.expected(self.context.query, self.context.identity) if notes is not None else None
        if notes is None or expected is None or (expected.table, expected.writer) != (folder.path, folder.identity):
            return
        there = folder.last_done()
        if 0 <= there < expected.batch:
            query = self.context.query
            raise SqlExtError(
                "RUN-096",
                f"the folder `{folder.path}` has gone back: query `{query}` has written micro-batch {expected.batch}, "
                f"and `{folder.says_done}` says {there}. The rows of the micro-batches behind that are gone",
                hint="put the folder back as it was. To go on without these rows, remove "
                f"`{notes.file(query)}`. DROP QUERY starts it anew, with an empty folder",
            )

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Write a batch and commit it."""
        self.commit(batch_id, partial(self._stage, df))

    def commit(self, batch_id: int, stage: Callable[[str], None], files: Container[str] | None = None) -> None:
        """Write a batch and commit it, unless it is there.

        Args:
            batch_id: its number.
            stage: writes its files into the folder that it gets.
            files: the names of these, once they are written; None for all that are there then.
        """
        folder = self.folder()

        def planned(staged: Iterable[str]) -> FileCommit:
            return self.plan(folder, batch_id, [name for name in staged if files is None or name in files])

        folder.commit(batch_id, stage, planned)
        if self.context.notes is not None:
            self.context.notes.add(self.context.query, Commit(folder.path, folder.identity, batch_id, 0))

    def part_writer(self, schema: pa.Schema) -> WritesParts | None:
        """Return what writes part files where rows are made; see ``Sink.part_writer``."""
        shuffled = self.spec.option("sink.parallelism") or self.spec.flag("sink.shuffle-by-partition.enable")
        if is_remote(self.path) or shuffled or self.context.mode != "append":
            return None
        from sqlext.connectors.filesystem.local_sink import part_writer  # it needs Arrow, which few statements do

        return part_writer(self, schema)

    def write_parts(self, batch_id: int, stage: Callable[[str], Iterable[str]]) -> None:
        """Take a batch as files; see ``Sink.write_parts``."""
        named = set[str]()

        def staged(where: str) -> None:
            named.update(stage(where))
            self.context.check_fence()

        # What a task has left that did not come to its end is no part of the batch.
        self.commit(batch_id, staged, named)

    def finish(self, spark: SparkSession) -> None:
        """Delete the staging: a query that has ended repeats no batch."""
        self.folder().forget()

    def folder(self) -> Folder:
        """Return the table's folder, with the query's staging in it."""
        return Folder(self.path, self.context.identity, self.settings)

    def _stage(self, df: DataFrame, where: str) -> None:
        columns = self.with_partitions()
        rows = self._spread(df.selectExpr(*(f"{e} AS {identifier(n)}" for n, e in columns.items())))
        writer = rows.write.format(self._spark_format).options(**self.writer_options()).mode("overwrite")
        if self.spec.partitioned_by:
            writer = writer.partitionBy(*self.spec.partitioned_by)
        writer.save(where)
        # The next step is the commit. What a driver that has been away since then has staged is its own.
        self.context.check_fence()

    def _spread(self, rows: DataFrame) -> DataFrame:
        """Return rows in as many tasks as are to write; those of a partition in one, where that is asked for."""
        parallelism = self.spec.option("sink.parallelism")
        if self.spec.partitioned_by and self.spec.flag("sink.shuffle-by-partition.enable"):
            keys = map(identifier, self.spec.partitioned_by)
            return rows.repartition(int(parallelism), *keys) if parallelism else rows.repartition(*keys)
        # Without a shuffle: fewer tasks write, and rows stay in order within each.
        return rows.coalesce(int(parallelism)) if parallelism else rows

    @property
    def changes(self) -> ChangelogFormat | None:
        """The format of changes that the files have, if they have one."""
        return JSON_CHANGELOG_FORMATS.get(self.spec.format or "")

    @property
    def _spark_format(self) -> str:
        return "json" if self.changes is not None else spark_name(self.spec.format or "")

    def held(self) -> dict[str, str]:
        """Return what the files hold, by name, as SQL over the rows."""
        if self.changes is None:
            return encoded(self.spec, self.context.zone)
        columns = (c for c in self.spec.columns if c.name not in self.spec.partitioned_by)
        return message_fields(self.changes, columns, dict(self.spec.options), self.context)

    def with_partitions(self) -> dict[str, str]:
        """Return the same, and the texts of partition columns."""
        of = (column for column in self.spec.columns if column.name in self.spec.partitioned_by)
        return {**self.held(), **{column.name: partition_text(column, self.context.zone) for column in of}}

    def writer_options(self) -> dict[str, str]:
        """Return the options of Spark's writer."""
        options = dict(self.spec.options)
        if self.changes is not None:
            return message_options(self.changes, options)
        if self.spec.format == "csv":
            return dict(csv.writer_options(options))
        return dict(json.writer_options(options)) if self.spec.format == "json" else {}

    def plan(self, folder: Folder, batch_id: int, staged: Iterable[str]) -> FileCommit:
        """Return what becomes of the staged files of a batch."""
        names = [n for n in staged if not self._is_empty(folder, batch_id, n)]
        moves = tuple((name, self._final_name(batch_id, i, name)) for i, name in enumerate(names))
        return FileCommit(self._replaced(folder, moves), moves)

    def _final_name(self, batch_id: int, index: int, staged: str) -> str:
        """Return ``k=v/part-<query>-<batch>-<index>.<ending of the format>``."""
        folders, _, name = staged.rpartition("/")
        default = self.spec.option("partition.default-name", DEFAULT_PARTITION)
        # Spark names the folder of NULL as Hive does; Flink's name is an option of the table.
        folders = "/".join(f.replace(f"={_SPARK_DEFAULT_PARTITION}", f"={default}") for f in folders.split("/"))
        # From the first dot on: the ending names the compression too (`.snappy.parquet`).
        ending = name.partition(".")[2]
        final = f"part-{self.context.identity}-{batch_id}-{index}.{ending}"
        return f"{folders}/{final}" if folders else final

    def _replaced(self, folder: Folder, moves: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
        """Return the files an overwrite takes away: all, or those of the partitions that it writes."""
        # The end may come twice, if a crash follows the first; only the query's own files are replaced.
        if self.context.mode == "final-state":
            own = f"part-{self.context.identity}-"
            return tuple(n for n in folder.visible_files() if n.rpartition("/")[2].startswith(own))
        if self.context.mode != "overwrite":
            return ()
        written = {final.rpartition("/")[0] for _, final in moves}
        everything = not self.spec.partitioned_by
        return tuple(n for n in folder.visible_files() if everything or n.rpartition("/")[0] in written)

    def _is_empty(self, folder: Folder, batch_id: int, name: str) -> bool:
        """Return whether a staged file has no rows: Spark writes one for an empty batch."""
        if self.spec.format not in ("parquet", "orc"):
            return folder.staged_size(name) == 0
        with folder.open_staged(batch_id, name) as stream:
            if self.spec.format == "parquet":
                from pyarrow import parquet

                return bool(parquet.ParquetFile(stream).metadata.num_rows == 0)
            from pyarrow import orc

            return bool(orc.ORCFile(stream).nrows == 0)
