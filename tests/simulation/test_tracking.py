"""A loop that does not follow its reference is told; one that lags as loops do is not."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.finding import Level
from dynid.model.load import load_robot
from dynid.simulation import PID, Controller, OpenLoop, Simulation, Sines, simulate

SLOW = Sines(((0.5,), (0.4,)), ((0.5,), (0.8,))).sample(2e-3, 6.0)


def run(kp: float, kd: float, *, limit: float = 100.0) -> Simulation:
    controller = Controller(PID((kp, kp / 30), (kd, kd / 30)), 2e-3, saturation=(limit, limit))
    return simulate(load_robot("scara"), None, controller, SLOW)


def test_a_loop_that_follows_is_fine() -> None:
    found = run(800.0, 100.0)
    assert (found.outcome.name, found.tracking.name, found.findings) == ("fine", "fine", ())


@pytest.mark.parametrize("found", [run(2.0, 1.0), run(800.0, 100.0, limit=1.0)], ids=["soft", "weak"])
def test_one_that_does_not_is_told_with_joint_and_size(found: Simulation) -> None:
    (outcome,) = found.findings
    assert (outcome.name, outcome.level, outcome.trustworthy) == ("reference not followed", Level.CARE, True)
    assert outcome.where.axis == 1
    error = np.sqrt(np.mean((found.q[:, 0] - SLOW.q[:, 0]) ** 2))
    assert (
        f"Joint 'joint1' does not follow its reference: it is off by {error:.2g} rad rms" in outcome.sentence
    )
    assert outcome.figures["tracking_share"] == pytest.approx(error / SLOW.q[:, 0].std())
    assert "Raise the gains or the torque limits" in outcome.remedy


def test_open_loops_and_passive_joints_follow_nothing() -> None:
    open_loop = simulate(load_robot("scara"), None, Controller(OpenLoop(2), 2e-3), SLOW)
    assert open_loop.findings == ()
    robot = load_robot("elastic_drive")
    controller = Controller(PID((12.0, 0.0), (0.15, 0.0)), 1e-3)
    still = Sines(((0.5,), (0.0,)), ((0.5,), (1.0,))).sample(1e-3, 4.0)
    assert simulate(robot, None, controller, still).findings == ()
