"""What can be wrong with a log, a file or a robot, done to the physics and never to a judge's column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.model.inertia import LinkInertia
from dynid.model.joint import JointKind
from population.cases import Case
from population.motions import weak_path
from population.plant import Plant
from population.robots import HALVES, SEED, lengths_of, with_length
from population.sensors import Experiment, Sensors

Array = NDArray[np.float64]
Damage = Callable[[Case, int, float, np.random.Generator], tuple[Case, float | None]]


@dataclass(frozen=True)
class Defect:
    """One thing that can be wrong.

    Args:
        sizes: grades at which it is tried, in ``unit``.
        unit: of the grades.
        apply: case, joint, grade and random numbers to the damaged case, and the size in SI that a judge
            should tell (None where there is none).
        fits: whether a joint of a case can have it.
        of_joint: whether it concerns one joint, which a judge should name.
        signed: whether it has two directions, one of which is drawn.
    """

    sizes: tuple[float, ...]
    unit: str
    apply: Damage
    fits: Callable[[Case, int], bool] = lambda case, joint: True
    of_joint: bool = True
    signed: bool = False


def damage(case: Case, name: str, grade: float) -> Case | None:
    """The case with a defect on a joint drawn for it; None where no joint of it can have the defect."""
    rng = np.random.default_rng([SEED, HALVES.index(case.half), 4, case.index, sorted(DEFECTS).index(name)])
    defect = DEFECTS[name]
    joints = [j for j in range(case.axes) if defect.fits(case, j)]
    if not joints:
        return None
    joint = int(rng.choice(joints))
    sign = float(rng.choice([-1, 1])) if defect.signed else 1.0
    made, size = defect.apply(case, joint, sign * grade, rng)
    told = None if size is None else abs(size)
    return replace(made, defect=name, grade=grade, size=told, joint=joint if defect.of_joint else None)


# ── one way to change each part of a case ─────────────────────────────────────────────────────────────────


def with_sensors(case: Case, change: Callable[[Sensors], Sensors]) -> Case:
    return _experiments(case, lambda e: replace(e, sensors=change(e.sensors)))


def _experiments(case: Case, change: Callable[[Experiment], Experiment]) -> Case:
    return replace(case, experiments=tuple(change(e) for e in case.experiments))


def _rebuilt(case: Case, change: Callable[[Plant], Plant]) -> Case:
    """Another robot altogether, in every log and along the clean motion."""
    return _experiments(replace(case, plant=change(case.plant)), lambda e: replace(e, plant=change(e.plant)))


def _one_log(case: Case, change: Callable[[Experiment], Experiment]) -> Case:
    """The last of several logs differs from the others."""
    return replace(case, experiments=(*case.experiments[:-1], change(case.experiments[-1])))


def _later(case: Case, change: Callable[[Plant], Plant], ramp: bool) -> Case:
    """The robot changes within every log: midway, or gradually."""
    since = 0.0 if ramp else 0.5
    return _experiments(case, lambda e: replace(e, later=change(e.plant), since=since, ramp=ramp))


def _joint_of(case: Case, joint: int) -> JointKind:
    return case.robot.joints[case.robot.coordinates[joint]].kind


def _revolute(case: Case, joint: int) -> bool:
    return _joint_of(case, joint) is JointKind.REVOLUTE


def _has_others(case: Case, joint: int) -> bool:
    return case.axes > 1


def _has_next(case: Case, joint: int) -> bool:
    return joint + 1 < case.axes


def _several_logs(case: Case, joint: int) -> bool:
    return len(case.experiments) > 1


def _sensor_defect(
    field: str, value: Callable[[Case, int, float], float], told: Callable[[float], float | None] = float
) -> Damage:
    """A defect that is one number of the sensors of a joint; ``told`` makes the size to tell of it."""

    def apply(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float | None]:
        number = value(case, joint, grade)
        return with_sensors(case, lambda s: s.with_joint(joint, **{field: number})), told(number)

    return apply


# ── defects of logs ───────────────────────────────────────────────────────────────────────────────────────


def _delay_all(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    late = np.full(case.axes, 1e-3 * grade)
    return with_sensors(case, lambda s: replace(s, delay_s=late)), 1e-3 * grade


def _gear_ratio(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    """The ratio in the file is too large: positions come out too small and torques too large."""
    factor = 1 + grade / 100
    if (drives := case.robot.drives) is not None:
        rows = [list(row) for row in drives.ratio]
        rows[joint][joint] *= factor
        wrong = replace(drives, ratio=tuple(tuple(row) for row in rows))
        return replace(case, robot=case.robot.with_drives(wrong)), grade / 100
    change = {"position_scale": 1 / factor, "gain": factor}
    return with_sensors(case, lambda s: s.with_joint(joint, **change)), grade / 100


def _degrees(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    return with_sensors(case, lambda s: replace(s, degrees=True)), None


def _clock(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    factor = 1 + grade / 100
    return with_sensors(case, lambda s: replace(s, clock=factor)), grade / 100


def _lost(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    return with_sensors(case, lambda s: replace(s, lost=grade / 100)), None


def _swapped(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    order = list(range(case.axes))
    order[joint], order[joint + 1] = joint + 1, joint
    return with_sensors(case, lambda s: replace(s, order=tuple(order))), None


def _saturation(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    """Torques beyond a share of the largest are cut off; noise comes after."""
    first = case.experiments[0]
    tau = case.plant.torques(first.path, np.arange(0, first.path.seconds, 0.01), rng)[1]
    level = grade / 100 * float(np.max(np.abs(tau[:, joint])))
    return with_sensors(case, lambda s: s.with_joint(joint, saturation=level)), level


def _zero_in_time(ramp: bool) -> Damage:
    def apply(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float | None]:
        size = grade / 100 * float(case.torque[joint])
        since = 0.0 if ramp else 0.5
        made = with_sensors(case, lambda s: replace(s.with_joint(joint, zero=size), since=since, ramp=ramp))
        return made, size

    return apply


# ── defects of files ──────────────────────────────────────────────────────────────────────────────────────


def _gravity(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    """The mounting is tilted and the file does not know."""
    g = np.array(case.robot.gravity)
    side = np.cross(g, rng.normal(size=3))
    angle = math.radians(grade)
    turned = g * math.cos(angle) + np.linalg.norm(g) * side / np.linalg.norm(side) * math.sin(angle)
    wrong = case.robot.with_gravity(*(float(x) for x in turned.round(6)))
    return replace(case, robot=wrong), angle


def _feels_gravity(case: Case, joint: int) -> bool:
    """Whether gravity makes some of the torques."""
    first = case.experiments[0]
    q, qd, _ = first.path.at(np.arange(0, first.path.seconds, 0.1))
    still = case.plant.link_torques((q, 0 * qd, 0 * qd))
    return bool(np.any(np.sqrt(np.mean(still**2, axis=0)) > 0.2 * case.torque))


def _link_length(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    number = case.robot.coordinates[joint]
    return replace(case, robot=with_length(case.robot, number, grade / 100)), None


def _has_length(case: Case, joint: int) -> bool:
    at = case.robot.joints[case.robot.coordinates[joint]]
    return joint > 0 and max(abs(getattr(at, length)) for length in lengths_of(at)) > 0.1


def _no_motor_inertia(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    """The file has no drive inertias, and those of the robot are large."""
    heavy = _rebuilt(case, lambda p: replace(p, drive=replace(p.drive, Ia=p.drive.Ia * grade)))
    return replace(heavy, robot=heavy.robot.with_terms("Fv", "Fc", "off")), None


# ── robots that change ────────────────────────────────────────────────────────────────────────────────────


def _friction_factor(joint: int, name: str, factor: float) -> Callable[[Plant], Plant]:
    def change(plant: Plant) -> Plant:
        return replace(
            plant, drive=plant.drive.with_joint(joint, **{name: getattr(plant.drive, name)[joint] * factor})
        )

    return change


def _friction_in_time(name: str, ramp: bool) -> Damage:
    def apply(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float | None]:
        change = _friction_factor(joint, name, 1 + grade / 100)
        return _later(case, change, ramp), grade / 100 * float(getattr(case.plant.drive, name)[joint])

    return apply


def _payload(case: Case, grade: float, rng: np.random.Generator) -> LinkInertia:
    """A ball whose mass is a share of the last link's; the mass alone is not always seen: no size."""
    mass = grade / 100 * case.plant.bodies[f"M{case.robot.joints[-1].label}"]
    return LinkInertia.from_com(mass, rng.uniform(0.05, 0.2, 3), 0.002 * mass * np.eye(3))


