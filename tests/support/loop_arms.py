"""Arms under control for the closed-loop tests: truth, reference, controller, and MuJoCo as another world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.base import find_base
from dynid.compile.kernels import kernels
from dynid.logs.log import Log
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot
from dynid.simulation import Bandwidth, Controller, Reference, Sines, Velocity

PERIOD = 1e-3
FREQUENCIES = np.array([0.11, 0.23, 0.37, 0.53, 0.71])
# Solid boxes that could be the links of a TX40: mass [kg], centre [m], edges [m].
BOXES = (
    (8.0, (0.0, 0.0, -0.08), (0.20, 0.20, 0.30)),
    (6.0, (0.11, 0.01, 0.07), (0.30, 0.12, 0.12)),
    (4.0, (0.01, -0.02, 0.05), (0.12, 0.14, 0.14)),
    (1.8, (0.0, 0.01, -0.07), (0.09, 0.09, 0.18)),
    (0.9, (0.005, 0.02, 0.0), (0.08, 0.10, 0.07)),
    (0.3, (0.01, 0.0, 0.05), (0.05, 0.06, 0.04)),
)


@dataclass(frozen=True)
class Arm:
    """A robot with true parameters, what it follows, and its controller."""

    robot: Robot
    reference: Reference
    controller: Controller

    @property
    def truth(self) -> np.ndarray:
        """True base parameters."""
        return find_base(self.robot).regroup(self.robot.parameters)


def tx40(duration: float, bandwidth_hz: float = 10.0, friction: float = 1.0) -> Arm:
    """The TX40 with links that can exist, drive inertias and friction of the literature's size."""
    bare = load_robot("tx40")
    values = {name: v for name, v in bare.parameters.items() if name[:2] in ("Ia", "Fv", "Fc", "of")}
    values |= {"Ia1": 0.35, "Ia2": 0.40, "Fc6": 0.9, "off1": 0.4, "off2": 1.3, "off3": 0.3, "off5": -0.1}
    for joint, (mass, centre, edges) in zip(bare.joints, BOXES, strict=True):
        x2, y2, z2 = np.square(edges)
        tensor = mass / 12 * np.diag([y2 + z2, x2 + z2, x2 + y2])
        values |= LinkInertia.from_com(mass, centre, tensor).by_name(joint.label)
    values = {name: friction * v if name[:2] in ("Fv", "Fc") else v for name, v in values.items()}
    robot = bare.with_parameters(values)
    reference = sines(robot, duration, share=0.8, seed=1)
    diagonal = np.einsum("kii->ki", _inertia(robot, reference)).max(axis=0)
    return Arm(robot, reference, _controller(diagonal, bandwidth_hz))


def iiwa(duration: float, bandwidth_hz: float = 8.0) -> Arm:
    """The iiwa with P4's parameters and light friction.

    It has no drive inertia, so its joints are strongly coupled: gains made for M_jj would be unstable here,
    those for 1/(M⁻¹)_jj are not.
    """
    bare = load_robot("iiwa14")
    values = dict(bare.parameters)
    for i, (fv, fc) in enumerate(
        zip((0.3, 0.3, 0.2, 0.2, 0.1, 0.05, 0.05), (0.5, 0.5, 0.3, 0.3, 0.1, 0.05, 0.04), strict=True)
    ):
        values |= {f"Fv{i + 1}": fv, f"Fc{i + 1}": fc}
    robot = bare.with_parameters(values)
    offsets = tuple(np.deg2rad([0.0, 50.0, 0.0, -80.0, 0.0, 60.0, 0.0]))
    reference = sines(robot, duration, share=0.8, seed=1, offsets=offsets, largest=0.8)
    free = 1 / np.einsum("kii->ki", np.linalg.inv(_inertia(robot, reference)))
    return Arm(robot, reference, _controller(np.median(free, axis=0), bandwidth_hz))


