"""Leave out what operators carry and nobody looks at, in a query that is one batch.

State has a layout of its own, whoever looks at it. One batch keeps none. So what comes out of an operator for nobody
goes in as NULL: nothing of it is decoded, packed or moved. The operator's columns stay as the query's texts name them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

import pyarrow as pa

from sqlext.rewrite.compiler.handed_on import HandedOn, with_what_is_read
from sqlext.rewrite.script.model import ArrowView, Onward, OperatorView, Step
from sqlext.sources.program import Program
from sqlext_udfs.expressions.columns import Literal

_Takes = TypeVar("_Takes", ArrowView, Onward)


def narrowed(handed: HandedOn, shares: Callable[[ArrowView], bool]) -> HandedOn:
    """Return a query whose operators carry what is looked at.

    Args:
        handed: the query.
        shares: whether the rows of a view are made for others too.
    """
    steps = {step.view: step for step in handed.script.steps}
    # From the top: what an operator gives says what it takes, and so what is given below it.
    for view in reversed(steps):
        step = steps[view]
        read = _read(handed, step) if isinstance(step, OperatorView) else None
        if isinstance(step, OperatorView) and read is not None and step.function in _RULES:
            places = _RULES[step.function](dict(step.arguments), read)
            for giver in _givers(step, steps) if places is not None else ():
                if places is not None and not (isinstance(giver, ArrowView) and shares(giver)):
                    steps[giver.view] = _giving(giver, places)
    return replace(handed, script=replace(handed.script, steps=tuple(steps.values())))


def _read(handed: HandedOn, step: OperatorView) -> frozenset[str] | None:
    """Return the columns of an operator that are looked at; None where Spark takes its rows."""
    if step.onward is not None:
        program = cast(Program, step.onward.program)
    elif handed.last is not None and handed.last.view == step.view:
        program = handed.last.program
    else:
        return None
    firsts = [first for first, *_ in program.branches]
    values = [value for first in firsts for _, value in first.columns]
    values += [first.where for first in firsts if first.where is not None]
    return frozenset().union(*(value.columns() for value in values))


def _givers(step: OperatorView, steps: Mapping[str, Step]) -> list[ArrowView | OperatorView]:
    """Return what gives an operator its packed rows."""
    own = tuple(of for of in step.arguments if of[0] != "packed")
    found: list[ArrowView | OperatorView] = []
    for other in steps.values():
        if isinstance(other, (ArrowView, OperatorView)):
            takes = other.onward if isinstance(other, OperatorView) else other
            if takes is not None and (takes.function, takes.arguments) == (step.function, own):
                found.append(other)
    return found


def _giving(giver: ArrowView | OperatorView, places: frozenset[int]) -> Step:
    if isinstance(giver, ArrowView):
        return _taken(giver, places)
    assert giver.onward is not None
    return replace(giver, onward=_taken(giver.onward, places))


def _taken(takes: _Takes, places: frozenset[int]) -> _Takes:
    """Return what makes an operator's rows, with some of their columns alone."""
    program, types = cast(Program, takes.program), cast("tuple[pa.DataType, ...]", takes.types)
    branches = []
    for *others, last in program.branches:
        found = enumerate(zip(last.columns, types, strict=True))
        columns = tuple((name, value if n in places else Literal(of)) for n, ((name, value), of) in found)
        branches.append(with_what_is_read((*others, replace(last, columns=columns))))
    return replace(takes, program=replace(program, branches=tuple(branches)))


def _of_rank(arguments: Mapping[str, object], read: frozenset[str]) -> frozenset[int] | None:
    """Return the columns that a ranking looks at, or that are looked at above it; None for all.

    Rows that are taken back are found by all their columns.
    """
    fields = dict(cast("tuple[tuple[str, object], ...]", arguments["specification"]))
    names, out = cast("tuple[str, ...]", arguments["columns"]), cast("tuple[int, ...]", fields["out"])
    order = cast("tuple[tuple[int, bool, bool], ...]", fields["order"])
    if fields["kind"] is not None:
        return None
    carried = {place for name, place in zip(names, out, strict=False) if name in read}
    time = cast("int | None", fields["time"])
    own = {*range(cast(int, fields["keys"])), *(place for place, *_ in order)}
    return frozenset(own | carried | ({time} if time is not None else set()))


_RULES: Mapping[str, Callable[[Mapping[str, object], frozenset[str]], frozenset[int] | None]] = {"rank": _of_rank}
