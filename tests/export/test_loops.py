"""Loops in exports: kept in a user's MJCF, written into a new one, told where URDF leaves them open."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")

from dynid.core.errors import DynidError
from dynid.export.bodies import first_difference
from dynid.export.loops import mjcf_holds_loops
from dynid.export.mjcf import to_mjcf
from dynid.export.model import Export
from dynid.export.urdf import to_urdf
from dynid.model.assembly import Linkage
from dynid.model.load import load_robot
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource
from support.evaluate import relative_error
from support.export_models import model_of, mujoco_torques, our_torques
from support.mjcf_loops import FIVEBAR, FOURBAR
from support.mjcf_oracle import equality_residuals

FOOT = """<body name="foot" pos="0 0 -0.2" euler="0 0.5 0"><joint name="foot" axis="0 1 0"/>
  <geom type="sphere" size="0.01" mass="0.1"/></body>"""
WELDED = (
    FOURBAR.replace('<site name="foot" pos="0 0 -0.2"/>', FOOT)
    .replace('<connect name="foot" site1="foot" site2="ground"/>', '<weld name="foot" body1="foot"/>')
    .replace('<key name="other" qpos="9 9 9"/><key name="home" qpos="0 0 0"/>', "")
)
PARALLELOGRAM = FOURBAR.replace('pos="0.3 0 0.1"', 'pos="0.3 0 0"').replace(
    'pos="0 0 -0.2"', 'pos="0 0 -0.1"'
)
"""Its joints follow the crank by constants."""
ROBOTS = {
    "fivebar": lambda: load_robot("fivebar"),
    "fourbar": lambda: load_robot("fourbar"),
    "points": lambda: from_mjcf_text(FIVEBAR),
    "weld": lambda: from_mjcf_text(WELDED),
    "parallelogram": lambda: from_mjcf_text(PARALLELOGRAM),
}


def written(export: Export) -> str:
    return export.files[0].content.decode()


def closed_positions(robot: Robot) -> np.ndarray:
    assert robot.closure is not None
    linkage = Linkage(robot.joints, robot.closure.cuts, robot.closure.coordinates)
    q = np.tile(robot.closure.start, (6, 1))
    q[:, list(linkage.coordinates)] += np.random.default_rng(0).uniform(-0.1, 0.1, (6, robot.n_coordinates))
    found = linkage.nearest_closed(q)
    assert linkage.is_closed(found).all()
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_a_new_mjcf_has_the_loops(name: str) -> None:
    robot = replace(ROBOTS[name](), origin=None, source="")
    model = model_of(robot)
    export = to_mjcf(model)
    text = written(export)
    again = from_mjcf_text(text)
    assert first_difference(robot, again) == ""
    assert again.coupling == robot.coupling
    q = closed_positions(robot)
    assert np.abs(equality_residuals(text, robot, q)).max() < 1e-9
    assert np.abs(equality_residuals(text, robot, q + 0.01)).max() > 1e-4
    free, x, torques = our_torques(model, "Ia", "Fv", "Fc")
    assert relative_error(mujoco_torques(text, free, x), torques) < 1e-9
    assert any(s.startswith("MuJoCo holds the loop of ") for s in export.lost)
    assert not any("move freely" in s or "moves freely" in s for s in export.lost)


@pytest.mark.parametrize("text", [FIVEBAR, WELDED, PARALLELOGRAM], ids=["connect", "weld", "parallelogram"])
def test_a_users_file_keeps_its_loops(text: str) -> None:
    robot = from_mjcf_text(text)
    export = to_mjcf(model_of(robot))
    assert export.figures["largest_difference"] < 1e-12
    for part in ("equality", "actuator", "keyframe"):
        found = [re.findall(rf"<{part}>.*?</{part}>", each, re.DOTALL) for each in (text, written(export))]
        assert found[0] == found[1]
    assert from_mjcf_text(written(export)).closure == robot.closure
    assert not any("was not used" in s for s in export.lost)


def test_a_file_with_other_loops_is_refused() -> None:
    model = model_of(from_mjcf_text(FIVEBAR))
    cases = {
        "it has no loops, and the result's robot has": FIVEBAR.replace(
            ' body1="right_rod"', ' active="false" body1="right_rod"'
        ),
        "its loops close otherwise": FIVEBAR.replace('anchor="0.15 0 0.3"', 'anchor="0.15 0 0.29"'),
        "its loops are moved by left_motor, left_elbow": FIVEBAR.replace(
            '<motor name="right" joint="right_motor"/>', '<motor joint="left_elbow"/>'
        ),
    }
    for difference, text in cases.items():
        with pytest.raises(
            DynidError, match=f"other.xml is not the MJCF of the result's robot: {difference}"
        ):
            to_mjcf(model, RobotSource("other.xml", "mjcf", text))
    tree = FIVEBAR.replace(' body1="right_rod"', ' active="false" body1="right_rod"')
    with pytest.raises(DynidError, match="it has loops, and the result's robot none"):
        to_mjcf(model_of(from_mjcf_text(tree)), RobotSource("other.xml", "mjcf", FIVEBAR))


def test_a_urdf_leaves_loops_open_and_says_so() -> None:
    robot = from_mjcf_text(FIVEBAR)
    export = to_urdf(model_of(robot))
    beside = "fivebar.urdf.dynid.json"
    assert (
        "URDF is written as a tree, without the loop 'tip': the joints that it holds move freely there; the "
        f"loop is in {beside}." in export.lost
    )
    loops = json.loads(export.files[1].content)["loops"]
    assert robot.closure is not None
    (cut,) = loops["cuts"]
    assert (cut["name"], cut["kind"], cut["links"]) == ("tip", "spherical", ["right_elbow", "left_elbow"])
    np.testing.assert_allclose(cut["points"], robot.closure.cuts[0].points)
    assert loops["coordinates"] == ["left_motor", "right_motor"]
    assert list(loops["start"].values()) == list(robot.closure.start)


def test_cuts_that_mjcf_has_no_equality_for_are_told() -> None:
    haptic = load_robot("haptic")  # its second loop keeps axes parallel
    assert not mjcf_holds_loops(haptic)
    assert "<connect" not in written(to_mjcf(model_of(haptic)))
