"""Ctrl-C while the shell looks at a query."""

from __future__ import annotations

import os
import signal
import threading
import weakref
from collections.abc import Iterator

import pytest

from sqlext.cli.shell.interrupts import interrupts


@pytest.fixture(autouse=True)
def _in_the_foreground() -> Iterator[None]:
    """A shell starts what runs in its background with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Thing:
    """Something with a finalizer."""


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_is_kept_and_the_second_raises() -> None:
    with interrupts() as pressed:
        assert not pressed.is_set()
        press()
        assert pressed.is_set()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_none_is_lost_in_a_finalizer() -> None:
    with interrupts() as pressed:
        thing = Thing()
        weakref.finalize(thing, press)
        del thing
        assert pressed.is_set()


def test_after_it_ctrl_c_is_an_exception_again() -> None:
    with interrupts():
        pass
    with pytest.raises(KeyboardInterrupt):
        press()


def test_another_thread_hears_nothing() -> None:
    heard = []

    def live() -> None:
        with interrupts() as pressed:
            heard.append(pressed.is_set())

    thread = threading.Thread(target=live)
    thread.start()
    thread.join()
    assert heard == [False]
