"""Currents with wrong drive gains: a weighed payload calibrates them, and they weigh another one."""

from __future__ import annotations

import numpy as np

import dynid

robot = dynid.load_robot("rx90")
drives = robot.drives
assert drives is not None
rng = np.random.default_rng(0)
GAINS = np.array([0.94, 0.96, 1.11, 0.91, 1.05, 0.97])  # true gain of each motor over its a-priori gain
NOISE = 0.01  # of each joint's torque, root mean square


def log_of(name: str, payload: dynid.model.LinkInertia | None = None) -> dynid.Log:
    """Twenty seconds of sines on all joints, with the motor signals that a controller would log."""
    arm = robot if payload is None else dynid.model.attach_payload(robot, payload)
    t = np.arange(0.0, 20.0, 0.005)
    w = 2 * np.pi * rng.uniform(0.1, 0.6, (4, 6))  # [rad/s], four sines per joint
    size = 0.8 / w  # [rad], so that each sine has a speed of 0.8 rad/s
    phase = np.multiply.outer(t, w) + rng.uniform(0.0, 2 * np.pi, (4, 6))
    q = (size * np.sin(phase)).sum(axis=1)
    qd, qdd = (size * w * np.cos(phase)).sum(axis=1), -(size * w**2 * np.sin(phase)).sum(axis=1)
    tau = dynid.kernels(arm).inverse(arm.parameters, q, qd, qdd)
    tau += NOISE * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    signals = {"position": drives.motor_position(q), "torque": drives.motor_torque(tau) / GAINS}
    return dynid.Log(name, t, signals, "motor")


def cube(mass: float, centre: tuple[float, float, float]) -> dynid.model.LinkInertia:
    """A cube with edges of 12 cm, which has I = m a²/6 about every axis."""
    return dynid.model.LinkInertia.from_com(mass, centre, mass * 0.12**2 / 6 * np.eye(3))


# A payload of 7.025 kg was put on a scale; the arm moves without and with it.
free = log_of("free")
weighed = log_of("weighed", cube(7.025, (0.01, -0.02, 0.13)))
logs = dynid.workflow.prepare_calibration(robot, free, weighed)
found = dynid.workflow.calibrate(logs, dynid.calibration.PayloadKnowledge.of_mass(7.025, sigma=0.025))
print(found.gains)
assert found.trustworthy
told = np.isfinite(found.gains.relative)
assert told[:3].all()
assert np.all(np.abs(found.gains.relative - GAINS)[told] < 4 * found.gains.sigma[told])

# With the a-priori gains another payload has a wrong mass, with the calibrated ones the right one.
unknown = log_of("unknown", cube(3.2, (0.03, 0.01, 0.09)))
for words, arm in (("a-priori", robot), ("calibrated", robot.with_drives(found.gains.drives))):
    payload = dynid.workflow.weigh_payload(dynid.workflow.prepare_calibration(arm, free, unknown))
    print(f"{words} gains: {payload.mass:.3f} ± {payload.mass_sigma:.3f} kg at {np.round(payload.com, 3)} m")
assert abs(payload.mass - 3.2) < 0.05
