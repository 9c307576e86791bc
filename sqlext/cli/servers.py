"""Start servers for editors and assistants, which speak on standard input and output."""

from __future__ import annotations

import sys

import click

from sqlext.cli.messages import tell
from sqlext.cli.parameters import CATALOG, DEFINE
from sqlext.errors import SqlExtError

INIT = click.option(
    "-i", "init", multiple=True, metavar="FILE", help="A script whose tables and views all others see. Can be repeated."
)


@click.command()
@DEFINE
@CATALOG
@INIT
def lsp(definitions: tuple[tuple[str, str], ...], catalog: str, init: tuple[str, ...]) -> None:
    """Serve an editor by the Language Server Protocol on standard input and output. Starts no Spark, changes nothing.

    An editor may give `catalog`, `variables` and `init` as initializationOptions in place of the options.
    """
    _require("pygls", "lsp")
    from sqlext.lsp.server import ServerOptions, server

    server(ServerOptions(catalog, dict(definitions), init)).start_io()


@click.command()
@DEFINE
@CATALOG
def mcp(definitions: tuple[tuple[str, str], ...], catalog: str) -> None:
    """Serve an assistant by the Model Context Protocol on standard input and output. Starts no Spark, changes nothing.

    It can ask for tables, their columns, plans, watermarks, why nothing comes out, and the mistakes of a script.
    """
    _require("mcp", "mcp")
    from sqlext.mcp.server import Questions, server

    server(Questions(catalog, dict(definitions))).run()


def _require(name: str, extra: str) -> None:
    """End with ENV-011 where the package of an extra is missing."""
    from sqlext.extras import package

    try:
        package(name, extra, f"sqlext {extra}")
    except SqlExtError as error:
        tell(error)
        sys.exit(1)
