"""Bind TO_CHANGELOG and FROM_CHANGELOG in FROM, by the rules of Flink 2.3.

``TO_CHANGELOG(input => TABLE t, op => DESCRIPTOR(op), op_mapping => MAP['INSERT, UPDATE_AFTER', 'I', ...])`` gives the
changes of ``t`` as rows: a column ``op`` and those of ``t``. Changes that the mapping does not name are left out.
``FROM_CHANGELOG(input => TABLE t, op => ..., op_mapping => MAP['c, r', 'INSERT', ...])`` is the way back.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.analysis.relations.binding import Binding
from sqlext.analysis.relations.changelogs import every_change
from sqlext.analysis.relations.materialisation import materialised
from sqlext.dialect.ast.expressions import ColumnRef, Literal, MapValue, NamedArgument, Node
from sqlext.dialect.ast.queries import Descriptor, TableArgument, TableFunction
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import PlanNode
from sqlext.types import STRING
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

_KINDS = {"INSERT": INSERT, "UPDATE_BEFORE": UPDATE_BEFORE, "UPDATE_AFTER": UPDATE_AFTER, "DELETE": DELETE}
_ARGUMENTS = ("INPUT", "OP", "OP_MAPPING")
_USAGE = "{}(input => TABLE t, op => DESCRIPTOR(op), op_mapping => MAP[...]); op and op_mapping may be left out"


def bind_changelog_function(call: TableFunction, binding: Binding) -> PlanNode:
    """Return the plan of a call.

    Raises:
        SqlExtError: FUNC-038 for arguments that it does not take, FUNC-039 for an input that it cannot read,
            NAME-003 for a column of operations that is not there.
    """
    arguments = _arguments(call)
    return CHANGELOG_FUNCTIONS[call.function](call, arguments, _input(call, arguments, binding), binding)


def _to_changelog(call: TableFunction, arguments: dict[str, Node], node: PlanNode, binding: Binding) -> PlanNode:
    node = materialised(every_change(node), binding.env, f"{call.function} makes plain rows", call.span)
    physical = "__op"
    # Rows that went through TO_CHANGELOG before have such a column already.
    while physical in node.physical_columns():
        physical += "_1"
    op = PlanColumn(_op(call, arguments), STRING.not_null(), physical)
    codes = [(kind, code.value) for key, code in _mapping(call, arguments) for kind in _kinds(key)]
    _check_once([kind for kind, _ in codes], call, arguments)
    return ToChangelog((op, *node.columns), node, physical, tuple(codes or [(k, n) for n, k in _KINDS.items()]))


def _from_changelog(call: TableFunction, arguments: dict[str, Node], node: PlanNode, binding: Binding) -> PlanNode:
    # As in Flink the input is append-only: its rows themselves say what they change.
    if node.updating or node.changelog or not node.streaming:
        what = "rows that are only added" if node.streaming else "a stream: changes are none of batch mode"
        raise SqlExtError("FUNC-039", f"{call.function} reads {what}", span=arguments["INPUT"].span)
    node = materialised(node, binding.env, f"{call.function} makes plain rows", call.span)
    name = _op(call, arguments)
    op = next((c for c in node.columns if c.name == name), None)
    if op is None:
        known = [c.name for c in node.columns]
        hint = did_you_mean(name, known) or "name the column of operations: op => DESCRIPTOR(column)"
        span = arguments.get("OP", call).span
        raise SqlExtError("NAME-003", f"the input has no column `{name}`", span=span, hint=hint)
    if op.type is not None and not op.type.is_text:
        span = arguments.get("OP", call).span
        raise SqlExtError("FUNC-039", f"column `{name}` must be STRING, it is {op.type}", span=span)
    codes = [(c, _kinds(kind)[0]) for key, kind in _mapping(call, arguments) for c in _parts(key.value)]
    _check_once([code for code, _ in codes], call, arguments)
    kinds = {kind for _, kind in codes}
    if UPDATE_AFTER in kinds and UPDATE_BEFORE not in kinds:
        raise SqlExtError(
            "FUNC-038",
            "an UPDATE_AFTER without UPDATE_BEFORE does not say which row it takes the place of",
            span=arguments["OP_MAPPING"].span,
            hint="map a code to UPDATE_BEFORE too, or read the updates by their key into a delta table",
        )
    # The code becomes the kind of the row, so the result has no such column.
    columns = tuple(c for c in node.columns if c is not op)
    return FromChangelog(columns, node, op.physical, tuple(codes or _KINDS.items()))


def _arguments(call: TableFunction) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for i, arg in enumerate(call.args):
        named = isinstance(arg, NamedArgument)
        name = arg.name.upper() if isinstance(arg, NamedArgument) else dict(enumerate(_ARGUMENTS)).get(i, "")
        if name not in _ARGUMENTS or name in found:
            what = f"no argument `{arg.name}`" if isinstance(arg, NamedArgument) else "three arguments at most"
            hint = did_you_mean(name, _ARGUMENTS) if named else None
            raise _refused(call, arg, f"{call.function} has {what}", hint)
        found[name] = arg.value if isinstance(arg, NamedArgument) else arg
    return found


def _input(call: TableFunction, arguments: dict[str, Node], binding: Binding) -> PlanNode:
    argument = arguments.get("INPUT")
    if not isinstance(argument, TableArgument):
        raise _refused(call, argument or call, f"{call.function} needs a table")
    if argument.partition_by:
        hint = "leave it out: rows of one key stay in their order"
        raise _refused(call, argument.partition_by[0], f"{call.function} takes no PARTITION BY", hint)
    return binding.from_clause().bind(argument.relation)


def _op(call: TableFunction, arguments: dict[str, Node]) -> str:
    """Return the name of the column of operations."""
    argument = arguments.get("OP")
    if argument is None:
        return "op"
    column = argument.columns[0] if isinstance(argument, Descriptor) and len(argument.columns) == 1 else None
    if not isinstance(column, ColumnRef) or len(column.parts) > 1:
        raise _refused(call, argument, "op must be one column: DESCRIPTOR(column)")
    return column.parts[0]


def _mapping(call: TableFunction, arguments: dict[str, Node]) -> Iterator[tuple[Literal, Literal]]:
    """Yield the pairs of op_mapping: constants, whose names of changes are known."""
    argument = arguments.get("OP_MAPPING")
    if argument is None:
        return
    items = argument.items if isinstance(argument, MapValue) else ()
    if not items or len(items) % 2:
        raise _refused(call, argument, "op_mapping must be MAP['...', '...', ...]")
    changes = 0 if call.function == "TO_CHANGELOG" else 1
    for pair in zip(items[::2], items[1::2], strict=True):
        key, value = pair
        if not isinstance(key, Literal) or not isinstance(value, Literal) or {key.kind, value.kind} != {"STRING"}:
            raise _refused(call, argument, "op_mapping takes strings")
        told = pair[changes]
        assert isinstance(told, Literal)
        names = _parts(told.value) if changes == 0 else [told.value.strip()]
        for name in names:
            if name not in _KINDS:
                hint = did_you_mean(name, _KINDS) or f"there are {', '.join(_KINDS)}"
                raise _refused(call, told, f"`{name}` is no change of a row", hint)
        yield key, value


def _kinds(names: Literal) -> list[int]:
    return [_KINDS[name] for name in _parts(names.value)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _check_once(keys: list[object], call: TableFunction, arguments: dict[str, Node]) -> None:
    if len(set(keys)) < len(keys):
        raise _refused(call, arguments["OP_MAPPING"], "op_mapping names an operation twice")


def _refused(call: TableFunction, node: Node, message: str, hint: str | None = None) -> SqlExtError:
    return SqlExtError("FUNC-038", message, span=node.span, hint=hint or _USAGE.format(call.function))


CHANGELOG_FUNCTIONS = {"TO_CHANGELOG": _to_changelog, "FROM_CHANGELOG": _from_changelog}
