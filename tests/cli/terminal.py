"""A real pseudo-terminal, and an emulator that shows what a user would see on it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

import pyte

_ENTER, _CTRL_C, _CTRL_D, _TAB = "\r", "\x03", "\x04", "\t"


class Terminal:
    """A program in a terminal of its own.

    Attributes:
        rows, columns: its size; enough rows that nothing scrolls away.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], rows: int = 300, columns: int = 120) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        self._screen.write_process_input = self._answer
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**_without_size(os.environ), "TERM": "xterm-256color", **env},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    @property
    def text(self) -> str:
        """What is on the screen, without blanks at the ends of lines and empty lines at its end."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def colours(self, word: str) -> set[str]:
        """Return the colours in which a word is shown, wherever it stands."""
        found = set()
        for number, line in enumerate(self._screen.display):
            at = line.find(word)
            if at >= 0:
                found.update(self._screen.buffer[number][at + i].fg for i in range(len(word)))
        return found

    def programs(self) -> list[str]:
        """Return the names of the programs that run in it."""
        ps = ["ps", "-o", "comm=", "-s", str(self._process.pid)]
        return subprocess.run(ps, capture_output=True, text=True, check=True).stdout.split()

    def type(self, text: str) -> None:
        """Type a text."""
        os.write(self._master, text.encode())

    def enter(self, text: str = "") -> None:
        """Type a text and Enter."""
        self.type(text + _ENTER)

    def tab(self) -> None:
        """Press Tab."""
        self.type(_TAB)

    def ctrl_c(self) -> None:
        """Press Ctrl-C."""
        self.type(_CTRL_C)

    def ctrl_d(self) -> None:
        """Press Ctrl-D."""
        self.type(_CTRL_D)

    def wait(self, wanted: str | Callable[[str], object], seconds: float = 180) -> str:
        """Read until a text, or a condition of the text, is on the screen; return what is there."""
        deadline = time.monotonic() + seconds
        while not (wanted in self.text if isinstance(wanted, str) else wanted(self.text)):
            assert time.monotonic() < deadline, f"it did not come:\n{self.text}"
            if not self._read(0.2):
                assert self._process.poll() is None, f"the program has ended:\n{self.text}"
        return self.text

    def exit_code(self, seconds: float = 120) -> int:
        """Return the exit code, once the program has ended."""
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            assert time.monotonic() < deadline, f"it did not end:\n{self.text}"
            self._read(0.2)
        while self._read(0):
            pass
        return self._process.returncode

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        with contextlib.suppress(OSError):  # the other end is closed
            self._stream.feed(os.read(self._master, 65536))
            return True
        return False

    def _answer(self, data: str) -> None:
        os.write(self._master, data.encode())


def _without_size(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that does not say how large a terminal is: that of the tests is not this one."""
    return {name: value for name, value in env.items() if name not in ("LINES", "COLUMNS")}
