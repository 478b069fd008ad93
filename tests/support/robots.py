"""Robots that together show every feature of a tree: catalog arms and made-up ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.load import load_robot
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot

CATALOG_ARMS = ("iiwa14", "tx40_log", "tx90", "rx90")
TILTED_GRAVITY = (2.1, -3.7, -8.6)
PAYLOAD = LinkInertia.from_com(4.0, [0.02, -0.05, 0.12], np.diag([0.03, 0.02, 0.015]))


def random_link(rng: np.random.Generator) -> LinkInertia:
    """A cloud of twelve point masses: always a body that can exist, with nothing zero."""
    masses = rng.uniform(0.1, 0.6, 12)
    points = rng.normal(rng.normal(0.0, 0.1, 3), 0.12, (12, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    tensor = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    return LinkInertia.from_com(float(masses.sum()), com, tensor)


def with_random_inertias(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot without friction, with drive inertias and a random body on every link."""
    bare = robot.with_terms("Ia")
    values: dict[str, float] = {}
    for joint in bare.joints:
        values |= random_link(rng).by_name(joint.label)
    for entry in bare.table:
        if entry.symbol == "Ia":
            values[entry.name] = float(rng.uniform(0.05, 0.5))
    return bare.with_parameters(values)


def prismatic_robot() -> Robot:
    """Cartesian and rotary axes mixed: P R P R P."""
    P, R = JointKind.PRISMATIC, JointKind.REVOLUTE
    return Robot(
        "prismatic",
        (
            Joint("lift", BASE, P, r=0.2),
            Joint("turn", 0, R, alpha=-math.pi / 2, d=0.1),
            Joint("reach", 1, P, alpha=math.pi / 2, theta=0.3, r=-0.4),
            Joint("roll", 2, R, gamma=0.2, b=0.1, alpha=0.7),
            Joint("push", 3, P, alpha=-1.1, d=0.05, theta=math.pi / 2),
        ),
    )


def branched_robot() -> Robot:
    """A trunk with two arms, listed so that the branches interleave, and a second root on the base."""
    P, R = JointKind.PRISMATIC, JointKind.REVOLUTE
    return Robot(
        "branched",
        (
            Joint("trunk", BASE, R, r=0.5),
            Joint("left1", 0, R, gamma=math.pi / 2, b=0.3, alpha=math.pi / 2, d=0.2),
            Joint("right1", 0, R, gamma=-math.pi / 2, b=0.3, alpha=math.pi / 2, d=0.2),
            Joint("left2", 1, R, d=0.3),
            Joint("right2", 2, P, alpha=-math.pi / 2, r=0.1),
            Joint("left3", 3, R, alpha=math.pi / 2, r=0.2),
            Joint("other", BASE, R, gamma=0.4, d=0.6, alpha=0.2),
        ),
    )


def skew_robot(rng: np.random.Generator) -> Robot:
    """Six axes of which no two are parallel or meet."""
    joints = [
        Joint(
            f"joint{i + 1}",
            i - 1,
            **{name: float(rng.uniform(-math.pi, math.pi)) for name in ("gamma", "alpha", "theta")},
            **{name: float(rng.uniform(-0.4, 0.4)) for name in ("b", "d", "r")},
        )
        for i in range(6)
    ]
    return Robot("skew", tuple(joints))


def welded_robot() -> Robot:
    """An arm with links fixed on the base, inside the chain and on the tool, and the tool with a payload."""
    F, R = JointKind.FIXED, JointKind.REVOLUTE
    arm = Robot(
        "welded",
        (
            Joint("pedestal", BASE, F, gamma=0.5, b=0.4, alpha=0.3, d=0.1, actuated=False),
            Joint("shoulder", 0, R, alpha=math.pi / 2, d=0.1),
            Joint("cover", 1, F, gamma=-0.3, alpha=0.9, d=0.2, theta=0.4, r=0.1, actuated=False),
            Joint("elbow", 2, R, d=0.3, r=0.05),
            Joint("wrist", 3, R, alpha=-math.pi / 2, r=0.25),
        ),
    )
    return attach_payload(arm, PAYLOAD, carrier="wrist")


def oracle_robots() -> dict[str, Robot]:
    """All robots the oracles are asked about, with random bodies, drive inertias and no friction."""
    rng = np.random.default_rng(20260301)
    robots = {name: load_robot(name) for name in CATALOG_ARMS}
    robots |= {
        "prismatic": prismatic_robot(),
        "branched": branched_robot(),
        "skew": skew_robot(rng),
        "welded": welded_robot(),
        "iiwa14_payload": attach_payload(load_robot("iiwa14"), PAYLOAD),
        "tx90_tilted": load_robot("tx90").with_gravity(*TILTED_GRAVITY),
        "branched_tilted": branched_robot().with_gravity(*TILTED_GRAVITY),
    }
    return {name: with_random_inertias(robot, rng) for name, robot in robots.items()}


ORACLE_ROBOTS = oracle_robots()


def free_tree(robot: Robot) -> Robot:
    """A coupled robot with its loops cut: every movable joint a coordinate of its own, no friction."""
    return replace(robot, coupling=None, closure=None, drives=None, terms=(), parameters={})


def pinocchio_values(body: LinkInertia) -> NDArray[np.float64]:
    """Pinocchio's dynamic parameters: m, m·c, then XX XY YY XZ YZ ZZ at the frame's origin."""
    J = body.tensor
    return np.array([body.mass, *body.moment, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])
