"""Held-out logs on which the control law does not hold are told as such, not blamed on the model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynid.base import base_of
from dynid.core.errors import DynidError
from dynid.core.finding import Level, Name
from dynid.estimators import DIDIM, IV, OutputError
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log, Source
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.results.load import load_result
from dynid.results.save import save_result
from dynid.simulation import PID, Controller, Reference, Sensors, Sines, Velocity, load_controller, simulate
from dynid.validation.model import IdentifiedModel
from dynid.workflow import simulated_motion
from dynid.workflow.fitting import fit
from dynid.workflow.result import FitResult, document_of
from dynid.workflow.saved_model import validate
from dynid.workflow.simulated_motion import SimulatedMotion
from dynid.workflow.usable_log import UsableLog, identity_of

ROBOT = load_robot("scara")
CONTROLLER = load_controller("scara", ROBOT)
LAWLESS = "The control law does not hold on validation log"


def reference(phase: float) -> Reference:
    """A few turns of both axes."""
    sines = Sines(((1.0, 0.3), (0.8, 0.3)), ((0.2, 0.5), (0.3, 0.8)), ((phase, 1.0), (2.0, phase)))
    assert CONTROLLER.sample_time is not None
    return sines.sample(CONTROLLER.sample_time, 20.0)


def log(name: str, phase: float, law: Controller = CONTROLLER) -> Log:
    """The robot under a law."""
    sensors = Sensors(position_noise=4e-5, torque_noise_relative=0.03)
    run = simulate(ROBOT, None, law, reference(phase), sensors=sensors, rng=np.random.default_rng(1))
    return replace(run.log, name=name)


@cache
def other() -> Log:
    """A log of the same robot whose gains were half as large on the second axis and larger on the first."""
    return log("other", 0.9, CONTROLLER.scaled((1.5, 0.5)))


def fitted(unseen: Log) -> FitResult:
    """DIDIM with one log held out."""
    return fit(ROBOT, [log("own", 0.1)], DIDIM(), controller=CONTROLLER, validate=[unseen])


def test_a_log_under_another_law_is_told_first() -> None:
    found = fitted(other()).unseen
    assert found is not None
    first = found.verdict.findings[0]
    assert first.sentence.startswith(f"{LAWLESS} 'other', so a simulation under it proves nothing")
    assert "misses the logged torques of" in first.sentence
    assert first.level is (Level.CARE if found.trustworthy else Level.FAIL)
    assert found.verdict.sentence.startswith("The control law does not hold on log 'other'")
    assert found.verdict.grade != "good"


def test_a_log_under_the_law_is_not() -> None:
    found = fitted(log("new", 0.9)).unseen
    assert found is not None
    assert found.trustworthy
    told = [found.verdict.sentence, *(finding.sentence for finding in found.verdict.findings)]
    assert "control law" not in " ".join(told)


def test_a_saved_result_says_the_same(tmp_path: Path) -> None:
    result = fitted(log("new", 0.9))
    folder = save_result(tmp_path / "out", result.estimate, document_of(result, {}), "", trails=result.trails)
    proof = validate(load_result(folder), [other()], controller=CONTROLLER)
    assert proof.validation.verdict.findings[0].sentence.startswith(f"{LAWLESS} 'other'")
    blind = replace(other(), channels={k: v for k, v in other().channels.items() if k != "position"})
    told = validate(load_result(folder), [blind], controller=CONTROLLER).validation.verdict
    assert LAWLESS not in told.findings[0].sentence  # without positions nothing can be said about the law


def test_a_log_cut_out_of_a_longer_run_starts_with_its_integrals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zero integrals would first have to be built up, and the motion before that is not the robot's."""
    law = Controller(PID((300.0, 30.0), (40.0, 2.0), (300.0, 60.0)), 5e-3, Velocity("backward"))
    whole, cut = reference(0.4), slice(2000, None)
    run = simulate(ROBOT, None, law, whole)
    made = replace(run.log.part(cut), time=run.log.time[cut] - run.log.time[cut][0])
    assert whole.qd is not None
    assert whole.qdd is not None
    rest = Reference(whole.sample_time, whole.q[cut], whole.qd[cut], whole.qdd[cut])
    base = base_of(ROBOT)

    def miss() -> float:
        model = IdentifiedModel(ROBOT, base, base.regroup(ROBOT.parameters))
        used = UsableLog(made, identity_of(made), reference=rest)
        (motion,) = SimulatedMotion(law).unseen(model, [used], Preparation()).motions
        first = made.samples - motion.samples
        return float(np.abs(motion.q - made.channel("position")[first:]).max())

    found = miss()
    monkeypatch.setattr(simulated_motion, "with_memories", lambda problem, memories: problem)
    assert found < 0.2 * miss()


