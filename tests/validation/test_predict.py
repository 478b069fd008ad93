"""Predictions and their parts, against the kernels of the whole model."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.base import find_base
from dynid.compile.kernels import kernels
from dynid.core.errors import ShapeError
from dynid.estimators import STRIBECK, Further
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.validation.model import BLOCK, IdentifiedModel, predictions
from dynid.validation.parts import torque_parts, torque_shares
from support.study import fourier

ROBOTS = ("tx40_log", "iiwa14", "emps", "scara")


def motion_of(robot: Robot, seconds: float = 1.0, seed: int = 0) -> Motion:
    t, q, qd, qdd = fourier(np.random.default_rng(seed), robot.n_coordinates, seconds)
    return Motion("made", t, q, qd, qdd, np.ones_like(q), 500.0)


def random_values(robot: Robot, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 1.0, len(robot.table))


def only(robot: Robot, values: np.ndarray, families: tuple[str, ...], symbols: tuple[str, ...]) -> np.ndarray:
    chosen = [
        entry.family in families and entry.symbol in (symbols or (entry.symbol,)) for entry in robot.table
    ]
    return np.where(chosen, values, 0.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_base_parameters_predict_what_standard_ones_do(name: str) -> None:
    robot = load_robot(name)
    base, values = find_base(robot), random_values(robot)
    motion = motion_of(robot)
    expected = kernels(robot).inverse(values, motion.q, motion.qd, motion.qdd)
    found, _ = predictions(IdentifiedModel(robot, base, base.regroup(values)), motion)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_long_motions_are_predicted_in_blocks() -> None:
    robot = load_robot("scara")
    base = find_base(robot)
    values = base.regroup(random_values(robot))
    motion = motion_of(robot, (BLOCK * 2 + 7) / 500.0)
    assert motion.samples > 2 * BLOCK
    whole = np.einsum(
        "jps,p->sj", kernels(robot, base.columns).regressor_blocks(motion.q, motion.qd, motion.qdd), values
    )
    found, _ = predictions(IdentifiedModel(robot, base, values), motion)
    np.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-12)


def test_doubt_is_that_of_the_covariance() -> None:
    robot = load_robot("scara")
    base = find_base(robot)
    p = len(base)
    half = np.random.default_rng(2).normal(size=(p, p - 2))  # singular, as with removed parameters
    C = half @ half.T
    motion = motion_of(robot)
    _, doubt = predictions(IdentifiedModel(robot, base, np.ones(p), C), motion)
    W = kernels(robot, base.columns).regressor(motion.q, motion.qd, motion.qdd)
    expected = np.sqrt(np.einsum("sjp,pq,sjq->sj", W, C, W))
    np.testing.assert_allclose(doubt, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["tx40_log", "iiwa14", "tx40"])
def test_parts_are_those_of_the_physics(name: str) -> None:
    robot = load_robot(name)
    base, values = find_base(robot), random_values(robot)
    motion = motion_of(robot)
    parts = torque_parts(IdentifiedModel(robot, base, base.regroup(values)), motion)
    kernel = kernels(robot)
    near = {"rtol": 1e-8, "atol": 1e-8}
    np.testing.assert_allclose(parts.gravity, kernel.gravity(values, motion.q), **near)
    friction = only(robot, values, ("friction", "motor"), ()) * (
        np.array([entry.symbol != "Iam" for entry in robot.table])
    )
    np.testing.assert_allclose(
        parts.friction, kernel.inverse(friction, motion.q, motion.qd, motion.qdd), **near
    )
    np.testing.assert_allclose(parts.total(), kernel.inverse(values, motion.q, motion.qd, motion.qdd), **near)


def test_shares_are_sizes_against_the_measured_torque() -> None:
    robot = load_robot("tx40")
    base = find_base(robot)
    model = IdentifiedModel(robot, base, base.regroup(random_values(robot)))
    motions = (motion_of(robot, 1.0, 3), motion_of(robot, 2.0, 4))
    gravity = np.concatenate([torque_parts(model, motion).gravity for motion in motions])
    found = torque_shares(model, motions)
    np.testing.assert_allclose(found.rms["gravity"], np.sqrt(np.mean(gravity**2, axis=0)))
    np.testing.assert_allclose(found.percent["gravity"], 100 * np.sqrt(np.mean(gravity**2, axis=0)))
    assert set(found.to_dict()) == {"inertia", "gravity", "drive", "friction"}


def test_nonlinear_friction_counts_as_friction() -> None:
    robot = load_robot("scara")
    base = find_base(robot)
    values = base.regroup(random_values(robot))
    amounts, speeds = np.array([2.0, 3.0]), np.array([0.1, 0.2])
    further = Further(
        ("Fs1", "Fs2", "vs1", "vs2"),
        ("N m",) * 4,
        np.concatenate([amounts, speeds]),
        np.zeros((12, 12)),
        (STRIBECK,),
    )
    motion = motion_of(robot)
    bare, rich = IdentifiedModel(robot, base, values), IdentifiedModel(robot, base, values, further=further)
    added = amounts * np.sign(motion.qd) * np.exp(-((motion.qd / speeds) ** 2))
    np.testing.assert_allclose(predictions(rich, motion)[0] - predictions(bare, motion)[0], added, atol=1e-12)
    np.testing.assert_allclose(
        torque_parts(rich, motion).friction - torque_parts(bare, motion).friction, added, atol=1e-12
    )


def test_what_does_not_fit_is_refused() -> None:
    robot = load_robot("scara")
    base = find_base(robot)
    with pytest.raises(ShapeError, match=r"values of the model have shape \(3,\); expected \(8,\)"):
        IdentifiedModel(robot, base, np.ones(3))
    with pytest.raises(ShapeError, match="hold values that are not finite"):
        IdentifiedModel(robot, base, np.full(8, np.nan))
    with pytest.raises(ShapeError, match=r"covariance of the model have shape \(8,\)"):
        IdentifiedModel(robot, base, np.ones(8), np.ones(8))
    other = motion_of(load_robot("emps"))
    with pytest.raises(ShapeError, match="has 1 coordinates, but robot 'scara' has 2; validate with logs of"):
        predictions(IdentifiedModel(robot, base, np.ones(8)), other)
