"""Start servers for editors and assistants, which speak on standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sqlext.cli.messages import tell
from sqlext.cli.parameters import ALLOW_TOO, CATALOG, DEFINE, UNRESTRICTED, restrictions_of_server
from sqlext.errors import SqlExtError

INIT = click.option(
    "-i", "init", multiple=True, metavar="FILE", help="A script whose tables and views all others see. Can be repeated."
)


@click.command()
@DEFINE
@CATALOG
@INIT
@UNRESTRICTED
@ALLOW_TOO
def lsp(
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    init: tuple[str, ...],
    unrestricted: bool,
    allowed: tuple[tuple[str, str], ...],
) -> None:
    """Serve an editor by the Language Server Protocol on standard input and output. Starts no Spark, changes nothing.

    An editor may give `catalog`, `variables` and `init` as initializationOptions in place of the options. What it
    gives must lie in the project's folder, or where --allow path= says.
    """
    may = restrictions_of_server(unrestricted, allowed)
    _require("pygls", "lsp")
    from sqlext.lsp.server import ServerOptions, server

    server(ServerOptions(catalog, dict(definitions), init), may).start_io()


@click.command()
@DEFINE
@CATALOG
@UNRESTRICTED
@ALLOW_TOO
def mcp(
    definitions: tuple[tuple[str, str], ...],
    catalog: str,
    unrestricted: bool,
    allowed: tuple[tuple[str, str], ...],
) -> None:
    """Serve an assistant by the Model Context Protocol on standard input and output. Starts no Spark, changes nothing.

    It can ask for tables, their columns, plans, watermarks, why nothing comes out, and the mistakes of a script.
    Scripts may use tables in the folder where this is started, and what --allow names.
    """
    may = restrictions_of_server(unrestricted, allowed)
    _require("mcp", "mcp")
    from sqlext.mcp.server import Questions, server
    from sqlext.policy import Restrictions

    restricted = may.within(Path.cwd()) if isinstance(may, Restrictions) else may
    server(Questions(catalog, dict(definitions), restricted)).run()


def _require(name: str, extra: str) -> None:
    """End with ENV-011 where the package of an extra is missing."""
    from sqlext.extras import package

    try:
        package(name, extra, f"sqlext {extra}")
    except SqlExtError as error:
        tell(error)
        sys.exit(1)
