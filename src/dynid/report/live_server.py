"""A small HTTP server for the page of a run that is being followed: the page, and a stream of its records.

It is made for the own machine: bound to loopback, only GET, only two paths, nothing read from disk. A page of
another site cannot read it (the ``Host`` is checked, against names that are led to this address) nor fill its
places (the browser says from where it asks). Who reads too slowly is dropped: the run waits for nobody.
"""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import json
import queue
import socket
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from dynid.core.errors import DynidError
from dynid.report.live_history import HistorySize, LiveHistory, LiveRecord
from dynid.report.live_page import STREAM, render_live

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer; what the page may run and load is in the page's own policy."""


@dataclass(frozen=True)
class LiveServerOptions:
    """Where the live page is served, and to how many.

    Args:
        host: name or address to listen at; anything beyond loopback lets others on the network look on.
        port: to listen at; 0 takes a free one.
        names: further names of this machine that a browser may ask for.
        viewers: streams at once. Each is a thread that mostly sleeps; eight are a team.
        connections: requests at once, streams among them; more are closed unread.
        behind: records that may wait for one viewer, who is dropped when there are more: 20 s at 10 records
            per second, more than a page needs to load and less than anyone would call live.
        patience_s: how long a request or a write may take [s].
        keep_alive_s: silence after which a viewer gets an empty line, so that who has left is noticed [s].
        retry_s: after which a viewer who lost the server asks again [s].
        size: how much of the run those who come late are given.
    """

    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = ()
    viewers: int = 8
    connections: int = 32
    behind: int = 200
    patience_s: float = 10.0
    keep_alive_s: float = 5.0
    retry_s: float = 2.0
    size: HistorySize = field(default_factory=HistorySize)


class LiveServer:
    """Serves a run while it goes on; records are handed over with ``write``, the header first.

    Args:
        options: where and to how many.
    """

    def __init__(self, options: LiveServerOptions | None = None) -> None:
        """Take the port; viewers are answered from now on.

        Raises:
            DynidError: when the address cannot be had.
        """
        self.options = options or LiveServerOptions()
        self.history = LiveHistory(self.options.size)
        self.page: bytes | None = None
        self.dropped = 0
        self._closed = False
        self._lock = threading.Lock()
        self._viewers: list[_Viewer] = []
        try:
            self._http = _Http(self)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DynidError(
                f"The live page cannot be served at {self.options.host}:{self.options.port}: {reason}. "
                "Choose another port (0 takes a free one) or host."
            ) from None
        serve = functools.partial(self._http.serve_forever, poll_interval=0.1)  # a close waits as long [s]
        self._thread = threading.Thread(target=serve, name="live page", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Port that is listened at."""
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """Address for a browser on this machine."""
        host = self.options.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def viewers(self) -> int:
        """Streams that are open."""
        with self._lock:
            return len(self._viewers)

    def write(self, record: LiveRecord) -> bool:
        """Keep a record and hand it to all viewers, without waiting for any of them; always true."""
        with self._lock:
            kept = self.history.add(record)
            if kept["kind"] == "header":
                self.page = render_live(kept, self.options.size).encode()
            late = [viewer for viewer in self._viewers if not viewer.offer(_message(kept))]
            self._viewers = [viewer for viewer in self._viewers if viewer not in late]
            self.dropped += len(late)
        for viewer in late:
            viewer.hang_up()
        return True

    def join(self, connection: socket.socket) -> _Viewer | None:
        """A place for one more viewer, with all that came before; None when there is none."""
        with self._lock:
            if self._closed or len(self._viewers) >= self.options.viewers:
                return None
            viewer = _Viewer(connection, self.options.behind)
            if self.history.header is not None:
                viewer.offer(_message(self.history.header) + _message(self.history.to_dict()))
            self._viewers.append(viewer)
            return viewer

    def leave(self, viewer: _Viewer) -> None:
        """Give a viewer's place back."""
        with self._lock:
            if viewer in self._viewers:
                self._viewers.remove(viewer)

    def close(self) -> None:
        """Stop listening, and let viewers read what is left."""
        self._http.shutdown()
        self._http.server_close()
        with self._lock:
            self._closed = True  # a request that is just being read gets no place any more
            viewers, self._viewers = self._viewers, []
        for viewer in viewers:
            viewer.finish()
        for viewer in viewers:
            viewer.finished.wait(self.options.retry_s)
            viewer.hang_up()
        self._thread.join()

    def __enter__(self) -> LiveServer:
        """Serve for a while."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.close()


class _Viewer:
    """One stream: what waits for it, and its connection."""

    def __init__(self, connection: socket.socket, behind: int) -> None:
        self.connection = connection
        self.finished = threading.Event()
        self._waiting: queue.Queue[bytes | None] = queue.Queue(behind)

    def offer(self, message: bytes | None) -> bool:
        """Let a message wait; False when too many do."""
        try:
            self._waiting.put_nowait(message)
        except queue.Full:
            return False
        return True

    def next(self, seconds: float) -> bytes | None:
        """The next message, an empty comment after some seconds of silence, None at the end."""
        try:
            return self._waiting.get(timeout=seconds)
        except queue.Empty:
            return b":\n\n"

    def finish(self) -> None:
        """Say that no more will come; one who is full is not waited for."""
        if not self.offer(None):
            self.finished.set()

    def hang_up(self) -> None:
        """End a connection, also one that is being written to."""
        with contextlib.suppress(OSError):  # it has left by itself
            self.connection.shutdown(socket.SHUT_RDWR)
        self.offer(None)


class _Http(ThreadingHTTPServer):
    """Requests in threads, so many at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 16

    def __init__(self, live: LiveServer) -> None:
        options = live.options
        address = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0]
        self.address_family = address[0]
        self.live = live
        self._places = threading.BoundedSemaphore(options.connections)
        host = str(address[4][0])
        self._beyond = not ipaddress.ip_address(host.partition("%")[0]).is_loopback
        self._names = {name.lower() for name in (*_LOOPBACK_NAMES, options.host, host, *options.names)}
        super().__init__((host, options.port), _Handler)

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or close at once when too many are being answered."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and give the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a viewer that left amid an answer is no concern of the run."""

    def knows(self, host: str) -> bool:
        """Whether a ``Host`` header is meant for this server.

        A page of another site can have its own name lead here, but cannot have the browser ask for another
        name. An address instead of a name is nobody's, so beyond loopback all of them are taken.
        """
        name = host.strip().lower()
        name = name[1 : name.find("]")] if name.startswith("[") else name.partition(":")[0]
        if name in self._names:
            return True
        try:
            return self._beyond and bool(ipaddress.ip_address(name))
        except ValueError:
            return False


