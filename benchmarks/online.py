"""Online estimation at control rate: a raw sample to an updated estimate, seven axes and 64 parameters.

The peer is what a straightforward script has: central differences, Pinocchio's regressor, eq 9 of P4 in
NumPy. Both take the same samples from the same start, P₀ = 100, with all rows alike, and must end at the
same values. Latency is taken update by update; the peer's rounds lie between ours. Then a sender of its own
process sends 1000 samples per second over UDP for a while, in real time.
"""

from __future__ import annotations

import gc
import multiprocessing
import socket
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import dynid
from _arms import pinocchio_model, with_bodies
from _harness import Report
from dynid.base.base_map import BaseMap
from dynid.estimators.recursive import ParameterPrior, RecursionOptions
from dynid.preparation.causal_plan import CausalPlan
from dynid.tracking import Arrival, Feed, Sample, joint_state_text
from dynid.tracking.feed import FeedRules
from dynid.tracking.sources import SocketLimits, Udp
from dynid.tracking.tracker import Tracker, TrackOptions

RATE, UPDATES, ROUNDS = 1000.0, 100_000, 5
PEER_UPDATES, REAL_TIME_S = 20_000, 30
SYMBOLS = ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")
"""Pinocchio's m, mc, Ixx Ixy Iyy Ixz Iyz Izz by our names."""


class Peer:
    """Eq 9 of P4 as it stands."""

    def __init__(self, base: BaseMap) -> None:
        robot = base.robot
        self.model = pinocchio_model(with_bodies(robot))
        self.data = self.model.createData()
        entries = [robot.table.entries[c] for c in base.columns]
        self.inertial = [
            (i, 10 * e.joint + SYMBOLS.index(e.symbol))
            for i, e in enumerate(entries)
            if e.family == "inertial"
        ]
        self.others = [(i, e.symbol, e.joint) for i, e in enumerate(entries) if e.family != "inertial"]
        self.P, self.chi = 100.0 * np.eye(len(base)), np.zeros(len(base))
        self.W, self.before = np.zeros((7, len(base))), []

    def take(self, q: np.ndarray, tau: np.ndarray) -> None:
        """One raw sample."""
        self.before = [*self.before[-2:], (q, tau)]
        if len(self.before) < 3:
            return
        (q0, _), (q1, y), (q2, _) = self.before
        qd, qdd = (q2 - q0) * RATE / 2, (q2 - 2 * q1 + q0) * RATE**2
        full = pin.computeJointTorqueRegressor(self.model, self.data, q1, qd, qdd)
        W = self.W
        ours, theirs = zip(*self.inertial, strict=True)
        W[:, ours] = full[:, theirs]
        for i, symbol, j in self.others:
            W[j, i] = qd[j] if symbol == "Fv" else np.sign(qd[j]) if symbol == "Fc" else 1.0
        K = self.P @ W.T @ np.linalg.inv(np.eye(7) + W @ self.P @ W.T)
        self.P = self.P - K @ W @ self.P
        self.chi = self.chi + K @ (y - W @ self.chi)


def samples(base: BaseMap, count: int) -> list[Sample]:
    """A motion of three sines per joint at 1 kHz, torques with noise."""
    rng = np.random.default_rng(0)
    t = np.arange(count) / RATE
    w, a = 2 * np.pi * rng.uniform(0.1, 0.9, (7, 3)), rng.uniform(0.1, 0.5, (7, 3))
    phase = rng.uniform(0, 2 * np.pi, (7, 3))
    angle = w * t[:, None, None] + phase
    q, qd, qdd = (
        x.sum(axis=2) for x in (a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle))
    )
    W = dynid.kernels(base.robot, base.columns).regressor(q, qd, qdd)
    tau = W @ (base.regroup(base.robot.parameters) + 0.02) + 0.05 * rng.normal(size=q.shape)
    return [Sample(float(s), x, y) for s, x, y in zip(t, q, tau, strict=True)]


def tracker_of(
    base: BaseMap, blocks: int = 10, watch: bool = False, plan: CausalPlan | None = None
) -> Tracker:
    """One update per raw sample, unless a plan says otherwise."""
    options = TrackOptions(
        prior=ParameterPrior.even(len(base), 100.0),
        joint_sigma=np.ones(7),
        recursion=RecursionOptions(blocks=blocks),
        **({} if watch else {"watch": None}),
    )
    return Tracker(base, plan or CausalPlan(rate_hz=RATE), options)


