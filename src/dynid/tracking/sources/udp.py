"""Samples from UDP datagrams: one JSON object in each."""

from __future__ import annotations

import contextlib
import socket

from dynid.core.errors import DynidError
from dynid.logs.mapping import LogMapping
from dynid.model.robot import Robot
from dynid.tracking.refusals import Refusal
from dynid.tracking.sources.mailbox import SocketLimits, SocketSource


class Udp(SocketSource):
    """Samples from datagrams to a port of this machine.

    Only this machine can send, unless another address is given: the socket binds to 127.0.0.1.

    Args:
        robot: which the samples are for.
        port: to listen on; 0 for a free one, which ``address`` then says.
        host: address to bind to; 0.0.0.0 takes datagrams from anybody in the network.
        mapping: what keys mean, as for a log; None to go by common names.
        sender: address whose datagrams alone are taken, such as "192.168.1.10"; None for all.
        limits: what the socket may cost.
    """

    def __init__(
        self,
        robot: Robot,
        port: int,
        host: str = "127.0.0.1",
        *,
        mapping: LogMapping | None = None,
        sender: str | None = None,
        limits: SocketLimits | None = None,
    ) -> None:
        """Bind the socket and begin to receive."""
        limits = limits or SocketLimits()
        family, place = _address_of(host, port)
        self._sender = None if sender is None else _address_of(sender, 0, family)[1][0]
        self._limit = limits.message_bytes
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            self._socket.settimeout(0.1)  # so that close is heard
            self._socket.bind(place)
        except OSError as error:
            self._socket.close()
            raise DynidError(
                f"UDP port {port} of {host} cannot be listened on ({error.strerror or error}); choose a free "
                "port and an address of this machine."
            ) from None
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        super().__init__(f"UDP {self.address[0]}:{self.address[1]}", robot, mapping, limits)

    def _receive(self) -> bytes | Refusal | None:
        try:
            data, origin = self._socket.recvfrom(self._limit + 1)
        except TimeoutError:
            return None
        except ConnectionError:  # Windows tells of an answer that nobody sent
            return None
        if self._sender is not None and origin[0] != self._sender:
            return Refusal.SENDER
        return Refusal.TOO_LONG if len(data) > self._limit else data

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()


def _address_of(host: str, port: int, family: int = 0) -> tuple[int, tuple[str, int]]:
    """Family and address of a host; IPv4 where it has both."""
    if not 0 <= port <= 65_535:
        raise DynidError(f"{port} is no port; ports are 1 to 65535, or 0 for a free one.")
    try:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise DynidError(
            f"The address {host!r} is not known ({error}); give one such as 127.0.0.1."
        ) from None
    entry = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return int(entry[0]), (str(entry[4][0]), int(entry[4][1]))
