"""The explorer's page over HTTP, for the browser of this machine and user alone.

The server listens on 127.0.0.1. Whoever wants an answer must know a random token, which is part of
every path; must have come to the right host, so that no other name can be made to lead here; and
must not come from a page of another origin.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from socketserver import TCPServer
from typing import Any

from sparsebayes.explore.requests import explore

HOST = "127.0.0.1"
MOST_BYTES = 1 << 20  # of a request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "parts.js": ("parts.js", "text/javascript; charset=utf-8"),
    "drawing.js": ("drawing.js", "text/javascript; charset=utf-8"),
    "views.js": ("views.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
_START = "start.json"
_POSTS = ("explore", "beat", "leave", "end")
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_JSON = "application/json"
_DRAINED = 16 * MOST_BYTES  # of a body that is refused: the sender reads the answer after it
_MOST_TABS = 100
_AGAIN = 2.0  # seconds after the last tab is gone: it may have been loaded again
_SILENT = 150.0  # seconds without a sign of life; browsers let hidden tabs speak once a minute


class _Refusal(Exception):
    """A request that is not answered."""

    def __init__(self, status: HTTPStatus, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.field = status, message, field


class ExplorerServer(ThreadingHTTPServer):
    """Serves the page and answers its requests, one at a time.

    Parameters
    ----------
    start : dict
        What the page shows first.
    port : int, default=0
        0 for a free one.
    end_with_tab : bool, default=False
        Whether to end when the last tab of the page is closed.
    idle : float, default=None
        Seconds without a request after which to end; None for never. An open page asks often.

    Attributes
    ----------
    url : str
        Where the page is, with the token.
    """

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere two programs could have the port
    request_queue_size = 16

    def __init__(
        self,
        start: dict[str, Any],
        *,
        port: int = 0,
        end_with_tab: bool = False,
        idle: float | None = None,
    ) -> None:
        self.start, self.end_with_tab, self.idle = start, end_with_tab, idle
        self.token = secrets.token_urlsafe(24)
        self.fitting = threading.Lock()
        self.ending = threading.Event()
        self._state = threading.Lock()
        self._tabs: dict[str, float] = {}
        self._met_tab = False
        self._answering = 0
        self._last = time.monotonic()
        super().__init__((HOST, port), _Handler)
        self.timeout = 0.1

    def server_bind(self) -> None:
        """Bind without asking for the name of the machine."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return f"http://{HOST}:{self.server_port}"

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"{self.origin}/{self.token}/"

    def run(self) -> None:
        """Serve until the end."""
        with self:
            while not self.ended():
                self.handle_request()

    def ended(self) -> bool:
        """Whether there is nobody left to serve."""
        if self.ending.is_set():
            return True
        now = time.monotonic()
        with self._state:
            if self._answering:
                return False
            silent = now - self._last
            if self.idle is not None and silent > self.idle:
                return True
            if not (self.end_with_tab and self._met_tab):
                return False
            self._tabs = {tab: seen for tab, seen in self._tabs.items() if now - seen < _SILENT}
            return not self._tabs and silent > _AGAIN

    def seen(self, tab: str, *, leaves: bool) -> None:
        """A tab is there, or is closed."""
        with self._state:
            self._met_tab = True
            if leaves:
                self._tabs.pop(tab, None)
            elif tab in self._tabs or len(self._tabs) < _MOST_TABS:
                self._tabs[tab] = time.monotonic()

    def begin(self) -> None:
        """A request has come."""
        with self._state:
            self._answering += 1
            self._last = time.monotonic()

    def finish(self) -> None:
        """It has been answered."""
        with self._state:
            self._answering -= 1
            self._last = time.monotonic()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has hung up is no error; others are a line on stderr."""
        error = sys.exception()
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"sparsebayes: explorer: {type(error).__name__}: {error}", file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # what is no HTTP is answered with a status, too
    server_version, sys_version = "sparsebayes", ""
    timeout = 60
    disable_nagle_algorithm = True  # the body would wait until the headers are acknowledged

    def do_GET(self) -> None:
        self._answered(self._get)

    def do_POST(self) -> None:
        self._answered(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: the paths have the token."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Requests that are no HTTP, or of another method."""
        self.close_connection = True
        self._json(HTTPStatus(code), {"error": message or HTTPStatus(code).phrase, "field": None})

    def _answered(self, answer: Any) -> None:
        self.server.begin()
        self._unread = self._length()
        try:
            answer(self._place())
        except _Refusal as refusal:
            self._drain()
            told = {"error": refusal.message, "field": refusal.field}
            self._json(refusal.status, told)
        finally:
            self.server.finish()

    def _place(self) -> str:
        """What is asked for, by somebody who may; or a refusal."""
        hosts = self.headers.get_all("Host", [])
        port = self.server.server_port
        if len(hosts) != 1 or hosts[0].lower() not in (f"{HOST}:{port}", f"localhost:{port}"):
            raise _Refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"Host must be {HOST}:{port}, got {', '.join(hosts) or 'none'}; open the address "
                "that sparsebayes explore has printed.",
            )
        origin = self.headers.get("Origin")
        ours = (self.server.origin, f"http://localhost:{port}")
        site = self.headers.get("Sec-Fetch-Site", "none")
        needed = self.command == "POST"
        if (origin not in ours and (needed or origin is not None)) or (
            needed and site not in ("same-origin", "none")
        ):
            raise _Refusal(
                HTTPStatus.FORBIDDEN,
                f"Origin must be {self.server.origin}, got {origin or site}; the explorer answers "
                "its own page alone.",
            )
        token, _, place = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refusal(
                HTTPStatus.FORBIDDEN,
                "The token in the address is wrong; open the address that sparsebayes explore has "
                "printed.",
            )
        gets = (*_FILES, _START)
        if place not in (*gets, *_POSTS):
            raise _Refusal(
                HTTPStatus.NOT_FOUND,
                f"There is no {place[:60]!r} here; the page is {self.server.origin}/TOKEN/.",
            )
        if place not in (_POSTS if self.command == "POST" else gets):
            raise _Refusal(
                HTTPStatus.METHOD_NOT_ALLOWED,
                f"{place!r} does not take {self.command}; use "
                f"{'POST' if place in _POSTS else 'GET'}.",
            )
        return place

    def _get(self, place: str) -> None:
        if self._unread:
            self._drain()
        if place == _START:
            self._json(HTTPStatus.OK, self.server.start)
            return
        name, kind = _FILES[place]
        content = (resources.files("sparsebayes.explore") / name).read_bytes()
        self._send(HTTPStatus.OK, kind, content)

    def _post(self, place: str) -> None:
        request = self._body()
        if place == "explore":
            self._json(HTTPStatus.OK, self._explored(request))
            return
        if place in ("beat", "leave"):
            tab = request.get("tab")
            if not isinstance(tab, str) or not 1 <= len(tab) <= 64:
                raise _Refusal(
                    HTTPStatus.BAD_REQUEST,
                    f"tab must be a text of 1 to 64 characters, got {tab!r:.60}.",
                    "tab",
                )
            self.server.seen(tab, leaves=place == "leave")
        self._send(HTTPStatus.NO_CONTENT, None, b"")
        if place == "end":
            self.server.ending.set()

    def _explored(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer of the library, or a refusal with its words."""
        try:
            with self.server.fitting:
                return explore(request)
        except (ValueError, TypeError, ImportError, NotImplementedError) as error:
            field = getattr(error, "field", None)
            raise _Refusal(HTTPStatus.BAD_REQUEST, str(error), field) from error
        except Exception as error:
            raise _Refusal(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                f"The fit failed ({type(error).__name__}: {error}); move a point, or choose other "
                "options.",
            ) from error

    def _length(self) -> int | None:
        """Bytes of the body; None if that is not told."""
        given = self.headers.get("Content-Length")
        if "Transfer-Encoding" in self.headers or (given is None and self.command == "POST"):
            return None
        text = (given or "0").strip()
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None

    def _body(self) -> dict[str, Any]:
        """The request as plain data, or a refusal."""
        kind = self.headers.get_content_type() if "Content-Type" in self.headers else "none"
        if kind != _JSON:
            raise _Refusal(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be {_JSON}, got {kind}."
            )
        length = self._unread
        if length is None:
            raise _Refusal(
                HTTPStatus.LENGTH_REQUIRED,
                "Content-Length must be the number of bytes of the body; send it whole.",
            )
        if length > MOST_BYTES:
            raise _Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The body must have at most {MOST_BYTES} bytes, got {length}; send fewer points.",
            )
        content = self.rfile.read(length)
        self._unread = 0
        if len(content) < length:
            self.close_connection = True
        try:
            request = json.loads(content, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise _Refusal(
                HTTPStatus.BAD_REQUEST, f"The body is no JSON ({error}); send an object."
            ) from None
        if not isinstance(request, dict):
            raise _Refusal(
                HTTPStatus.BAD_REQUEST,
                f"The body must be a JSON object, got {type(request).__name__}.",
            )
        return request

    def _drain(self) -> None:
        """Read what was sent and is refused, so that the sender gets the answer; then hang up."""
        if self._unread is None or self._unread > 0:
            self.close_connection = True
        left = min(self._unread or 0, _DRAINED)
        while left > 0:
            piece = self.rfile.read(min(left, 1 << 16))
            if not piece:
                break
            left -= len(piece)
        self._unread = 0

    def _json(self, status: HTTPStatus, answer: dict[str, Any]) -> None:
        text = json.dumps(answer, allow_nan=False, separators=(",", ":"))
        self._send(status, _JSON, text.encode())

    def _send(self, status: HTTPStatus, kind: str | None, content: bytes) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if kind is not None:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
