"""Inertias a controller and an integrator need to know: J_j, M(q) > 0, how fast friction and springs act."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.dynamics.inverse import actuation_torques
from dynid.dynamics.loop_guess import closed_ranges
from dynid.dynamics.operations import NUMERIC
from dynid.model.robot import Robot
from dynid.simulation.added_torques import AddedTorque, added_inertia, torques_along
from dynid.simulation.controller import MAXIMUM, Controller

_POSTURES = 512
"""Positions at which M(q) is looked at for the largest inertia of each joint."""
_WIDEST = np.pi
"""Range that is looked at where a joint has no limits [rad or m]."""


def own_values(robot: Robot) -> Mapping[str, float]:
    """The robot's own parameters, to simulate it with.

    Raises:
        DynidError: when they serve inverse dynamics only.
    """
    if robot.inverse_only:
        raise DynidError(
            f"Robot {robot.name!r} cannot be simulated with its own values: {robot.inverse_only}. Give "
            "others with --parameters (parameters= in Python), and inertia as numbers to a controller that "
            "would take it from the robot."
        )
    return robot.parameters


def joint_inertias(robot: Robot, parameters: FloatArray, controller: Controller) -> FloatArray:
    """J_j by the controller's own rule: max over q of M_jj(q), or M_jj at its posture (P0 eq 51).

    Args:
        robot: the robot.
        parameters: standard parameters in table order.
        controller: says which posture.
    """
    q = postures(robot) if controller.posture == MAXIMUM else np.array([controller.posture], dtype=float)
    diagonal = np.einsum("kii->ki", kernels(robot).inertia_matrix(parameters, q))
    return np.asarray(diagonal.max(axis=0), dtype=float)


def postures(robot: Robot) -> FloatArray:
    """Positions spread over the joints' range, always the same ones, (512, coordinates)."""
    limits = [robot.joints[j].limits for j in robot.coordinates]
    low = np.array([max(limit.lower, -_WIDEST) for limit in limits])
    high = np.array([min(limit.upper, _WIDEST) for limit in limits])
    first = np.zeros_like(low)
    for j, (least, most) in closed_ranges(robot).items():
        k = robot.coordinates.index(j)
        low[k], high[k], first[k] = max(low[k], least), min(high[k], most), robot.home[k]
    rng = np.random.default_rng(0)
    return np.vstack([first, rng.uniform(low, high, (_POSTURES - 1, len(low)))])


def definiteness(
    robot: Robot, parameters: FloatArray, q: FloatArray, added: FloatArray | float = 0.0
) -> FloatArray:
    """Smallest eigenvalue of M(q) over its largest, (samples,), at positions (samples, coordinates).

    Args:
        robot: the robot.
        parameters: standard parameters in table order.
        q: positions.
        added: inertia of each coordinate beside its own [kg m² or kg].
    """
    own = kernels(robot).inertia_matrix(parameters, q)
    values = np.linalg.eigvalsh(own + added * np.eye(robot.n_coordinates))
    return np.asarray(values[:, 0] / np.maximum(values[:, -1], np.finfo(float).tiny), dtype=float)


def smallest_eigenvalue(robot: Robot, parameters: FloatArray, q: FloatArray) -> tuple[float, int]:
    """Smallest eigenvalue of M(q), each scaled by its largest, over positions (samples, coordinates).

    Returns:
        The eigenvalue and the sample where it was found.
    """
    scaled = definiteness(robot, parameters, q)
    worst = int(np.argmin(scaled))
    return float(scaled[worst]), worst


def friction_rate(
    robot: Robot, parameters: FloatArray, q: FloatArray, added: tuple[AddedTorque, ...] = ()
) -> float:
    """Fastest rate at which friction brakes a joint near rest: max eigenvalue of M⁻¹ ∂friction/∂q̇ [1/s].

    Explicit Runge–Kutta is stable for steps below 2.78 over this rate.

    Args:
        robot: the robot.
        parameters: standard parameters in table order.
        q: positions that are looked at, (samples, coordinates).
        added: torques beside the robot's own.
    """
    n = robot.n_coordinates
    delta = (robot.sign_width or 1e-3) / 100
    still = [np.zeros(len(q))] * n
    at = list(q.T)
    ahead, behind = (
        np.array(
            [
                np.broadcast_to(torque, len(q))  # a constant zero where a joint has no friction
                for torque in actuation_torques(
                    robot, list(parameters), at, [np.full(len(q), d)] * n, still, NUMERIC
                )
            ]
        )
        for d in (delta, -delta)
    )
    rest = np.zeros_like(q)
    if added:
        more = [torques_along(robot, parameters, added, q, rest + d, rest).T for d in (delta, -delta)]
        ahead, behind = ahead + more[0], behind + more[1]
    slope = np.maximum((ahead - behind) / (2 * delta), 0.0)
    M = kernels(robot).inertia_matrix(parameters, q) + added_inertia(added, n) * np.eye(n)
    root = np.sqrt(slope.T)
    inner = root[:, :, None] * np.linalg.inv(M) * root[:, None, :]
    return float(np.linalg.eigvalsh(inner)[:, -1].max())


def element_rate(robot: Robot, parameters: FloatArray, q: FloatArray) -> float:
    """Fastest rate at which springs and dampers act: λ_max(M⁻¹ D) + √λ_max(M⁻¹ K) [1/s].

    K = ∂τ/∂q and D = ∂τ/∂q̇ are those of the robot's elements alone, at rest at q (samples, coordinates).
    """
    own = [v if e.family == "element" else 0.0 for v, e in zip(parameters, robot.table, strict=True)]
    if not any(own):
        return 0.0
    n, delta = robot.n_coordinates, 1e-5
    still = np.zeros_like(q)

    def torques(at: FloatArray, speed: FloatArray) -> FloatArray:
        rows = actuation_torques(robot, own, list(at.T), list(speed.T), list(still.T), NUMERIC)
        return np.array([np.broadcast_to(row, len(q)) for row in rows]).T

    steps = delta * np.eye(n)
    K = np.stack([torques(q + step, still) - torques(q - step, still) for step in steps], axis=2)
    D = np.stack([torques(q, still + step) - torques(q, still - step) for step in steps], axis=2)
    inverse = np.linalg.inv(kernels(robot).inertia_matrix(parameters, q))
    fastest = (np.linalg.eigvals(inverse @ (A / (2 * delta))).real.max() for A in (D, K))
    damped, swinging = (max(float(value), 0.0) for value in fastest)
    return damped + float(np.sqrt(swinging))
