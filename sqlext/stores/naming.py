"""Let an error of the file system say where it came from: of a full disk Python and Arrow do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

#: By which libraries show what has caused what.
_COLOURS = re.compile(r"\x1b\[\d*m|\u21b3")


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Let an ``OSError`` of the block have this file or folder as its ``filename``, if it has none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or place
        raise


def told(error: OSError) -> str:
    """Return what an error of the file system says, with its file: ``[Errno 28] No space left on device: '/x/y'``."""
    # Libraries raise it with a text alone, of several lines and with colours.
    text = str(error) if error.errno is not None else " ".join(map(str, error.args))
    said = in_one_line(text)
    return said if not error.filename or str(error.filename) in said else f"{said}: '{error.filename}'"


def in_one_line(text: str) -> str:
    """Return what a library says, without its lines and colours."""
    return " ".join(_COLOURS.sub("", text).split())
