"""Connect and weld equalities of MJCF as loops: MuJoCo's own residuals, starts, coordinates, sentences."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.model.assembly import Linkage
from dynid.model.joint import BASE
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.loop import CutKind
from dynid.model.robot import Robot
from support.mjcf_loops import FIVEBAR, FOURBAR, MODELS, SPATIAL

KEYS = '<keyframe><key name="other" qpos="9 9 9"/><key name="home" qpos="0 0 0"/></keyframe>'
WELD = FOURBAR.replace(KEYS, "").replace(
    '<connect name="foot" site1="foot" site2="ground"/>', '<weld name="foot" {}/>'
)
"""A four-bar whose foot is welded to a fourth body, which turns at the ground."""
FOOT = """<body name="foot" pos="0 0 -0.2" euler="0 0.5 0"><joint name="foot" axis="0 1 0"/>
  <geom type="sphere" size="0.01" mass="0.1"/></body>"""
WELD = WELD.replace('<site name="foot" pos="0 0 -0.2"/>', FOOT + '<site name="foot" pos="0 0 -0.2"/>')
WELDS = {
    "as at the reference": 'body1="foot"',
    "of two bodies": 'body1="crank_base" body2="foot"',
    "relative pose": 'body2="foot" body1="world" relpose="0.3 0 0 0.968912 0 0.247404 0"',
    "with an anchor": 'body1="foot" body2="world" anchor="0.1 0.2 0.3"',
}
FROM_AFAR = FOURBAR.replace('<site name="ground" pos="0.3 0 0"/>', '<site name="ground" pos="0.35 0 0.02"/>')


def linkage_of(robot: Robot) -> Linkage:
    assert robot.closure is not None
    return Linkage(robot.joints, robot.closure.cuts, robot.closure.coordinates)


def coordinate_names(robot: Robot) -> list[str]:
    return [robot.joints[j].name for j in robot.coordinates]


@pytest.mark.parametrize("name", MODELS)
def test_the_gap_of_a_connect_is_mujocos(name: str, rng: np.random.Generator) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is this test's oracle; install the oracles extra.")
    from support.mjcf_oracle import equality_residuals

    robot = from_mjcf_text(MODELS[name])
    q = rng.normal(size=(30, len(robot.movable)))
    theirs = equality_residuals(MODELS[name], robot, q)
    np.testing.assert_allclose(linkage_of(robot).residuals(q), theirs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("how", WELDS)
def test_a_weld_closes_where_mujocos_does(how: str, rng: np.random.Generator) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is this test's oracle; install the oracles extra.")
    from support.mjcf_oracle import equality_residuals

    text = WELD.format(WELDS[how]).replace(
        '<body name="crank">', '<body name="crank_base"/><body name="crank">'
    )
    robot = from_mjcf_text(text)
    assert robot.closure is not None
    assert robot.closure.cuts[0].kind is CutKind.FIXED
    assert coordinate_names(robot) == ["crank"]
    linkage = linkage_of(robot)
    near = np.array(robot.closure.start) + rng.uniform(-0.3, 0.3, (20, 4))
    closed = linkage.nearest_closed(near)
    assert linkage.is_closed(closed).all()
    # The decimals of the quaternion leave 1e-7; MuJoCo's rows of rotation are scaled by torquescale.
    assert np.abs(equality_residuals(text, robot, closed)).max() < 1e-6
    assert np.abs(equality_residuals(text, robot, near)).max() > 1e-2


def test_a_weld_without_torque_holds_a_point() -> None:
    robot = from_mjcf_text(WELD.format('body1="foot" torquescale="0" anchor="0.3 0 0"'))
    assert robot.closure is not None
    assert robot.closure.cuts[0].kind is CutKind.SPHERICAL
    assert robot.n_coordinates == 2


def test_links_and_points_are_those_of_the_moving_links() -> None:
    """The anchor in the frame of a fixed body goes to the link that carries it."""
    text = FIVEBAR.replace('body2="left_rod" anchor="0.15 0 0.3"', 'body2="tool" anchor="0.15 0 0.3"')
    ours, moved = (from_mjcf_text(each).closure for each in (FIVEBAR, text))
    assert ours is not None
    assert moved is not None
    assert ours.cuts[0].links == (3, 1)
    np.testing.assert_allclose(moved.cuts[0].points, ours.cuts[0].points, atol=1e-15)
    other = FOURBAR.replace('site1="foot" site2="ground"', 'body1="rocker" anchor="0 0 -0.2"')
    grounded = from_mjcf_text(other).closure
    assert grounded is not None
    assert grounded.cuts[0].links == (2, BASE)
    np.testing.assert_allclose(grounded.cuts[0].points[1], (0.3, 0.0, 0.0), atol=1e-15)


@pytest.mark.parametrize(
    ("name", "coordinates"), [("fivebar", 2), ("fourbar", 1), ("spatial", 1), ("three_legs", 3)]
)
def test_actuators_name_the_coordinates(name: str, coordinates: int) -> None:
    robot = from_mjcf_text(MODELS[name])
    assert robot.n_coordinates == coordinates
    assert robot.driven == (True,) * coordinates
    assert [note for note in robot.notes if "oordinates" in note] == []


def without_actuators(text: str) -> str:
    start, end = text.index("<actuator>"), text.index("</actuator>") + len("</actuator>")
    return text[:start] + text[end:]


def test_coordinates_that_actuators_do_not_name_are_told() -> None:
    free = from_mjcf_text(without_actuators(FIVEBAR))
    assert coordinate_names(free) == ["left_motor", "left_elbow"]
    assert free.notes[0] == (
        "No actuators say which joints move the loops; taken as coordinates: left_motor, left_elbow."
    )
    one = from_mjcf_text(FIVEBAR.replace('<motor name="left" joint="left_motor"/>', ""))
    assert coordinate_names(one) == ["left_motor", "right_motor"]
    assert one.driven == (False, True)
    assert "The loops leave 2 freedoms, more than the actuators drive" in one.notes[0]
    three = from_mjcf_text(FIVEBAR.replace("<actuator>", '<actuator><motor joint="right_elbow"/>'))
    assert coordinate_names(three) == ["left_motor", "right_motor"]
    assert (
        "right_elbow follows left_motor, right_motor, and torques of it belong into those" in three.notes[0]
    )


def test_joints_outside_the_loops_stay_coordinates() -> None:
    arm = '<body name="arm"><joint name="arm" axis="1 0 0"/><geom type="sphere" size="0.1"/></body>'
    robot = from_mjcf_text(FIVEBAR.replace("<worldbody>", "<worldbody>" + arm))
    assert coordinate_names(robot) == ["arm", "left_motor", "right_motor"]
    assert robot.driven == (False, True, True)


def test_a_keyframe_is_the_start_where_the_reference_does_not_close() -> None:
    with pytest.raises(
        DynidError, match=r"The loop 'foot' is open by 0.05 m.*at the reference position"
    ) as told:
        from_mjcf_text(FROM_AFAR)
    qpos = str(told.value).split('They close at qpos="')[1].split('"')[0]
    found = from_mjcf_text(
        FROM_AFAR.replace('<key name="home" qpos="0 0 0"/>', f'<key name="home" qpos="{qpos}"/>')
    )
    assert found.closure is not None
    np.testing.assert_allclose(found.closure.start, [float(x) for x in qpos.split()], atol=1e-5)
    assert linkage_of(found).is_closed(np.array([found.closure.start])).all()


BALL = '<geom type="sphere" size="0.05" pos="0.1 0 0"/>'
FLAT = f"""<mujoco><compiler angle="radian"/><worldbody>
  <body name="a"><joint name="a" axis="0 1 0"/>{BALL}
    <body name="b" pos="0.2 0 0"><joint name="b" axis="0 1 0"/>{BALL}
      <body name="c" pos="0.3 0 0"><joint name="c" axis="0 1 0"/>{BALL}</body>
    </body>
  </body></worldbody>
  <equality><connect name="end" body1="c" anchor="-0.4 0 0"/></equality></mujoco>"""
"""A four-bar that lies flat at the reference position."""


def test_a_singular_reference_asks_for_a_keyframe() -> None:
    with pytest.raises(DynidError, match=r"The loops close at a singular position only.*add a keyframe"):
        from_mjcf_text(FLAT)
    # Ground 0.1, crank 0.2, coupler 0.3, rocker 0.4: cos β from the triangle at a crank of 1 rad.
    tip = 0.2 * np.array([np.cos(1.0), -np.sin(1.0)])
    way = np.array([0.1, 0.0]) - tip
    away = float(np.linalg.norm(way))
    across = np.arccos((0.3**2 + away**2 - 0.4**2) / (2 * 0.3 * away))
    coupler = np.arctan2(-way[1], way[0]) + across
    elbow = tip + 0.3 * np.array([np.cos(coupler), -np.sin(coupler)])
    rocker = np.arctan2(*(np.array([[0, 1], [1, 0]]) @ (np.array([0.1, 0.0]) - elbow) * [-1, 1]))
    qpos = f"1 {coupler - 1.0} {rocker + np.pi - coupler}"
    robot = from_mjcf_text(FLAT.replace("</mujoco>", f'<keyframe><key qpos="{qpos}"/></keyframe></mujoco>'))
    assert robot.n_coordinates == 1
    assert robot.closure is not None
    assert robot.closure.start[0] == pytest.approx(1.0)


def test_what_is_left_out_is_told() -> None:
    text = FIVEBAR.replace(
        "</equality>",
        '<connect name="spare" body1="tool" anchor="0 0 0" active="false"/>'
        '<weld name="tool" body1="tool" body2="left_rod"/></equality>',
    ).replace('name="left_elbow"', 'name="left_elbow" frictionloss="0.1" damping="0.2"')
    robot = from_mjcf_text(text)
    assert set(robot.notes) == {
        "The equality 'spare' is not active and was left out.",
        "The equality 'tool' was left out: it joins bodies that never move against each other.",
        "Left out, because joint 'left_elbow' follows the loops: its damping and frictionloss.",
    }
    assert robot.digest == from_mjcf_text(FIVEBAR).digest
    only = FIVEBAR.replace('body2="left_rod" anchor', 'body2="right_rod" anchor')
    tree = from_mjcf_text(only)
    assert (tree.closure, tree.n_coordinates, len(tree.notes)) == (None, 4, 1)


EQUALITY = '<connect name="tip" body1="right_rod" body2="left_rod" anchor="0.15 0 0.3"/>'
BAD = {
    "unknown body": ('<connect name="x" body1="rod" anchor="0 0 0"/>', "Unknown body of equality 'x' 'rod'"),
    "unknown site": ('<connect site1="p" site2="q"/>', "Unknown site of equality 'connect1' 'p'"),
    "no body": ('<connect name="x" anchor="0 0 0"/>', "The equality 'x' has no body1"),
    "one site": ('<weld name="x" site1="p"/>', "The equality 'x' has no site2"),
    "no anchor": ('<connect name="x" body1="tool"/>', "The equality 'x' has no anchor"),
    "bad anchor": ('<connect name="x" body1="tool" anchor="0 0"/>', "anchor='0 0' must be 3 finite numbers"),
    "bad relpose": ('<weld name="x" body1="tool" relpose="1 2"/>', "relpose='1 2' must be 7 finite numbers"),
    "both ways": ('<connect name="x" body1="tool" site2="p"/>', "'x' names both sites and bodies; keep one"),
    "tendon": ('<tendon tendon1="t"/>', "The equality <tendon> is not read; <joint> with a linear polycoef"),
    "both kinds": (
        EQUALITY + '<joint joint1="left_elbow" joint2="left_motor"/>',
        r"equalities of joints \(of 'left_elbow'\) and of bodies \('tip'\); only one of the two kinds",
    ),
    "twice the same name": (EQUALITY + EQUALITY, "Two loops have the name 'tip'"),
    "rigid": (
        EQUALITY + '<weld name="a" body1="left"/><weld name="b" body1="right"/>',
        "The equalities tip, a, b leave no joint free to move; take one of them out",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_loops_give_their_sentence(name: str) -> None:
    inside, sentence = BAD[name]
    with pytest.raises(DynidError, match=sentence) as caught:
        from_mjcf_text(FIVEBAR.replace(EQUALITY, inside))
    assert "\n" not in str(caught.value)


def test_a_keyframe_of_another_length_is_refused() -> None:
    text = FROM_AFAR.replace('qpos="0 0 0"', 'qpos="0 0"')
    with pytest.raises(DynidError, match="Keyframe 'home': qpos='0 0' must be 3 finite numbers"):
        from_mjcf_text(text)


def test_a_spatial_loop_keeps_what_it_holds() -> None:
    robot = from_mjcf_text(SPATIAL)
    assert "Ia1" in robot.parameters
    assert robot.parameters["Fv1"] == 0.02
    assert robot.notes == ("Left out, because joint 'rocker' follows the loops: its damping.",)
