"""Logs of the SCARA with torques that its linear model does not hold, and fits of them by command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.commands import dynid
from dynid.estimators.linear.augmented import inertial_columns
from dynid.preparation.motion import Motion
from support.estimation import scara, stribeck_torques
from support.motions import exact_torques, fourier_motion

Capsys = pytest.CaptureFixture[str]
Array = np.ndarray[Any, np.dtype[np.float64]]
LOAD_TRUTH = {"Fl1": 0.1, "Fl2": 0.15}


def knocks(motion: Motion) -> Array:
    """Six short pushes against the arm, always in the same direction."""
    pushed = np.zeros_like(motion.tau)
    for start in np.linspace(0.1, 0.9, 6):
        first = int(start * motion.samples)
        pushed[first : first + 40] = (8.0, 3.0)
    return pushed


def loaded(motion: Motion) -> Array:
    """Friction that grows with the torque of the links' inertia."""
    base, truth = scara()
    rigid = exact_torques(base, np.where(inertial_columns(base), truth, 0.0), motion)
    return np.array(list(LOAD_TRUTH.values())) * np.abs(rigid) * np.sign(motion.qd)


def write(path: Path, beside: Callable[[Motion], Array] | None, seed: int, noise: float = 0.01) -> None:
    """A log of the SCARA with torques beside those of its linear model."""
    base, truth = scara()
    rng = np.random.default_rng(seed)
    motion = fourier_motion(base.robot, rng, seconds=12.0, rate_hz=250.0)
    tau = exact_torques(base, truth, motion)
    tau += noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    tau += 0.0 if beside is None else beside(motion)
    rows = np.column_stack([motion.time, motion.q, tau])
    np.savetxt(path, rows, delimiter=",", header="time,q1,q2,tau1,tau2", comments="", fmt="%.10g")


def write_all(place: Path) -> Path:
    """Logs with nothing, pushes, Stribeck or load-dependent friction beside, a noisy one, and a plan."""
    made = {"plain": None, "knocked": knocks, "sticky": stribeck_torques, "load": loaded}
    for name, beside in made.items():
        write(place / f"{name}.csv", beside, 1)
    write(place / "noisy.csv", None, 1, noise=0.1)
    write(place / "sticky2.csv", stribeck_torques, 2)
    (place / "plan.toml").write_text("cutoff_hz = 20\ndrop_samples = 30\ndecimation = 4\n")
    return place


def fit(capsys: Capsys, folder: Path, log: str, *options: str) -> dict[str, Any]:
    """What the command prints, whatever it thinks of the fit."""
    plan = ("--plan", str(folder / "plan.toml"))
    said = dynid(capsys, "fit", "scara", str(folder / f"{log}.csv"), *plan, *options, "--force", "--json")
    assert said.code in (0, 2), said.err
    assert "parameters" in said.document, said.err
    return said.document


def values(found: dict[str, Any], key: str = "parameters") -> dict[str, float]:
    return {row["name"]: row["value"] for row in found[key]}


def distance(found: dict[str, Any]) -> float:
    """Largest relative error of the parameters."""
    base, truth = scara()
    got = np.array([values(found)[name] for name in base.names])
    return float(np.max(np.abs(got / truth - 1)))


def strategy(result: str = "out/fit") -> dict[str, Any]:
    return dict(json.loads(Path(result, "result.json").read_text(encoding="utf-8"))["strategy"])
