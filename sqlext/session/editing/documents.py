"""Keep a document and what was found in it; a change checks the changed statements and those that depend on them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal

from sqlext.dialect.script import split_script, statement_start
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.session.editing.steps import Patch, ScriptStep, Surroundings, patch_between, step_of
from sqlext.session.offline.checking import whole_script
from sqlext.source import SourceText, Span

#: What a model of dbt has and SQL has not, for instance `{{ ref('orders') }}` and `{% if ... %}`.
_TEMPLATE = re.compile(r"\{\{-?\s*[a-z_]\w*\s*[(}|.]|\{%-?\s*[a-z]|\{#\s")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """Something to be shown at the characters [start, end) of a document."""

    start: int
    end: int
    severity: Literal["error", "warning", "information"]
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A character of a document: a step, and the offset in its text; below zero in the comments before it."""

    step: ScriptStep
    offset: int


class Document:
    """A text that changes. Its statements are checked when they are asked for.

    Args:
        name: the file's, as messages show it.
        text: what the user wrote.
        base: what its first statement sees.
        variables: values of ``${NAME}``; one without a value stands for itself.
    """

    def __init__(self, name: str, text: str, base: Surroundings, variables: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._variables = variables or {}
        self._base = base
        self._steps: list[ScriptStep] = []
        #: For each statement the step of an earlier version that may still hold, if its text is the same.
        self._earlier: list[ScriptStep | None] = []
        #: What the last step that was kept has left, before and now, and how these differ.
        self._patched: tuple[Surroundings, Surroundings, Patch] | None = None
        self._take(text)

    @property
    def text(self) -> str:
        """What the user wrote."""
        return self._source.original

    @property
    def is_template(self) -> bool:
        """Whether it is no SQL but makes some: what that is, only its own tool knows, so nothing is said of it."""
        return _TEMPLATE.search(self.text) is not None

    def update(self, text: str, base: Surroundings | None = None) -> None:
        """Take another version of the text, and of what its first statement sees."""
        if base is not None and base is not self._base:
            self._base, self._earlier, self._steps = base, self._known(), []
        elif text != self.text:
            self._earlier = self._known()
        else:
            return
        self._take(text)

    def copied(self) -> Document:
        """Return a document of its own with the same text; what was found is not looked for again."""
        other = copy(self)
        # These two grow in place.
        vars(other).update(_steps=list(self._steps), _index=dict(self._index))
        return other

    def _known(self) -> list[ScriptStep | None]:
        """Return the step of each statement, as far as there is one; none stands twice."""
        return [*self._steps, *self._earlier[len(self._steps) :]]

    def _take(self, text: str) -> None:
        given = {name: f"${{{name}}}" for name in _VARIABLE.findall(text)}
        #: Why the values of the variables cannot stand where they are wanted.
        self._refused: SqlExtError | None = None
        try:
            self._source = substitute(text, {**given, **self._variables}, self.name)
        except SqlExtError as error:
            self._refused, self._source = error, substitute(text, given, self.name)
        whole = list(split_script(self._source.text))
        #: Without the comments before it: these change nothing, and no step moves away from itself.
        self._ranges = [(statement_start(self._source.text, *found), found[1]) for found in whole]
        self._begins = [self._source.original_offset(start) for start, _ in whole]
        self._starts = [self._source.original_offset(start) for start, _ in self._ranges]
        parts = [self._source.text[start:end] for start, end in self._ranges]
        same = 0
        while same < min(len(parts), len(self._steps)) and parts[same] == self._steps[same].source.text:
            same += 1
        self._steps = self._steps[:same]
        #: Where each step stands, by its source: two steps of one text have two.
        self._index = {step.source: index for index, step in enumerate(self._steps)}
        self._earlier = _aligned(self._earlier, parts, same)

    # Steps

    def __len__(self) -> int:
        return len(self._ranges)

    def step(self, index: int) -> ScriptStep:
        """Return a step, checked now if it was not."""
        while len(self._steps) <= index:
            found = self._next()
            self._index[found.source] = len(self._steps)
            self._steps.append(found)
        return self._steps[index]

    def steps(self) -> Iterator[ScriptStep]:
        """Yield every step."""
        return map(self.step, range(len(self)))

    @property
    def after(self) -> Surroundings:
        """What the whole document leaves behind."""
        return self.step(len(self) - 1).after if len(self) else self._base

    def _next(self) -> ScriptStep:
        at = len(self._steps)
        before = self._steps[-1].after if at else self._base
        earlier = self._earlier[at]
        kept = self._kept(earlier, before, at) if earlier is not None else None
        if kept is not None:
            return kept
        return step_of(self._source.part(*self._ranges[at]), before)

    def _kept(self, earlier: ScriptStep, before: Surroundings, at: int) -> ScriptStep | None:
        """Return a step of an earlier version as it is now, None if it must be checked again."""
        if earlier.names_places and self._lead(earlier.source) != self._lead(self._source.part(*self._ranges[at])):
            return None
        patch = self._difference(earlier.before, before)
        if patch is None or patch.names & earlier.words:
            self._patched = None
            return None
        if not patch.names:
            return earlier
        after = patch.applied(earlier.after)
        self._patched = earlier.after, after, patch
        return replace(earlier, before=before, after=after)

    def _difference(self, old: Surroundings, new: Surroundings) -> Patch | None:
        """Return what leads from old surroundings to new ones; behind a step that was kept it is known."""
        if self._patched is not None and self._patched[0] is old and self._patched[1] is new:
            return self._patched[2]
        return patch_between(old, new)

    # Places

    def place(self, offset: int) -> DocumentPlace | None:
        """Return what stands at an offset of the user's text; None in an empty document."""
        index = bisect_right(self._begins, offset) - 1
        if index < 0:
            return None
        step = self.step(index)
        wanted = offset - self._starts[index]
        return DocumentPlace(step, wanted if wanted < 0 else step.source.offset_of(wanted + self._lead(step.source)))

    def range_of(self, step: ScriptStep, start: int, end: int) -> tuple[int, int] | None:
        """Return where characters of a step's text stand in the user's text; None for a step of another version."""
        source, at = step.source, self._index.get(step.source)
        if at is None:
            return None
        shift = self._starts[at] - self._lead(source)
        return source.original_offset(start) + shift, source.original_offset(end) + shift

    def range_of_span(self, span: Span) -> tuple[int, int] | None:
        """Return where a span stands in the user's text; None for one of another text, such as a stored view's."""
        at = self._index.get(span.source)
        return None if at is None else self.range_of(self._steps[at], span.start, span.end)

    @staticmethod
    def _lead(source: SourceText) -> int:
        """Return how many characters of a part's original stand for what is before it."""
        return source.original_offset(0)

    # Findings

    def findings(self) -> list[DocumentFinding]:
        """Return what is wrong, what may not be meant, and which variables have no value, in order."""
        if self.is_template:
            return []
        found = dict.fromkeys(f for step in self.steps() for f in self.findings_of(step))
        if self._refused is not None and self._refused.span is not None:
            span = self._refused.span
            found[_finding(self._refused, (span.start, span.end), self._refused.message)] = None
        checked = [one for step in self.steps() for one in step.checked]
        for error in whole_script(checked, self.after.state):
            place = self.range_of_span(error.span) if error.span is not None else None
            if place is not None:
                found[_finding(error, place, error.message)] = None
        return sorted(found, key=lambda f: (f.start, f.end))

    def findings_of(self, step: ScriptStep) -> list[DocumentFinding]:
        """Return what was found in one step."""
        unset = list(self._unset(step))
        # What stands for a value that is not known says nothing about the statement.
        told = () if any(f.severity == "error" for f in unset) else step.checked
        return [*unset, *(self._shown(error, checked.span, step) for checked in told for error in checked.found)]

    def _shown(self, error: SqlExtError, statement: Span, step: ScriptStep) -> DocumentFinding:
        place = self.range_of_span(error.span) if error.span is not None else None
        message = error.message
        if place is None:
            place = self.range_of(step, statement.start, statement.end) or (0, 0)
            # Such as the text of a view that an earlier script has made.
            message = f"{message} (in {error.file})" if error.file else message
        return _finding(error, place, message)

    def _unset(self, step: ScriptStep) -> Iterator[DocumentFinding]:
        """Yield the variables without a value: an error where one is no part of a string."""
        for match in _VARIABLE.finditer(step.source.text):
            if match.group(1) in self._variables:
                continue
            kinds = {p.kind for p in step.pieces if p.start <= match.start() < p.end}
            place = self.range_of(step, *match.span())
            if place is None or "comment" in kinds:
                continue
            message = f"the variable ${{{match.group(1)}}} has no value here"
            yield DocumentFinding(*place, "information" if "string" in kinds else "error", "NAME-001", message)


def _aligned(old: list[ScriptStep | None], parts: list[str], same: int) -> list[ScriptStep | None]:
    """Return the old step of each part that has its text: from the end on, and all where no statement came or went.

    Args:
        same: so many parts at the beginning have their steps already.
    """

    def held(step: ScriptStep | None, part: str) -> ScriptStep | None:
        return step if step is not None and step.source.text == part else None

    if len(old) == len(parts):
        return [*([None] * same), *map(held, old[same:], parts[same:])]
    most, last = min(len(parts), len(old)) - same, 0
    while last < most and (old[-1 - last] is None or held(old[-1 - last], parts[-1 - last])):
        last += 1
    return [*([None] * (len(parts) - last)), *old[len(old) - last :]]


def _finding(error: SqlExtError, place: tuple[int, int], message: str) -> DocumentFinding:
    text = f"{message}\nhint: {error.hint}" if error.hint else message
    return DocumentFinding(*place, error.severity, error.code, text)
