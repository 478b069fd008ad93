"""The model inside a controller: whether there is one, what it is, and the start it gives to a recursion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.core.finding import Level, Name
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.logs.log import Log
from dynid.workflow.controller_model import P4_PLAN, ControllerModel, identify_controller_model
from population.controllers import ARMS, WITH, WITHOUT, DrawnController, draw_controller


def drawn(kind: str, number: int = 5) -> DrawnController:
    one = draw_controller("showing", number, kind)
    assert one is not None
    return one


@pytest.fixture(scope="module")
def fed_forward() -> DrawnController:
    return drawn("PD with model")


@pytest.fixture(scope="module")
def found(fed_forward: DrawnController) -> ControllerModel:
    return fed_forward.found()


def model_output(one: DrawnController, scale: float = 1.0) -> Log:
    """A log with the output of the model alone, as P4's arm gives it."""
    path = one.log.array("reference")
    qd = np.gradient(path, 1e-3, axis=0)
    tau = kernels(one.robot).inverse(one.model, path, qd, np.gradient(qd, 1e-3, axis=0))
    channels = {"reference": path, "position": path, "torque": scale * tau}
    return Log("commands", one.log.time, channels)


@pytest.mark.parametrize("kind", WITH)
def test_a_model_is_seen(kind: str) -> None:
    verdict = drawn(kind).found().verdict
    assert verdict.level in (Level.GOOD, Level.CARE)
    assert "has a model" in verdict.sentence


@pytest.mark.parametrize("kind", WITHOUT)
def test_no_model_is_invented(kind: str) -> None:
    model = drawn(kind).found()
    assert not model.has_model
    assert model.verdict.name is Name.NO_PRIOR
    with pytest.raises(DynidError, match="No recursion can start"):
        model.prior()


def test_feedback_is_told_apart(fed_forward: DrawnController, found: ControllerModel) -> None:
    assert found.has_model
    assert fed_forward.model_error(found) < 2.0
    assert fed_forward.model_error(fed_forward.found(feedback=False)) > 2 * fed_forward.model_error(found)


def test_the_output_of_a_model_gives_the_model(fed_forward: DrawnController) -> None:
    log = model_output(fed_forward)
    one = identify_controller_model(fed_forward.robot, log, feedback=False)
    wanted = one.base.regroup(fed_forward.model)
    bodies = wanted != 0
    assert one.values[one.kept] == pytest.approx(wanted[one.kept], rel=0.05, abs=1e-3)
    assert fed_forward.model_error(one) < 1.0
    assert not np.any(one.kept & ~bodies)
    assert np.all(one.reconstruct(log, P4_PLAN) < 11)
    assert one.verdict.figures["smallest_inertia"] > 0


def test_p4s_variances(found: ControllerModel) -> None:
    prior = found.prior()
    families = [found.estimate.problem.robot.table.entries[c].family for c in found.base.columns]
    friction = np.array([family == "friction" for family in families])
    assert np.all(prior.sigma[found.kept] == pytest.approx(0.1))
    assert np.all(prior.sigma[~found.kept & friction] == pytest.approx(10.0))
    assert np.all(prior.values[~found.kept] == 0)
    assert np.all(prior.values[found.kept] == found.values[found.kept])


def test_a_prior_by_torque_knows_no_units(fed_forward: DrawnController) -> None:
    """An arm a thousand times as heavy has deviations a thousand times as large."""
    priors: list[ParameterPrior] = []
    for scale in (1.0, 1000.0):
        log = model_output(fed_forward, scale)
        priors.append(identify_controller_model(fed_forward.robot, log, feedback=False).torque_prior())
    assert priors[1].sigma == pytest.approx(1000 * priors[0].sigma, rel=1e-6)
    assert priors[1].values == pytest.approx(1000 * priors[0].values, rel=1e-4, abs=1e-3)


def test_without_positions_nothing_is_said(fed_forward: DrawnController) -> None:
    channels = {name: x for name, x in fed_forward.log.channels.items() if name != "position"}
    one = identify_controller_model(fed_forward.robot, replace(fed_forward.log, channels=channels))
    assert one.verdict.level is Level.CARE
    assert "no measured positions" in one.verdict.sentence


def test_torques_of_something_else_are_not_explained(fed_forward: DrawnController) -> None:
    other = drawn("PD with model", 4).log.array("torque")
    torque = np.resize(other[:, :1], fed_forward.log.array("torque").shape)
    log = replace(fed_forward.log, channels={**fed_forward.log.channels, "torque": torque})
    assert identify_controller_model(fed_forward.robot, log).verdict.name is Name.LAW_UNCHECKED


def test_an_indefinite_model_is_no_start_without_care(fed_forward: DrawnController) -> None:
    log = model_output(fed_forward, -1.0)
    one = identify_controller_model(fed_forward.robot, log, feedback=False)
    assert one.verdict.name is Name.INERTIA_NOT_POSITIVE
    assert not one.has_model
    assert np.all(one.prior().sigma > 0)


@pytest.mark.parametrize("missing", ["reference", "torque"])
def test_a_missing_channel_is_named(fed_forward: DrawnController, missing: str) -> None:
    channels = {name: x for name, x in fed_forward.log.channels.items() if name != missing}
    log = replace(fed_forward.log, channels=channels)
    with pytest.raises(DynidError, match=f"no {missing} channel"):
        identify_controller_model(fed_forward.robot, [log])
    with pytest.raises(DynidError, match="no log of commands"):
        identify_controller_model(fed_forward.robot, [])


@pytest.mark.slow
def test_rates_on_the_half_that_shows_them() -> None:
    """No false alarm among 120 loops without a model; models are missed where they hardly make torque."""

    def verdicts(kind: str) -> list[Level]:
        loops = [one for k in range(ARMS) if (one := draw_controller("showing", k, kind)) is not None]
        assert len(loops) > 0.7 * ARMS
        return [one.found().verdict.level for one in loops]

    without = [level for kind in WITHOUT for level in verdicts(kind)]
    assert without.count(Level.FAIL) == len(without) == ARMS * len(WITHOUT)
    for kind in WITH:
        seen = verdicts(kind)
        assert seen.count(Level.FAIL) <= 1
        assert kind == "PD with weight" or seen.count(Level.GOOD) >= 0.85 * len(seen)
