"""Keep which dead letters were fed back into a query: that is decided by one file, which is there or is not.

replays/<table>/<number>.txt    a dead letter a line, as JSON

The query reads the folder as a source, each file in one micro-batch. Nothing is ever removed from it: what stands there
is fed back, and is not fed back again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlext.plan.bad_rows import LETTER
from sqlext.rewrite.script.side_rows import CODE, REPLAY, ROW
from sqlext.stores.location import Location


@dataclass(frozen=True, slots=True)
class Corrected:
    """A dead letter as it is fed back.

    Attributes:
        letter: its name.
        code: that of the error that made it one.
        row: the row as JSON.
    """

    letter: str
    code: str
    row: str


@dataclass(frozen=True, slots=True)
class Staged:
    """A replay into one table of a query.

    Attributes:
        number: which one of that table it is; None if there was nothing to do.
        rows: how many dead letters are fed back.
        before: how many of those that were asked for had been fed back before.
    """

    number: int | None
    rows: int
    before: int


def stage(folder: Location, letters: Sequence[Corrected]) -> Staged:
    """Feed dead letters back that were not fed back before, all of them or none.

    Whoever does so at the same time takes the next number, and looks again at what is left then. A name that comes
    twice, as of rows that were copied or written at least once, is that of one dead letter.
    """
    letters = list({letter.letter: letter for letter in reversed(letters)}.values())[::-1]
    while True:
        numbers = sorted(_numbers(folder))
        done = {name for number in numbers for name in _letters(folder, number)}
        left = [letter for letter in letters if letter.letter not in done]
        before = len(letters) - len(left)
        if not left:
            return Staged(None, 0, before)
        number = numbers[-1] + 1 if numbers else 1
        text = "".join(f"{_line(letter, number)}\n" for letter in left)
        if folder.store.create(_key(number), text.encode("utf-8")) is not None:
            return Staged(number, len(left), before)


def _line(letter: Corrected, number: int) -> str:
    return json.dumps({LETTER: letter.letter, CODE: letter.code, REPLAY: str(number), ROW: letter.row})


def _numbers(folder: Location) -> Iterator[int]:
    for name in folder.names():
        stem, _, end = name.partition(".")
        if end == "txt" and stem.isdecimal():
            yield int(stem)


def _letters(folder: Location, number: int) -> Iterator[str]:
    for line in (folder.text(_key(number)) or "").splitlines():
        yield json.loads(line)[LETTER]


def _key(number: int) -> str:
    return f"{number:08d}.txt"
