"""Define what a connector says of a table.

A connector is a folder: its description here names its reader and its sink, which are loaded when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple, cast

from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.options import COMMON, OptionError, Rules
from sqlext.connectors.places import TablePlaces
from sqlext.connectors.readers import NewestRows, TableReader
from sqlext.connectors.spec import ReadSpec, WriteColumn, WriteSpec
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.locations import absolute, is_remote, scheme_of
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, Options, Table

Role = Literal["source", "sink"]


class Reach(NamedTuple):
    """Places, as paths and URLs of files (``local``), or as ``host:port``; ``files`` are read on the way there."""

    places: tuple[str, ...]
    local: bool
    files: tuple[str, ...] = ()


class Connector:
    """A connector: pure functions of a table's definition.

    Attributes:
        name: by which tables ask for it.
        rules: the options that it takes.
        reader: where its ``TableReader`` lies, as ``module:name``; empty without one.
        sink: where the function lies that makes its sink (``sinks.opening``), as ``module:name``; empty without one.
        places: where its ``TablePlaces`` lies, as ``module:name``; empty where nothing tells how far a table was read.
        local_sink: the same of its sink of queries that run without Spark (``sinks.local``).
        replacement: the same of what replaces all rows of a table in one step (``sinks.replacing``).
        decodes: whether its reader decodes rows into Arrow; otherwise into raw rows at most.
        in_files: whether its rows lie in files, whose sizes are known.
        keeps_order: whether a micro-batch that is run again has its rows in the same order.
        read_anew: whether a table that is no stream is read anew in each micro-batch.
        reads_itself: whether its own reader is the only one of all its tables; see ``only_own_reader``.
        takes_updates: whether a changed row is taken as it comes, with what it takes back.
        merges_any_key: whether rows can be replaced by a key that the table does not declare.
        passes_on: whether rows that are written go to another system.
        stream_settings: settings of Spark's under which Spark reads a table of it as a stream.
        makes_table: whether CREATE TABLE makes a table there that is not there, and DROP TABLE drops it.
        can_alter: whether ALTER TABLE changes the columns of what lies there.
        needs_stream: whether a table of it that has no end can be read as a stream alone.
        gives_once: whether rows that have been taken cannot be read again.
        is_dataset: whether queries of a pipeline can read what another one writes.
        leads_out: options of its own that name code, a folder, or a table of Spark's.
    """

    name: str
    roles: tuple[Role, ...] = ("source", "sink")
    rules: Rules = Rules()
    reader: str = ""
    sink: str = ""
    places: str = ""
    local_sink: str = ""
    replacement: str = ""
    decodes: bool = False
    in_files: bool = False
    keeps_order: bool = False
    read_anew: bool = False
    reads_itself: bool = False
    takes_updates: bool = False
    merges_any_key: bool = False
    passes_on: bool = False
    stream_settings: Options = ()
    makes_table: bool = False
    can_alter: bool = False
    needs_stream: bool = False
    gives_once: bool = False
    is_dataset: bool = False
    leads_out: tuple[str, ...] = ()

    def reaches(self, table: Table) -> Mapping[str, Reach]:
        """Return what a table reaches beyond the session, by the option that says so."""
        found = {key: table.option(key) for key in ("path", "table-path")}
        return {key: Reach((place,), local=True) for key, place in found.items() if place is not None}

    def leads(self, table: Table) -> tuple[str, ...]:
        """Return the options of a table that name code, a folder, or a table of Spark's."""
        return self.leads_out

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work, before anything runs.

        Raises:
            SqlExtError: OPT-006 wrong role: the use is at fault.
            OptionError: OPT-003 unknown option, OPT-004 missing option, OPT-005 bad value, OPT-007 unknown metadata
                key, OPT-008 a column or type the connector cannot hold.
        """
        if role not in self.roles:
            other = "written to" if role == "source" else "read"
            message = f"{self.owner} can only be {other}: `{table.name.name}` cannot be a {role}"
            raise SqlExtError("OPT-006", message)
        self.rules_for(table, role).merged(COMMON).check(self.owner, dict(table.options))
        self._validate_columns(table, role)
        for key in ("path", "table-path"):
            place = table.option(key)
            # file://host/folder names another machine, which neither Spark nor a reader of ours would reach.
            if place and scheme_of(place) == "file" and is_remote(place):
                hint = "write file:///folder, or the path itself"
                raise OptionError("OPT-018", f"`{place}` is no absolute path of this machine", option=key, hint=hint)

    def refused_option(self, table: Table, key: str) -> OptionError | None:
        """Return why an option is refused where it is written: OPT-003 if the table takes it in no role; else None."""
        found = None
        for role in self.roles:
            try:
                found = self.rules_for(table, role).merged(COMMON).unknown(self.owner, key)
            # Which format it has is asked when the table is used.
            except OptionError:
                return None
            if found is None:
                return None
        return found

    @property
    def owner(self) -> str:
        """How messages call it."""
        return f"connector '{self.name}'"

    def rules_for(self, table: Table, role: Role) -> Rules:
        """Return the options that it takes for this table, those of its format included."""
        return self.rules

    def bounded(self, table: Table) -> bool:
        """Return whether reading the table comes to an end."""
        return False

    def is_static(self, table: Table) -> bool:
        """Return whether a query takes the table as it is when it starts, also where it is a stream."""
        return table.option("scan.mode") == "snapshot"

    def no_own_reader(self, table: Table) -> str:
        """Return why no reader of ours gives the table's raw rows, empty if one does."""
        return self.table_reader().why_not(table) if self.reader else f"{self.owner} has none"

    def not_real_time(self, table: Table, *, written: bool) -> str:
        """Return why Spark's real-time mode does not read (or write) the table, empty if it does."""
        return f"{self.owner} is {'written' if written else 'read'} in micro-batches"

    def only_own_reader(self, table: Table) -> bool:
        """Return whether its own reader is the only one of the table, also of one that is no stream."""
        return self.reads_itself

    def prefers_own_reader(self, table: Table) -> bool:
        """Return whether our own reader is the better one: by default only where it must wait for others."""
        return not self.bounded(table) and table.option("scan.watermark.alignment.group") is not None

    def table_reader(self) -> TableReader:
        """Return the reader of ours; a connector with a ``reader`` has one."""
        return cast(TableReader, loaded(self.reader))

    def newest_rows(self) -> NewestRows | None:
        """Return what finds the rows that were written last; None where they lie in no files."""
        return cast(NewestRows, loaded(self.reader)) if self.in_files and self.reader else None

    def table_places(self) -> TablePlaces | None:
        """Return what tells how far a table has been read; None where nothing does."""
        return cast(TablePlaces, loaded(self.places)) if self.places else None

    def has_statistics(self, table: Table) -> bool:
        """Return whether its files say of their rows which need not be read."""
        return False

    def as_of(self, time: str) -> Options | None:
        """Return the options that read a table as it was at a time; None if it does not keep that."""
        return None

    def has_splits(self, table: Table) -> bool:
        """Return whether parts of the table have a time of their own: ``split_column`` names a row's."""
        return False

    def has_own_positions(self, table: Table) -> bool:
        """Return whether a position means the same to each query; where each counts files by itself it does not."""
        return False

    def split_column(self) -> str:
        """Return the name of the part that a row is of, as an expression over the raw columns."""
        raise NotImplementedError

    def cannot_judge(self, table: Table) -> str:
        """Return why rows that cannot be decoded are not told from others, empty if they are (``plan.bad_rows``)."""
        return f"{self.owner} reads no texts that could be malformed"

    def naming_bad_rows(self, table: Table) -> Table:
        """Return a table whose rows Spark decodes for a query of ours, so that a failure says which row it was."""
        return table

    def changelog(self, table: Table) -> bool:
        """Return whether each row that is read says, in the column ``plan.nodes.KIND``, what it does to the table."""
        return False

    def upserts(self, table: Table) -> bool:
        """Return whether each row that is read replaces the one with its PRIMARY KEY, or takes it away.

        It is then a ``changelog`` of such rows, and the column ``plan.nodes.POSITION`` says which is the last.
        """
        return False

    def takes_changes(self, table: Table) -> bool:
        """Return whether the table is written as a changelog: rows with their kinds, those taken back too."""
        return False

    def keeps_rows(self, table: Table) -> bool:
        """Return whether what is written can be read as rows."""
        return "source" in self.roles and not self.takes_changes(table)

    def merges(self, table: Table) -> bool:
        """Return whether a row that is written replaces the one with its PRIMARY KEY, and can take it away."""
        return False

    def adds_updates(self, table: Table) -> bool:
        """Return whether a row that changes is written beside what it was before, which stays."""
        return False

    def tells_refused(self, table: Table) -> bool:
        """Return whether its sink tells which rows of a batch it refuses, and writes the others (``Sink.take``)."""
        return False

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return the metadata columns that it offers: key -> type."""
        return {}

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how the table's physical and metadata columns are read.

        Args:
            table: as the catalog has it, hints merged into its options.
            zone: ``spark.sql.session.timeZone`` of the session that will read it.
        """
        raise NotImplementedError

    def growing(self, spec: WriteSpec) -> WriteSpec:
        """Return a sink that gets the columns that it lacks when it is opened, where it can."""
        return spec

    def name_in_spark(self, table: Table) -> str | None:
        """Return how a statement of Spark's names the table's rows, ``delta.`/folder```; None if it cannot."""
        return None

    def require_written_here(self, table: Table) -> None:
        """Check that a sink of ours reaches the place of the table; raises OptionError OPT-018 if it does not."""

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how the table is written."""
        options = tuple((k, v) for k, v in table.options if k != "connector")
        return WriteSpec(
            connector=self.name,
            columns=written_columns(table),
            name=table.name.name,
            path=absolute(table.option("path")),
            partitioned_by=table.partitioned_by,
            primary_key=table.primary_key.columns if table.primary_key else (),
            options=options,
        )

    def _validate_columns(self, table: Table, role: Role) -> None:
        offered = self.metadata(table)
        for column in table.columns:
            if column.kind == "metadata" and role == "source" and metadata_key(column) not in offered:
                key = metadata_key(column)
                hint = did_you_mean(key, offered) or (f"it has {', '.join(offered)}" if offered else None)
                message = f"{self.owner} has no metadata '{key}' for column `{column.name}`"
                raise OptionError("OPT-007", message, hint=hint)
        names = {c.name for c in table.columns}
        for name in table.partitioned_by:
            if name not in names:
                message = f"partition column `{name}` is no column of `{table.name.name}`"
                raise OptionError("OPT-008", message, hint=did_you_mean(name, names))


def loaded(place: str) -> Any:
    """Return what lies at ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def metadata_key(column: Column) -> str:
    """Return the key a metadata column is read from: its own name where no FROM is given."""
    return column.metadata_key or column.name


