"""Run the kernels on arrays over samples and stack what they return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.energy import energy, energy_regressor
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques, gravity_torques, inverse_dynamics
from dynid.dynamics.kinematics import forward_kinematics
from dynid.dynamics.loop_guess import closed_ranges
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.model.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class States:
    """Positions, speeds and accelerations, each (samples, coordinates)."""

    q: Array
    qd: Array
    qdd: Array

    def __iter__(self) -> Any:
        return zip(self.q, self.qd, self.qdd, strict=True)


def random_states(robot: Robot, rng: np.random.Generator, samples: int = 20) -> States:
    """Positions within a turn or where loops close, speeds and accelerations of the size of a fast arm's."""
    n = robot.n_coordinates
    q = rng.uniform(-np.pi, np.pi, (samples, n))
    for j, (low, high) in closed_ranges(robot).items():
        k = robot.coordinates.index(j)
        q[:, k] = low + (q[:, k] / np.pi + 1.0) / 2.0 * (high - low)
    return States(
        q,
        rng.normal(0.0, 3.0, (samples, n)),
        rng.normal(0.0, 10.0, (samples, n)),
    )


def stacked(values: Sequence[Any], samples: int) -> Array:
    """Nested lists of scalars and of arrays over samples as one array with the samples first."""
    if isinstance(values, list | tuple):
        return np.stack([stacked(value, samples) for value in values], axis=1)
    return np.broadcast_to(np.asarray(values, dtype=float), (samples,))


def dynid_regressor(robot: Robot, x: States) -> Array:
    """W as (samples, coordinates, parameters)."""
    columns = regressor(robot, x.q.T, x.qd.T, x.qdd.T, NUMERIC)
    return stacked(columns, len(x.q)).swapaxes(1, 2)


def dynid_inverse(robot: Robot, chi: Array, x: States) -> Array:
    """τ as (samples, coordinates)."""
    return stacked(inverse_dynamics(robot, chi, x.q.T, x.qd.T, x.qdd.T, NUMERIC), len(x.q))


def dynid_bias(robot: Robot, chi: Array, x: States) -> Array:
    """Torques at zero acceleration, (samples, coordinates)."""
    return stacked(bias_torques(robot, chi, x.q.T, x.qd.T, NUMERIC), len(x.q))


def dynid_gravity(robot: Robot, chi: Array, x: States) -> Array:
    """Gravity torques, (samples, coordinates)."""
    return stacked(gravity_torques(robot, chi, x.q.T, NUMERIC), len(x.q))


def dynid_inertia_matrix(robot: Robot, chi: Array, x: States) -> Array:
    """M as (samples, coordinates, coordinates)."""
    return stacked(inertia_matrix(robot, chi, x.q.T, NUMERIC), len(x.q))


def dynid_direct(robot: Robot, chi: Array, x: States, tau: Array) -> Array:
    """Accelerations, (samples, coordinates)."""
    return stacked(direct_dynamics(robot, chi, x.q.T, x.qd.T, tau.T, NUMERIC), len(x.q))


def dynid_energy(robot: Robot, chi: Array, x: States) -> Array:
    """Kinetic and potential energy, (samples, 2)."""
    return stacked(energy(robot, chi, x.q.T, x.qd.T, NUMERIC), len(x.q))


def dynid_energy_regressor(robot: Robot, x: States) -> Array:
    """Rows of kinetic and of potential energy, (samples, 2, parameters)."""
    return stacked(list(energy_regressor(robot, x.q.T, x.qd.T, NUMERIC)), len(x.q))


def dynid_frames(robot: Robot, x: States) -> tuple[Array, Array]:
    """Positions (samples, links, 3) and rotations (samples, links, 3, 3) of the link frames in the base."""
    rows = stacked(forward_kinematics(robot, x.q.T, NUMERIC), len(x.q)).reshape(len(x.q), -1, 12)
    return rows[:, :, :3], rows[:, :, 3:].reshape(*rows.shape[:2], 3, 3)


def relative_error(ours: Array, theirs: Array) -> float:
    """Largest difference over the samples, per component, against that component's largest value.

    The samples are the first axis. A component is compared with the largest one where it is tiny itself
    (below 1e-3 of it), since rounding scales with the terms that cancelled.
    """
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    size = np.abs(theirs).max(axis=0)
    difference = np.abs(ours - theirs).max(axis=0)
    assert np.all(np.isfinite(difference))
    floor = 1e-3 * size.max() or 1.0
    return float((difference / np.maximum(size, floor)).max())
