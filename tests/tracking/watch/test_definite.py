"""M(q) > 0 is watched from base parameters alone."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import find_base, kernels
from dynid.tracking.watch.definite import InertiaMonitor
from population.robots import draw_bodies, draw_robot, generator


@pytest.mark.parametrize("number", [3, 5, 8, 10])
def test_the_smallest_eigenvalue_is_that_of_the_robot(number: int) -> None:
    robot = draw_robot("showing", number).robot.with_drives(None)
    rng = generator("showing", 99, number)
    values = draw_bodies(robot, rng)
    base = find_base(robot)
    monitor, q = InertiaMonitor(base), rng.normal(size=robot.n_coordinates)
    assert not monitor.take(q, base.regroup(values))
    M = kernels(robot).inertia_matrix(values, q[None])[0]
    np.testing.assert_allclose(monitor.smallest, np.linalg.eigvalsh(M)[0], rtol=1e-6, atol=1e-9)
    assert monitor.smallest > 0


def test_it_speaks_when_the_sign_changes_and_only_then() -> None:
    robot = draw_robot("showing", 5).robot.with_drives(None)
    base = find_base(robot)
    chi = base.regroup(draw_bodies(robot, generator("showing", 99, 5)))
    monitor, q = InertiaMonitor(base), np.zeros(robot.n_coordinates)
    said = [monitor.take(q, values) for values in (chi, -chi, -chi, np.nan * chi, chi, chi)]
    assert said == [False, True, False, False, True, False]
