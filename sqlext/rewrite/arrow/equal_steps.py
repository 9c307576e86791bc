"""Leave out steps of a query of this process that do what an earlier one has done: a query in WITH is computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.sources.queries import Branch, TableQuery

if TYPE_CHECKING:
    from sqlext.rewrite.arrow.in_process import LocalStep

#: What an operator is told that tells it from others alone.
_NAME = "name"


def each_once(steps: Sequence[LocalStep], query: TableQuery) -> tuple[list[LocalStep], TableQuery]:
    """Return the steps of a query that is one batch, each once, and its last SELECT over them."""
    called: dict[str, str] = {}
    known: list[tuple[object, str]] = []
    kept: list[LocalStep] = []
    for step in steps:
        renamed = _renamed(step, called)
        does = _does(renamed)
        same = next((view for other, view in known if other == does), None)
        if same is not None:
            called[step.view] = same
            continue
        known.append((does, step.view))
        kept.append(renamed)
    return kept, _over(query, called)


def _renamed(step: LocalStep, called: Mapping[str, str]) -> LocalStep:
    """Return a step over the views that are left."""
    from sqlext.rewrite.arrow.in_process import Operated, Queried

    if isinstance(step, Queried):
        return replace(step, query=_over(step.query, called))
    return replace(step, input=called.get(step.input, step.input)) if isinstance(step, Operated) else step


def _over(query: TableQuery, called: Mapping[str, str]) -> TableQuery:
    branches = tuple(
        Branch(called.get(b.of, b.of) if isinstance(b.of, str) else _over(b.of, called), b.stage)
        for b in query.branches
    )
    return replace(query, branches=branches)


def _does(step: LocalStep) -> object:
    """Return what a step does, whatever it is called. Texts are compared too: -0.0 is equal to 0.0."""
    from sqlext.rewrite.arrow.in_process import Operated, Queried

    match step:
        case ReadView():
            return "read", replace(step, view="", scan=""), repr(step.program)
        case ArrowView():
            plain = replace(step, view="", scan="", arguments=tuple(a for a in step.arguments if a[0] != _NAME))
            return "packed", plain, repr((plain.program, plain.arguments))
        case Queried():
            return "query", step.query, repr(step.query)
        case Operated():
            told = {name: value for name, value in step.arguments.items() if name != _NAME}
            return "operator", step.input, step.function, step.packed, repr(told)
    return step.view
