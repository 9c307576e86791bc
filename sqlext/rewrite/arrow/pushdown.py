"""Make an Arrow program of an operator's input, from the operator down to its table.

Every text that Spark would be given is translated. Columns are followed down to the table, and only those that are
needed are read. If something cannot be translated, Spark does all of it, and EXPLAIN says why.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import pyarrow as pa

from sqlext.connectors.moments import BEAT
from sqlext.connectors.readers import TableReader, Unread
from sqlext.connectors.registry import connector_of
from sqlext.plan import nodes
from sqlext.plan.columns import Part, PlanColumn, Time
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier
from sqlext.rewrite.arrow.choose_source import is_large
from sqlext.rewrite.arrow.translation import Unsuited, translated
from sqlext.rewrite.relations.operator_input import OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.relations.scans import scan_sql
from sqlext.rewrite.script.begun import has_splits
from sqlext.rewrite.script.model import ArrowView, ReadView, SqlView
from sqlext.sources.equal_calls import once
from sqlext.sources.packed import LEAST, MARK, READ, TIMES
from sqlext.sources.program import Nulls, Program, Rowtime, Stage
from sqlext.sources.tables import reader_of
from sqlext.types import BIGINT, BYTES, INT, STRING, TIMESTAMP_LTZ3
from sqlext_udfs.expressions.columns import Apply, Column, Expression, FieldOf, Literal
from sqlext_udfs.expressions.functions import INSTANT
from sqlext_udfs.kernel.hashing import can_hash

#: The type of a NULL that nobody has given one.
_UNKNOWN = pa.null()


@dataclass(frozen=True, slots=True)
class Pushed:
    """An operator's input, or a part of it, as a program.

    Attributes:
        scan: the table that is read.
        needed: its columns that are looked at.
        program: makes the operator's columns ``c0``, ``c1``, ... of them.
        types: of these.
    """

    scan: nodes.Scan
    needed: tuple[str, ...]
    program: Program
    types: tuple[pa.DataType, ...]

    def view(
        self, name: str, function: str, arguments: tuple[tuple[str, object], ...], *, tells_time: bool = False
    ) -> ArrowView:
        """Return the view of its rows, worked on for a stateful function and packed."""
        scan = self.scan
        return ArrowView(
            name,
            scan.view,
            scan.table,
            self.needed,
            self.program,
            self.types,
            function,
            arguments,
            passes_over=self.passes_over,
            both_sides=len(self.program.branches) > 1,
            tells_time=tells_time,
        )

    def with_types(self) -> tuple[Pushed, list[str]]:
        """Return it with the columns alone that have a type, as ``c0``, ``c1``, ...; and all as SQL over these."""
        ((*others, last),) = self.program.branches
        typed = [n for n, of in enumerate(self.types) if of != _UNKNOWN]
        made = tuple((f"c{place}", last.columns[n][1]) for place, n in enumerate(typed))
        program = replace(self.program, branches=((*others, replace(last, columns=made)),))
        texts = [f"c{typed.index(n)}" if n in typed else "NULL" for n in range(len(self.types))]
        named = [f"{text} AS c{n}" for n, text in enumerate(texts)]
        return replace(self, program=program, types=tuple(self.types[n] for n in typed)), named

    @property
    def passes_over(self) -> bool:
        """Whether the statistics of its files may say that rows need not be read."""
        table = self.scan.table
        return connector_of(table).has_statistics(table) and self.program.filters


def pushed_input(of: OperatorInput, keys: int, renderer: Rendering) -> Pushed:
    """Return the input of an operator as a program over one table.

    Args:
        of: the rows that go in.
        keys: how many keys there are.

    Raises:
        Unsuited, Unread: why Spark must do it.
    """
    rows = _relation(of.below, renderer)
    condition = None if of.where is None else translated(of.where, rows.resolve, renderer.zone)
    made = tuple((f"c{i}", _column(text, rows, renderer)) for i, text in enumerate(of.texts))
    # Keys choose the bucket: it must come from the same hash that Spark's path would use.
    for (_, key), text in zip(made[:keys], of.texts, strict=False):
        if not can_hash(key.type):
            raise Unsuited(f"key `{text}` of type {key.type}")
    if not made:
        raise Unsuited("no column is looked at")
    scan = rows.scan()
    rowtime = scan.rowtime_checked()
    stages = once((*rows.stages(), Stage(made, condition)))
    return Pushed(
        scan.node, scan.needed(), Program(scan.computed(), rowtime, (stages,)), tuple(e.type for _, e in made)
    )


def read_view(name: str, scan: nodes.Scan, renderer: Rendering) -> ReadView:
    """Return the view of a table's rows for a query that runs in this process.

    A column that our readers do not read is of type ``UNREAD``.

    Raises:
        Unsuited, Unread: why Spark must read them.
    """
    _require_plain(scan, holds=renderer.end is InputEnd.NONE)
    reader = reader_of(scan.table)
    table = _Table(scan, reader, renderer)
    columns = tuple((c, _type_or_unread(table, c)) for c in scan.physical_columns())
    rowtime = table.rowtime_checked()
    stage = Stage(tuple((c, Column(of, name=c)) for c, of in columns))
    program = Program(table.computed(), rowtime, ((stage,),))
    return ReadView(name, scan.view, scan.table, table.needed(), program, columns, is_large(scan, renderer))


def _type_or_unread(table: _Table, name: str) -> pa.DataType:
    try:
        return table.type_of(name)
    except Unread as reason:
        return UnreadType(str(reason))


def _column(text: str, rows: _Relation, renderer: Rendering) -> Expression:
    return Literal(_UNKNOWN) if text == "NULL" else translated(text, rows.resolve, renderer.zone)


def alike(inputs: Sequence[Pushed]) -> list[Pushed]:
    """Return inputs of one operator with the same types: what is NULL in one has the type that it has in another.

    Raises:
        Unsuited: where Spark would have to find a type for two.
    """
    types: list[pa.DataType] = []
    for place, of in enumerate(zip(*(i.types for i in inputs), strict=True)):
        known = {t for t in of if t != _UNKNOWN}
        # Spark's UNION would find a common type (WidenSetOperationTypes); Arrow is not asked to guess it.
        if len(known) != 1:
            raise Unsuited(f"column {place} of the inputs, of types {', '.join(map(str, of))}")
        types += known
    return [_typed(i, tuple(types)) for i in inputs]


def _typed(pushed: Pushed, types: tuple[pa.DataType, ...]) -> Pushed:
    ((*others, last),) = pushed.program.branches
    made = tuple(
        (name, Literal(of) if expression.type == _UNKNOWN else expression)
        for (name, expression), of in zip(last.columns, types, strict=True)
    )
    program = replace(pushed.program, branches=((*others, replace(last, columns=made)),))
    return replace(pushed, program=program, types=types)


def read_once(inputs: Sequence[Pushed]) -> list[Pushed]:
    """Return inputs of one operator, those that read the same table as one that reads it once."""
    found: list[Pushed] = []
    for pushed in inputs:
        same = next((n for n, other in enumerate(found) if _reads(other) == _reads(pushed)), None)
        if same is None:
            found.append(pushed)
        else:
            found[same] = _both(found[same], pushed)
    return found


def _reads(pushed: Pushed) -> nodes.Scan:
    """Return what is read, whatever it is called; computed columns are the table's, by their names."""
    return replace(pushed.scan, view="", computed=())


