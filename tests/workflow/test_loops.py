"""A five-bar from design to validation: its own values come back from a simulated log."""

from __future__ import annotations

import numpy as np

from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.excitation import design_motion
from dynid.model.load import load_robot


def test_a_designed_motion_of_the_five_bar_shows_its_base_parameters() -> None:
    robot = load_robot("fivebar")
    design = design_motion(robot, starts=1, seed=1)
    assert all(use.kept for use in design.uses)
    assert {use.joint for use in design.uses} == {joint.name for joint in robot.joints}
    (told,) = [finding.text for finding in design.findings if "Collisions" in finding.text]
    assert told.endswith(
        "For robots with closed loops no clearance can be proved; look for collisions elsewhere."
    )
    time = np.arange(0.0, design.trajectory.duration, 0.01)
    q, qd, qdd = (design.trajectory.at(time, order) for order in range(3))
    base = base_of(robot)
    W = kernels(robot, base.columns).regressor(q, qd, qdd)
    tau = kernels(robot).inverse(robot.parameters, q, qd, qdd)
    found = np.linalg.lstsq(W.reshape(-1, len(base)), tau.ravel(), rcond=None)[0]
    np.testing.assert_allclose(found, base.regroup(robot.table.vector(robot.parameters)), rtol=0, atol=1e-9)
