"""Find what the names of a statement mean, by its text alone: relations, columns, and where both are defined.

What the analysis has bound is not asked: a statement that is still being written has nothing bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlext.dialect.ast import queries as q
from sqlext.dialect.ast import statements as s
from sqlext.dialect.ast.expressions import ColumnRef, Node
from sqlext.dialect.emit.nodes import LateTable
from sqlext.dialect.pieces import ColouredPiece
from sqlext.session.editing.steps import ScriptStep
from sqlext.source import SourceText, Span
from sqlext_catalog.model import ObjectName

_NAMES = ("name", "quoted", "keyword", "function")


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name means: a relation by its full name; a column or a CTE by where it is defined."""

    kind: str
    relation: ObjectName | None = None
    source: SourceText | None = None
    offset: int = 0
    #: The name, in lower case.
    word: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in the text of a step."""

    symbol: Symbol
    step: ScriptStep
    start: int
    end: int
    defines: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """The statement that defines a relation, and the step that it is."""

    step: ScriptStep
    statement: s.CreateTable | s.CreateView


#: Finds who defines a relation, None for one that the catalog alone knows.
FindDefinition = Callable[[ObjectName], "Definition | None"]


@dataclass(frozen=True, slots=True)
class _Level:
    """Names of one block: the relations of its FROM, the items of its SELECT, the CTEs that it can name."""

    relations: tuple[q.Relation, ...] = ()
    items: tuple[q.SelectItem, ...] = ()
    ctes: Mapping[str, q.Cte] | None = None


_Levels = tuple[_Level, ...]


def definitions(step: ScriptStep) -> Iterator[tuple[ObjectName, Definition]]:
    """Yield the relations that a step defines."""
    for checked in step.checked:
        statement = checked.statement
        if isinstance(statement, s.CreateTable | s.CreateView):
            yield step.before.state.catalog.resolve(statement.name), Definition(step, statement)


def occurrences(step: ScriptStep, find: FindDefinition) -> list[Occurrence]:
    """Return the names of a step whose meaning is known, in order."""
    found = []
    for checked in step.checked:
        if checked.statement is not None:
            try:
                found += list(_Names(step, find).of(checked.statement))
            except RecursionError:  # too deep a query: it was refused as such
                continue
    return sorted(dict.fromkeys(found), key=lambda o: o.start)


@dataclass(frozen=True)
class _Names:
    step: ScriptStep
    find: FindDefinition

    def of(self, statement: s.Statement) -> Iterator[Occurrence]:
        inner = statement.statement if isinstance(statement, s.Explain) else statement
        for part in inner.inserts if isinstance(inner, s.StatementSet) else (inner,):
            yield from self._named(part)
            yield from self._columns_of(part)
            yield from self._visit(part, ())

    # Relations

    def _named(self, statement: s.Statement) -> Iterator[Occurrence]:
        """Yield the relation that a statement itself names."""
        is_relation = isinstance(
            statement, s.CreateTable | s.CreateView | s.AlterTable | s.AlterView | s.Insert | s.Describe
        ) or (isinstance(statement, s.Drop) and statement.kind in ("TABLE", "VIEW", "MATERIALIZED VIEW"))
        span = getattr(statement, "name_span", None)
        if is_relation and isinstance(span, Span):
            defines = isinstance(statement, s.CreateTable | s.CreateView)
            yield from self._relation(statement.name, span, defines=defines)  # type: ignore[attr-defined]
        if isinstance(statement, s.CreateTable) and statement.like is not None:
            yield from self._relation(statement.like.table, statement.like.span)

    def _relation(self, parts: tuple[str, ...], span: Span, *, defines: bool = False) -> Iterator[Occurrence]:
        if not 1 <= len(parts) <= 3:
            return
        name = self.step.before.state.catalog.resolve(parts)
        token = self._token(span, parts[-1])
        if token is not None:
            yield Occurrence(
                Symbol("relation", name, word=name.name.lower()), self.step, token.start, token.end, defines
            )

    # Columns

    def _columns_of(self, statement: s.Statement) -> Iterator[Occurrence]:
        """Yield the columns that a definition or an INSERT names outside of expressions."""
        if isinstance(statement, s.CreateTable):
            types = [c.type_span for c in statement.columns if c.type_span is not None]
            for token in self._inside(statement.span):
                column = next((c for c in statement.columns if c.name == _plain(token)), None)
                if column is None or any(t.start <= token.start < t.end for t in types):
                    continue
                if token.start != statement.name_span.start:
                    yield self._column(column, self.step, token, defines=token.start == column.span.start)
        elif isinstance(statement, s.Insert) and statement.columns:
            found = self.find(self.step.before.state.catalog.resolve(statement.name))
            between = Span(statement.span.source, statement.name_span.end, statement.query.span.start)
            for token in self._inside(between) if found is not None else ():
                if _plain(token) in statement.columns and isinstance(found.statement, s.CreateTable):  # type: ignore[union-attr]
                    yield from self._defined(found.statement, found.step, _plain(token), token)  # type: ignore[union-attr]

    def _defined(self, table: s.CreateTable, step: ScriptStep, name: str, token: ColouredPiece) -> Iterator[Occurrence]:
        for column in table.columns:
            if column.name == name:
                yield self._column(column, step, token)

    def _column(
        self, column: s.ColumnDef, step: ScriptStep, token: ColouredPiece, *, defines: bool = False
    ) -> Occurrence:
        symbol = Symbol("column", None, step.source, column.span.start, column.name.lower())
        return Occurrence(symbol, self.step, token.start, token.end, defines)

    def _visit(self, node: Node, levels: _Levels) -> Iterator[Occurrence]:
        if isinstance(node, q.Query):
            yield from self._query(node, levels)
            return
        if isinstance(node, s.CreateTable | s.AlterTable):
            # Their expressions name their own columns, which are found by their words.
            if isinstance(node, s.CreateTable) and node.query is not None:
                yield from self._visit(node.query, levels)
            return
        if isinstance(node, q.Select):
            levels = (_Level(tuple(_relations(node.from_)), node.items), *levels)
            for item in node.items:
                if item.alias is not None:
                    yield from self._alias(item)
        elif isinstance(node, q.TableFunction):
            levels = (_Level(tuple(a.relation for a in _arguments(node))), *levels)
        elif isinstance(node, q.MatchRecognize):
            levels = (_Level((node.input,)), *levels)
        elif isinstance(node, q.TableRef):
            yield from self._table(node, levels)
        elif isinstance(node, LateTable):
            yield from self._relation(node.parts, node.span)
        elif isinstance(node, ColumnRef):
            yield from self._reference(node, levels)
        for child in node.children():
            yield from self._visit(child, levels)

    def _query(self, query: q.Query, levels: _Levels) -> Iterator[Occurrence]:
        ctes = dict(_ctes(levels))
        for cte in query.ctes:
            yield from self._visit(cte.query, (_Level(ctes=dict(ctes)), *levels))
            ctes[cte.name] = cte
            token = self._token(cte.span, cte.name)
            if token is not None:
                yield Occurrence(self._cte(cte), self.step, token.start, token.end, True)
        inside = (_Level(ctes=ctes), *levels)
        yield from self._visit(query.body, inside)
        block = query.body
        if isinstance(block, q.Select):
            inside = (_Level(tuple(_relations(block.from_)), block.items), *inside)
        for item in query.order_by:
            yield from self._visit(item, inside)

    def _cte(self, cte: q.Cte) -> Symbol:
        return Symbol("cte", None, self.step.source, cte.span.start, cte.name.lower())

    def _table(self, ref: q.TableRef, levels: _Levels) -> Iterator[Occurrence]:
        cte = _ctes(levels).get(ref.parts[0]) if len(ref.parts) == 1 else None
        if cte is None:
            yield from self._relation(ref.parts, ref.name_span)
            return
        token = self._token(ref.name_span, ref.parts[0])
        if token is not None:
            yield Occurrence(self._cte(cte), self.step, token.start, token.end)

    def _alias(self, item: q.SelectItem) -> Iterator[Occurrence]:
        tokens = [t for t in self._inside(item.span) if _plain(t) == item.alias]
        if tokens:
            symbol = Symbol("column", None, self.step.source, tokens[-1].start, (item.alias or "").lower())
            yield Occurrence(symbol, self.step, tokens[-1].start, tokens[-1].end, True)

    def _reference(self, ref: ColumnRef, levels: _Levels) -> Iterator[Occurrence]:
        tokens = list(self._inside(ref.span))
        # The qualifier may be missing, and fields may follow: the first part that is a column is the one.
        for index, token in enumerate(tokens[: len(ref.parts)]):
            qualifier = ref.parts[index - 1] if index else None
            symbol = self._meant(ref.parts[index], qualifier, levels)
            if symbol is not None:
                yield Occurrence(symbol, self.step, token.start, token.end)
                return

    def _meant(self, name: str, qualifier: str | None, levels: _Levels) -> Symbol | None:
        for index, level in enumerate(levels):
            for relation in level.relations:
                if qualifier is None or qualifier == _known_as(relation):
                    symbol = self._of_relation(relation, name, levels[index:])
                    if symbol is not None:
                        return symbol
            if qualifier is None:
                for item in level.items:
                    if item.alias == name:
                        return next((o.symbol for o in self._alias(item)), None)
        return None

    def _of_relation(self, relation: q.Relation, name: str, levels: _Levels) -> Symbol | None:
        """Return what a column of a relation is."""
        if isinstance(relation, q.TableRef):
            cte = _ctes(levels).get(relation.parts[0]) if len(relation.parts) == 1 else None
            if cte is not None:
                return self._of_query(cte.query, name, levels)
            found = self.find(self.step.before.state.catalog.resolve(relation.parts))
            return _Names(found.step, self.find).of_definition(found.statement, name) if found is not None else None
        if isinstance(relation, q.SubqueryRef):
            return self._of_query(relation.query, name, levels)
        if isinstance(relation, q.TableFunction):
            found_in = (self._of_relation(a.relation, name, levels) for a in _arguments(relation))
            return next((symbol for symbol in found_in if symbol is not None), None)
        return None

    def of_definition(self, statement: s.CreateTable | s.CreateView, name: str) -> Symbol | None:
        """Return what a column of the relation is that the step defines."""
        if isinstance(statement, s.CreateView):
            return None if statement.columns else self._of_query(statement.query, name, ())
        column = next((c for c in statement.columns if c.name == name), None)
        return (
            Symbol("column", None, self.step.source, column.span.start, column.name.lower())
            if column is not None
            else None
        )

    def _of_query(self, query: q.Query, name: str, levels: _Levels) -> Symbol | None:
        body = query.body
        while isinstance(body, q.SetOperation):
            body = body.left
        ctes = {**_ctes(levels), **{c.name: c for c in query.ctes}}
        levels = (_Level(ctes=ctes), *levels)
        if isinstance(body, q.TableBody):
            return self._of_relation(body.table, name, levels)
        if isinstance(body, q.Query):
            return self._of_query(body, name, levels)
        if not isinstance(body, q.Select):
            return None
        inside = (_Level(tuple(_relations(body.from_)), (), ctes), *levels)
        for item in body.items:
            if item.alias == name:
                return next((o.symbol for o in self._alias(item)), None)
            if item.alias is None and isinstance(item.expr, ColumnRef) and item.expr.parts[-1] == name:
                return self._meant(name, item.expr.parts[-2] if len(item.expr.parts) > 1 else None, inside)
        return self._meant(name, None, inside) if any(i.span.text.endswith("*") for i in body.items) else None

    # Words

    def _inside(self, span: Span) -> Iterator[ColouredPiece]:
        return (p for p in self.step.pieces if span.start <= p.start < span.end and p.kind in _NAMES)

    def _token(self, span: Span, name: str) -> ColouredPiece | None:
        return next((p for p in self._inside(span) if _plain(p) == name), None)


def _ctes(levels: _Levels) -> Mapping[str, q.Cte]:
    return next((level.ctes for level in levels if level.ctes is not None), {})


def _relations(relation: q.Relation | None) -> Iterator[q.Relation]:
    if isinstance(relation, q.Join):
        yield from _relations(relation.left)
        yield from _relations(relation.right)
    elif isinstance(relation, q.ParenRelation):
        yield from _relations(relation.relation)
    elif relation is not None:
        yield relation


def _arguments(function: q.TableFunction) -> Iterator[q.TableArgument]:
    return (node for arg in function.args for node in arg.walk() if isinstance(node, q.TableArgument))


def _known_as(relation: q.Relation) -> str | None:
    alias = getattr(relation, "alias", None)
    if isinstance(alias, q.Alias):
        return alias.name
    return relation.parts[-1] if isinstance(relation, q.TableRef) else None


def _plain(token: ColouredPiece) -> str:
    return token.text.strip("`").replace("``", "`")
