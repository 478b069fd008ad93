"""Streams whose truth is known: samples of a motion, and the lines that would carry them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from dynid.model.robot import Robot
from dynid.tracking import Sample, joint_state_text


def made_samples(
    count: int, axes: int = 2, rate_hz: float = 1000.0, start: float = 0.0, seed: int = 1
) -> list[Sample]:
    """Samples of random values at even stamps."""
    rng = np.random.default_rng(seed)
    q, tau, qd = rng.normal(size=(3, count, axes))
    return [Sample(start + k / rate_hz, q[k], tau[k], qd[k]) for k in range(count)]


def json_lines(samples: Sequence[Sample], names: Sequence[str] = ()) -> list[bytes]:
    """Joint states with numbers of their messages."""
    return [joint_state_text(sample, names, seq) for seq, sample in enumerate(samples)]


def csv_lines(samples: Sequence[Sample], header: bool = True) -> list[bytes]:
    """Rows of stamps, positions and torques."""
    axes = range(1, len(samples[0].q) + 1)
    names = ",".join(["t", *(f"q{axis}" for axis in axes), *(f"tau{axis}" for axis in axes)])
    rows = [",".join(map(repr, [s.time, *s.q.tolist(), *s.tau.tolist()])) for s in samples]
    return [f"{line}\n".encode() for line in ([names] if header else []) + rows]


def flat_line(sample: Sample, **more: object) -> bytes:
    """A message with one key for each joint and channel."""
    parts: dict[str, object] = {"t": sample.time}
    parts |= {f"q{k}": x for k, x in enumerate(sample.q.tolist(), 1)}
    parts |= {f"tau{k}": x for k, x in enumerate(sample.tau.tolist(), 1)}
    return json.dumps(parts | more).encode() + b"\n"


def joint_names(robot: Robot) -> list[str]:
    """Names of the joints that are the robot's coordinates."""
    return [robot.joints[i].name for i in robot.coordinates]


def assert_same(some: Sequence[Sample], others: Sequence[Sample], atol: float = 0.0) -> None:
    """Samples are equal, channel by channel."""
    assert [sample.time for sample in some] == [sample.time for sample in others]
    for channel in ("q", "tau"):
        a, b = (np.array([getattr(sample, channel) for sample in row]) for row in (some, others))
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)
