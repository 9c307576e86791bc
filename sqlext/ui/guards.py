"""Let only requests of the page itself through, and say to browsers what the page may do."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: How the page shows that whoever sits before it may stop queries.
TOKEN = "X-Sqlext-Token"  # noqa: S105 - the name of a header
#: Names of this machine for itself.
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Guard:
    """Refuses requests under foreign names of this machine, and writing ones of foreign pages.

    A page elsewhere could let its own name point to this machine, and read what is served here (DNS rebinding). So the
    name under which a browser asks must be one of ours.

    Attributes:
        hosts: the names under which the server may be asked.
    """

    app: ASGIApp
    hosts: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reason = self._refusal(scope["method"], Headers(scope=scope))
        if reason is not None:
            await refused(403, "UI-001", reason)(scope, receive, _safely(send))
            return
        await self.app(scope, receive, _safely(send))

    def _refusal(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if _name(f"//{host}") not in self.hosts:
            return f"this server is not {host or 'without a name'}"
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"a page of {origin} asks"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "a page of another site asks"
        return None


def has_token(request: Request, token: str) -> bool:
    """Whether a request bears the token of the server."""
    return secrets.compare_digest(request.headers.get(TOKEN, "").encode(), token.encode())


def refused(status: int, code: str, message: str, hint: str | None = None) -> JSONResponse:
    """Return a refusal."""
    return JSONResponse({"error": {"code": code, "message": message, "hint": hint}}, status)


def _safely(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)
        await send(message)

    return with_headers


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
