"""Robots of the benchmarks, for us and for the peers."""

from __future__ import annotations

import math

import numpy as np

from dynid.model.geometry import placement
from dynid.model.inertia import LinkInertia
from dynid.model.joint import Joint, JointKind
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot


def with_bodies(robot: Robot, friction: float = 0.0) -> Robot:
    """The robot with the same sensible body on every link and some friction."""
    values: dict[str, float] = {}
    for joint in robot.joints:
        body = LinkInertia.from_com(2.0, [0.02, -0.03, 0.08], np.diag([0.02, 0.018, 0.01]))
        values |= body.by_name(joint.label)
    for entry in robot.table:
        if entry.family == "friction":
            values[entry.name] = friction
    return robot.with_parameters(values)


def serial_arm(n: int) -> Robot:
    """An arm of n revolute joints with alternating axes."""
    joints = tuple(
        Joint(f"joint{i + 1}", i - 1, JointKind.REVOLUTE, alpha=math.pi / 2 * (1, -1)[i % 2], r=0.2 * (i % 2))
        for i in range(n)
    )
    return Robot(f"serial{n}", joints, terms=())


def pinocchio_model(robot: Robot):  # type: ignore[no-untyped-def]
    """The same tree in Pinocchio."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear[:] = robot.gravity
    for joint in robot.joints:
        rotation, position = placement(joint)
        kind = pin.JointModelRZ() if joint.kind is JointKind.REVOLUTE else pin.JointModelPZ()
        number = model.addJoint(joint.antecedent + 1, kind, pin.SE3(rotation, position), joint.name)
        model.appendBodyToJoint(number, pin.Inertia(*_body(robot, joint).com_form()), pin.SE3.Identity())
    return model


def mujoco_text(robot: Robot, friction: float, step: float) -> str:
    """The same serial arm as MJCF, with Runge–Kutta and the same friction."""
    lines, tail = [], []
    for joint in robot.joints:
        rotation, position = placement(joint)
        mass, com, tensor = _body(robot, joint).com_form()
        inertia = " ".join(
            repr(float(tensor[i, k])) for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        )
        axes = " ".join(repr(float(v)) for v in (*rotation[:, 0], *rotation[:, 1]))
        lines.append(
            f'<body pos="{_text(position)}" xyaxes="{axes}">'
            f'<inertial mass="{mass}" pos="{_text(com)}" fullinertia="{inertia}"/>'
            f'<joint name="{joint.name}" type="hinge" axis="0 0 1" damping="{friction}" '
            f'frictionloss="{friction}"/>'
        )
        tail.append("</body>")
    motors = "".join(f'<motor joint="{joint.name}"/>' for joint in robot.joints)
    return (
        f'<mujoco><option integrator="RK4" timestep="{step}" gravity="{_text(robot.gravity)}"/>'
        f"<worldbody>{''.join(lines + tail)}</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def _body(robot: Robot, joint: Joint) -> LinkInertia:
    return LinkInertia.from_standard([robot.parameters[s + joint.label] for s in INERTIAL])


def _text(values) -> str:  # type: ignore[no-untyped-def]
    return " ".join(repr(float(v)) for v in values)
