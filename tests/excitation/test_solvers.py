"""Solvers of designs: limits as rows, Newton steps on a barrier, and three ways that must agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.excitation import SOLVERS, Barrier, DesignTask, Ipopt, LimitChoice, Slsqp, design_motion
from dynid.excitation.barrier import descend
from dynid.excitation.problem import DesignProblem
from dynid.excitation.room import SHARPNESS, TIGHTER, soft_least
from dynid.excitation.solvers import Solver
from dynid.model.load import load_robot
from dynid.trajectories import ModifiedFourierSpace
from support.design_problems import KINDS, problem_of, start_of

Array = NDArray[np.float64]
every_solver = pytest.mark.parametrize("name", SOLVERS)
SHORT: dict[str, Solver] = {
    "barrier": Barrier(),
    "ipopt": Ipopt(iterations=60),
    "slsqp": Slsqp(iterations=60),
}
KEPT = {"exact", "conservative", "torques", "clearances", "coupled", "prismatic, conservative"}


def ignore(x: Array) -> None:
    """Watch nothing."""


def is_inside(problem: DesignProblem, x: Array) -> bool:
    """Whether all samples keep all limits."""
    return bool(np.isfinite(problem.barrier(x, 1.0)[0]))


# ── limits as rows ────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.0, 1e-4, 1e-2, 1.0, 1e3]))
def test_the_soft_least_lies_little_below_the_least(seed: int, spread: float) -> None:
    slacks = spread * np.random.default_rng(seed).normal(size=(3, 50))
    soft, shares = soft_least(slacks)
    below = slacks.min(axis=1) - soft
    assert np.all(below >= -1e-12)
    assert np.all(below <= np.log(50) / SHARPNESS + 1e-12)
    assert np.allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_not_negative_keep_the_limits(kind: str) -> None:
    """Along a line out of the limits the rows turn negative first, and only a little earlier."""
    problem = problem_of(kind)
    x = start_of(problem)
    sizes = np.linspace(0.5, 12.0, 200)
    rows = np.array([np.min(problem.constraints(size * x)[0]) for size in sizes])
    inside = np.array([is_inside(problem, size * x) for size in sizes])
    assert inside[0]
    assert not inside[-1]
    assert np.all(inside[rows > 0])
    assert np.argmin(inside) - np.argmin(rows > 0) <= 3


@pytest.mark.parametrize("kind", ["exact", "conservative", "coupled", "without ends"])
def test_steps_end_before_the_limits(kind: str) -> None:
    problem = problem_of(kind)
    x, d = start_of(problem), start_of(problem, seed=8)
    share = problem.reach(x, 40.0 * d)
    now, then = (problem.room.slacks(z * problem.units) for z in (x, x + share * 40.0 * d))
    assert share < 1.0
    assert np.all(then >= 0.1 * now)
    assert problem.reach(x, 1e-6 * d) == 1.0


def test_conservative_bounds_hold_for_the_motion() -> None:
    """Where P3's bounds are kept, the motion keeps its limits at every sample."""
    bounds, samples = problem_of("conservative"), replace(problem_of("conservative"), conservative=False)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.normal(size=bounds.shape) * 0.1
        if np.all(bounds.room.slacks(x * bounds.units) > TIGHTER):
            assert np.all(samples.room.slacks(x * samples.units) > 0)


def test_conservative_bounds_need_whole_ranges_and_series() -> None:
    problem = problem_of("conservative")
    high = problem.limits.high.copy()
    high[0, 0] = np.inf
    with pytest.raises(DynidError, match="need both ends of a joint's range or none; ask for exact"):
        replace(problem, limits=replace(problem.limits, high=high))
    with pytest.raises(DynidError, match="the motion is a ModifiedFourierSpace; ask for exact limits"):
        replace(problem, space=ModifiedFourierSpace())
    with pytest.raises(DynidError, match="without coupled joints; ask for exact"):
        replace(problem_of("coupled"), conservative=True)


