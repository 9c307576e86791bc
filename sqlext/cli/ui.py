"""Answer ``sqlext ui``: serve the page of the queries of a catalog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlext.cli.messages import tell
from sqlext.cli.parameters import ALLOW_TOO, CATALOG, UNRESTRICTED, address, restrictions_of_server
from sqlext.errors import SqlExtError

if TYPE_CHECKING:
    from sqlext.policy import Restrictions

#: Where the page is served if nobody says.
PORT = 8265


@click.command()
@CATALOG
@click.option(
    "--listen", type=address, default=f"127.0.0.1:{PORT}", show_default=True, metavar="[HOST:]PORT",
    help="Serve the page here; 0 takes a port that is free.",
)  # fmt: skip
@UNRESTRICTED
@ALLOW_TOO
def ui(catalog: str, listen: tuple[str, int], unrestricted: bool, allowed: tuple[tuple[str, str], ...]) -> None:
    """Serve a page that shows the queries of a catalog, those of other processes too. Starts no Spark.

    It shows rows of tables in the folder where it is started, and in those that --allow names.
    """
    may = restrictions_of_server(unrestricted, allowed)
    try:
        _serve(catalog, listen, may)
    except SqlExtError as error:
        tell(error)
        raise SystemExit(1) from None


def _serve(catalog: str, listen: tuple[str, int], may: bool | Restrictions) -> None:
    import sqlext
    from sqlext.locations import catalog_place
    from sqlext.ui.server import serve

    host, port = listen
    restricted = may.within(Path.cwd()) if isinstance(may, sqlext.Restrictions) else may
    session = sqlext.connect(catalog=catalog_place(catalog), restricted=restricted)
    with serve(session, port, host) as server:
        for line in where(server.url, server.url_to_stop):
            click.echo(line)
        try:
            server.wait()
        except KeyboardInterrupt:
            click.echo("")


def where(url: str, url_to_stop: str) -> tuple[str, str]:
    """Return the lines that say where the page is."""
    return f"page: {url}", f"with the right to stop queries: {url_to_stop}"
