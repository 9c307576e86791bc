"""Warnings of ours: what a user should know of a statement that runs all the same."""

from __future__ import annotations


class Notice(UserWarning):
    """A warning whose text says all; the place in our code from which it comes does not matter."""
