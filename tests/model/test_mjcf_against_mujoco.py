"""Robots read from MJCF move as MuJoCo's reading of the same text."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

from dynid.model.loaders.mjcf import from_mjcf, from_mjcf_text
from dynid.model.robot import Robot
from support.evaluate import States, dynid_inverse, dynid_regressor, random_states, relative_error
from support.mjcf_oracle import equality_residuals, mjcf_oracle

INERTIAL = '<inertial pos="0.02 -0.03 0.1" mass="1.7" fullinertia="0.03 0.025 0.02 0.001 -0.002 0.003"/>'


def model(world: str, head: str = "", tail: str = "") -> str:
    return f'<mujoco model="arm">{head}<worldbody>{world}</worldbody>{tail}</mujoco>'


ORIENTATIONS = model(
    f"""
    <body name="b1" pos="0.1 0 0.3" quat="0.5 -0.3 0.2 0.7"><joint name="j1" axis="1 2 -0.5"/>{INERTIAL}
     <body name="b2" pos="0 0.2 0.1" axisangle="1 -1 2 40"><joint name="j2" axis="0 1 0"/>
      <inertial pos="0.1 0 0" quat="0.9 0.1 -0.3 0.2" mass="2" diaginertia="0.02 0.03 0.04"/>
      <body name="b3" pos="0.2 0 0" euler="30 -50 70"><joint name="j3" type="slide" axis="0 0 -1" ref="0.15"/>
       <inertial pos="0 0.1 0" euler="10 20 30" mass="1" diaginertia="0.01 0.012 0.015"/>
       <body name="b4" pos="0.2 0 0" xyaxes="1 0.2 0 0.1 1 0.4"><joint name="j4" axis="0 0 1"/>{INERTIAL}
        <body name="b5" pos="0 0.1 0" zaxis="0.3 -0.4 -0.8"><joint name="j5" axis="1 0 0"/>
         <inertial pos="0 0 0.1" zaxis="1 1 1" mass="0.6" diaginertia="0.004 0.003 0.002"/>
        </body></body></body></body></body>"""
)

SEVERAL_JOINTS = model(
    f"""
    <body name="cart" pos="0 0 1" euler="0.2 0.1 0.3">
     <joint name="x" type="slide" axis="1 0 0" pos="0.3 0.1 0"/>
     <joint name="y" type="slide" axis="0 1 0" ref="0.4"/>
     <joint name="turn" axis="0 0 1" pos="0.1 -0.2 0.3" ref="0.7"/>
     <joint name="tilt" axis="1 0 1" pos="0 0.2 -0.1" ref="-0.3" armature="0.2"/>
     {INERTIAL}
     <body pos="0 0 0.3"><joint axis="0 1 0" pos="0.05 0 0.1"/><joint axis="1 0 0" pos="0 0.05 0"/>{INERTIAL}
     </body></body>""",
    head='<compiler angle="radian"/><option gravity="1 -2 -9"/>',
)

# Bodies without joints on the base, inside the chain and at the tip; frames around a body, a joint, a geom.
WELDED = model(
    f"""
    <body name="pedestal" pos="0 0 0.5" euler="20 10 0"><geom type="plane" size="1 1 1"/>
     <body name="l1" pos="0.1 0 0"><joint name="j1" axis="0 1 0"/>{INERTIAL}
      <body name="cover" pos="0 0.1 0.2" euler="0 40 0">{INERTIAL}
       <frame pos="0.1 0 0.1" euler="0 0 30">
        <body name="l2" pos="0.2 0 0"><frame euler="10 20 30" pos="0.1 0.2 0">
          <joint name="j2" axis="1 0 0.2" pos="0 0.1 0"/><geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/>
         </frame>
         <body name="tool" pos="0 0 0.3" quat="0 1 0 0"><geom type="sphere" size="0.05" pos="0.1 0 0"/></body>
        </body>
       </frame>
      </body></body></body>"""
)

GEOMS = model(
    """
    <body name="b1"><joint name="j1" axis="0 1 0"/>
      <geom type="sphere" size="0.07" pos="0.1 0.2 0.3"/>
      <geom type="capsule" size="0.03 0.2" pos="0 0.1 0" euler="30 40 50"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.3 -0.1 0.2" density="2700"/>
      <geom type="cylinder" size="0.05 0.1" axisangle="0 1 1 30" mass="1.5"/>
      <geom type="cylinder" size="0.05" fromto="0.1 0 0.3 0.1 0 -0.2"/>
    <body name="b2" pos="0.3 0 0"><joint name="j2" axis="1 0 0"/>
      <geom type="box" size="0.1 0.2 0.05" quat="1 0.2 0.3 0.4" density="500"/>
      <geom type="box" size="0.03" fromto="0 0 0 0.1 0.2 0.3"/>
      <geom type="ellipsoid" size="0.1 0.05 0.02" pos="0 0.2 0" xyaxes="1 1 0 -1 1 0.5"/>
      <geom type="ellipsoid" size="0.04" fromto="0 0 0 -0.2 0 0.1" contype="0" conaffinity="0"/>
      <geom class="rods" quat="1 0 0 0"/>
      <geom type="sphere" size="0.3" mass="0"/>
      <geom type="sphere" size="0.3" group="4"/>
    </body></body>""",
    head='<compiler inertiagrouprange="0 3"/><default><geom euler="0 0 10"/><default class="rods">'
    '<geom type="capsule" fromto="0 0 0 0.1 0.2 0" size="0.02"/></default></default>',
)

DEFAULTS = model(
    """
    <body name="b1" childclass="arm"><joint name="j1"/><geom size="0.1 0.05 0.2"/>
     <body name="b2" pos="0 0 0.4"><joint name="j2" class="wrist"/><geom size="0.1 0.05 0.2"/>
      <body name="b3" pos="0 0.3 0" childclass="wrist"><joint name="j3"/>
       <geom type="sphere" size="0.05" pos="0.1 0 0"/><geom class="main" size="0.06" pos="0 0.1 0"/>
       <frame childclass="arm"><geom size="0.02 0.02 0.1" quat="1 0 0 1"/></frame>
      </body></body></body>
    <body pos="1 0 0"><joint name="j4" axis="1 1 0"/><geom size="0.2" pos="0.1 0 0"/></body>""",
    head="""<default><geom density="800"/><joint armature="0.03" damping="0.5"/>
      <default class="arm"><joint axis="0 1 0" damping="2"/><geom type="box" euler="0 20 0"/>
       <default class="wrist">
        <joint axis="1 0 0" frictionloss="0.4" pos="0 0 0.1"/><geom density="3000"/></default>
      </default></default><default><joint range="-30 60"/></default>""",
)

INTRINSIC, EXTRINSIC = (
    model(
        f'<body euler="0.3 0.5 -0.7" pos="0 0 1"><joint name="a" axis="0 1 0"/>{INERTIAL}'
        f'<body euler="0.2 -0.4 0.9"><joint name="b"/>{INERTIAL}</body></body>',
        head=f'<compiler angle="radian" eulerseq="{sequence}"/>',
    )
    for sequence in ("zyx", "XZY")
)

BOUNDED = model(
    '<body><joint name="a" axis="0 1 0"/>'
    '<inertial pos="0.1 0 0" euler="10 20 30" mass="0.5" diaginertia="0.01 0.01 0.05"/>'
    '<body pos="0.1 0 0"><joint name="b" axis="1 0 0"/>'
    '<inertial pos="0 0.1 0" mass="2" diaginertia="0.001 0.02 0.03"/></body></body>',
    head='<compiler boundmass="0.8" boundinertia="0.015" balanceinertia="true"/>',
)

FROM_GEOMS, MIXED = (
    model(
        f'<body><joint name="a" axis="0 1 0"/>{INERTIAL}<geom type="box" size="0.1 0.2 0.3" pos="0.1 0.1 0"/>'
        f'<body pos="0.2 0 0"><joint name="b" axis="1 0 0"/>{INERTIAL}</body></body>',
        head=f'<compiler inertiafromgeom="{mode}"/>',
    )
    for mode in ("true", "auto")
)

SPRINGS = model(
    f'<body pos="0 0 1"><joint name="a" axis="0 1 0" stiffness="12" springref="30" ref="10"/>{INERTIAL}'
    '<body pos="0.2 0 0">'
    '<joint name="b" type="slide" axis="1 0 0" stiffness="40" springref="0.1" damping="3"/>'
    f"{INERTIAL}</body></body>"
)

MOTORS = model(
    f'<body><joint name="a" axis="0 1 0" armature="0.01"/>{INERTIAL}'
    f'<body pos="0.2 0 0"><joint name="b" axis="1 0 0"/>{INERTIAL}</body></body>',
    head='<default><general armature="0.002"/></default>',
    tail='<actuator><motor joint="a" gear="5" damping="0.1"/>'
    '<motor joint="b" gear="-3 0 0 0 0 0" armature="0.1"/></actuator>',
)
NO_GRAVITY = ORIENTATIONS.replace(
    "<worldbody>", '<option gravity="0 0 -5"><flag gravity="disable"/></option><worldbody>'
)
TEXTS = {
    "orientations": ORIENTATIONS,
    "several joints": SEVERAL_JOINTS,
    "welded": WELDED,
    "geoms": GEOMS,
    "defaults": DEFAULTS,
    "euler zyx": INTRINSIC,
    "euler XZY": EXTRINSIC,
    "bounded": BOUNDED,
    "inertia from geoms": FROM_GEOMS,
    "inertia auto": MIXED,
    "springs": SPRINGS,
    "motors": MOTORS,
    "no gravity": NO_GRAVITY,
}


def without_coulomb(robot: Robot) -> Robot:
    """The robot without what MuJoCo treats as a constraint."""
    return robot.with_terms(*(term for term in robot.terms if term != "Fc"))


@pytest.mark.parametrize("name", TEXTS)
def test_inverse_dynamics_of_mjcf_is_mujocos(name: str, rng: np.random.Generator) -> None:
    loaded = without_coulomb(from_mjcf_text(TEXTS[name], snap_rad=0.0))
    chi = loaded.table.vector(loaded.parameters)
    x = random_states(loaded, rng)
    theirs = mjcf_oracle(TEXTS[name]).inverse(loaded, x)
    assert relative_error(dynid_inverse(loaded, chi, x), theirs) < 1e-8
    assert relative_error(dynid_regressor(loaded, x) @ chi, theirs) < 1e-8


def test_defaults_reach_limits_friction_and_drives() -> None:
    loaded = from_mjcf_text(DEFAULTS)
    # The second <default> section adds the range to "main" only: classes made before it do not see it.
    oracle = mjcf_oracle(DEFAULTS).model
    assert [bool(oracle.joint(j.name).limited[0]) for j in loaded.joints] == [False, False, False, True]
    assert [j.limits.upper for j in loaded.joints] == [math.inf, math.inf, math.inf, math.radians(60)]
    assert [loaded.parameters[f"Fv{i}"] for i in (1, 2, 3)] == [2.0, 2.0, 2.0]
    assert [loaded.parameters.get(f"Fc{i}") for i in (1, 2, 3)] == [None, 0.4, 0.4]
    assert [loaded.parameters[f"Ia{i}"] for i in (1, 2, 3)] == [0.03] * 3


def test_limits_follow_limited_and_autolimits() -> None:
    joints = (
        '<joint name="a" range="-30 60"/><joint name="b" range="-30 60" limited="false"/>'
        '<joint name="c" type="slide" range="-0.3 0.6" actuatorfrcrange="-20 30"/><joint name="d"/>'
    )
    a, b, c, d = from_mjcf_text(model(f"<body>{joints}{INERTIAL}</body>")).joints
    assert (a.limits.lower, a.limits.upper) == pytest.approx((-math.pi / 6, math.pi / 3))
    assert (b.limits.lower, b.limits.upper) == (-math.inf, math.inf)
    assert (c.limits.lower, c.limits.upper, c.limits.effort) == (-0.3, 0.6, 30.0)
    assert (d.limits.lower, d.limits.effort) == (-math.inf, math.inf)
    radians = model(f"<body>{joints}{INERTIAL}</body>", head='<compiler angle="radian" autolimits="false"/>')
    assert from_mjcf_text(radians).joints[0].limits.upper == math.inf


COUPLED = model(
    f"""
    <body name="b1"><joint name="a" axis="0 1 0" ref="20"/>{INERTIAL}
     <body name="b2" pos="0.2 0 0"><joint name="b" axis="1 0 0" ref="-10" armature="0.1" damping="2"
         frictionloss="0.3" stiffness="5" springref="15"/>{INERTIAL}
      <body name="b3" pos="0.2 0 0"><joint name="c" type="slide" axis="0 0 1"/>{INERTIAL}
       <body name="b4" pos="0 0.1 0"><joint name="held" axis="1 0 0" ref="30"/>{INERTIAL}
       </body></body></body></body>""",
    tail="""<equality>
      <joint joint1="b" joint2="a" polycoef="0.2 -1.5 0 0 0"/>
      <joint joint1="c" joint2="b" polycoef="0.05 0.1"/>
      <joint joint1="held" polycoef="0.3 0 0 0 0"/>
      <weld body1="b4" body2="b1" active="false"/>
    </equality>""",
)


def test_joint_equalities_hold_in_mujoco_and_load_the_free_joint(rng: np.random.Generator) -> None:
    loaded = without_coulomb(from_mjcf_text(COUPLED, snap_rad=0.0))
    assert loaded.coupling is not None
    assert [loaded.joints[c].name for c in loaded.coordinates] == ["a"]
    assert [j.actuated for j in loaded.joints] == [True, False, False, False]
    G, g0 = loaded.coupling.G, np.array(loaded.coupling.offset)
    x = random_states(loaded, rng)
    tree = States(x.q @ G.T + g0, x.qd @ G.T, x.qdd @ G.T)
    assert np.abs(equality_residuals(COUPLED, loaded, tree.q)).max() < 1e-13
    theirs = mjcf_oracle(COUPLED).inverse(loaded, tree) @ G
    chi = loaded.table.vector(loaded.parameters)
    assert relative_error(dynid_inverse(loaded, chi, x), theirs) < 1e-8
    assert from_mjcf_text(COUPLED).parameters["Fc1"] == pytest.approx(1.5 * 0.3)


def test_only_joints_that_an_actuator_names_are_actuated() -> None:
    bodies = "".join(f'<body><joint name="{n}" axis="0 1 0"/>{INERTIAL}</body>' for n in ("a", "b", "c", "d"))
    tail = (
        '<tendon><fixed name="pair"><joint joint="c" coef="1"/></fixed></tendon>'
        '<actuator><motor joint="a"/><position tendon="pair"/></actuator>'
    )
    assert [j.actuated for j in from_mjcf_text(model(bodies, tail=tail)).joints] == [True, False, True, False]
    assert [j.actuated for j in from_mjcf_text(model(bodies)).joints] == [True] * 4


def test_unnamed_bodies_and_joints_get_names() -> None:
    text = model(f'<body><joint/>{INERTIAL}<body name="tip"><joint axis="1 0 0"/>{INERTIAL}</body></body>')
    assert [j.name for j in from_mjcf_text(text).joints] == ["body1_joint1", "tip_joint1"]


def test_includes_are_read_from_the_models_folder(tmp_path: Path, rng: np.random.Generator) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(f'<mujoco><joint name="j1" axis="0 1 0"/>{INERTIAL}</mujoco>')
    (tmp_path / "settings.xml").write_text('<mujocoinclude><compiler angle="radian"/></mujocoinclude>')
    file = tmp_path / "model.xml"
    file.write_text(
        '<mujoco><include file="settings.xml"/><worldbody><body euler="0.3 0 0">'
        '<include file="parts/arm.xml"/></body></worldbody></mujoco>'
    )
    loaded = from_mjcf(file)
    assert loaded.name == "model"
    assert (loaded.joints[0].name, loaded.source) == ("j1", "model.xml")
    flat = f'<body euler="0.3 0 0"><joint name="j1" axis="0 1 0"/>{INERTIAL}</body>'
    assert loaded.digest == from_mjcf_text(model(flat, head='<compiler angle="radian"/>')).digest


def test_degrees_are_exact_right_angles() -> None:
    text = model(
        f'<body euler="90 0 0"><joint name="a"/>{INERTIAL}'
        f'<body quat="0.7071 0.7071 0 0"><joint name="b"/>{INERTIAL}'
        f'<body axisangle="1 0 0 -89.9999999"><joint name="c"/>{INERTIAL}</body></body></body>'
    )
    assert [j.alpha for j in from_mjcf_text(text).joints] == [math.pi / 2, math.pi / 2, -math.pi / 2]
