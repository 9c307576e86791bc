"""Turn Ctrl-C into an event, where an exception could be lost.

Python drops what is raised in a finalizer, and the finalizers of py4j's objects ask the JVM. A thread that polls a
query spends much of its time in them, so a KeyboardInterrupt there could be lost.
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

    # Put back afterwards: between statements Ctrl-C drops what is typed.
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
