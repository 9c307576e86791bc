"""Show a running query in a cell, redrawn until it ends, with a button that stops it."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlext.cli.progress import by_sink
from sqlext.jobs.tables import MOST_ROWS
from sqlext.notebook.views import TableView, progress_view

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.jobs.result import Result

_SECONDS_BETWEEN_LOOKS = 0.5


class QueryDisplay:
    """Follows the query of a result from the cell that started it, also after that cell has ended."""

    def __init__(self, result: Result, query: Query) -> None:
        self.query = query
        self._result = result
        self._live = result.live()
        self._button = _stop_button(query) if not query.bounded else None
        self._handle: Any = None
        self._thread = threading.Thread(target=self._follow, name=f"sqlext shows {query.name}", daemon=True)

    def show(self) -> None:
        """Begin to show it below the running cell."""
        from IPython.display import display

        if self._button is not None:
            display(self._button)
        self._handle = display(self.view(), display_id=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until its end is shown."""
        self._thread.join()

    def view(self) -> TableView:
        """Return its rows so far if it is a SELECT, else how far it is."""
        progress = list(by_sink(self.query))
        if self._live is None:
            return progress_view(progress)
        self._live.take()
        _, counts = progress[0]
        status = f"{self.query.name}: {counts['status']}, batch {counts['batch']}, {counts['rows_in']:,} rows in"
        rows = self._live.rows
        return TableView(self._result.columns, rows if self.query.bounded else rows[-MOST_ROWS:], status)

    def _follow(self) -> None:
        shown = ""
        ended = False
        while not ended:
            ended = self.query.wait_for_end(_SECONDS_BETWEEN_LOOKS)
            view = self.view()
            if repr(view) != shown:  # an update that changes nothing would make the front end draw again
                shown = repr(view)
                self._handle.update(view)
        if self._button is not None:
            self._button.disabled = True


def _stop_button(query: Query) -> Any:
    """Return a button where the kernel has ipywidgets; a front end without them shows nothing of it."""
    if find_spec("ipywidgets") is None:
        return None
    # In a thread: ``stop`` waits for the query, and the kernel answers no other message meanwhile.
    from ipywidgets import Button

    button = Button(description="Stop", icon="stop", tooltip=f"stop {query.name}; its place is kept")
    button.on_click(lambda clicked: threading.Thread(target=query.stop, daemon=True).start())
    return button
