"""A population of arms, payloads, gains, noises and defects: what thresholds of the gains are set on.

``python -m calibration.population [METHOD] [MEMBERS]``, with src and tests on the path, prints the table of
docs/gains.md: for one method or for "shared" and "global", over all members that are judged or so many.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dynid.calibration import DriveGains, PayloadKnowledge, calibrate_gains
from dynid.calibration.gains import GLOBAL, SHARED
from dynid.compile.kernels import kernels
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.payload import free_and_loaded
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from support.loaded_arms import PLAN

Array = NDArray[np.float64]
ARMS = ("rx90", "iiwa14", "ur10")
DEFECTS = ("sound", "swapped", "no load", "turned sign", "gain drifts", "gains drift", "false MZ")
SAMPLES, SECONDS = 1200, 12.0


@dataclass(frozen=True)
class Draw:
    """One member: what was done, and what came out."""

    arm: str
    defect: str
    gains: Array
    found: DriveGains
    mass: float

    @property
    def outcome(self) -> str:
        return self.found.outcome.name.value

    @property
    def ratio(self) -> float:
        """Squares of the fit of all motors over the degrees of freedom."""
        return self.found.squares / max(self.found.degrees, 1)

    @property
    def wrong(self) -> bool:
        """Whether a gain is told that is more than 4 σ and 5 % off."""
        if not any(gain.is_calibrated for gain in self.found.gains):
            return False
        error = np.abs(self.found.relative - self.gains)
        return bool(np.nanmax(np.minimum(error / (4 * self.found.sigma), error / (0.05 * self.gains))) > 1)


@cache
def loaded(name: str) -> Robot:
    robot = load_robot(name)
    rng = np.random.default_rng(7)
    given = dict(robot.parameters)
    for entry in robot.table:  # friction that a file leaves out
        if entry.symbol in ("Fv", "Fc") and not given.get(entry.name):
            given[entry.name] = float(rng.uniform(2, 10))
    return free_and_loaded(robot.with_parameters(given))


def draw(seed: int, defect: str, method: str = SHARED) -> Draw:
    """Member of a seed, with a defect, calibrated by a method."""
    rng = np.random.default_rng((seed, DEFECTS.index(defect)))
    name = ARMS[int(rng.integers(len(ARMS)))]
    robot = loaded(name)
    n = robot.n_coordinates
    mass = float(rng.uniform(2, 8))
    com = rng.uniform(-1, 1, 3) * (0.05, 0.05, 0.1) + (0, 0, 0.15)
    load = LinkInertia.from_com(mass, com, mass * np.diag(rng.uniform(0.002, 0.004, 3)))
    gains = rng.uniform(0.8, 1.25, n)
    noise, colour = 0.01 * 5.0 ** rng.uniform(), rng.uniform() < 0.5
    own = {"free": gains, "loaded": gains.copy()}
    if defect == "turned sign":
        for values in own.values():
            values[1] *= -1
    if defect == "gain drifts":
        own["loaded"][1] *= 1 + rng.choice([-1, 1]) * rng.uniform(0.08, 0.2)
    if defect == "gains drift":
        own["loaded"] *= 1 + rng.choice([-1, 1], n) * rng.uniform(0.04, 0.1, n)
    carries = {"free": defect == "swapped", "loaded": defect not in ("swapped", "no load")}
    motions = [
        _motion(robot, c, load if carries[c] else None, own[c], noise, colour, rng)
        for c in ("free", "loaded")
    ]
    known = {"ML": mass} | ({"MZL": float(load.moment[2]) * 1.5} if defect == "false MZ" else {})
    knowledge = PayloadKnowledge(known, {"ML": 0.005 * mass})
    found = calibrate_gains(robot, motions, PLAN, knowledge, method=method)
    return Draw(name, defect, own["free"], found, mass)


def _motion(
    robot: Robot,
    condition: str,
    load: LinkInertia | None,
    gains: Array,
    noise: float,
    colour: bool,
    rng: np.random.Generator,
) -> Motion:
    n, w = robot.n_coordinates, 2 * np.pi / SECONDS * np.arange(1, 13)
    t = np.arange(SAMPLES) * SECONDS / SAMPLES
    a, b = rng.normal(size=(2, n, len(w)))
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    size = rng.uniform(2, 4, n) / np.abs(cosine @ a.T + sine @ b.T).max(axis=0)
    a, b = a * size[:, None], b * size[:, None]
    q = (sine / w) @ a.T - (cosine / w) @ b.T + rng.uniform(-1, 1, n)
    qd, qdd = cosine @ a.T + sine @ b.T, (cosine * w) @ b.T - (sine * w) @ a.T
    values = {**robot.parameters, **({} if load is None else load.by_name("L"))}
    tau = kernels(robot).inverse(robot.table.vector(values), q, qd, qdd)
    R = np.eye(n) if robot.drives is None else robot.drives.matrix
    prior = np.ones(n) if robot.drives is None else np.array(robot.drives.gain)
    signal = np.linalg.solve(R.T, tau.T).T / gains / prior
    error = rng.normal(size=signal.shape)
    for k in range(1, len(error) if colour else 0):
        error[k] = 0.9 * error[k - 1] + np.sqrt(1 - 0.81) * error[k]
    signal = signal + noise * np.sqrt(np.mean(signal**2, axis=0)) * error
    return Motion(condition, t, q, qd, qdd, (signal * prior) @ R, SAMPLES / SECONDS, condition=condition)


SET, SHOWN = range(40), range(40, 100)
"""Seeds that thresholds were set on, and those that they are judged on."""

if __name__ == "__main__":
    chosen = sys.argv[1:2] or (SHARED, GLOBAL)
    seeds = SHOWN[: int(sys.argv[2])] if len(sys.argv) > 2 else SHOWN
    for method, kind in product(chosen, DEFECTS):
        members = [draw(seed, kind, method) for seed in seeds]
        silent = sum(one.wrong and one.outcome == "fine" for one in members)
        print(f"{method}, {kind}: {dict(Counter(one.outcome for one in members))}, fine but wrong {silent}")