# ── Newton steps ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("weight", [1.0, 1e-2, 1e-5])
def test_a_descent_ends_where_the_barrier_balances(weight: float) -> None:
    """min ½|x − 2|² − μ Σ log(1 − x): the root of (x − 2)(1 − x) + μ = 0 below 1."""

    def objective(x: Array) -> tuple[float, Array]:
        if np.any(x >= 1):
            return np.inf, np.zeros_like(x)
        return 0.5 * float(np.sum((x - 2) ** 2)) - weight * float(np.sum(np.log(1 - x))), (
            x - 2 + weight / (1 - x)
        )

    def known(x: Array) -> tuple[Array, Array]:
        return weight / (1 - x.ravel()), np.diag(weight / (1 - x.ravel()) ** 2)

    found = descend(
        objective,
        known,
        lambda x, step: 1.0,
        np.full((2, 3), -4.0),
        iterations=200,
        tolerance=1e-14,
    )
    expected = 1.5 - np.sqrt(0.25 + weight)
    assert found.converged
    assert np.allclose(found.x, expected, atol=1e-6)
    assert found.evaluations < 60


def test_a_start_outside_is_the_end() -> None:
    found = descend(
        lambda x: (np.inf, np.zeros_like(x)),
        lambda x: (x, np.eye(3)),
        lambda x, step: 1.0,
        np.ones(3),
        iterations=5,
        tolerance=0.0,
    )
    assert not found.converged
    assert found.evaluations == 1
    assert np.array_equal(found.x, np.ones(3))


# ── three ways ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", sorted(KEPT))
@every_solver
def test_every_solver_improves_within_the_limits(name: str, kind: str) -> None:
    problem = problem_of(kind)
    x = start_of(problem)
    seen: list[Array] = []
    found = SHORT[name].solve(problem, x, seen.append)
    assert is_inside(problem, found.x)
    assert found.value == pytest.approx(problem.value(found.x), rel=1e-12)
    assert found.value < problem.value(x) - 1.0
    assert found.evaluations > 0
    assert seen
    assert all(is_inside(problem, z) for z in seen[:: max(1, len(seen) // 10)])


@every_solver
def test_solvers_are_deterministic_and_silent(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    problem = problem_of("without ends")
    x = start_of(problem)
    first, second = (SHORT[name].solve(problem, x, ignore) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("solver", [Barrier(iterations=1), Ipopt(iterations=2), Slsqp(iterations=2)])
def test_solvers_stop_after_their_iterations(solver: Solver) -> None:
    problem = problem_of("exact")
    x = start_of(problem)
    found = solver.solve(problem, x, ignore)
    assert not found.converged
    assert found.evaluations < 40
    assert is_inside(problem, found.x)
    assert found.value <= problem.value(x)


class EnoughError(Exception):
    """What a watch raises."""


@every_solver
def test_a_watch_ends_every_solver(name: str) -> None:
    problem, count = problem_of("exact"), 0

    def watch(x: Array) -> None:
        nonlocal count
        count += 1
        if count == 4:
            raise EnoughError

    with pytest.raises(EnoughError):
        SHORT[name].solve(problem, start_of(problem), watch)
    assert count == 4


@pytest.mark.parametrize(("effort", "apart"), [(None, 4.0), (50.0, 8.0)])
@pytest.mark.parametrize("conservative", [False, True])
def test_all_solvers_design_alike_on_the_scara(conservative: bool, effort: float, apart: float) -> None:
    """Best of two starts, limits proved: log det of eight parameters 1.8 apart; 6.7 where torques bind.

    There SLSQP is the best and IPOPT, which stops after its iterations, the last.
    """
    limits = LimitChoice(lower=-2.0, upper=2.0, effort=effort)
    task = DesignTask(limits=limits, conservative=conservative, samples=200)
    designs = [
        design_motion(load_robot("scara"), task, starts=2, workers=1, solver=solver)
        for solver in (Barrier(), Ipopt(iterations=150), Slsqp(iterations=150))
    ]
    assert all(use.kept for design in designs for use in design.uses)
    log_dets = [design.log_det for design in designs]
    assert max(log_dets) - min(log_dets) < apart


@every_solver
def test_all_solvers_design_the_tx90_from_the_same_start(name: str) -> None:
    """Log det from 422 to 570 and more: 588 (barrier), 583 (IPOPT) and 577 (SLSQP, sixty iterations)."""
    design = design_motion(
        load_robot("tx90"), DesignTask(rate_hz=62.5), starts=1, workers=1, solver=SHORT[name]
    )
    assert all(use.kept for use in design.uses)
    assert design.log_det > 570.0