def _payload_midway(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    body = _payload(case, grade, rng)
    return _later(case, lambda p: p.with_payload(body), ramp=False), None


def _log_with_payload(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    body = _payload(case, grade, rng)
    return _one_log(case, lambda e: replace(e, plant=e.plant.with_payload(body))), None


def _log_with_friction(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    def change(e: Experiment) -> Experiment:
        drive = e.plant.drive
        less = replace(drive, Fv=drive.Fv * (1 + grade / 100), Fc=drive.Fc * (1 + grade / 100))
        return replace(e, plant=replace(e.plant, drive=less))

    return _one_log(case, change), None


def _log_with_zero(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    size = grade / 100 * float(case.torque[joint])
    return _one_log(case, lambda e: replace(e, sensors=e.sensors.with_joint(joint, zero=size))), size


def _log_with_gain(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    gain = 1 + grade / 100
    return _one_log(case, lambda e: replace(e, sensors=e.sensors.with_joint(joint, gain=gain))), grade / 100


# ── physics that the model lacks ──────────────────────────────────────────────────────────────────────────


def _physics(field: str, value: Callable[[Case, int, float], float], sized: bool = True) -> Damage:
    """An effect on one joint, in every log and along the clean motion; its coefficient is the size."""

    def apply(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float | None]:
        number = value(case, joint, grade)
        made = _rebuilt(case, lambda p: replace(p, drive=p.drive.with_joint(joint, **{field: number})))
        return made, number if sized else None

    return apply


def _compliance(case: Case, joint: int, hz: float) -> float:
    """1/k of a joint whose link swings at a frequency while the motor stands: k = M_jj (2π f)²."""
    first = case.experiments[0]
    q, qd, qdd = first.path.at(np.arange(0, first.path.seconds, 0.1))
    pushed = np.zeros_like(qdd)
    pushed[:, joint] = 1.0
    still = case.plant.link_torques((q, 0 * qd, 0 * qdd))
    inertia = np.mean(case.plant.link_torques((q, 0 * qd, pushed)) - still, axis=0)[joint]
    return float(1 / (inertia * (2 * np.pi * hz) ** 2))


def _coupling(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, float]:
    """A motor that turns with two joints."""
    size = grade / 100 * float(case.plant.drive.Ia[joint] + case.plant.drive.Ia[joint + 1])
    return _rebuilt(case, lambda p: replace(p, drive=p.drive.with_joint(joint, coupling=size))), size


def _weak_motion(case: Case, joint: int, grade: float, rng: np.random.Generator) -> tuple[Case, None]:
    return _experiments(case, lambda e: replace(e, path=weak_path(case.robot, e.path.seconds, rng))), None


_PERCENTS = (1.0, 2.0, 5.0, 10.0, 20.0)
_SHARES = (5.0, 10.0, 20.0)
DEFECTS: dict[str, Defect] = {
    "delay of a joint": Defect(
        (1, 2, 5, 10, 20),
        "ms",
        _sensor_defect("delay_s", lambda c, j, g: 1e-3 * g),
        _has_others,
        signed=True,
    ),
    "delay of all": Defect((1, 2, 5, 10, 20), "ms", _delay_all, of_joint=False, signed=True),
    "zero of a joint": Defect(
        (1, 2, 5, 10, 20),
        "°",
        _sensor_defect("position_zero", lambda c, j, g: math.radians(g)),
        _revolute,
        signed=True,
    ),
    "gear ratio": Defect(_PERCENTS, "%", _gear_ratio, signed=True),
    "position scale": Defect(
        _PERCENTS,
        "%",
        _sensor_defect("position_scale", lambda c, j, g: 1 + g / 100, lambda x: x - 1),
        signed=True,
    ),
    "torque gain": Defect(
        (2, 5, 10, 20, 30),
        "%",
        _sensor_defect("gain", lambda c, j, g: 1 + g / 100, lambda x: x - 1),
        _has_others,
        signed=True,
    ),
    "reversed torque": Defect(
        (1,), "", _sensor_defect("gain", lambda c, j, g: -1.0, lambda x: None), _has_others
    ),
    "reversed position": Defect(
        (1,), "", _sensor_defect("position_scale", lambda c, j, g: -1.0, lambda x: None)
    ),
    "degrees": Defect((1,), "", _degrees, of_joint=False),
    "clock rate": Defect(_PERCENTS, "%", _clock, of_joint=False, signed=True),
    "gravity direction": Defect((3, 5, 10, 20, 30, 90), "°", _gravity, _feels_gravity, of_joint=False),
    "elasticity": Defect((3, 5, 8, 12), "Hz", _physics("compliance", _compliance)),
    "backlash": Defect(
        (0.1, 0.3, 1.0), "°", _physics("backlash", lambda c, j, g: math.radians(g)), _revolute
    ),
    "torque deadband": Defect(
        (5, 10, 20, 40), "%", _sensor_defect("deadband", lambda c, j, g: g / 100 * float(c.torque[j]))
    ),
    "torque saturation": Defect((85, 70, 50), "%", _saturation),
    "torque zero step": Defect(_SHARES, "%", _zero_in_time(ramp=False), signed=True),
    "torque zero drift": Defect(_SHARES, "%", _zero_in_time(ramp=True), signed=True),
    "viscous step": Defect((20, 40), "%", _friction_in_time("Fv", ramp=False), signed=True),
    "viscous drift": Defect((20, 40), "%", _friction_in_time("Fv", ramp=True), signed=True),
    "Coulomb step": Defect((20, 40), "%", _friction_in_time("Fc", ramp=False), signed=True),
    "Coulomb drift": Defect((20, 40), "%", _friction_in_time("Fc", ramp=True), signed=True),
    "payload midway": Defect((10, 30, 60), "%", _payload_midway, of_joint=False),
    "one log with payload": Defect((10, 30, 60), "%", _log_with_payload, _several_logs, of_joint=False),
    "one log with friction": Defect((-20, -40), "%", _log_with_friction, _several_logs, of_joint=False),
    "one log with torque zero": Defect(_SHARES, "%", _log_with_zero, _several_logs, signed=True),
    "one log with gain": Defect((5, 10, 20), "%", _log_with_gain, _several_logs, signed=True),
    "lost samples": Defect((0.5, 2, 5), "%", _lost, of_joint=False),
    "swapped columns": Defect((1,), "", _swapped, _has_next),
    "link length": Defect((5, 10, 30), "%", _link_length, _has_length, signed=True),
    "Stribeck": Defect(
        (50, 100),
        "%",
        _physics("stribeck", lambda c, j, g: g / 100 * float(c.plant.drive.Fc[j]), sized=False),
    ),
    "flattening": Defect(
        (30, 60),
        "%",
        _physics("flattening", lambda c, j, g: g / 100 * float(c.plant.drive.Fv[j] / c.speed[j])),
    ),
    "load friction": Defect((5, 10, 20), "%", _physics("load", lambda c, j, g: g / 100)),
    "asymmetry": Defect(
        (30, 60),
        "%",
        _physics("asymmetry", lambda c, j, g: g / 100 * float(c.plant.drive.Fv[j])),
        signed=True,
    ),
    "ripple": Defect(_SHARES, "%", _physics("ripple", lambda c, j, g: g / 100 * float(c.torque[j]))),
    "spring": Defect(
        (10, 20, 40),
        "%",
        _physics("spring", lambda c, j, g: g / 100 * float(c.torque[j]) * (1 if _revolute(c, j) else 4)),
    ),
    "coupling": Defect((30, 60), "%", _coupling, _has_next),
    "motor inertia": Defect((1, 3), "×", _no_motor_inertia, _has_others, of_joint=False),
    "weak motion": Defect((1,), "", _weak_motion, of_joint=False),
}
"""Defects by name. "weak motion" is none: the log is right, and too little is in it."""
