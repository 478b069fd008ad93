"""Gradients of whole designs against central differences: criteria, barriers, constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.excitation import CRITERIA
from support.design_problems import KINDS, problem_of, relative_error, start_of

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("criterion", ["log-det", "log-cond"])
@every_kind
def test_the_gradient_of_a_barrier_is_that_of_differences(kind: str, criterion: str) -> None:
    problem = replace(problem_of(kind), criterion=CRITERIA[criterion])
    x = start_of(problem)
    value, gradient = problem.barrier(x, 0.3)
    assert np.isfinite(value)
    assert relative_error(lambda z: problem.barrier(z, 0.3)[0], lambda d: np.vdot(gradient, d), x) < 1e-6


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["exact", "coupled", "prismatic"])
def test_the_gradient_of_every_criterion_is_that_of_differences(kind: str, criterion: str) -> None:
    problem = replace(problem_of(kind), criterion=CRITERIA[criterion])
    x = start_of(problem)
    value, gradient = problem.objective(x)
    assert value == problem.value(x)
    assert relative_error(lambda z: problem.objective(z)[0], lambda d: np.vdot(gradient, d), x) < 1e-6


@every_kind
def test_the_jacobian_of_the_constraints_is_that_of_differences(kind: str) -> None:
    problem = problem_of(kind)
    x = start_of(problem)
    rows, jacobian = problem.constraints(x)
    assert jacobian.shape == (len(rows), x.size)
    assert relative_error(lambda z: problem.constraints(z)[0], lambda d: jacobian @ d.ravel(), x) < 1e-6


@every_kind
def test_gradient_and_curvature_of_the_limits_are_those_of_differences(kind: str) -> None:
    problem = problem_of(kind)
    x = start_of(problem)
    gradient, hessian = problem.limit_barrier(x, 0.7)
    assert np.allclose(hessian, hessian.T)
    assert np.linalg.eigvalsh(hessian)[0] > -1e-9 * np.linalg.norm(hessian)
    assert relative_error(lambda z: problem.limit_barrier(z, 0.7)[0], lambda d: hessian @ d.ravel(), x) < 1e-6

    def room(z: np.ndarray) -> float:
        return 0.7 * problem.room.barrier(z * problem.units)[0]

    assert relative_error(room, lambda d: gradient @ d.ravel(), x) < 1e-6


def test_the_barrier_sums_what_the_constraints_see() -> None:
    """Without torques and clearances it is J plus the barrier of the motion."""
    problem = problem_of("exact")
    x = start_of(problem)
    expected = problem.value(x) + 0.3 * problem.room.barrier(x * problem.units)[0]
    assert problem.barrier(x, 0.3)[0] == pytest.approx(expected, rel=1e-12)
