"""Any constant placement has six Khalil–Kleinfinger parameters that give it back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from dynid.core.errors import ModelError
from dynid.model.geometry import clean, cos_sin, decompose, placement, rotation_x, rotation_z
from dynid.model.joint import GEOMETRY, Joint, JointKind
from dynid.model.orientation import (
    align_z,
    from_axis_angle,
    from_euler,
    from_quaternion,
    from_rpy,
    from_xy_axes,
    snap_angle,
    snap_rotation,
    unit,
)

ANGLE = st.floats(-2 * math.pi, 2 * math.pi)
QUARTERS = st.integers(-4, 4).map(lambda k: k * math.pi / 2)
LENGTH = st.floats(-2.0, 2.0)
LENGTHS = st.tuples(LENGTH, LENGTH, LENGTH)
DIRECTION = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3)


def assert_same_placement(R: np.ndarray, p: np.ndarray, tolerance: float = 1e-12) -> dict[str, float]:
    six = decompose(R, p)
    R2, p2 = placement(Joint("j", -1, **six))  # type: ignore[arg-type]
    scale = 1 + max(abs(six[name]) for name in ("b", "d", "r"))
    assert np.abs(R2 - R).max() < tolerance
    assert np.abs(p2 - p).max() < tolerance * scale
    assert abs(six["gamma"]) <= math.pi / 2 + 1e-9
    assert all(abs(six[name]) <= math.pi for name in ("gamma", "alpha", "theta"))
    return six


@given(
    gamma=ANGLE, alpha=st.floats(1e-3, math.pi - 1e-3), sign=st.sampled_from([-1, 1]), theta=ANGLE, p=LENGTHS
)
def test_skew_axes_decompose_and_come_back(
    gamma: float, alpha: float, sign: int, theta: float, p: tuple[float, float, float]
) -> None:
    R = rotation_z(gamma) @ rotation_x(sign * alpha) @ rotation_z(theta)
    # r and b grow like 1/sin α when axes are nearly parallel, and so does their rounding.
    assert_same_placement(R, np.array(p), 1e-12 / math.sin(alpha))


@given(alpha=st.sampled_from([0.0, math.pi]), turn=st.one_of(ANGLE, QUARTERS), p=LENGTHS)
def test_parallel_and_antiparallel_axes_decompose_and_come_back(
    alpha: float, turn: float, p: tuple[float, float, float]
) -> None:
    six = assert_same_placement(rotation_x(alpha) @ rotation_z(turn), np.array(p), 1e-9)
    assert six["alpha"] == alpha
    assert six["r"] == 0.0


@given(gamma=QUARTERS, alpha=QUARTERS, theta=QUARTERS, p=LENGTHS)
def test_right_angles_stay_exact(
    gamma: float, alpha: float, theta: float, p: tuple[float, float, float]
) -> None:
    R = rotation_z(gamma) @ rotation_x(alpha) @ rotation_z(theta)
    six = assert_same_placement(R, np.zeros(3))
    assert all((six[name] / (math.pi / 2)).is_integer() for name in ("gamma", "alpha", "theta"))
    assert_same_placement(R, np.array(p), 1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_random_placements_decompose_and_come_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_same_placement(Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3), 1e-9)


@given(values=st.tuples(*[st.floats(-3, 3)] * 6), q=st.floats(-3, 3))
def test_joint_variable_adds_to_theta_or_r(values: tuple[float, ...], q: float) -> None:
    six = dict(zip(GEOMETRY, values, strict=True))
    turned = placement(Joint("j", -1, **(six | {"theta": six["theta"] + q})))  # type: ignore[arg-type]
    slid = placement(Joint("j", -1, **(six | {"r": six["r"] + q})))  # type: ignore[arg-type]
    for kind, expected in ((JointKind.REVOLUTE, turned), (JointKind.PRISMATIC, slid)):
        R, p = placement(Joint("j", -1, kind, **six), q)  # type: ignore[arg-type]
        assert np.allclose(R, expected[0], atol=1e-14)
        assert np.allclose(p, expected[1], atol=1e-14)


@given(rpy=st.tuples(ANGLE, ANGLE, ANGLE))
def test_orientations_agree_with_scipy(rpy: tuple[float, float, float]) -> None:
    assert np.allclose(from_rpy(*rpy), Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-12)
    for sequence in ("xyz", "zyx", "zxz", "XYZ", "YXZ"):
        # SciPy's capital letters are MuJoCo's small ones.
        theirs = Rotation.from_euler(sequence.swapcase(), rpy).as_matrix()
        assert np.allclose(from_euler(rpy, sequence), theirs, atol=1e-12)


@given(axis=DIRECTION, angle=ANGLE)
def test_axis_angle_and_quaternion_agree_with_scipy(axis: tuple[float, float, float], angle: float) -> None:
    n = np.array(axis) / np.linalg.norm(axis)
    theirs = Rotation.from_rotvec(angle * n)
    x, y, z, w = theirs.as_quat()
    assert np.allclose(from_axis_angle(axis, angle, "here"), theirs.as_matrix(), atol=1e-11)
    assert np.allclose(from_quaternion([3 * w, 3 * x, 3 * y, 3 * z], "here"), theirs.as_matrix(), atol=1e-11)


@given(axis=DIRECTION)
def test_align_z_is_the_smallest_rotation_to_the_axis(axis: tuple[float, float, float]) -> None:
    n = np.array(axis) / np.linalg.norm(axis)
    R = align_z(axis, "here")
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-11)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.allclose(R[:, 2], n, atol=1e-11)
    assert Rotation.from_matrix(R).magnitude() == pytest.approx(math.acos(np.clip(n[2], -1, 1)), abs=1e-6)


def test_align_z_of_coordinate_axes_only_permutes() -> None:
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        R = align_z(axis, "here")
        assert np.array_equal(np.sort(np.abs(R), axis=None), [0] * 6 + [1] * 3)
        assert np.array_equal(R[:, 2], axis)
    assert np.array_equal(align_z([0, 0, 2], "here"), np.eye(3))


def test_xy_axes_are_made_orthogonal() -> None:
    R = from_xy_axes([2, 0, 0, 1, 3, 0], "here")
    assert np.array_equal(R, np.eye(3))


@pytest.mark.parametrize(
    ("angle", "meant"),
    [
        (1.5708, math.pi / 2),
        (-1.570796, -math.pi / 2),
        (3.14159, math.pi),
        (1e-7, 0.0),
        (6.28319, 2 * math.pi),
        (1.57, math.pi / 2),
        (-3.14, -math.pi),
        (-1.5707, -math.pi / 2),
        (3.142, math.pi),
    ],
)
def test_short_decimals_mean_right_angles(angle: float, meant: float) -> None:
    assert snap_angle(angle, 1e-5) == meant
    assert snap_angle(angle, 0.0) == angle


def test_other_angles_are_left_alone() -> None:
    for angle in (1.56, 1.5702, 1.6, 0.7854, 0.01, 1.0, 2e-5):
        assert snap_angle(angle, 1e-5) == angle


@given(angle=st.floats(-3, 3), error=st.floats(-8e-6, 8e-6))
def test_snapped_rotations_are_rotations_without_small_entries(angle: float, error: float) -> None:
    R = rotation_z(angle) @ rotation_x(math.pi / 2 + error)
    snapped = snap_rotation(R, 1e-5)
    assert np.allclose(snapped @ snapped.T, np.eye(3), atol=1e-12)
    assert np.abs(snapped - R).max() < 3e-5
    small = (np.abs(snapped) < 1e-5) & (snapped != 0)
    assert not small.any() or abs(math.sin(angle)) < 2e-5 or abs(math.cos(angle)) < 2e-5
    assert snapped[2, 2] == 0.0


def test_junk_is_cleaned() -> None:
    assert cos_sin(math.pi / 2) == (0.0, 1.0)
    assert clean(1 - 1e-14) == 1.0
    assert clean(2 - 1e-14) == 2 - 1e-14
    assert unit([1e-17, 0, 5], "here").tolist() == [0, 0, 1]
    assert unit([3e-6, 0, 1], "here", 1e-5).tolist() == [0, 0, 1]
    assert np.allclose(unit([1e300, 1e300, 0], "here"), [math.sqrt(0.5), math.sqrt(0.5), 0])


@pytest.mark.parametrize("vector", [[0, 0, 0], [1e-20, 0, 0]])
def test_a_vector_without_direction_is_refused(vector: list[float]) -> None:
    with pytest.raises(
        ModelError, match=r"axis of joint 'a': .* has no direction; give a vector that is not zero"
    ):
        unit(vector, "axis of joint 'a'")
