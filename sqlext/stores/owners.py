"""Tell who a process is, and whether a process that was it still lives."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """One process of one machine.

    Attributes:
        host: the machine's name, with what tells apart two boots of it and two containers on it.
        pid: the process's number.
        started: when it started, in the kernel's own count; empty where the kernel does not tell.
    """

    host: str
    pid: int
    started: str

    def __str__(self) -> str:
        """Return it for a message."""
        return f"process {self.pid} on {self.host.partition('/')[0]}"


def this_process() -> Owner:
    """Return who this process is; it is another one in a child that was forked."""
    return Owner(_host(), os.getpid(), _start_of(os.getpid()) or "")


def is_known_dead(owner: Owner) -> bool:
    """Whether a process is gone for sure: it ran on this machine, and nobody has its number and start there."""
    if owner.host != _host():
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # another user's
        pass
    # A number is given again; the start is another one then. One that is dead and not yet buried has none.
    return _start_of(owner.pid) != owner.started if owner.started else False


def _host() -> str:
    return "/".join((socket.gethostname(), _boot(), _room()))


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _room() -> str:
    """Return the name of the space in which numbers of processes mean the same."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _start_of(pid: int) -> str | None:
    """Return the start of a process, in ticks since the machine's boot; None if it is dead or nobody tells.

    The fields are those of proc(5): the state is the third, the start the 22nd. The second is the name in brackets.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in ("Z", "X", "x") else fields[19]
