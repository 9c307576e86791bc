"""Parse command line arguments that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from sqlext.policy import Restrictions

DEFAULT_CATALOG = ".sqlext"
CATALOG = click.option(
    "--catalog", default=DEFAULT_CATALOG, show_default=True, metavar="DIR",
    help="The folder, or URL, that remembers tables, views and queries.",
)  # fmt: skip

_Command = TypeVar("_Command", bound=Callable[..., Any])
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


def address(text: str) -> tuple[str, int]:
    """Return host and port of ``[HOST:]PORT``; without a host this machine alone."""
    # From the right: an address of IPv6 has colons of its own.
    host, _, port = text.rpartition(":")
    if not port.isdigit():
        raise click.BadParameter(f"{text!r} is not [HOST:]PORT")
    return host or "127.0.0.1", int(port)


def difference_limit(text: str) -> str:
    """Return a limit of ``sqlext deploy`` as it is: ``12`` or ``0.5%``."""
    from sqlext.jobs.comparison import DifferenceLimit

    try:
        return str(DifferenceLimit.parse(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def setting(text: str) -> tuple[str, str]:
    """Return key and value of ``key=value``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"{text!r} is not key=value")
    return key.strip(), value


def allowance(text: str) -> tuple[str, str]:
    """Return kind and value of ``kind=value``; which kinds there are, ``Restrictions`` says."""
    from sqlext.policy import Restrictions

    made = setting(text)
    try:
        Restrictions.parse([made])
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}") from None
    return made


RESTRICTED = click.option("--restricted", is_flag=True, help="The SQL is others': refuse what --allow does not name.")
UNRESTRICTED = click.option(
    "--unrestricted", is_flag=True, help="The catalog and its SQL are your own: refuse nothing of what they use."
)
_KINDS = "path=DIR, host=HOST:PORT, connector=, option=, setting=, secret=, seconds=, rows="


def _allow(when: str) -> Callable[[_Command], _Command]:
    return click.option(
        "--allow", "allowed", type=allowance, multiple=True, metavar="KIND=VALUE", help=f"{when}: {_KINDS}."
    )


ALLOW = _allow("With --restricted")
ALLOW_TOO = _allow("What may be used beside the folder where this is started")


def restrictions(restricted: bool, allowed: Sequence[tuple[str, str]]) -> bool | Restrictions:
    """Return what a session is told by ``--restricted`` and ``--allow``."""
    from sqlext.policy import Restrictions

    if not restricted and allowed:
        raise click.UsageError("--allow goes with --restricted")
    return Restrictions.parse(allowed) if restricted else False


def restrictions_of_server(unrestricted: bool, allowed: Sequence[tuple[str, str]]) -> bool | Restrictions:
    """Return what a server of questions is told by ``--unrestricted`` and ``--allow``: it is restricted by itself."""
    from sqlext.policy import Restrictions

    if unrestricted and allowed:
        raise click.UsageError("--allow goes without --unrestricted")
    return False if unrestricted else Restrictions.parse(allowed)


DEFINE = click.option(
    "-d", "-D", "--define", "definitions", type=definition, multiple=True, metavar="NAME=VALUE",
    help="Replace ${NAME} in the script. Can be repeated.",
)  # fmt: skip
CONF = click.option(
    "--conf", type=setting, multiple=True, metavar="KEY=VALUE",
    help="A setting of Spark (spark...), or an option of SET. Can be repeated.",
)  # fmt: skip
