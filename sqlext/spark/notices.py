"""Define the base class of our warnings about statements that run all the same."""

from __future__ import annotations


class Notice(UserWarning):
    """A warning whose text says all; the place in our code from which it comes does not matter."""
