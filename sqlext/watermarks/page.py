"""Write the page of a query: watermarks, open windows, rows given out, late rows, and why nothing comes now.

One HTML file that needs nothing from elsewhere: the code that draws its charts is inside.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from sqlext.watermarks.charts import chart, plotting
from sqlext.watermarks.history import Sample
from sqlext.watermarks.why import Asked, why

_STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; max-width: 1060px; margin: 2em auto; padding: 0 1em; color: #222 }
pre { background: #f5f5f2; padding: 1em; white-space: pre-wrap; font-size: 13px }
"""


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A query of a page; ``samples`` say how it went, oldest first."""

    asked: Asked
    samples: Sequence[Sample]


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a query, or of all queries of a job. Notebooks show it.

    Attributes:
        name: of the query or job.
        zone: whose wall clock shows when something happened.
    """

    name: str
    parts: Sequence[QueryPart]
    zone: str

    def html(self) -> str:
        """Return the whole page.

        Raises:
            SqlExtError: ENV-011 if the packages of the extra ``plots`` are missing.
        """
        title = escape(f"Watermarks of {self.name}")
        head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        return (
            f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n<h1>{title}</h1>\n{self.fragment()}\n</body></html>\n"
        )

    def fragment(self) -> str:
        """Return what is in the page, for a notebook or another page.

        Raises:
            SqlExtError: as ``html``.
        """
        library = [_library()] if any(p.samples for p in self.parts) else []
        return "\n".join([*library, *(line for part in self.parts for line in self._part(part))])

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return self.fragment()

    def _part(self, part: QueryPart) -> Iterator[str]:
        yield f"<pre>{escape(why(part.asked, self.zone))}</pre>"
        if not part.samples:
            yield "<p>No time keeper has written how it went, so there is nothing to draw.</p>"
            return
        report = part.asked.report
        zones = {i.name: i.zone for i in report.inputs} if report is not None else {}
        yield _drawn(chart(_until_now(part), zones, self.zone).to_dict())


def _until_now(part: QueryPart) -> Sequence[Sample]:
    """Return samples of which the last one says that nothing has changed since."""
    last, report = part.samples[-1], part.asked.report
    return [*part.samples, replace(last, at=report.at)] if report is not None and report.at > last.at else part.samples


def _library() -> str:
    """Return the code that draws, about 0.9 MB."""
    bundle: str = plotting("vl_convert").javascript_bundle()
    # A text of the library must not end the script that holds it.
    code = bundle.replace("</script", r"<\/script")
    return f"<script>{code}</script>"


def _drawn(spec: dict[str, Any]) -> str:
    """Return a chart as HTML; a name in it cannot end the script."""
    values = json.dumps(spec).replace("<", r"\u003c")
    place = f"sqlext-{uuid.uuid4().hex}"
    return f'<div id="{place}"></div>\n<script>vegaEmbed("#{place}", {values}, {{actions: false}});</script>'
