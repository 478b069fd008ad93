"""Samples from a ZeroMQ publisher, by pyzmq: one JSON object in the last part of each message."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dynid.core.errors import DynidError
from dynid.logs.mapping import LogMapping
from dynid.model.robot import Robot
from dynid.tracking.refusals import Refusal
from dynid.tracking.sources.mailbox import SocketLimits, SocketSource


class ZeroMq(SocketSource):
    """Samples from a SUB socket.

    Args:
        robot: which the samples are for.
        address: of the publisher, such as "tcp://127.0.0.1:5556", to connect to; with ``bind`` of this
            machine, for publishers that connect. Other machines are reached only when their address, or that
            of a network card of this one, is given.
        bind: whether this side is the one with the fixed address.
        topic: beginning of the messages that are wanted; "" for all.
        mapping: what keys mean, as for a log; None to go by common names.
        limits: what the socket may cost; a publisher of longer messages is disconnected by the library.
    """

    def __init__(
        self,
        robot: Robot,
        address: str = "tcp://127.0.0.1:5556",
        *,
        bind: bool = False,
        topic: str = "",
        mapping: LogMapping | None = None,
        limits: SocketLimits | None = None,
    ) -> None:
        """Open the socket and begin to receive."""
        limits = limits or SocketLimits()
        self._zmq = _library()
        self._limit, self._topic = limits.message_bytes, topic.encode()
        self._context = self._zmq.Context()
        self._socket = self._context.socket(self._zmq.SUB)
        try:
            self._socket.set(self._zmq.LINGER, 0)
            # The library ends the connection behind this size; what is shorter is refused one by one.
            self._socket.set(self._zmq.MAXMSGSIZE, limits.connection_bytes)
            self._socket.set(self._zmq.RCVHWM, limits.queue)
            self._socket.set(self._zmq.RCVTIMEO, 100)  # [ms], so that close is heard
            self._socket.set(self._zmq.SUBSCRIBE, self._topic)
            (self._socket.bind if bind else self._socket.connect)(address)
        except (self._zmq.ZMQError, OverflowError, TypeError) as error:
            self._hang_up()
            raise DynidError(
                f"The ZeroMQ address {address!r} cannot be {'bound' if bind else 'connected to'} ({error}); "
                "give one such as tcp://127.0.0.1:5556."
            ) from None
        self.address = str(self._socket.get(self._zmq.LAST_ENDPOINT).rstrip(b"\0").decode())
        super().__init__(f"ZeroMQ {self.address}", robot, mapping, limits)

    def _receive(self) -> bytes | Refusal | None:
        try:
            parts = self._socket.recv_multipart()
        except self._zmq.Again:
            return None
        if sum(map(len, parts)) > self._limit:
            return Refusal.TOO_LONG
        # The topic is a part of its own, or stands before the object.
        return bytes(parts[-1] if len(parts) > 1 else parts[0].removeprefix(self._topic))

    def _hang_up(self) -> None:
        self._socket.close()
        self._context.term()


def _library() -> Any:
    """The package pyzmq, which only this source needs."""
    try:
        return import_module("zmq")
    except ImportError:
        raise DynidError(
            "Reading a ZeroMQ stream needs the package 'pyzmq'; install dynid with its streams extra: "
            "pip install 'dynid[streams]'."
        ) from None
