"""Links of a possible robot: mass, centre of mass, principal moments, and where they lie at q = 0."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint
from dynid.model.robot import Robot
from dynid.workflow.possibility import link_rows
from support.evaluate import States
from support.pinocchio_oracle import pinocchio_oracle
from support.robots import ORACLE_ROBOTS


@pytest.mark.parametrize("name", ORACLE_ROBOTS)
def test_frames_and_centres_of_mass_lie_where_pinocchio_has_them(name: str) -> None:
    robot = ORACLE_ROBOTS[name]
    rows = link_rows(robot, robot.table.vector(robot.parameters))
    zero = np.zeros((1, robot.n_coordinates))
    (positions,), (rotations,) = pinocchio_oracle(robot).frames(States(zero, zero, zero))
    np.testing.assert_allclose([row["origin"] for row in rows], positions, atol=1e-12)
    for row, R, p in zip(rows, rotations, positions, strict=True):
        np.testing.assert_allclose(row["com_in_base"], p + R @ np.array(row["com"]), atol=1e-12)
    assert [row["antecedent"] for row in rows] == [joint.antecedent for joint in robot.joints]


def test_a_body_is_told_by_its_mass_centre_and_principal_moments() -> None:
    robot = Robot("one", (Joint("swing", BASE, r=0.5),))
    body = LinkInertia.from_com(2.0, [0.1, 0.0, -0.2], np.diag([0.03, 0.01, 0.04]))
    (row,) = link_rows(robot, robot.table.vector(body.by_name("1")))
    assert (row["joint"], row["label"], row["mass"]) == ("swing", "1", 2.0)
    np.testing.assert_allclose(row["com"], [0.1, 0.0, -0.2])
    np.testing.assert_allclose(row["com_in_base"], [0.1, 0.0, 0.3])
    np.testing.assert_allclose(row["principal_moments"], [0.01, 0.03, 0.04])
    assert row["triangle"] == pytest.approx(1.0)
    assert [robot.table.names[column] for column in row["columns"]][-2:] == ["MZ1", "M1"]
