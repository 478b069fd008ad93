"""A made-up TX40 for the demo: true parameters, an exciting motion, and sensors as a controller logs them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dynid

HARMONICS = 5
SHARE = 0.6  # of the speed limits, as a careful operator would drive
COUNTS = 4096 * 4  # encoder counts per turn of a motor
TORQUE_NOISE = 0.03  # of each joint's torque, root mean square
RIPPLE = 0.01  # of each joint's torque, once per motor turn

# Solid boxes that could be the links: mass [kg], centre [m], edges [m], in the frames of the links.
BOXES = (
    (8.0, (0.0, 0.0, -0.08), (0.20, 0.20, 0.30)),
    (6.0, (0.11, 0.01, 0.07), (0.30, 0.12, 0.12)),
    (4.0, (0.01, -0.02, 0.05), (0.12, 0.14, 0.14)),
    (1.8, (0.0, 0.01, -0.07), (0.09, 0.09, 0.18)),
    (0.9, (0.005, 0.02, 0.0), (0.08, 0.10, 0.07)),
    (0.3, (0.01, 0.0, 0.05), (0.05, 0.06, 0.04)),
)


@dataclass(frozen=True)
class Motion:
    """Positions, speeds and accelerations, each (samples, joints), SI."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


def true_parameters(robot: dynid.Robot) -> dict[str, float]:
    """Boxes for the links; drive inertia and friction in the size the literature gives for this arm."""
    values = {name: v for name, v in robot.parameters.items() if name[:2] in ("Ia", "Fv", "Fc", "of")}
    values |= {"Ia1": 0.35, "Ia2": 0.40, "Fc6": 0.9, "off1": 0.4, "off2": 1.3, "off3": 0.3, "off5": -0.1}
    for joint, (mass, centre, edges) in zip(robot.joints, BOXES, strict=True):
        x2, y2, z2 = np.square(edges)
        tensor = mass / 12 * np.diag([y2 + z2, x2 + z2, x2 + y2])
        # from_com refuses what no rigid body can be, so the truth is consistent by construction.
        values |= dynid.model.LinkInertia.from_com(mass, centre, tensor).by_name(joint.label)
    return values


def fourier_motion(robot: dynid.Robot, rng: np.random.Generator, duration: float, rate_hz: float) -> Motion:
    """A random periodic motion, q = q0 + Σ a_l sin(lωt) + b_l cos(lωt), scaled into the joint limits."""
    t = np.arange(0.0, duration, 1.0 / rate_hz)
    w = 2 * np.pi / duration * 2 * np.arange(1, HARMONICS + 1)  # two periods
    a, b = rng.normal(size=(2, HARMONICS, robot.n_coordinates)) / w[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b
    limits = [robot.joints[j].limits for j in robot.coordinates]
    lower, upper = np.array([x.lower for x in limits]), np.array([x.upper for x in limits])
    speed = SHARE * np.array([x.velocity for x in limits])
    middle = (q.max(0) + q.min(0)) / 2
    room = 0.45 * (upper - lower) / np.abs(q - middle).max(0)
    scale = np.minimum(room, speed / np.abs(qd).max(0))
    return Motion(t, (lower + upper) / 2 + scale * (q - middle), scale * qd, scale * qdd)


def exciting_motion(
    robot: dynid.Robot, rng: np.random.Generator, duration: float, rate_hz: float, candidates: int = 40
) -> Motion:
    """The best of some random motions: the one whose scaled base regressor is conditioned best."""
    kernels = dynid.kernels(robot, dynid.find_base(robot).columns)

    def condition(motion: Motion) -> float:
        few = slice(None, None, 10)
        W = np.vstack(
            [block.T for block in kernels.regressor_blocks(motion.q[few], motion.qd[few], motion.qdd[few])]
        )
        return float(np.linalg.cond(W / np.linalg.norm(W, axis=0)))

    return min((fourier_motion(robot, rng, duration, rate_hz) for _ in range(candidates)), key=condition)


def sensed(
    robot: dynid.Robot, motion: Motion, truth: dict[str, float], rng: np.random.Generator
) -> np.ndarray:
    """What the controller would log: time, motor positions in counts, motor torques with noise and ripple.

    Returns:
        (samples, 1 + 2 motors).
    """
    assert robot.drives is not None
    torque = dynid.kernels(robot).inverse(robot.table.vector(truth), motion.q, motion.qd, motion.qdd)
    motor = robot.drives.motor_position(motion.q)
    size = np.sqrt(np.mean(torque**2, axis=0))
    torque = torque + TORQUE_NOISE * size * rng.normal(size=torque.shape) + RIPPLE * size * np.sin(motor)
    step = 2 * np.pi / COUNTS
    return np.column_stack([motion.t, np.round(motor / step) * step, robot.drives.motor_torque(torque)])