def _both(one: Pushed, other: Pushed) -> Pushed:
    looked_at = {*one.needed, *other.needed}
    # In the table's order, as `_Table.needed` gives them.
    needed = tuple(c.name for c in one.scan.table.columns if c.name in looked_at)
    computed = {**_columns(one.program.computed), **_columns(other.program.computed)}
    stage = Stage(tuple(computed.items()), keeps=True) if computed else None
    program = replace(one.program, computed=stage, branches=(*one.program.branches, *other.program.branches))
    return replace(one, needed=needed, program=program)


def _columns(stage: Stage | None) -> dict[str, Expression]:
    return dict(stage.columns) if stage is not None else {}


class _Relation(ABC):
    """A relation whose columns are asked for one by one."""

    alias: str

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether it has a column."""

    @abstractmethod
    def type_of(self, name: str) -> pa.DataType:
        """Return the type of a column, which is needed from now on."""

    @abstractmethod
    def scan(self) -> _Table:
        """Return the table below."""

    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """Return the SELECTs between the table and this, with the columns that are needed."""

    def resolve(self, parts: Sequence[str]) -> Expression:
        """Return what a name in the text above stands for: as to Spark, the relation's name comes before a column's."""
        qualified = len(parts) > 1 and self.has(parts[1]) and (parts[0] == self.alias or not self.has(parts[0]))
        return named(parts[1:] if qualified else parts, self.type_of)


def named(parts: Sequence[str], type_of: Callable[[str], pa.DataType]) -> Expression:
    """Return a column, or a field within it."""
    name, *fields = parts
    found: Expression = Column(type_of(name), name=name)
    for field_name in fields:
        found = _field_of(found, field_name)
    return found


def _field_of(row: Expression, name: str) -> Expression:
    places = row.type.get_all_field_indices(name) if pa.types.is_struct(row.type) else []
    if len(places) != 1:
        raise Unsuited(f"field `{name}`")
    return FieldOf(row.type.field(places[0]).type, name=name, inputs=(row,))


class UnreadType(pa.ExtensionType):  # type: ignore[misc, unused-ignore]
    """The type of a column that is not read here: no expression takes it, and no query gives it.

    Attributes:
        reason: why.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(pa.null(), "sqlext.unread")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.reason.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> UnreadType:
        return cls(serialized.decode())


