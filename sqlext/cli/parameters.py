"""How command line arguments are read."""

from __future__ import annotations

import re

import click

_NAME = re.compile(r"[A-Z0-9_]+")


def definition(text: str) -> tuple[str, str]:
    """Return name and value of ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise click.BadParameter(f"{text!r} is not NAME=VALUE (upper case letters, digits, underscore)")
    return name, value


def duration(text: str) -> int:
    """Return the milliseconds of a duration as Flink writes it: ``30 s``, ``5min``, ``500``."""
    from sqlext.settings import parse_duration

    millis = parse_duration(text)
    if millis is None:
        raise click.BadParameter(f"{text!r} is no duration; write for instance '30 s' or '5 min'")
    return millis
