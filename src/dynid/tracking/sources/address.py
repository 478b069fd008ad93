"""A source by one text, as the command line gives it: a log, ``-``, ``udp:5005``, ``zmq:5556``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from dynid.core.errors import DynidError
from dynid.logs.mapping import LogMapping
from dynid.logs.read import read_log
from dynid.model.robot import Robot
from dynid.tracking.sources.lines import Lines
from dynid.tracking.sources.mailbox import SocketLimits
from dynid.tracking.sources.replay import Replay
from dynid.tracking.sources.source import SampleSource
from dynid.tracking.sources.udp import Udp
from dynid.tracking.sources.zeromq import ZeroMq

LOOPBACK = "127.0.0.1"
HOW = "give udp:PORT, udp:HOST:PORT, zmq:PORT, zmq:HOST:PORT, - for standard input, or a log"


@dataclass(frozen=True)
class SourceOptions:
    """How a source is opened.

    Args:
        speed: of the replay of a log; None for as fast as possible.
        sender: address whose datagrams alone are taken; None for all.
        bind: whether a ZeroMQ address is this machine's, for publishers that connect.
        topic: beginning of the ZeroMQ messages that are wanted.
        limits: what a socket, and a line, may cost.
    """

    speed: float | None = None
    sender: str | None = None
    bind: bool = False
    topic: str = ""
    limits: SocketLimits = field(default_factory=SocketLimits)


def open_source(
    text: str, robot: Robot, mapping: LogMapping | None = None, options: SourceOptions | None = None
) -> SampleSource:
    """The source that a text means; sockets are bound to this machine alone unless it names a host.

    Args:
        text: path of a log, "-" for standard input, "udp:[HOST:]PORT", "zmq:[HOST:]PORT" or
            "zmq:" and an address of ZeroMQ.
        robot: which the samples are for.
        mapping: what columns or keys mean; None to go by common names.
        options: how it is opened.
    """
    options = options or SourceOptions()
    limits = options.limits
    kind, _, rest = text.partition(":")
    if text == "-":
        stdin = sys.stdin.buffer
        return Lines(stdin, robot, mapping, limit=limits.message_bytes, patience=limits.patience)
    if kind == "udp":
        host, port = _host_and_port(rest.removeprefix("//"), text)
        return Udp(robot, port, host, mapping=mapping, sender=options.sender, limits=limits)
    if kind == "zmq":
        address = rest
        if "://" not in rest:
            host, port = _host_and_port(rest.removeprefix("//"), text)
            address = f"tcp://{host}:{port}"
        return ZeroMq(robot, address, bind=options.bind, topic=options.topic, mapping=mapping, limits=limits)
    if kind in ("tcp", "http", "https", "ws", "ipc", "zeromq"):
        raise DynidError(f"Streams of the kind {kind!r} are not read; {HOW}.")
    return Replay(read_log(Path(text), mapping), robot, options.speed)


def _host_and_port(rest: str, text: str) -> tuple[str, int]:
    """Host and port; this machine where only a port is given."""
    host, _, port = rest.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= 65_535):
        raise DynidError(f"{text!r} names no port from 1 to 65535; {HOW}.")
    return host.strip("[]") or LOOPBACK, int(port)
