"""Robots with passive joints under a law on the driven joint, against their textbook equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dynid.model.load import load_robot
from dynid.simulation import Accuracy, Simulation, load_controller, load_reference, simulate
from support.loops import Array

G = 9.81


def pendubot(q: Array, v: Array, u: float) -> Array:
    """Spong's two-link arm, angles from hanging; friction of the catalog without its Coulomb part."""
    m1, c1, I1, l1, m2, c2, I2 = 1.1, 0.14, 0.0066, 0.22, 0.48, 0.15, 0.0039
    c, s = np.cos(q[1]), np.sin(q[1])
    a, b, d = m1 * c1**2 + I1 + m2 * l1**2, m2 * c2**2 + I2, m2 * l1 * c2
    M = np.array([[a + b + 2 * d * c, b + d * c], [b + d * c, b]])
    bias = d * s * np.array([-v[1] * (2 * v[0] + v[1]), v[0] ** 2])
    tip = m2 * G * c2 * np.sin(q[0] + q[1])
    weight = np.array([(m1 * c1 + m2 * l1) * G * np.sin(q[0]) + tip, tip])
    return np.linalg.solve(M, np.array([u, 0.0]) - bias - weight - np.array([0.012, 0.0015]) * v)


def cartpole(q: Array, v: Array, u: float) -> Array:
    """Cart on a rail with a hanging pole, whose tip moves against the cart for small positive angles."""
    mc, mp, c, inertia = 1.2, 0.35, 0.26, 0.0085
    cosine, sine = np.cos(q[1]), np.sin(q[1])
    M = np.array([[mc + mp, -mp * c * cosine], [-mp * c * cosine, inertia + mp * c**2]])
    bias = np.array([mp * c * sine * v[1] ** 2, mp * G * c * sine])
    return np.linalg.solve(M, np.array([u, 0.0]) - bias - np.array([4.0, 0.0012]) * v)


def elastic_drive(q: Array, v: Array, u: float) -> Array:
    """Two inertias, a spring and a damper."""
    twist = 25.0 * (q[0] - q[1]) + 0.015 * (v[0] - v[1])
    return np.array([(u - twist - 0.004 * v[0]) / 0.002, (twist - 0.002 * v[1]) / 0.004])


def simulated(name: str, duration: float) -> tuple[Simulation, Array]:
    """Of the catalog's robot without Coulomb friction, and the torque of its driven joint."""
    robot = load_robot(name).with_terms("Fv")
    controller = load_controller(name, robot)
    reference = load_reference(name, robot, controller.sample_time, duration=duration)
    found = simulate(robot, None, controller, reference, accuracy=Accuracy(tolerance=1e-9))
    return found, found.tau[:, 0]


@pytest.mark.parametrize("plant", [pendubot, cartpole, elastic_drive])
def test_the_motion_solves_the_textbook_equations(plant: Callable[[Array, Array, float], Array]) -> None:
    """DOP853 over the textbook's equations, with the torque held over each sample."""
    from scipy.integrate import solve_ivp

    found, u = simulated(plant.__name__, 1.0)
    assert found.outcome.trustworthy, found.outcome
    assert not found.tau[:, 1].any()
    x, T = np.concatenate([found.q[0], found.qd[0]]), float(found.log.time[1] - found.log.time[0])
    for k in range(found.log.samples - 1):
        solved = solve_ivp(
            lambda _, x, k=k: np.concatenate([x[2:], plant(x[:2], x[2:], u[k])]),
            (0, T),
            x,
            method="DOP853",
            rtol=1e-11,
            atol=1e-12,
        )
        x = solved.y[:, -1]
        np.testing.assert_allclose(x[:2], found.q[k + 1], rtol=0, atol=2e-7)


@pytest.mark.parametrize("name", ["pendubot", "cartpole", "elastic_drive"])
def test_the_catalogs_own_loops_run(name: str) -> None:
    """With Coulomb friction; the passive joint may go where it likes, the driven one follows."""
    robot = load_robot(name)
    controller = load_controller(name, robot)
    reference = load_reference(name, robot, controller.sample_time, duration=10.0)
    found = simulate(robot, None, controller, reference)
    assert found.outcome.trustworthy
    error = np.abs(found.q - found.log.channel("reference"))[:, 0]
    assert error.max() < 0.25 * np.ptp(found.log.channel("reference")[:, 0])
    assert np.ptp(found.q[:, 1]) > 0.5
