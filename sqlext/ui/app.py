"""Answer the requests of the page: each asks the monitor of a session, and says what that says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sqlext.errors import SqlExtError
from sqlext.session.monitor.api import Monitor
from sqlext.ui.events import events
from sqlext.ui.guards import TOKEN, Guard, has_token, refused

_STATIC = Path(__file__).parent / "static"
#: Rows of a table that are shown, if nobody says how many, and at most.
_ROWS, _MOST_ROWS = 20, 200


def page_app(monitor: Monitor, token: str, hosts: Sequence[str], is_ending: Callable[[], bool]) -> Starlette:
    """Return the application.

    Args:
        token: what a request to stop a query must bear.
        hosts: the names under which the server may be asked.
        is_ending: whether the server ends, and open streams must end too.
    """
    answers = _Answers(monitor, token, is_ending)
    routes = [
        Route("/", lambda _: FileResponse(_STATIC / "index.html")),
        Route("/api/queries", answers.queries),
        Route("/api/query", answers.query),
        Route("/api/history", answers.history),
        Route("/api/lateness", answers.lateness),
        Route("/api/rows", answers.rows),
        Route("/api/events", answers.events),
        Route("/api/stop", answers.stop, methods=["POST"]),
        Mount("/static", StaticFiles(directory=_STATIC)),
    ]
    guard = Middleware(Guard, hosts=frozenset(hosts))
    return Starlette(routes=routes, middleware=[guard], exception_handlers={SqlExtError: _refusal})


class _Answers:
    def __init__(self, monitor: Monitor, token: str, is_ending: Callable[[], bool]) -> None:
        self._monitor = monitor
        self._token = token
        self._is_ending = is_ending

    async def queries(self, request: Request) -> Response:
        """Say of all queries how they go."""
        return JSONResponse(await self._all())

    async def query(self, request: Request) -> Response:
        """Say of one query how it goes."""
        return JSONResponse(await self._one(_named(request)))

    async def history(self, request: Request) -> Response:
        """Say how a query went."""
        since = _number(request, "since", 0)
        return JSONResponse(asdict(await run_in_threadpool(self._monitor.history, _named(request), since)))

    async def lateness(self, request: Request) -> Response:
        """Say how late the rows of each input of a query were."""
        found = await run_in_threadpool(self._monitor.lateness, _named(request))
        return JSONResponse({"inputs": [asdict(one) for one in found]})

    async def rows(self, request: Request) -> Response:
        """Give the last rows that a query has written."""
        most = min(_number(request, "most", _ROWS), _MOST_ROWS)
        return JSONResponse(asdict(await run_in_threadpool(self._monitor.rows, _named(request), most)))

    async def events(self, request: Request) -> Response:
        """Say the same as ``queries``, and of the one that is named as ``query``, whenever it changes."""
        name = request.query_params.get("name")

        async def news() -> dict[str, object]:
            try:
                found: dict[str, object] = {"queries": await self._all()}
            except SqlExtError as error:  # the catalog cannot be read
                return {"damaged": _told(error)}
            if name is not None:
                try:
                    found["query"] = await self._one(name)
                except SqlExtError as error:  # it was dropped
                    found["gone"] = _told(error)
            return found

        async def is_over() -> bool:
            return self._is_ending() or await request.is_disconnected()

        return StreamingResponse(events(news, is_over), media_type="text/event-stream")

    async def stop(self, request: Request) -> Response:
        """Stop a query, for those who have the token."""
        if not has_token(request, self._token):
            hint = f"open the link that was printed at the start, or send the token in {TOKEN}"
            return refused(403, "UI-002", "to stop a query needs the token of this server", hint)
        await run_in_threadpool(self._monitor.stop, _named(request))
        return JSONResponse({"stopping": _named(request)}, 202)

    async def _all(self) -> dict[str, object]:
        cards = await run_in_threadpool(self._monitor.queries)
        return {"queries": [asdict(card) for card in cards]}

    async def _one(self, name: str) -> dict[str, object]:
        return asdict(await run_in_threadpool(partial(self._monitor.query, name)))


def _named(request: Request) -> str:
    name = request.query_params.get("name")
    if name is None:
        raise SqlExtError("UI-003", "the request names no query", hint="add ?name=...")
    return name


def _number(request: Request, key: str, default: int) -> int:
    text = request.query_params.get(key, "")
    return int(text) if text.isdecimal() else default


def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, SqlExtError)
    return refused(404 if error.code == "CAT-002" else 400, error.code, error.message, error.hint)


def _told(error: SqlExtError) -> dict[str, str | None]:
    return {"code": error.code, "message": error.message, "hint": error.hint}
