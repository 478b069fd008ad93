"""A payload on its own ten columns: found, weighed and dated from rows."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import find_base, kernels, load_robot
from dynid.model.inertia import LinkInertia
from dynid.model.payload import attach_payload
from dynid.tracking.watch import PayloadColumns
from dynid.tracking.watch.payload_change import PayloadWindow, fit_payload, onset_of
from support.motions import fourier_motion

ROBOT = load_robot("ur10")
LENGTH = 0.15


def rows_and_body(mass: float, seconds: float = 10.0) -> tuple[np.ndarray, np.ndarray, LinkInertia]:
    """X (samples, n, 10), the payload's torques (samples, n), and the payload."""
    motion = fourier_motion(ROBOT, np.random.default_rng(6), seconds=seconds, rate_hz=50.0, speed=1.0)
    body = LinkInertia.from_com(mass, [0.03, -0.02, 0.08], 0.004 * mass * np.eye(3))
    state = np.asarray(motion.q), np.asarray(motion.qd), np.asarray(motion.qdd)
    loaded = attach_payload(ROBOT.with_parameters({}), body)
    torques = kernels(loaded).inverse(loaded.table.vector(loaded.parameters), *state)
    return PayloadColumns(find_base(ROBOT)).of(*state), torques, body


def test_the_columns_are_those_of_a_body_at_the_flange() -> None:
    X, torques, body = rows_and_body(2.0)
    np.testing.assert_allclose(X @ body.standard(), torques, atol=1e-9)


@pytest.mark.parametrize("mass", [0.1, 2.0, 50.0])
def test_a_payload_is_weighed_whatever_its_size(mass: float) -> None:
    X, torques, body = rows_and_body(mass)
    noise = 0.02 * mass
    X, r = X / noise, (torques + noise * np.random.default_rng(7).normal(size=torques.shape)) / noise
    window = PayloadWindow()
    for A, b in zip(X, r, strict=True):
        window.take(A.T @ A, A.T @ b)
    fit = fit_payload(window.A, window.b, LENGTH)
    assert abs(fit.mass - mass) < 4 * fit.mass_sigma
    assert fit.mass_sigma < 0.02 * mass
    np.testing.assert_allclose(fit.values[6:9] / fit.mass, body.standard()[6:9] / mass, atol=0.01)


def test_what_no_row_shows_is_not_found() -> None:
    assert fit_payload(np.zeros((10, 10)), np.zeros(10), LENGTH).gain == 0.0
    assert fit_payload(np.zeros((10, 10)), np.zeros(10), LENGTH).mass_sigma == np.inf


def test_the_onset_is_found() -> None:
    X, torques, _ = rows_and_body(2.0)
    time = 0.02 * np.arange(len(X))
    noise = 0.3 * np.random.default_rng(8).normal(size=torques.shape)
    residual = np.where(time[:, None] >= 6.0, torques, 0.0) + noise
    assert abs(onset_of(time, residual / 0.3, X / 0.3, LENGTH) - 6.0) < 0.8


def test_a_window_forgets_as_often_as_it_is_told() -> None:
    once, often = PayloadWindow(0.9), PayloadWindow(0.9)
    for window in (once, often):
        window.take(np.eye(10), np.ones(10))
    once.take(np.zeros((10, 10)), np.zeros(10), updates=5)
    for _ in range(5):
        often.take(np.zeros((10, 10)), np.zeros(10))
    np.testing.assert_allclose(once.A, often.A)
