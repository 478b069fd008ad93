"""Live records of a run that never was: parameters that settle, drift and jump, torques that follow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

NAMES = ("ZZ1R", "FV1", "FC1", "XX2R", "XZ2R", "MX2", "MY2R", "FV2", "FC2", "off2")


def live_header(parameters: int = 12, joints: int = 3) -> dict[str, Any]:
    """A robot with so many base parameters and joints."""
    names = [NAMES[k] if k < len(NAMES) else f"ZZ{k}R" for k in range(parameters)]
    rows = [{"name": name, "unit": "kg m^2", "formula": f"{name} + M3"} for name in names]
    return {
        "kind": "header",
        "robot": "two <arms> & a half",
        "joints": [f"joint {j + 1}" for j in range(joints)],
        "parameters": rows,
        "method": "RLS",
        "rate_hz": 1000.0,
        "delay_s": 0.05,
    }


def live_records(
    count: int,
    parameters: int = 12,
    joints: int = 3,
    rate_hz: float = 10.0,
    seed: int = 0,
    start: float = 100.0,
) -> Iterator[dict[str, Any]]:
    """Header, records with an event in the middle, and an end; the inertia is not known at first.

    Args:
        count: records.
        parameters: base parameters.
        joints: joints.
        rate_hz: of the records [Hz].
        seed: of the noise.
        start: stamp of the first record [s].
    """
    rng = np.random.default_rng(seed)
    yield live_header(parameters, joints)
    truth = rng.normal(size=parameters) * np.geomspace(5, 0.05, parameters)
    sigma = np.abs(truth) * 0.3
    middle = count // 2
    for k in range(count):
        if k == middle:
            truth[:3] += 0.4 * np.abs(truth[:3])
            figures = {"mass": 2.0}
            text = "The robot carries 2.0 kg more than before <b>."
            yield {
                "kind": "event",
                "t": start + k / rate_hz,
                "name": "payload",
                "level": "care",
                "text": text,
                "figures": figures,
            }
        sigma = sigma * 0.99 + 0.01 * 0.02 * np.abs(truth)
        values = truth + sigma * rng.normal(size=parameters) * 0.3
        phase = k / rate_hz * np.linspace(0.7, 1.9, joints)
        predicted = np.linspace(20, 2, joints) * (np.sin(phase) + 0.3 * np.sin(2.7 * phase))
        yield {
            "kind": "record",
            "t": start + k / rate_hz,
            "values": values,
            "sigma": sigma.copy(),
            "measured": predicted + rng.normal(size=joints) * 0.4,
            "predicted": predicted,
            "innovation": float(rng.chisquare(30) / 30) * (12.0 if middle <= k < middle + 5 else 1.0),
            "inertia": 0.4 if k else math.nan,
            "used": 100 * (k + 1),
            "counts": {
                "received": 100 * (k + 1),
                "late": k // 7,
                "missing": 3,
                "repeated": 0,
                "out_of_order": 1,
                "refused": 0,
            },
        }
    counts = {
        "received": 100 * count,
        "late": 0,
        "missing": 3,
        "repeated": 0,
        "out_of_order": 1,
        "refused": 0,
    }
    yield {"kind": "end", "t": start + count / rate_hz, "outcome": "The source has ended.", "counts": counts}
