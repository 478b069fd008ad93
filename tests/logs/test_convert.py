"""From the motors to the joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.load import load_robot


def test_positions_speeds_and_torques_go_through_the_drives() -> None:
    robot = load_robot("tx40_log")
    assert robot.drives is not None
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 2001)
    q = np.stack([np.sin(k * t + k) for k in range(1, 7)], axis=1)
    tau = rng.normal(size=q.shape)
    motor = Log(
        "m",
        t,
        {
            "position": robot.drives.motor_position(q),
            "reference": robot.drives.motor_position(q),
            "velocity": np.gradient(robot.drives.motor_position(q), t, axis=0),
            "torque": robot.drives.motor_torque(tau),
        },
        "motor",
    )
    joint = to_joint_side(motor, robot)
    assert joint.side == "joint"
    assert np.allclose(joint.channels["position"], q)
    assert np.allclose(joint.channels["reference"], q)
    assert np.allclose(joint.channels["torque"], tau)
    assert np.allclose(joint.channels["velocity"], np.gradient(q, t, axis=0))
    # Power is the same on both sides of an ideal transmission.
    power = [np.sum(log.channels["velocity"] * log.channels["torque"], axis=1) for log in (motor, joint)]
    assert np.allclose(*power)
    assert joint.history[-1].name == "to joint side"
    assert to_joint_side(joint, robot) is joint
    assert (
        to_joint_side(replace(motor, side="joint"), robot).channels["position"] is motor.channels["position"]
    )
