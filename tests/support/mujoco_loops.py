"""The four-bar and the five-bar of the catalog in MuJoCo, written by hand with `connect` constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.model.inertia import LinkInertia
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot

Array = NDArray[np.float64]
_BODY = """<body pos="{x} 0 0"><joint name="{name}" axis="0 0 1" armature="{armature}"/>
<inertial pos="{com}" mass="{mass}" fullinertia="{inertia}"/>{children}</body>"""
_MODEL = """<mujoco><compiler angle="radian" balanceinertia="false"/>
<option gravity="0 -9.81 0" timestep="{step}" integrator="RK4" solver="Newton" tolerance="1e-14">
<flag contact="disable" eulerdamp="disable"/></option>
<default><equality solref="{stiff} 1" solimp="0.9999 0.9999 0.001"/></default>
<worldbody>{bodies}</worldbody>
<equality><connect body1="{one}" body2="{two}" anchor="{anchor}"/></equality></mujoco>"""


def planar_loop(robot: Robot, step: float = 1e-3) -> Any:
    """A planar robot of the catalog, its cut a `connect`, without friction.

    Args:
        robot: with revolute joints along z whose antecedents differ by a shift along x, and one cut.
        step: of the simulation [s].
    """
    import mujoco

    assert robot.closure is not None
    cut = robot.closure.cuts[0]
    children: dict[int, str] = dict.fromkeys(range(-1, len(robot.joints)), "")
    for j in reversed(range(len(robot.joints))):
        joint = robot.joints[j]
        link = LinkInertia.from_standard([robot.parameters[f"{s}{joint.label}"] for s in INERTIAL])
        mass, com, tensor = link.com_form()
        inertia = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        children[joint.antecedent] = (
            _BODY.format(
                x=joint.d,
                name=joint.name,
                armature=robot.parameters.get(f"Ia{joint.label}", 0.0),
                com=" ".join(map(repr, map(float, com))),
                mass=mass,
                inertia=" ".join(map(repr, map(float, inertia))),
                children=children[j],
            ).replace("<body ", f'<body name="{joint.name}" ', 1)
            + children[joint.antecedent]
        )
    one, two = (robot.joints[link].name for link in cut.links)
    text = _MODEL.format(
        step=step,
        stiff=2.5 * step,
        bodies=children[-1],
        one=one,
        two=two,
        anchor=" ".join(map(str, cut.points[0])),
    )
    return mujoco.MjModel.from_xml_string(text)


def at_state(model: Any, robot: Robot, q: Array, qd: Array) -> Any:
    """MuJoCo's data at positions and speeds of all joints, with the constraint Jacobian.

    The anchor of the second body follows from the first's where the model is built, at q = 0, which is no
    closed position: it is set from the cut.
    """
    import mujoco

    assert robot.closure is not None
    model.eq_data[0, 3:6] = robot.closure.cuts[0].points[1]
    data = mujoco.MjData(model)
    for joint, x, v in zip(robot.joints, q, qd, strict=True):
        number = model.joint(joint.name)
        data.qpos[number.qposadr[0]], data.qvel[number.dofadr[0]] = x, v
    mujoco.mj_forward(model, data)
    return data
