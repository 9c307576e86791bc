"""Answer ``sqlext watermarks``: the times of inputs, why a query gives nothing, and its page."""

from __future__ import annotations

from pathlib import Path

import click

from sqlext.cli.messages import tell
from sqlext.cli.parameters import CATALOG
from sqlext.errors import SqlExtError


@click.command()
@click.argument("query", required=False)
@CATALOG
@click.option("--why", is_flag=True, help="Say why nothing comes out of the query, and what must happen.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write the page of the query: how its watermarks went, windows open, rows given out, late rows.",
)  # fmt: skip
def watermarks(query: str | None, catalog: str, why: bool, html: Path | None) -> None:
    """Show the watermarks of running queries, of any process. Starts no Spark."""
    if query is None and (why or html is not None):
        raise click.UsageError("--why and --html need the name of a query")
    try:
        _answer(query, catalog, html, why=why)
    except SqlExtError as error:
        tell(error)
        raise SystemExit(1) from None


def _answer(query: str | None, catalog: str, html: Path | None, *, why: bool) -> None:
    # Imported here, so that ``--help`` loads neither rich nor a catalog.
    import sqlext
    from sqlext.jobs.tables import console, result_table
    from sqlext.locations import catalog_place, local_file
    from sqlext.session.introspection.watermarks import COLUMNS

    known = sqlext.connect(catalog=catalog_place(catalog)).watermarks
    if query is not None and html is not None:
        html = local_file(html, "a page")
        html.write_text(known.page(query).html(), encoding="utf-8")
        click.echo(html)
    elif query is not None and why:
        click.echo(known.why(query))
    else:
        console().print(result_table(COLUMNS, known.rows(query)))
