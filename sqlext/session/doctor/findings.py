"""Hold what was found, line by line, and print it as a table."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from sqlext.errors import SqlExtError

if TYPE_CHECKING:
    from rich.console import Group

State = Literal["ok", "note", "refused"]

#: How wide the text is: a notebook and most terminals have this room.
_WIDTH = 120
_STYLES: dict[State, str] = {"ok": "green", "note": "yellow", "refused": "bold red"}


class _Refusing(Protocol):
    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One line.

    Attributes:
        area: what it belongs to, for instance ``versions``.
        name: what was looked at.
        state: ``ok``; ``note``, it works but not all of it or not in the best way; ``refused``, what needs it is.
        found: what is there, or what is wrong.
        advice: what to do, None where nothing is to be done.
        code: of the refusal, None where nothing is refused.
        needed: whether ``sqlext run`` cannot do without it.
    """

    area: str
    name: str
    state: State
    found: str
    advice: str | None = None
    code: str | None = None
    needed: bool = False

    def softened(self, why: str) -> Finding:
        """Return it as a note that says why what is missing is not needed."""
        if self.state != "refused":
            return self
        return replace(self, state="note", found=f"{self.found}; {why}", advice=None, code=None, needed=False)


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """All that was found, in the order of the table. Its text is the table."""

    findings: tuple[Finding, ...]

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What is missing and needed to run a statement."""
        return tuple(f for f in self.findings if f.needed and f.state == "refused")

    @property
    def ready(self) -> bool:
        """Whether nothing that is needed to run a statement is missing."""
        return not self.missing

    def __rich__(self) -> Group:
        """Return the table as Rich prints it."""
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD)
        for head in ("area", "what", "state", "found", "what to do"):
            table.add_column(head, overflow="fold")
        before = ""
        for f in self.findings:
            found = f"{f.code}: {f.found}" if f.code else f.found
            # Text, not str: Rich would read [brackets] of extras as markup.
            cells = (f.area if f.area != before else "", f.name, found, f.advice or "")
            area, name, told, advice = map(Text, cells)
            table.add_row(area, name, Text(f.state, _STYLES[f.state]), told, advice)
            before = f.area
        return Group(table, Text(f"  {self._verdict()}"))

    def _verdict(self) -> str:
        if self.ready:
            return "Nothing is missing that `sqlext run` needs."
        return f"`sqlext run` needs what is missing: {', '.join(f.name for f in self.missing)}."

    def __str__(self) -> str:
        """Return the table as text, without colours."""
        from rich.console import Console

        text = io.StringIO()
        Console(file=text, width=_WIDTH, force_terminal=False, color_system=None).print(self)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    # What a notebook shows of the last line of a cell.
    __repr__ = __str__


def refused(area: str, name: str, why: _Refusing, *, needed: bool = False) -> Finding:
    """Return the line of a refusal (an error, or a problem of the machine)."""
    return Finding(area, name, "refused", why.message, why.hint, why.code, needed)


def refusal(check: Callable[[], object]) -> SqlExtError | None:
    """Return what a check raises, None if it passes."""
    try:
        check()
    except SqlExtError as error:
        return error
    return None
