"""The pseudo-inertia: linear, exact both ways, positive exactly where a body can exist."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.consistency.pseudo_inertia import (
    as_matrix,
    as_vector,
    least_shares,
    pseudo_inertia,
    pseudo_inertias,
    relative_coordinates,
    standard_values,
)
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from support.robots import random_link


def test_it_is_the_second_moment_of_the_mass() -> None:
    rng = np.random.default_rng(0)
    masses, points = rng.uniform(0.1, 1.0, 9), rng.normal(size=(9, 3))
    central = points - masses @ points / masses.sum()
    tensor = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, central, strict=True))
    link = LinkInertia.from_com(float(masses.sum()), masses @ points / masses.sum(), tensor)
    ends = np.column_stack([points, np.ones(9)])
    np.testing.assert_allclose(pseudo_inertia(link.standard()), (ends.T * masses) @ ends, rtol=1e-12)


def test_standard_parameters_come_back() -> None:
    values = random_link(np.random.default_rng(1)).standard()
    np.testing.assert_allclose(standard_values(pseudo_inertia(values)), values, rtol=1e-12)
    P = pseudo_inertia(values)
    np.testing.assert_allclose(as_matrix(as_vector(P)), P, rtol=1e-14)
    assert np.linalg.norm(as_vector(P)) == pytest.approx(np.linalg.norm(P))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_positive_exactly_where_the_moments_keep_the_triangle_inequality(seed: int) -> None:
    """Independent of our own formula: principal moments about the centre of mass, A + B > C."""
    rng = np.random.default_rng(seed)
    for _ in range(200):
        mass, com = rng.uniform(0.1, 5.0), rng.normal(size=3)
        moments = rng.uniform(0.0, 1.0, 3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        tensor = turn @ np.diag(moments) @ turn.T
        link = LinkInertia.from_com(mass, com, (tensor + tensor.T) / 2)
        possible = bool(moments.sum() > 2 * moments.max())
        assert bool(np.linalg.eigvalsh(pseudo_inertia(link.standard()))[0] > 0) == possible


def test_coordinates_seen_from_a_body_are_one_at_that_body() -> None:
    rng = np.random.default_rng(2)
    body, other = (pseudo_inertia(random_link(rng).standard()) for _ in range(2))
    T = relative_coordinates(body)
    np.testing.assert_allclose(T @ as_vector(np.eye(4)), standard_values(body), rtol=1e-10)
    z = np.linalg.solve(T, standard_values(other))
    L = np.linalg.cholesky(body)
    np.testing.assert_allclose(L @ as_matrix(z) @ L.T, other, rtol=1e-9, atol=1e-12)


def test_shares_tell_which_links_of_a_robot_are_possible() -> None:
    robot = load_robot("ur10")
    values = robot.table.vector(robot.parameters)
    assert np.all(least_shares(robot, values) > 0)
    assert pseudo_inertias(robot, values).shape == (6, 4, 4)
    flat = values.copy()
    flat[robot.table.index("ZZ3")] *= 100  # beyond the sum of the other two
    shares = least_shares(robot, flat)
    assert shares[2] < 0
    assert np.all(np.delete(shares, 2) > 0)
    weightless = values.copy()
    weightless[robot.table.index("M1")] = 0.0
    assert least_shares(robot, weightless)[0] == -1.0
