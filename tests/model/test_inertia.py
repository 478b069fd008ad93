"""Inertias keep their meaning between frames and between the forms of other programs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from dynid.core.errors import ModelError
from dynid.model.inertia import LinkInertia, skew
from dynid.model.parameters import INERTIAL
from support.robots import pinocchio_values, random_link

SEEDS = st.integers(0, 2**32 - 1)


def assert_same(a: LinkInertia, b: LinkInertia, tolerance: float = 1e-13) -> None:
    assert np.allclose(a.standard(), b.standard(), rtol=0, atol=tolerance * (1 + np.abs(b.standard()).max()))


def random_frame(rng: np.random.Generator) -> tuple[Any, Any]:
    return Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)


@given(seed=SEEDS)
def test_forms_come_back(seed: int) -> None:
    body = random_link(np.random.default_rng(seed))
    assert_same(LinkInertia.from_com(*body.com_form()), body)
    assert_same(LinkInertia.from_standard(body.standard()), body, 0)


@given(seed=SEEDS)
def test_moving_there_and_back_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, (R, p) = random_link(rng), random_frame(rng)
    assert_same(body.expressed_in(R, p).expressed_in(R.T, -R.T @ p), body, 1e-12)


@given(seed=SEEDS)
def test_moves_follow_one_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, (R1, p1), (R2, p2) = random_link(rng), random_frame(rng), random_frame(rng)
    assert_same(
        body.expressed_in(R1, p1).expressed_in(R2, p2), body.expressed_in(R2 @ R1, p2 + R2 @ p1), 1e-12
    )


@given(seed=SEEDS)
def test_moving_keeps_mass_and_the_principal_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body = random_link(rng)
    R, p = random_frame(rng)
    m1, c1, I1 = body.com_form()
    m2, c2, I2 = body.expressed_in(R, p).com_form()
    assert m2 == m1
    assert np.allclose(c2, R @ c1 + p, atol=1e-12)
    assert np.allclose(np.linalg.eigvalsh(I1), np.linalg.eigvalsh(I2), atol=1e-11)


@given(seed=SEEDS)
def test_forms_are_pinocchios(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    body = random_link(rng)
    theirs = pin.Inertia(*body.com_form())
    assert np.allclose(theirs.toDynamicParameters(), pinocchio_values(body), atol=1e-12)
    R, p = random_frame(rng)
    assert np.allclose(
        pin.SE3(R, p).act(theirs).toDynamicParameters(), pinocchio_values(body.expressed_in(R, p)), atol=1e-11
    )
    other = random_link(rng)
    both = theirs + pin.Inertia(*other.com_form())
    assert np.allclose(both.toDynamicParameters(), pinocchio_values(body + other), atol=1e-12)


def test_point_mass_by_hand() -> None:
    point = LinkInertia.from_com(2.0, [0.0, 0.3, 0.0], np.zeros((3, 3)))
    assert point.by_name("7") == pytest.approx(
        dict(zip([s + "7" for s in INERTIAL], [0.18, 0, 0, 0, 0, 0.18, 0, 0.6, 0, 2.0], strict=True))
    )
    assert np.allclose(skew([1, 2, 3]) @ [4, 5, 6], np.cross([1, 2, 3], [4, 5, 6]))


def test_zero_is_the_neutral_element() -> None:
    body = random_link(np.random.default_rng(1))
    assert_same(body + LinkInertia.zero(), body, 0)
    with pytest.raises(ModelError, match="A link of mass 0 kg has no centre of mass"):
        LinkInertia.zero().com_form()


@pytest.mark.parametrize(
    ("mass", "com", "tensor", "sentence"),
    [
        (-1.0, [0, 0, 0], np.eye(3), r"arm: the mass -1 kg is negative"),
        (math.nan, [0, 0, 0], np.eye(3), "arm: mass, centre of mass or inertia is not a finite number"),
        (1.0, [0, math.inf, 0], np.eye(3), "is not a finite number"),
        (1.0, [0, 0], np.eye(3), r"shapes \(2,\) and \(3, 3\); expected \(3,\) and \(3, 3\)"),
        (1.0, [0, 0, 0], np.eye(2), r"\(2, 2\)"),
        (1.0, [0, 0, 0], np.diag([1, 1, -0.5]), "negative principal moment -0.5 kg m²"),
        (1.0, [0, 0, 0], np.diag([-1e-10, 1e-10, 1e-10]), "negative principal moment -1e-10 kg m²"),
        (1.0, [0, 0, 0], [[1e-9, 1e-10, 0], [0, 1e-9, 0], [0, 0, 1e-9]], "is not symmetric"),
        (1.0, [0, 0, 0], [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "the inertia tensor is not symmetric"),
    ],
)
def test_bodies_that_cannot_exist_are_refused(mass: float, com: Any, tensor: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        LinkInertia.from_com(mass, com, tensor, "arm")


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-6, 1.0, 1e6])
def test_bodies_of_any_size_are_taken(size: float) -> None:
    R = Rotation.from_euler("xyz", [0.3, -1.0, 2.0]).as_matrix()
    rod = R @ np.diag([size, size, 0.0]) @ R.T  # rounding makes its smallest moment slightly negative
    assert LinkInertia.from_com(0.1, [0, 0, 0], rod).tensor == pytest.approx(rod)
