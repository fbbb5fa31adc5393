"""The page's server: on the loopback only, for those who have the token; server-sent events out, JSON in.

The first visit brings the token in the address and leaves it as a cookie that no script reads and no other site sends.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from p4cc.errors import UserError
from p4cc.pages import assets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.live.messages import LookMessage, NetworkMessage

COOKIE = "p4cc-live"
MAX_BODY_BYTES = 64 << 10
_HOST = "127.0.0.1"
_WAITING = 64
"""Messages that a page may fall behind before it gets the whole history again."""
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _CSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store"}  # fmt: skip
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_GOODBYE_S = 1


class Backend(Protocol):
    """Answers the page's requests."""

    async def network(self) -> NetworkMessage:
        """Nodes, links, ports and what the page can do."""
        ...

    def latest(self) -> LookMessage:
        """The newest message with the whole history."""
        ...

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> Mapping[str, object]:
        """An answer; raises UserError, KeyError for an unknown question."""
        ...

    async def post(self, what: str, body: JsonObject) -> Mapping[str, object]:
        """Obeys a request; raises UserError, KeyError for an unknown one."""
        ...


@dataclass
class PageServer:
    """Serves one run's page."""

    backend: Backend
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0
    """Set when the page is served."""
    first_visit: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a page is open."""
    _pages: list[asyncio.Queue[str]] = field(default_factory=list[asyncio.Queue[str]])

    @property
    def address(self) -> str:
        """The address for a browser."""
        return f"http://{_HOST}:{self.port}/?token={self.token}"

    @property
    def pages(self) -> int:
        """Number of open pages."""
        return len(self._pages)

    def send(self, message: LookMessage, event: str = "look") -> None:
        """Sends a message to all pages; one that has fallen too far behind gets the whole history."""
        text = _event(event, message)
        for page in self._pages:
            if page.full():
                while not page.empty():
                    page.get_nowait()
                page.put_nowait(_event("look", self.backend.latest()))
            else:
                page.put_nowait(text)

    @asynccontextmanager
    async def served(self, port: int) -> AsyncGenerator[None]:
        """Serves the page while the block runs; raises UserError for a port in use."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, port))
            # Early visitors wait from here on.
            listener.listen()
        except OSError as error:
            listener.close()
            cause = f"port {port} of {_HOST} cannot be used: {error.strerror or error}"
            raise UserError(cause, place="--live-port", remedy="give another port, or 0 for any") from error
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app(), log_level="critical", access_log=False, lifespan="off",
            timeout_graceful_shutdown=_GOODBYE_S, server_header=False,
        )  # fmt: skip
        server = _Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)
            listener.close()

    def _app(self) -> Starlette:
        guarded = self._guarded
        routes = [
            Route("/", guarded(self._page)),
            Route("/static/{name}", guarded(self._static)),
            Route("/assets/{name}", guarded(self._asset)),
            Route("/api/stream", guarded(self._stream)),
            Route("/api/{what}", guarded(self._get), methods=["GET"]),
            Route("/api/{what}/{name:path}", guarded(self._get), methods=["GET"]),
            Route("/api/{what}", guarded(self._post), methods=["POST"]),
        ]
        return Starlette(routes=routes)

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Admits requests with the token to the printed address; turns errors into JSON."""

        async def guarded(request: Request) -> Response:
            if not self._is_our_host(request.headers.get("host", "")):
                return _refusal(403, "this page is served on the loopback only", "open the address that was printed")
            token = request.query_params.get("token")
            if request.url.path == "/" and token is not None and self._is_token(token):
                welcome = RedirectResponse("/", status_code=303, headers=_HEADERS)
                welcome.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
                return welcome
            if not self._is_token(request.cookies.get(COOKIE, "")):
                return _refusal(401, "no token, or not this run's", "open the address that was printed, with its token")
            origin = request.headers.get("origin")
            if origin is not None and not self._is_our_host(urlsplit(origin).netloc):
                return _refusal(403, f"another page asks: {origin[:100]}", "open the address that was printed")
            try:
                return await answer(request)
            except UserError as error:
                return _refusal(400, error.cause, error.remedy, error.place)
            except KeyError:
                return _refusal(404, f"there is no {request.url.path}", "see the page's own requests")

        return guarded

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _is_our_host(self, host: str) -> bool:
        return host in (f"{_HOST}:{self.port}", f"localhost:{self.port}")

    async def _page(self, _: Request) -> Response:
        return _file("index.html")

    async def _static(self, request: Request) -> Response:
        return _file(request.path_params["name"])

    async def _asset(self, request: Request) -> Response:
        made, kind = {
            "plotly.min.js": (assets.plotly_js, "text/javascript"),
            "datatables.js": (assets.datatables_js, "text/javascript"),
            "datatables.css": (assets.datatables_css, "text/css"),
        }[request.path_params["name"]]
        # The first time takes a second, which would delay looks in real time.
        return Response(await asyncio.to_thread(made), media_type=kind, headers=_HEADERS)

    async def _get(self, request: Request) -> Response:
        what, name = request.path_params["what"], request.path_params.get("name", "")
        if what == "network":
            return JSONResponse(await self.backend.network(), headers=_HEADERS)
        return JSONResponse(await self.backend.get(what, name, request.query_params), headers=_HEADERS)

    async def _post(self, request: Request) -> Response:
        # A form of another site cannot send this type.
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refusal(415, "the request is not JSON", "send Content-Type: application/json")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY_BYTES:
                return _refusal(413, f"the request has more than {MAX_BODY_BYTES} bytes", "ask for less")
        try:
            request_body: JsonValue = json.loads(body)
        except (ValueError, RecursionError):
            return _refusal(400, "the request is not JSON", "send an object")
        if not isinstance(request_body, dict):
            return _refusal(400, "the request is not a JSON object", "send an object")
        return JSONResponse(await self.backend.post(request.path_params["what"], request_body), headers=_HEADERS)

    async def _stream(self, _: Request) -> Response:
        headers = {**_HEADERS, "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(), media_type="text/event-stream", headers=headers)

    async def _events(self) -> AsyncIterator[str]:
        page: asyncio.Queue[str] = asyncio.Queue(_WAITING)
        page.put_nowait(_event("look", self.backend.latest()))
        self._pages.append(page)
        self.first_visit.set()
        try:
            while True:
                yield await page.get()
        finally:
            self._pages.remove(page)


class _Server(uvicorn.Server):
    """Leaves signals to p4cc."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Captures none."""
        yield


def _event(name: str, message: LookMessage) -> str:
    return f"event: {name}\ndata: {json.dumps(message, allow_nan=False)}\n\n"


def _refusal(status: int, cause: str, remedy: str | None, place: str | None = None) -> Response:
    problem = {"cause": cause, "place": place or None, "remedy": remedy or None}
    return JSONResponse(problem, status_code=status, headers=_HEADERS)


def _file(name: str) -> Response:
    """One of the page's files; raises KeyError for any other."""
    folder = files("p4cc.live") / "static"
    known = {file.name: file for file in folder.iterdir() if file.is_file()}
    suffix = "." + name.rpartition(".")[2]
    if name not in known or suffix not in _TYPES:
        raise KeyError(name)
    return Response(known[name].read_bytes(), media_type=_TYPES[suffix], headers=_HEADERS)