def declared_type(column: Column) -> LogicalType:
    """Return the column's type; one that is read or written has one."""
    if column.type is None:
        raise OptionError("OPT-008", f"column `{column.name}` has no type")
    return column.type


def is_instant(table: Table, column: Column) -> bool:
    """Return whether the column is the table's rowtime of type TIMESTAMP(p), carried as an instant."""
    # Spark's watermark is of a TIMESTAMP; a TIMESTAMP_NTZ column cannot be event time.
    rowtime = table.watermark is not None and table.watermark.column == column.name
    return rowtime and column.type is not None and column.type.root == "TIMESTAMP"


def physical_fields(table: Table, leave_out: tuple[str, ...] = ()) -> tuple[ReadField, ...]:
    """Return the physical columns, without those named."""
    return tuple(
        ReadField(c.name, c.type, is_instant(table, c))
        for c in table.columns
        if c.kind == "physical" and c.type is not None and c.name not in leave_out
    )


def metadata_columns(table: Table) -> tuple[Column, ...]:
    """Return the metadata columns."""
    return tuple(c for c in table.columns if c.kind == "metadata")


def read_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns that are read, in the table's order: all but computed ones."""
    return tuple(c for c in table.columns if c.kind != "computed")


def written_columns(table: Table) -> tuple[WriteColumn, ...]:
    """Return the columns that an INSERT fills, in the table's order."""
    return tuple(
        WriteColumn(c.name, c.type, metadata_key(c) if c.kind == "metadata" else None)
        for c in table.columns
        if c.type is not None and (c.kind == "physical" or (c.kind == "metadata" and not c.virtual))
    )
