"""The strategy Consistent: values of a possible robot, with their own doubt, around any linear strategy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.consistency import Knowledge, LinkBounds, pseudo_inertias
from dynid.consistency.possible_robot import Projection
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.estimators import (
    DIDIM,
    IRLS,
    IV,
    OLS,
    STRIBECK,
    TLS,
    WLS,
    Consistent,
    Essential,
    Estimate,
    OutputError,
    Ridge,
    Separable,
    identify,
)
from support.estimation import CASES, scara_problem
from support.possible_arms import draw_arm


def standard(estimate: Estimate) -> np.ndarray:
    return np.array(estimate.facts["consistency"]["standard"])


@pytest.mark.parametrize("inner", [OLS(), WLS(), IRLS(), WLS(uncertainty="classical")])
def test_around_any_linear_strategy_the_bodies_can_exist(inner: OLS | WLS | IRLS) -> None:
    arm = draw_arm("showing", 5, speed=0.3, noise=0.1, seconds=2.0)
    estimate = identify(arm.problem, Consistent(inner))
    assert estimate.strategy["name"] == "Consistent"
    assert estimate.strategy["strategy"]["name"] == type(inner).__name__
    found = standard(estimate)
    assert np.linalg.eigvalsh(pseudo_inertias(arm.robot, found))[:, 0].min() > 0
    np.testing.assert_allclose(arm.problem.base.regroup(found), estimate.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("inner", [Ridge(relative_sigma=0.05), TLS()])
def test_what_the_strategy_knows_is_in_the_metric(inner: Ridge | TLS) -> None:
    """A prior of Ridge holds what the log hardly shows; its σ and that of total least squares stay."""
    arm = draw_arm("showing", 5, speed=0.5, noise=0.05, seconds=3.0)
    robot = arm.robot.with_parameters(arm.truth)
    problem = replace(arm.problem, robot=robot, base=replace(arm.problem.base, robot=robot))
    plain, held = (identify(problem, s) for s in (inner, Consistent(inner)))
    if isinstance(inner, Ridge):
        assert arm.error(held.values) < 1.5 * arm.error(plain.values)
    unheld = np.abs(held.values - plain.values) < 1e-3 * plain.sigma
    assert np.all(held.sigma[unheld] > 0.8 * plain.sigma[unheld])


def test_a_failed_draw_costs_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = draw_arm("showing", 4, speed=0.3, noise=0.05, seconds=2.0)
    calls = iter(range(10_000))
    own = Projection.__call__

    def sometimes(self: Projection, *given: Any) -> Any:
        if next(calls) % 10 == 5:
            raise NotTrustworthyError("no")
        return own(self, *given)

    whole = identify(arm.problem, Consistent(WLS()))
    monkeypatch.setattr(Projection, "__call__", sometimes)
    some = identify(arm.problem, Consistent(WLS()))
    np.testing.assert_allclose(some.sigma, whole.sigma, rtol=0.5)


def test_a_fit_that_is_possible_keeps_its_values_and_their_doubt() -> None:
    arm = draw_arm("showing", 12, noise=0.01, seconds=10.0)
    plain, held = (identify(arm.problem, s) for s in (WLS(), Consistent(WLS())))
    assert np.all(np.abs(held.values - plain.values) < 0.05 * plain.sigma)
    np.testing.assert_allclose(held.sigma, plain.sigma, rtol=0.05)


def test_bounds_that_hold_make_values_surer() -> None:
    arm = draw_arm("showing", 4, speed=0.3, noise=0.05, seconds=2.0)
    plain, held = (identify(arm.problem, s) for s in (WLS(), Consistent(WLS())))
    seen = np.isfinite(plain.sigma) & (plain.sigma > 0)
    assert np.median(held.sigma[seen] / plain.sigma[seen]) < 0.7
    heavy = Knowledge(link=(LinkBounds(joint=1, mass=(50.0, 60.0)),))
    bounded = identify(arm.problem, Consistent(WLS(), heavy))
    mass = standard(bounded)[arm.robot.table.index("M1")]
    assert 50.0 - 1e-5 <= mass <= 60.0 + 1e-5


def test_added_terms_stay_beside_possible_bodies() -> None:
    case = CASES["separable"]
    problem = scara_problem(case, noise=0.02)
    plain, held = (identify(problem, s) for s in (case.strategy, Consistent(case.strategy)))
    assert plain.further is not None
    assert held.further is not None
    np.testing.assert_array_equal(held.further.values, plain.further.values)
    assert held.facts["relative_residual"] == pytest.approx(plain.facts["relative_residual"], rel=0.01)
    assert Consistent(WLS()).with_terms((STRIBECK,)) == Consistent(WLS().with_terms((STRIBECK,)))
    assert isinstance(Consistent(WLS()).with_terms((STRIBECK,)).unheld, Separable)


def test_what_cannot_be_held_gets_a_sentence() -> None:
    for inner in (Essential(WLS()), Consistent(WLS()), DIDIM()):  # a held one is held anew by held_to
        with pytest.raises(DynidError, match="Consistent wraps a strategy that is linear and estimates all"):
            Consistent(inner)
    with pytest.raises(DynidError, match="not another Consistent"):
        Essential(Consistent(WLS()))
    problem = scara_problem(CASES["wls"], noise=0.02)
    with pytest.raises(DynidError, match="use Consistent or Essential, not both"):
        Consistent(WLS()).fit(problem, np.arange(8) > 0)
    for loop in (IV(), OutputError()):
        with pytest.raises(DynidError, match="cannot be held to possible robots in every step; use DIDIM"):
            loop.held_to(Knowledge())


def test_strategies_are_held_and_let_go() -> None:
    held = DIDIM().held_to(Knowledge())
    assert isinstance(held, DIDIM)
    assert held.step == Consistent(WLS())
    assert held.unheld == DIDIM()
    assert WLS().held_to(Knowledge()) == Consistent(WLS())
    assert WLS().unheld == WLS()
    heavy = Knowledge(total_mass=(1.0, 2.0))
    assert Consistent(WLS()).held_to(heavy) == Consistent(WLS(), heavy)
    assert held.held_to(heavy) == DIDIM(step=Consistent(WLS(), heavy))
    assert held.held_to(heavy).knowledge_held == heavy
    assert WLS().knowledge_held is None
