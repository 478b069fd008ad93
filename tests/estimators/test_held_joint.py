"""A joint that is held all through a log: its friction is left open, and the rest of the robot is known."""

from __future__ import annotations

import numpy as np

from dynid.core.finding import Level, Name
from dynid.estimators import WLS, Estimate
from dynid.estimators.identification import identify
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem


def found_with(held: int) -> Estimate:
    """Random states of a UR10 with one joint held in its place; what its torques are does not matter."""
    robot, rng = load_robot("ur10"), np.random.default_rng(5)
    q, qd, qdd, tau = rng.normal(size=(4, 2000, robot.n_coordinates))
    q[:, held], qd[:, held], qdd[:, held] = 0.7, 0.0, 0.0
    motion = Motion("held", np.arange(2000) / 200.0, q, qd, qdd, tau, 200.0)
    return identify(build_problem(robot, [motion], Preparation()), WLS())


def test_what_a_held_joint_hides_is_left_open_and_the_rest_stands() -> None:
    found = found_with(held=4)
    assert set(found.facts["undetermined"]) == {"Ia5", "Fv5", "Fc5"}
    assert found.outcome.trustworthy
    told = [f for f in found.findings if f.name is Name.RANK_DEFICIENT]
    assert [f.level for f in told] == [Level.CARE]
    assert "Not seen at all: Ia5, Fv5, Fc5" in told[0].sentence


def test_a_held_joint_that_hides_inertias_is_the_outcome() -> None:
    found = found_with(held=0)
    assert found.outcome.name is Name.RANK_DEFICIENT
    assert not found.outcome.trustworthy
