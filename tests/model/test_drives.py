"""Motors and joints: what goes through the gears comes back, and power is conserved."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynid.core.errors import ModelError, ShapeError
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.load import load_robot

COUPLED = Drives(((32.0, 0.0), (16.0, -8.0)), (0.1, -0.2), (2.0, 0.5))


def test_positions_and_torques_come_back(rng: np.random.Generator) -> None:
    q, tau = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    assert np.allclose(COUPLED.joint_position(COUPLED.motor_position(q)), q, atol=1e-14)
    assert np.allclose(COUPLED.joint_torque(COUPLED.motor_torque(tau)), tau, atol=1e-13)
    assert np.array_equal(COUPLED.motor_position([[0.1, -0.2]]), [[0.0, 0.0]])


def test_power_is_the_same_on_both_sides(rng: np.random.Generator) -> None:
    qd, signal = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    motor_speed = COUPLED.motor_position(qd) - COUPLED.motor_position(np.zeros((1, 2)))
    motor_power = np.sum(motor_speed * signal * np.array(COUPLED.gain), axis=1)
    assert np.allclose(motor_power, np.sum(qd * COUPLED.joint_torque(signal), axis=1))


def test_tx40_wrist_is_the_documented_one() -> None:
    drives = load_robot("tx40").drives
    assert drives is not None
    assert drives.coupled_motors() == (5,)
    expected = np.diag([32.0, 32, 45, -48, 45, 32])
    expected[5, 4] = 32
    assert np.array_equal(drives.matrix, expected)
    assert drives.shares[5, 4] == 1.0
    # τ = Rᵀ τ_m puts motor 6 on joint 5 as well.
    assert drives.joint_torque([[0, 0, 0, 0, 0, 1.0]])[0, 4] == 32.0


@pytest.mark.parametrize(
    ("ratio", "offset", "gain", "sentence"),
    [
        (((1.0, 0.0),), (0.0,), (1.0,), "The drives name 1 motors but rows, offsets and gains of sizes"),
        (((1.0, 0.0), (0.0, 1.0)), (0.0,), (1.0, 1.0), r"sizes \[1, 2\]"),
        (((0.0,),), (0.0,), (1.0,), "cannot be inverted or has a zero on its diagonal"),
        (((1.0, 1.0), (1.0, 1.0)), (0.0, 0.0), (1.0, 1.0), "cannot be inverted"),
        (((math.inf,),), (0.0,), (1.0,), "it must be a finite number"),
        (((1.0,),), (math.nan,), (1.0,), "it must be a finite number"),
    ],
)
def test_bad_drives_are_refused(
    ratio: tuple[tuple[float, ...], ...], offset: tuple[float, ...], gain: tuple[float, ...], sentence: str
) -> None:
    with pytest.raises(ModelError, match=sentence):
        Drives(ratio, offset, gain)


def test_a_gain_of_zero_is_refused() -> None:
    with pytest.raises(ModelError, match="gain"):
        Drives(((1.0,),), (0.0,), (0.0,))


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError, match=r"The motor positions have shape \(1, 3\); expected \(samples, 2\)"):
        COUPLED.joint_position([1, 2, 3])
    with pytest.raises(ShapeError, match=r"joint torques have shape \(1, 2, 2\)"):
        COUPLED.motor_torque(np.zeros((1, 2, 2)))


@pytest.mark.parametrize(
    ("coordinates", "matrix", "offset", "sentence"),
    [
        ((), ((1.0,),), (0.0,), "0 coordinates"),
        ((0,), ((1.0,), (1.0, 2.0)), (0.0, 0.0), "rows of other lengths"),
        ((0,), ((1.0,), (2.0,)), (0.0,), "1 offsets"),
        ((0,), ((2.0,), (2.0,)), (0.0, 0.0), "must be the position of its own joint"),
        ((0,), ((1.0,), (2.0,)), (0.5, 0.0), "must be the position of its own joint"),
        ((5,), ((1.0,), (2.0,)), (0.0, 0.0), "must be the position of its own joint"),
        ((0,), ((1.0,), (math.nan,)), (0.0, 0.0), "it must be a finite number"),
    ],
)
def test_bad_couplings_are_refused(
    coordinates: tuple[int, ...],
    matrix: tuple[tuple[float, ...], ...],
    offset: tuple[float, ...],
    sentence: str,
) -> None:
    with pytest.raises(ModelError, match=sentence):
        Coupling(coordinates, matrix, offset)