def sines(
    robot: Robot,
    duration: float,
    *,
    share: float,
    seed: int,
    offsets: tuple[float, ...] = (),
    largest: float = np.inf,
) -> Reference:
    """Five sines per joint within a share of its limits."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[np.ndarray, ...]] = []
    for j in robot.coordinates:
        limits = robot.joints[j].limits
        f = FREQUENCIES * rng.uniform(0.85, 1.15, len(FREQUENCIES))
        a, phase = rng.uniform(0.5, 1.0, len(f)) / f, rng.uniform(0, 2 * np.pi, len(f))
        scale = min(
            share * limits.upper / a.sum(),
            min(limits.velocity, 4.0) / (2 * np.pi * f * a).sum(),
            largest / a.sum(),
        )
        rows.append((scale * a, f, phase))
    parts = [tuple(tuple(row[k]) for row in rows) for k in range(3)]
    return Sines(parts[0], parts[1], parts[2], offsets).sample(PERIOD, duration)


def _inertia(robot: Robot, reference: Reference) -> np.ndarray:
    return kernels(robot).inertia_matrix(robot.parameters, reference.q[::100])


def _controller(inertia: np.ndarray, bandwidth_hz: float) -> Controller:
    law = Bandwidth(2 * np.pi * bandwidth_hz, 1.0, tuple(inertia))
    return Controller(law, PERIOD, Velocity("exact"))


def mujoco_log(arm: Arm, substeps: int = 4) -> Log:
    """The arm in MuJoCo, with its integrator, its armature and its friction, under the same law.

    The law is written out here once more: nothing of dynid's simulation is used.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_text(arm.robot, PERIOD / substeps))
    data = mujoco.MjData(model)
    law = arm.controller.law
    n = arm.robot.n_coordinates
    w, J = np.array(law.natural_frequency), np.array(law.inertia)  # type: ignore[attr-defined]
    kp, kv = w / 2, 2 * w * J
    r = arm.reference
    assert r.qd is not None
    data.qpos[:], data.qvel[:] = r.q[0], r.qd[0]
    offset = np.array([arm.robot.parameters.get(f"off{i + 1}", 0.0) for i in range(n)])
    q, tau = np.empty((r.samples, n)), np.empty((r.samples, n))
    for k in range(r.samples):
        q[k] = data.qpos
        tau[k] = kv * (kp * (r.q[k] - data.qpos) - data.qvel)
        data.ctrl[:] = tau[k] - offset
        for _ in range(substeps):
            mujoco.mj_step(model, data)
    return Log("mujoco", r.time, {"position": q, "torque": tau, "reference": r.q})


def mujoco_text(robot: Robot, step: float) -> str:
    """A serial arm as MJCF with armature, damping and frictionloss from Ia, Fv and Fc."""
    from dynid.model.geometry import placement

    lines = []
    for i, joint in enumerate(robot.joints):
        rotation, position = placement(joint)
        body = LinkInertia.from_standard([robot.parameters.get(s + joint.label, 0.0) for s in INERTIAL])
        mass, com, tensor = body.com_form()
        inertia = _text(tensor[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        Ia, Fv, Fc = (robot.parameters.get(f"{s}{i + 1}", 0.0) for s in ("Ia", "Fv", "Fc"))
        lines.append(
            f'<body pos="{_text(position)}" xyaxes="{_text([*rotation[:, 0], *rotation[:, 1]])}">'
            f'<inertial mass="{mass}" pos="{_text(com)}" fullinertia="{inertia}"/>'
            f'<joint name="{joint.name}" type="hinge" axis="0 0 1" armature="{Ia}" damping="{Fv}" '
            f'frictionloss="{Fc}" solreffriction="0.002 1" solimpfriction="0.98 0.999 0.001"/>'
        )
    motors = "".join(f'<motor joint="{joint.name}"/>' for joint in robot.joints)
    option = f'<option integrator="implicitfast" timestep="{step}" gravity="{_text(robot.gravity)}"/>'
    tree = "".join(lines) + "</body>" * len(lines)
    return f"<mujoco>{option}<worldbody>{tree}</worldbody><actuator>{motors}</actuator></mujoco>"


def _text(values: object) -> str:
    return " ".join(repr(float(v)) for v in values)  # type: ignore[attr-defined]
