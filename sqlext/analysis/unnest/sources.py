"""Check the arguments of UNNEST and table functions, and name the columns that they make.

Flink: docs sql/queries/joins, "Array, Multiset and Map Expansion". An array of rows gives a column for each field, a
map its key and its value. WITH ORDINALITY adds an INT that counts from 1. Measured with Flink 2.3: any other array
gives one column, called as the alias is; a row that is NULL gives no row.
"""

from __future__ import annotations

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Expr, NamedArgument
from sqlext.dialect.ast.queries import TableFunction, Unnest
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Scope
from sqlext.plan.unnest import Elements, TableCall
from sqlext.types import INT, Field


def source_of(relation: Unnest | TableFunction, scope: Scope, env: Environment) -> Elements | TableCall:
    """Return what makes the rows, its expressions in the names of ``scope``.

    Raises:
        SqlExtError: UNNEST-001 for what is no array, map or multiset, UNNEST-002 for a type that is not known here,
            UNNEST-003 for several arguments; FUNC-002 for a wrong number of arguments of a table function.
    """
    if isinstance(relation, TableFunction):
        return _call(relation, scope, env)
    if len(relation.operands) != 1:
        raise SqlExtError(
            "UNNEST-003", "UNNEST takes one array, map or multiset", span=relation.span, hint="write one UNNEST each"
        )
    (operand,) = relation.operands
    type_ = infer(operand, scope)
    # An array of rows gives a column for each field, any other array one: the type must be known.
    if type_ is None:
        message = "what UNNEST gives depends on the type of its argument, which is not known here"
        raise SqlExtError("UNNEST-002", message, span=operand.span, hint="CAST(... AS ARRAY<INT>), or whatever it is")
    if type_.root not in ("ARRAY", "MAP", "MULTISET"):
        message = f"UNNEST takes an array, map or multiset, this is {type_}"
        raise SqlExtError("UNNEST-001", message, span=operand.span)
    return Elements(operand, type_, relation.ordinality)


def _call(relation: TableFunction, scope: Scope, env: Environment) -> TableCall:
    found = env.functions.require("table", relation.name, "FUNC-004")
    arguments = tuple(a for a in relation.args if isinstance(a, Expr) and not isinstance(a, NamedArgument))
    if len(arguments) != len(relation.args):
        raise SqlExtError("FUNC-002", f"`{found.name}` takes values by place", span=relation.span)
    wrong = found.check_count(len(arguments))
    if wrong is not None:
        raise SqlExtError("FUNC-002", wrong, span=relation.span)
    for argument in arguments:
        infer(argument, scope)
    return TableCall(found.name, found.implementation, arguments)


def made_columns(
    source: Elements | TableCall, relation: Unnest | TableFunction, env: Environment, *, outer: bool
) -> tuple[PlanColumn, ...]:
    """Return the columns of the rows that are made; with ``outer`` each may be NULL.

    Raises:
        SqlExtError: NAME-007 if the relation names more or fewer columns.
    """
    alias = relation.alias
    fields = _fields(source, alias.name if alias is not None else "EXPR$0", env)
    if alias is not None and alias.columns and len(alias.columns) != len(fields):
        message = f"{len(alias.columns)} column names for the columns {', '.join(f.name for f in fields)}"
        raise SqlExtError("NAME-007", message, span=relation.span)
    return tuple(PlanColumn(f.name, f.type.as_nullable() if outer else f.type, f.name) for f in fields)


def _fields(source: Elements | TableCall, name: str, env: Environment) -> tuple[Field, ...]:
    if isinstance(source, TableCall):
        returns = env.functions.require("table", source.function, "FUNC-004").returns
        return returns.fields if returns is not None else ()
    element = source.type.children[0]
    if source.type.root == "MAP":
        fields: tuple[Field, ...] = (Field("KEY", element), Field("VALUE", source.type.children[1]))
    else:
        fields = element.fields if element.root == "ROW" else (Field(name, element),)
    return (*fields, Field("ORDINALITY", INT.not_null())) if source.ordinality else fields
