"""Samples from sockets on loopback: nothing is dropped in real time, floods are counted, limits hold."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest

from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Name
from dynid.model.load import load_robot
from dynid.tracking import Feed, Sample, counts_of, joint_state_text
from dynid.tracking.refusals import Refusal
from dynid.tracking.sources import Replay, SocketLimits, Udp, ZeroMq, open_source
from dynid.tracking.sources.mailbox import Mailbox
from support.logs import robot_log
from support.robots import with_random_inertias
from support.streams import assert_same, json_lines, made_samples

ROBOT = load_robot("double_pendulum")
SILENCE = SocketLimits(timeout_s=0.3)
"""Ends a stream once all that was sent must have arrived."""


@contextmanager
def sender(source: Udp) -> Iterator[socket.socket]:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as out:
        out.connect(source.address)
        yield out


def test_a_stream_at_1_khz_in_real_time_drops_nothing() -> None:
    robot = with_random_inertias(load_robot("iiwa14"), np.random.default_rng(5))
    log = robot_log(robot, seconds=2.0, rate_hz=1000.0)
    with Udp(robot, 0, limits=SocketLimits(timeout_s=2.0)) as source, sender(source) as out:

        def play() -> None:
            for seq, sample in enumerate(Replay(log, robot, speed=1.0)):
                out.send(joint_state_text(sample, seq=seq))

        player = threading.Thread(target=play)
        player.start()
        feed = Feed()
        arrivals = list(feed.in_order(source))
        player.join()
        counts = counts_of(source, feed)
    assert_same([arrival.sample for arrival in arrivals], list(Replay(log, robot)))
    assert counts["received"] == len(arrivals) == 2000
    assert counts["stretches"] == 1
    assert sum(counts.values()) == 2001  # all others are zero
    assert source.findings() == feed.findings() == ()


def test_udp_listens_on_this_machine_alone_unless_told() -> None:
    with Udp(ROBOT, 0) as source, Udp(ROBOT, 0, "0.0.0.0") as everywhere:
        assert source.address[0] == "127.0.0.1"
        assert everywhere.address[0] == "0.0.0.0"
    with open_source("udp:15999", ROBOT) as opened:
        assert opened.name == "UDP 127.0.0.1:15999"


def test_all_kinds_of_bad_datagrams_are_counted() -> None:
    samples = made_samples(100)
    good = json_lines(samples)
    bad = {
        "too long": b"{" + b" " * 5000 + b"}",
        "no UTF-8 text": b"\xff\xfe\x00",
        "no JSON object": b"[1, 2]",
        "nested too deep": b"[" * 4000,
        "a key stands twice": b'{"t": 1, "t": 2}',
        "keys are missing": b'{"t": 1.0}',
        "wrong number of values": b'{"t": 1.0, "position": [1], "effort": [1, 2], "velocity": [0, 0]}',
        "no number": b'{"t": 1.0, "position": [true, 1], "effort": [1, 2], "velocity": [0, 0]}',
        "not finite or huge": b'{"t": 1.0, "position": [NaN, 1], "effort": [1, 2], "velocity": [0, 0]}',
        "impossible stamp": b'{"t": 1e300, "position": [1, 1], "effort": [1, 2], "velocity": [0, 0]}',
    }
    with (
        Udp(ROBOT, 0, limits=SocketLimits(message_bytes=4096, timeout_s=0.3)) as source,
        sender(source) as out,
    ):
        for k, message in enumerate(good):
            out.send(message)
            if k >= 10 and k % 9 == 0:
                out.send(list(bad.values())[(k // 9 - 2) % 10])
        samples_got = list(source)
    assert_same(samples_got, samples)
    assert source.refused_by_reason == dict.fromkeys(bad, 1)
    assert source.counts == {"received": 110, "refused": 10, "lost": 0, "dropped": 0}


def test_only_the_sender_that_is_named_is_heard() -> None:
    with Udp(ROBOT, 0, sender="127.0.0.2", limits=SILENCE) as source, sender(source) as stranger:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as friend:
            friend.bind(("127.0.0.2", 0))
            for message in json_lines(made_samples(20)):
                stranger.send(message)
                friend.sendto(message, source.address)
        assert len(list(source)) == 20
    assert source.refused_by_reason == {"another sender": 20}


def test_when_reading_falls_behind_the_oldest_are_dropped_and_it_is_said() -> None:
    samples = made_samples(500)
    with Udp(ROBOT, 0, limits=SocketLimits(queue=50, timeout_s=0.3)) as source, sender(source) as out:
        for message in json_lines(samples):
            out.send(message)
            time.sleep(1e-4)  # let the receiving thread keep up; nothing is asserted about the clock
        while source.counts["received"] < 500:
            time.sleep(1e-3)
        got = list(source)
    assert_same(got, samples[450:])
    assert source.counts == {"received": 500, "refused": 0, "lost": 0, "dropped": 450}
    assert Name.MESSAGES_LEFT_OUT in [finding.name for finding in source.findings()]


def test_a_flood_of_rubbish_neither_crashes_nor_grows() -> None:
    with Udp(ROBOT, 0, limits=SocketLimits(queue=100, timeout_s=0.3)) as source, sender(source) as out:
        for message in json_lines(made_samples(10)):
            out.send(message)
        while source.counts["received"] < 10:
            time.sleep(1e-3)
        stream = iter(source)
        first = [next(stream) for _ in range(10)]
        rng = np.random.default_rng(3)
        for size in rng.integers(0, 3000, 20_000):
            out.send(rng.bytes(int(size)))
        assert list(stream) == []
    assert len(first) == 10
    counts = source.counts
    assert counts["dropped"] + counts["refused"] <= counts["received"] - 10 <= 20_000
    assert counts["refused"] > 50


def test_lost_datagrams_are_counted_and_told() -> None:
    messages = json_lines(made_samples(100))
    with Udp(ROBOT, 0, limits=SILENCE) as source, sender(source) as out:
        for message in [*messages[:40], *messages[47:]]:
            out.send(message)
        list(source)
    assert source.counts["lost"] == 7
    assert "7 of 100 (7 %) messages" in source.findings()[0].sentence


def test_closing_from_another_thread_ends_the_stream() -> None:
    source = Udp(ROBOT, 0)
    with sender(source) as out:
        for message in json_lines(made_samples(30)):
            out.send(message)
        stream = iter(source)
        samples = [next(stream) for _ in range(30)]
        closer = threading.Thread(target=source.close)
        closer.start()
        samples += stream
        closer.join()
    assert len(samples) == 30


def test_only_rubbish_on_a_socket_ends_with_a_sentence() -> None:
    with Udp(ROBOT, 0) as source, sender(source) as out:
        for _ in range(150):
            out.send(b"{rubbish")
        with pytest.raises(NotTrustworthyError, match=r"None of the first 100 messages of UDP 127\.0\.0\.1"):
            list(source)


def test_a_port_in_use_is_one_sentence() -> None:
    with Udp(ROBOT, 0) as source, pytest.raises(DynidError, match=r"UDP port \d+ of 127.0.0.1 cannot be"):
        Udp(ROBOT, source.address[1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("udp:", "names no port"),
        ("udp:70000", "names no port"),
        ("zmq:host:x", "names no port"),
        ("tcp://1.2.3.4:5", "of the kind 'tcp' are not read; give udp:PORT"),
        ("udp:no.such.host.invalid:5005", "address 'no.such.host.invalid' is not known"),
        ("zmq:tcp://nonsense", "ZeroMQ address 'tcp://nonsense' cannot be connected to"),
    ],
)
def test_addresses_that_mean_nothing_are_refused(text: str, words: str) -> None:
    with pytest.raises(DynidError, match=words):
        open_source(text, ROBOT)


@pytest.mark.parametrize("limits", [{"queue": 0}, {"message_bytes": 0}, {"timeout_s": -1.0}])
def test_limits_that_let_nothing_through_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(DynidError, match=f"{next(iter(limits))} is"):
        SocketLimits(**limits)  # type: ignore[arg-type]


def test_a_mailbox_keeps_the_newest_in_order() -> None:
    box = Mailbox(3)
    for k in range(5):
        box.put(bytes([k]))
    box.put(Refusal.SENDER)
    assert [box.take(0.01) for _ in range(4)] == [b"\3", b"\4", Refusal.SENDER, None]
    assert box.dropped == 3
    box.close()
    assert box.take(None) is None


@pytest.mark.parametrize("form", ["plain", "topic part", "topic before"])
def test_zeromq_gives_the_samples_that_were_published(form: str) -> None:
    zmq = pytest.importorskip("zmq")
    samples = made_samples(200)
    topic = "" if form == "plain" else "joints"
    with ZeroMq(ROBOT, "tcp://127.0.0.1:*", bind=True, topic=topic, limits=SILENCE) as source:
        assert source.address.startswith("tcp://127.0.0.1:")
        with zmq.Context() as context, context.socket(zmq.XPUB) as out:
            out.connect(source.address)
            assert out.recv() == b"\1" + topic.encode()  # the subscription has come
            out.send(b"jointless")
            for message in json_lines(samples):
                if form == "topic part":
                    out.send_multipart([b"joints", message])
                else:
                    out.send(topic.encode() + message)
            got = list(source)
    assert_same(got, samples)
    assert source.counts["dropped"] == 0
    assert source.counts["refused"] == (form == "plain")  # others are not subscribed to


def test_zeromq_refuses_long_messages() -> None:
    zmq = pytest.importorskip("zmq")
    limits = SocketLimits(timeout_s=0.3, message_bytes=1000)
    with ZeroMq(ROBOT, "tcp://127.0.0.1:*", bind=True, limits=limits) as source:
        with zmq.Context() as context, context.socket(zmq.XPUB) as out:
            out.connect(source.address)
            out.recv()
            for message in json_lines(made_samples(20)):
                out.send(message)
            out.send_multipart([b"x" * 900, b"y" * 900])
            got = list(source)
            out.send(b"z" * 5000)
        assert len(got) == 20
    assert source.refused_by_reason == {"too long": 1}


def test_zeromq_lacking_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zmq", None)
    with pytest.raises(DynidError, match=r"needs the package 'pyzmq'; .* pip install 'dynid\[streams\]'"):
        open_source("zmq:5556", ROBOT)


def test_samples_written_are_samples_read() -> None:
    q = np.array([0.1, 1 / 3])
    parts = json.loads(joint_state_text(Sample(0.5, q, -q, 2 * q, 3 * q), ["a", "b"], seq=4))
    assert parts == {
        "seq": 4,
        "t": 0.5,
        "name": ["a", "b"],
        "position": q.tolist(),
        "effort": (-q).tolist(),
        "velocity": (2 * q).tolist(),
        "reference": (3 * q).tolist(),
    }