def latencies(take: Callable[[Sample], object], given: list[Sample]) -> np.ndarray:
    """Seconds of each call."""
    clock, found = time.perf_counter, np.empty(len(given))
    gc.collect()
    gc.freeze()
    for k, sample in enumerate(given):
        start = clock()
        take(sample)
        found[k] = clock() - start
    gc.unfreeze()
    return found


def send(port: int, texts: list[bytes]) -> None:
    """1000 datagrams per second."""
    start = time.perf_counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for k, text in enumerate(texts):
            wait = start + k / RATE - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            out.sendto(text, ("127.0.0.1", port))


def real_time(base: BaseMap, given: list[Sample], report: Report) -> None:
    """A stream in real time: what is lost on the way."""
    robot, count = base.robot, int(REAL_TIME_S * RATE)
    texts = [joint_state_text(sample, seq=k) for k, sample in enumerate(given[:count])]
    tracker, feed = tracker_of(base, watch=True), Feed(FeedRules(rate_hz=RATE))
    with Udp(robot, 0, limits=SocketLimits(timeout_s=2.0)) as source:
        sender = multiprocessing.get_context("spawn").Process(target=send, args=(source.address[1], texts))
        sender.start()
        for arrival in feed.in_order(source):
            tracker.take(arrival)
        sender.join()
        counts = {**source.counts, "missing": feed.missing, "late": feed.late}
    lost = sum(counts.get(name, 0) for name in ("lost", "dropped", "missing", "late", "refused"))
    report.bound("samples lost of a 1 kHz stream over UDP in real time", float(lost), 0.0, "samples")
    report.note("1 kHz stream in real time", seconds=REAL_TIME_S, updates=tracker.instants, **counts)


def main() -> None:
    """Compare, time, save."""
    report = Report("online")
    robot = dynid.load_robot("iiwa14")
    base = dynid.find_base(robot)
    given = samples(base, UPDATES + 2)
    peer, ours = Peer(base), tracker_of(base)
    for sample in given[:5000]:
        peer.take(sample.q, sample.tau)
        ours.take(Arrival(sample))
    assert ours.recursion is not None
    apart = np.max(np.abs(ours.recursion.values - peer.chi) / np.sqrt(np.diag(peer.P)))
    report.note("largest difference from the peer after 5000 updates", sigma=float(apart))

    kinds = {
        "σ from blocks of time": tracker_of(base),
        "classical σ": tracker_of(base, blocks=0),
        "with the watch": tracker_of(base, watch=True),
    }
    found: dict[str, list[np.ndarray]] = {name: [] for name in (*kinds, "peer")}
    per_round = UPDATES // ROUNDS
    for k in range(ROUNDS):
        part = given[k * per_round : (k + 1) * per_round]
        for name, tracker in kinds.items():
            arrivals = [Arrival(sample) for sample in part]
            found[name].append(latencies(tracker.take, arrivals))  # type: ignore[arg-type]
        own = part[: PEER_UPDATES // ROUNDS]
        found["peer"].append(latencies(lambda sample: peer.take(sample.q, sample.tau), own))
    best = {name: min(float(np.median(part)) for part in parts) for name, parts in found.items()}
    what = "raw sample to updated estimate, median"
    report.ratio(what, "NumPy eq 9 + Pinocchio", best["σ from blocks of time"], best["peer"], 3.0)
    for name, parts in found.items():
        whole = np.concatenate(parts)
        report.note(
            f"latency [µs], {name}",
            updates=len(whole),
            median=1e6 * float(np.median(whole)),
            percentile_99=1e6 * float(np.percentile(whole, 99)),
            percentile_99_9=1e6 * float(np.percentile(whole, 99.9)),
            largest=1e6 * float(whole.max()),
        )
    calm = min(float(np.percentile(part, 99.9)) for part in found["σ from blocks of time"])
    report.bound("99.9 % of updates, best round", 1e3 * calm, 1.0, "ms")
    real_time(base, given, report)
    report.save()


if __name__ == "__main__":
    main()