class _Handler(BaseHTTPRequestHandler):
    """The page at ``/``, the stream at ``/records``, and a short refusal of everything else."""

    server: _Http
    server_version = "dynid"
    sys_version = ""

    def setup(self) -> None:
        """A request that does not come to its end is given up."""
        super().setup()
        self.connection.settimeout(self.server.live.options.patience_s)

    def do_GET(self) -> None:
        """Answer."""
        path = self.path.partition("?")[0]
        if not self.server.knows(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "This server does not go by that name")
        elif path == "/":
            self._send_page()
        elif path != f"/{STREAM}":
            self.send_error(HTTPStatus.NOT_FOUND, "There is nothing here")
        elif self.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            self.send_error(HTTPStatus.FORBIDDEN, "Only the live page itself may follow its records")
        else:
            self._send_stream()

    def _send_page(self) -> None:
        page = self.server.live.page
        if page is None:
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, "The run has not begun yet")
            return
        self._start(HTTPStatus.OK, "text/html; charset=utf-8", {"Content-Length": str(len(page))})
        self.wfile.write(page)

    def _send_stream(self) -> None:
        live = self.server.live
        viewer = live.join(self.connection)
        if viewer is None:
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, "All places of viewers are taken")
            return
        try:
            self._start(HTTPStatus.OK, "text/event-stream", {})
            self.wfile.write(f"retry: {1000 * live.options.retry_s:.0f}\n\n".encode())
            while (message := viewer.next(live.options.keep_alive_s)) is not None:
                self.wfile.write(message)
        except OSError:  # it left, or is too slow even for one message
            pass
        finally:
            live.leave(viewer)
            viewer.finished.set()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse in one line of text; a method that is not known is a method that is not allowed."""
        refused = code == HTTPStatus.NOT_IMPLEMENTED
        status = HTTPStatus.METHOD_NOT_ALLOWED if refused else HTTPStatus(code)
        more = {"Allow": "GET"} if refused else {}
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            more = {"Refresh": "2", "Retry-After": "2"}  # a browser that came too early looks again by itself
        text = f"{'Only GET is allowed' if refused else message or status.phrase}.\n".encode()
        self._start(status, "text/plain; charset=utf-8", {"Content-Length": str(len(text)), **more})
        if self.command != "HEAD":
            self.wfile.write(text)

    def _start(self, status: int, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **_HEADERS, **more, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal for the run."""


def _message(record: LiveRecord) -> bytes:
    """A record as one server-sent event; JSON has no line ends, so it is one line."""
    return f"data: {json.dumps(record, separators=(',', ':'), allow_nan=False)}\n\n".encode()
