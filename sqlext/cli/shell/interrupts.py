"""Ctrl-C as something that is looked at, where an exception could be lost.

Python drops what is raised in a finalizer, and the finalizers of py4j's objects ask the JVM: a thread that asks a
query again and again how far it is spends much of its time in them, and a KeyboardInterrupt there would be for nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets; every further one raises KeyboardInterrupt.

    Ctrl-C reaches the main thread alone: in another one the event is never set.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def press(_signal: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
