"""Random robots as their files describe them, and bodies that can exist."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.model.drives import Drives
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.loaders.mdh import robot_from_table, robot_to_toml
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.robot import Robot
from support import urdf_text

Array = NDArray[np.float64]
SEED = 20261116
HALVES = ("setting", "showing")
ROBOTS = 24
"""Robots per half; bodies, friction, motions and sensors are drawn anew for every case."""
TERMS = ("Ia", "Fv", "Fc", "off")
_AXES = (1, 2, 2, 3, 3, 4, 5, 6, 6, 6, 7, 7)


@dataclass(frozen=True)
class RobotFile:
    """A robot file as its user has it.

    Args:
        text: of the file.
        kind: "urdf" or "toml".
        robot: what it is read as, with drives where logs are of the motors.
    """

    text: str
    kind: str
    robot: Robot


def generator(half: str, *keys: int) -> np.random.Generator:
    """Random numbers of a half and some numbers; no two halves share any."""
    return np.random.default_rng([SEED, HALVES.index(half), *keys])


@cache
def draw_robot(half: str, number: int) -> RobotFile:
    """Robot file ``number`` of a half: every second one is a URDF."""
    rng = generator(half, 1, number)
    n = int(_AXES[number % len(_AXES)])
    kinds = [JointKind.PRISMATIC if rng.random() < 0.15 else JointKind.REVOLUTE for _ in range(n)]
    branch = int(rng.integers(1, n - 1)) if n >= 4 and rng.random() < 0.4 else None
    antecedents = [BASE if j == 0 else j - 1 for j in range(n)]
    if branch is not None:  # a second arm on one of the first links
        antecedents[branch + 1] = int(rng.integers(0, branch))
    make = _urdf if number % 2 else _toml
    text, robot = make(f"{half}{number}", kinds, antecedents, rng)
    robot = robot.with_gravity(*_gravity(rng)).with_drives(_drives(n, rng))
    return RobotFile(text, "urdf" if number % 2 else "toml", robot.with_terms(*TERMS))


def draw_bodies(robot: Robot, rng: np.random.Generator) -> dict[str, float]:
    """A box of some mass on every link, lighter from link to link, not aligned with the frame."""
    values: dict[str, float] = {}
    size = float(np.exp(rng.uniform(np.log(0.3), np.log(3.0))))
    depth: list[int] = []
    for joint in robot.joints:
        depth.append(0 if joint.antecedent == BASE else depth[joint.antecedent] + 1)
        mass = size * 8.0 * 0.7 ** depth[-1] * rng.uniform(0.6, 1.4)
        edges, com = rng.uniform(0.05, 0.35, 3), rng.uniform(-0.15, 0.15, 3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        central = turn @ np.diag(mass / 12 * (np.sum(edges**2) - edges**2)) @ turn.T
        central = (central + central.T) / 2
        values |= LinkInertia.from_com(float(mass), com, central).by_name(joint.label)
    return values


def _toml(
    name: str, kinds: list[JointKind], antecedents: list[int], rng: np.random.Generator
) -> tuple[str, Robot]:
    joints = []
    for j, (kind, antecedent) in enumerate(zip(kinds, antecedents, strict=True)):
        alpha = float(
            rng.choice([0.0, math.pi / 2, -math.pi / 2, rng.uniform(-1, 1)], p=[0.25, 0.35, 0.3, 0.1])
        )
        before = kinds[antecedent] if antecedent >= 0 else None
        if before is JointKind.PRISMATIC and kind is JointKind.PRISMATIC and abs(alpha) < 0.5:
            alpha = math.pi / 2  # two slides along one line are one
        joints.append(
            Joint(
                f"joint{j + 1}",
                antecedent,
                kind,
                gamma=float(rng.uniform(-2, 2)) if antecedent != j - 1 else 0.0,
                b=float(rng.uniform(0, 0.3)) if antecedent != j - 1 else 0.0,
                alpha=alpha if j else 0.0,
                d=_length(rng, 0.45) if j else 0.0,
                theta=float(rng.choice([0.0, math.pi / 2, -math.pi / 2])),
                r=_length(rng, 0.4),
            )
        )
    text = robot_to_toml(Robot(name, tuple(joints), terms=TERMS))
    return text, robot_from_table(tomllib.loads(text))


def _length(rng: np.random.Generator, most: float) -> float:
    return float(rng.choice([0.0, rng.uniform(0.1, most)], p=[0.3, 0.7]))


def _urdf(
    name: str, kinds: list[JointKind], antecedents: list[int], rng: np.random.Generator
) -> tuple[str, Robot]:
    parts = [urdf_text.link("base", "")]
    axes = ("0 0 1", "0 1 0", "1 0 0", "0 0 -1")
    last = ""
    for j, (kind, antecedent) in enumerate(zip(kinds, antecedents, strict=True)):
        x, y, z = (_length(rng, 0.4) for _ in range(3))
        rpy = " ".join(
            str(a) for a in rng.choice(["0", "1.5708", "-1.5707963", "0.4"], 3, p=[0.5, 0.2, 0.2, 0.1])
        )
        axis = (
            str(rng.choice([a for a in axes if a != last]))
            if kind is JointKind.PRISMATIC
            else str(rng.choice(axes))
        )
        last = axis if kind is JointKind.PRISMATIC else ""
        if last:
            rpy = "0 0 0"
        parent = "base" if antecedent == BASE else f"l{antecedent + 1}"
        parts.append(urdf_text.link(f"l{j + 1}", str(rng.choice(["box", "rod", "ball"]))))
        parts.append(
            urdf_text.joint(
                f"j{j + 1}",
                parent,
                f"l{j + 1}",
                "prismatic" if kind is JointKind.PRISMATIC else "continuous",
                xyz=f"{x:.3f} {y if j else 0:.3f} {z:.3f}",
                rpy=rpy if j else "0 0 0",
                axis=axis if j else "0 0 1",
                more='<limit effort="0" velocity="0"/>',
            )
        )
    text = urdf_text.robot(*parts, name=name)
    return text, from_urdf_text(text)


def _gravity(rng: np.random.Generator) -> tuple[float, float, float]:
    """Down; on every fourth robot the mounting is tilted, on a wall or on the ceiling."""
    if rng.random() < 0.75:
        return (0.0, 0.0, -9.81)
    angle = float(rng.choice([math.radians(30), math.radians(45), math.pi / 2, math.pi]))
    return (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))


def _drives(n: int, rng: np.random.Generator) -> Drives | None:
    """Nothing where logs hold joint positions and torques; else gears, and currents with known gains."""
    if rng.random() < 0.5:
        return None
    ratio = rng.choice([-1.0, 1.0], n) * rng.uniform(30, 160, n).round(1)
    gain = rng.uniform(0.02, 0.3, n).round(4) if rng.random() < 0.7 else np.ones(n)
    rows = tuple(tuple(float(x) for x in row) for row in np.diag(ratio))
    return Drives(rows, (0.0,) * n, tuple(float(g) for g in gain))


def lengths_of(joint: Joint) -> tuple[str, ...]:
    """Lengths of a joint's frame; that along a slide is its zero."""
    return ("b", "d") if joint.kind is JointKind.PRISMATIC else ("b", "d", "r")


def with_length(robot: Robot, number: int, share: float) -> Robot:
    """The robot with the longest length of a joint longer by a share, as in the file of another robot."""
    joint = robot.joints[number]
    longest = max(lengths_of(joint), key=lambda key: abs(getattr(joint, key)))
    changed = replace(joint, **{longest: getattr(joint, longest) * (1 + share)})
    return replace(robot, joints=(*robot.joints[:number], changed, *robot.joints[number + 1 :]))