def test_the_rest_of_a_split_log_is_not_one_of_the_fit() -> None:
    """Also where both parts come from one file."""
    whole = replace(log("own", 0.1), sources=(Source("own.csv", "ab" * 32, 7),))
    result = fit(ROBOT, [whole], DIDIM(), controller=CONTROLLER, split=0.6)
    assert result.unseen is not None
    assert not result.unseen.seen
    assert [motion.name for motion in result.unseen.motions] == ["own (last 40%)"]
    assert {finding.name for finding in result.unseen.verdict.findings}.isdisjoint({Name.FIT_LOG_REUSED})


def test_what_the_method_lacks_is_said() -> None:
    with pytest.raises(
        DynidError, match="DIDIM simulates the robot under its control law; give the controll"
    ):
        fit(ROBOT, [log("own", 0.1)], DIDIM())
    with pytest.raises(DynidError, match="WLS works on measured motions and simulates nothing; leave out"):
        fit(ROBOT, [log("own", 0.1)], controller=CONTROLLER)
    with pytest.raises(DynidError, match="3 references were given for 1 logs to fit and 0 to validate"):
        fit(ROBOT, [log("own", 0.1)], DIDIM(), controller=CONTROLLER, references=[reference(0.1)] * 3)
    with pytest.raises(
        DynidError, match="are for measured motions; repair the log first, with dynid check --repair"
    ):
        fit(ROBOT, [log("own", 0.1)], DIDIM(), controller=CONTROLLER, repair=True)


PLACEHOLDER = Controller(PID((5.0, 1.0)), CONTROLLER.sample_time)
"""A law that only gives the sample time; no simulation under it follows any reference."""


@pytest.mark.parametrize(
    "strategy",
    [OutputError(open_loop=True, start="prior"), IV(instruments="reference")],
    ids=["open", "reference"],
)
def test_what_needs_no_law_is_not_judged_under_one(strategy: Strategy, tmp_path: Path) -> None:
    """Torques are predicted along the measured motion, in the fit, on unseen logs and from a folder."""
    quiet = Sensors(torque_noise_relative=1e-4)
    runs = [
        simulate(ROBOT, None, CONTROLLER, reference(phase), sensors=quiet, rng=np.random.default_rng(1)).log
        for phase in (0.1, 0.9)
    ]
    own, new = (replace(run, name=name) for run, name in zip(runs, ("own", "new"), strict=True))
    result = fit(ROBOT, [own], strategy, controller=PLACEHOLDER, validate=[new])
    truth = base_of(ROBOT).regroup(ROBOT.parameters)
    np.testing.assert_allclose(result.estimate.values[[0, 3, 4]], truth[[0, 3, 4]], rtol=0.02)
    assert result.own.judged.overall_percent < 5  # 100 and more under the placeholder
    assert result.unseen is not None
    assert result.unseen.trustworthy
    assert result.unseen.judged.overall_percent < 5
    save_result(tmp_path / "x", result.estimate, document_of(result, {}), "", trails=result.trails)
    again = validate(load_result(tmp_path / "x"), new)
    assert again.validation.judged.overall_percent == pytest.approx(result.unseen.judged.overall_percent)


def test_a_log_that_starts_mid_run_is_validated_from_where_the_robot_was() -> None:
    """The rest of a log starts with the tracking error of what came before; the reference has none."""
    result = fit(ROBOT, [log("own", 0.1)], DIDIM(), controller=CONTROLLER, split=0.6)
    assert result.unseen is not None
    assert result.unseen.judged.overall_percent < 2 * result.own.judged.overall_percent
