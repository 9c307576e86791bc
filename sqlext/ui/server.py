"""Run the page's server in a thread of its own."""

from __future__ import annotations

import secrets
import socket
import threading
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.extras import package

if TYPE_CHECKING:
    from sqlext.session.api import Session

#: Seconds that open connections have when the server ends.
_PATIENCE = 2
_WHAT = "the page of queries"


class UiServer:
    """The server of the page of a session's queries, and of all in its catalog.

    Attributes:
        url: where the page is.
        token: what a request to stop a query must bear.
    """

    def __init__(self, session: Session, port: int, address: str) -> None:
        for name in ("starlette", "uvicorn"):
            package(name, "ui", _WHAT)
        import uvicorn

        from sqlext.ui.app import page_app
        from sqlext.ui.guards import LOOPBACK

        self.token = secrets.token_urlsafe(16)
        self._socket = _listening(address, port)
        shown = f"[{address}]" if ":" in address else address
        self.url = f"http://{shown}:{self._socket.getsockname()[1]}/"
        hosts = {*LOOPBACK, address, socket.gethostname().lower()}
        app = page_app(session.monitor, self.token, sorted(hosts), lambda: self._server.should_exit)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none", server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="sqlext ui", daemon=True)
        self._thread.start()

    @property
    def url_to_stop(self) -> str:
        """Where the page is for those who may stop queries. A browser keeps what stands behind ``#`` to itself."""
        return f"{self.url}#token={self.token}"

    def wait(self) -> None:
        """Wait until it is closed, or until Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(1)

    def close(self) -> None:
        """Stop to serve; a second time does nothing."""
        self._server.should_exit = True
        self._thread.join(2 * _PATIENCE)
        self._socket.close()

    def __enter__(self) -> UiServer:
        """Return itself; leaving the block stops it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop to serve."""
        self.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])


def serve(session: Session, port: int, address: str = "127.0.0.1") -> UiServer:
    """Serve the page of queries, until it is closed.

    Args:
        session: its queries are shown, and those that have a record in its catalog.
        port: 0 takes one that is free.
        address: who can ask: by default this machine alone.

    Raises:
        SqlExtError: ENV-011 if a package is missing, ENV-012 if it cannot listen there.
    """
    return UiServer(session, port, address)


def _listening(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((address, port))
        found.listen()
    except (OSError, OverflowError) as error:
        found.close()
        hint = "give another port; 0 takes one that is free"
        raise SqlExtError("ENV-012", f"{_WHAT} cannot be served at {address}:{port}: {error}", hint=hint) from error
    return found