@dataclass
class _Table(_Relation):
    """The table itself."""

    node: nodes.Scan
    readers: TableReader
    renderer: Rendering
    alias: str = ""
    _read: dict[str, pa.DataType] = field(default_factory=dict)
    _computed: dict[str, Expression] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return any(name == c.physical for c in self.node.columns)

    def type_of(self, name: str) -> pa.DataType:
        if name in self._computed:
            return self._computed[name].type
        output = next((o for o in self.node.computed if o.physical == name), None)
        if output is None or output.expr is None:
            return self._field(name)
        text = self.renderer.expr(output.expr, self.node.scope)
        made = translated(text, lambda parts: named(parts, self._field), self.renderer.zone)
        column = next(c for c in self.node.columns if c.physical == name)
        if column.part is Part.INSTANT and made.type != INSTANT:
            made = Apply(INSTANT, function="as instant", inputs=(made,))
        self._computed[name] = made
        return made.type

    def scan(self) -> _Table:
        return self

    def stages(self) -> tuple[Stage, ...]:
        return ()

    def needed(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.node.table.columns if c.name in self._read)

    def computed(self) -> Stage | None:
        return Stage(tuple(self._computed.items()), keeps=True) if self._computed else None

    def rowtime_checked(self) -> Rowtime | None:
        node = self.node
        if node.rowtime is None:
            return None
        if self.type_of(node.rowtime) != INSTANT:
            raise Unsuited(f"rowtime `{node.rowtime}` of type {self.type_of(node.rowtime)}")
        name = f"{node.table.name.name}.{node.rowtime}"
        since_1970 = node.watermarked and not self.renderer.at_once
        return Rowtime(node.rowtime, name, cast(Nulls, node.null_handling), since_1970=since_1970)

    def _field(self, name: str) -> pa.DataType:
        if name not in self._read:
            column = next((c for c in self.node.table.columns if c.name == name), None)
            if column is None:
                raise Unsuited(f"`{name}`")
            self._read[name] = self.readers.column(self.node.table, column)
        return self._read[name]


