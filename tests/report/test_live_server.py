"""The server of the live page: what it gives, to whom, and what it refuses."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dynid.core.errors import DynidError
from dynid.report.live_history import HistorySize
from dynid.report.live_server import LiveServer, LiveServerOptions
from support.live_records import live_header, live_records

RECORDS = list(live_records(30, parameters=4, joints=2))


@pytest.fixture
def server() -> Iterator[LiveServer]:
    with LiveServer() as made:
        yield made


def request(
    server: LiveServer, path: str = "/", method: str = "GET", **headers: str
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
    return connection.getresponse()


class Viewer:
    """Reads a stream."""

    def __init__(self, server: LiveServer, **headers: str) -> None:
        self.answer = request(server, "/records", **headers)

    def next(self) -> dict[str, Any] | None:
        """The next record, None at the end."""
        while line := self.answer.readline():
            if line.startswith(b"data: "):
                found: dict[str, Any] = json.loads(line[6:])
                return found
        return None


def test_the_page_comes_with_its_headers(server: LiveServer) -> None:
    early = request(server)
    assert (early.status, early.headers["Refresh"]) == (503, "2")
    assert early.read() == b"The run has not begun yet.\n"
    server.write(RECORDS[0])
    answer = request(server, "/?again")
    text = answer.read().decode()
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Server"].strip() == "dynid"
    assert "default-src &#39;none&#39;; connect-src &#39;self&#39;; style-src &#39;sha256-" in text
    assert "two &lt;arms&gt; &amp; a half" in text
    assert "<arms>" not in text


def test_records_are_streamed_as_they_come(server: LiveServer) -> None:
    server.write(RECORDS[0])
    viewer = Viewer(server)
    assert viewer.answer.headers["Content-Type"] == "text/event-stream"
    header, history = viewer.next(), viewer.next()
    assert header is not None
    assert history is not None
    assert (header["kind"], header["robot"]) == ("header", RECORDS[0]["robot"])
    assert (history["kind"], history["recent"]) == ("history", [])
    for record in RECORDS[1:]:
        assert server.write(record)
        seen = viewer.next()
        assert seen is not None
        assert (seen["kind"], seen["t"]) == (record["kind"], pytest.approx(record["t"]))
    server.close()
    assert viewer.next() is None


def test_who_comes_late_gets_what_came_before(server: LiveServer) -> None:
    for record in RECORDS:
        server.write(record)
    viewer = Viewer(server)
    viewer.next()
    history = viewer.next()
    assert history is not None
    assert [point["t"] for point in history["recent"]] == [r["t"] for r in RECORDS if r["kind"] == "record"]
    assert [event["name"] for event in history["events"]] == ["payload"]
    assert history["end"]["outcome"] == "The source has ended."


def test_a_viewer_who_comes_before_the_header_waits_for_it(server: LiveServer) -> None:
    viewer = Viewer(server)
    server.write(RECORDS[0])
    header = viewer.next()
    assert header is not None
    assert header["kind"] == "header"


def test_a_slow_viewer_is_dropped_and_the_run_goes_on() -> None:
    wide = live_records(4000, parameters=200, joints=7)
    with LiveServer(LiveServerOptions(behind=20, size=HistorySize(recent=10, older=10))) as server:
        server.write(next(wide))
        slow = socket.create_connection(("127.0.0.1", server.port))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(b"GET /records HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert slow.recv(15).startswith(b"HTTP/1")  # it has a place, and reads no further
        quick = Viewer(server)
        assert server.viewers == 2
        written = 0
        for record in wide:
            server.write(record)
            written += 1
            while (seen := quick.next()) is not None and seen["kind"] in ("header", "history"):
                pass
            if server.dropped:
                break
        assert (server.dropped, server.viewers) == (1, 1)
        assert written < 4000
        server.write(next(wide))
        assert quick.next() is not None
        slow.close()


def test_places_of_viewers_are_bounded_and_given_back() -> None:
    with LiveServer(LiveServerOptions(viewers=2, keep_alive_s=0.02)) as server:
        server.write(RECORDS[0])
        first, second = Viewer(server), Viewer(server)
        refused = request(server, "/records")
        assert (refused.status, refused.headers["Retry-After"]) == (503, "2")
        assert request(server).status == 200  # the page itself is still given
        assert first.next() is not None
        second.answer.close()
        # The place is free again when a keep-alive line meets the closed connection.
        for _ in range(500):
            if server.viewers < 2:
                break
            threading.Event().wait(0.02)
        assert server.viewers == 1
        assert Viewer(server).next() is not None


def test_too_many_connections_are_closed_unread() -> None:
    with LiveServer(LiveServerOptions(connections=2)) as server:
        server.write(RECORDS[0])
        held = [Viewer(server), Viewer(server)]
        assert all(viewer.next() for viewer in held)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            request(server)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:99", "LOCALHOST:1"])
def test_names_of_this_machine_are_answered(server: LiveServer, host: str) -> None:
    server.write(RECORDS[0])
    assert request(server, Host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "192.168.1.4", "", "[::2]", "[", "a:b:c"]
)
@pytest.mark.parametrize("path", ["/", "/records"])
def test_other_names_are_refused(server: LiveServer, host: str, path: str) -> None:
    server.write(RECORDS[0])
    answer = request(server, path, Host=host)
    assert answer.status == 421
    assert answer.read() == b"This server does not go by that name.\n"


def test_names_that_were_told_are_answered_and_beyond_loopback_addresses_too() -> None:
    with LiveServer(LiveServerOptions(host="0.0.0.0", names=("Robot.lan",))) as server:
        server.write(RECORDS[0])
        assert [
            request(server, Host=host).status for host in ("robot.lan:8000", "192.168.1.4", "evil.example")
        ] == [
            200,
            200,
            421,
        ]


def test_only_the_page_itself_may_follow(server: LiveServer) -> None:
    server.write(RECORDS[0])
    for site in ("cross-site", "same-site"):
        assert request(server, "/records", Sec_Fetch_Site=site).status == 403
    assert request(server, "/", Sec_Fetch_Site="cross-site").status == 200  # a link to it is no harm
    assert Viewer(server, Sec_Fetch_Site="same-origin").next() is not None


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"])
def test_only_get_is_allowed(server: LiveServer, method: str) -> None:
    server.write(RECORDS[0])
    answer = request(server, "/", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    assert answer.read() == b"Only GET is allowed.\n"
    assert "Content-Security-Policy" in answer.headers
    assert request(server, "/", "HEAD").status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/records/",
        "/%2e%2e/etc/passwd",
        "/page.css",
        "/..",
        "/records%00",
    ],
)
def test_there_is_nothing_else(server: LiveServer, path: str) -> None:
    server.write(RECORDS[0])
    answer = request(server, path)
    assert (answer.status, answer.read()) == (404, b"There is nothing here.\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x00\xff\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.0\r\n" + b"A: b\r\n" * 200 + b"\r\n",
    ],
)
def test_what_is_no_request_does_no_harm(server: LiveServer, sent: bytes) -> None:
    server.write(RECORDS[0])
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        try:
            answer = raw.recv(10_000)
        except ConnectionResetError:  # it was not read to its end
            answer = b""
    assert b"Traceback" not in answer
    assert b"200" not in answer[:20]
    assert request(server).status == 200


def test_a_port_that_is_taken_is_one_sentence(server: LiveServer) -> None:
    with pytest.raises(DynidError, match=rf"127\.0\.0\.1:{server.port}: .*Choose another port"):
        LiveServer(LiveServerOptions(port=server.port))
    with pytest.raises(DynidError, match="nowhere\\.invalid"):
        LiveServer(LiveServerOptions(host="nowhere.invalid"))
    with pytest.raises(DynidError, match="70000"):
        LiveServer(LiveServerOptions(port=70000))


def test_it_is_bound_to_loopback_and_closes_twice(server: LiveServer) -> None:
    assert server.url == f"http://127.0.0.1:{server.port}/"
    server.write(live_header())
    server.close()
    with pytest.raises(ConnectionRefusedError):
        request(server)


def test_after_the_end_nobody_gets_a_place(server: LiveServer) -> None:
    server.write(RECORDS[0])
    here, there = socket.socketpair()
    with here, there:
        assert server.join(here) is not None
        server.close()
        assert server.join(here) is None
        assert server.viewers == 0