@dataclass
class _Selected(_Relation):
    """A SELECT without grouping over a relation."""

    node: nodes.Project
    below: _Relation
    renderer: Rendering
    alias: str = ""
    _made: dict[str, Expression] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return any(name == o.physical for o in self.node.outputs)

    def type_of(self, name: str) -> pa.DataType:
        if name not in self._made:
            output = next((o for o in self.node.outputs if o.physical == name), None)
            if output is None:
                raise Unsuited(f"`{name}`")
            self._made[name] = translated(self._text(output), self.below.resolve, self.renderer.zone)
        return self._made[name].type

    def scan(self) -> _Table:
        return self.below.scan()

    def stages(self) -> tuple[Stage, ...]:
        where = self._condition()  # which may need columns of the SELECT below that nothing else does
        return (*self.below.stages(), Stage(tuple(self._made.items()), where))

    def _condition(self) -> Expression | None:
        if self.node.where is None:
            return None
        text = self.renderer.expr(self.node.where, self.node.scope)
        return translated(text, self.below.resolve, self.renderer.zone)

    def _text(self, output: nodes.Output) -> str:
        if output.handed_on is not None:
            return identifier(output.handed_on.physical)
        assert output.expr is not None
        return self.renderer.expr(output.expr, self.node.scope)


def _relation(node: nodes.PlanNode, renderer: Rendering, alias: str = "") -> _Relation:
    if isinstance(node, nodes.Aliased):
        return _relation(node.input, renderer, node.alias)
    if isinstance(node, nodes.TagTime) and isinstance(node.input, nodes.Scan):  # marks of packed rows need none
        return _relation(node.input, renderer, alias)
    if isinstance(node, nodes.Project) and not node.hidden and node.letters is None:
        return _Selected(node, _relation(node.input, renderer), renderer, alias)
    if not isinstance(node, nodes.Scan):
        raise Unsuited(f"{node.step} between the table and the grouping")
    _require_suited(node)
    return _Table(node, reader_of(node.table), renderer, alias)


def _require_suited(scan: nodes.Scan) -> None:
    if not scan.is_stream:
        raise Unread("it is read as a table that stands still")
    _require_plain(scan)


def _require_plain(scan: nodes.Scan, *, holds: bool = False) -> None:
    """Check that nothing is asked of a table beside its rows.

    Args:
        holds: whether who reads it lets splits wait, as alignment asks.
    """
    if scan.own_reader and not has_splits(scan) and not holds:
        raise Unread("its rows are held back where they are read")
    if scan.retracts:
        raise Unread("its rows are changes")
    if scan.marked or scan.paced:
        raise Unread("its watermark is no constant delay behind its rows")


def add_packed(
    renderer: Rendering, inputs: Sequence[Pushed], function: str, arguments: tuple[tuple[str, object], ...]
) -> str:
    """Add the steps that read an operator's inputs and work on them there; return the view of all packed rows.

    One step for each input, and one more.
    """
    queries = []
    for pushed in inputs:
        told = renderer.tells_time(pushed.scan.table)
        read = renderer.add_step(partial(pushed.view, function=function, arguments=arguments, tells_time=told))
        queries.append(_packed_query(pushed.scan, read, renderer))
    return renderer.add_step(lambda name: SqlView(name, " UNION ALL ".join(queries)))


def _packed_query(scan: nodes.Scan, view: str, renderer: Rendering) -> str:
    """Return the query of the packed rows of a view; their marks move the watermark as the rows would.

    They stand in place of the table's rows, so all that moves a watermark (the end of the input, idle inputs) is there.
    """
    packed = "SELECT bucket, rows, now FROM"
    if not scan.watermarked or renderer.at_once:
        return f"{packed} {identifier(view)}"
    mark, least = (PlanColumn(name, TIMESTAMP_LTZ3, name) for name in (MARK, LEAST))
    others = [("bucket", INT), ("rows", BYTES), ("now", BIGINT), (READ, BIGINT), (TIMES, STRING)]
    if renderer.end is InputEnd.NONE and renderer.tells_time(scan.table):
        others.append((BEAT, TIMESTAMP_LTZ3))
    columns = tuple(PlanColumn(name, type_, name) for name, type_ in others)
    marked = replace(
        scan,
        columns=(*columns, replace(mark, time=Time.ROWTIME), least),
        view=view,
        computed=(),
        rowtime=MARK,
        # NULL rowtimes were judged where the rows were read (`Rowtime`). A NULL mark moves no watermark.
        null_handling="skip_watermark",
        packed=True,
    )
    return f"{packed} ({scan_sql(marked, renderer)})"
