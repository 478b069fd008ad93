"""Torques over position, and between joints: ripple of gears and magnets, counterbalances, coupled motors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.suspects.physics import TRY_AS_TERM
from dynid.suspects.row_view import WORTH_A_LOOK, RowView
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect


@dataclass(frozen=True)
class RippleRules:
    """How periods over position are sought.

    Args:
        per_period: N tried per 2π over the range of the positions: a peak is two thirds of that wide.
        most: frequencies that are tried on a joint at most.
        band: share of half the rows' rate that N q̇ may reach at rms speed: what is faster was filtered away.
        first: lowest N that is tried, in periods over the range: below, it is a shape and no ripple.
        least: part of ρᵀρ that a ripple must explain at the rows' own instants to be looked at closely.
        at_once: numbers that are held at once.
    """

    per_period: float = 3.0
    most: int = 600
    band: float = 0.4
    first: float = 2.0
    least: float = WORTH_A_LOOK
    at_once: int = 2_000_000


RIPPLE = RippleRules()


@dataclass(frozen=True)
class Ripple(Suspect):
    """A torque that repeats over position: s = sin(N q), cos(N q).

    Args:
        joint: the joint.
        waves: N [1 or 1/m].
        tried: how many N were.
    """

    name = "ripple"
    kind = Kind.PHYSICS
    finding = Name.LACKING_PHYSICS
    unit = "N m or N"
    joint: int
    waves: float
    tried: int = 1

    @property
    def key(self) -> str:
        """Once per turn it is a weight."""
        return f"{'counterbalance' if self.waves == 1.0 else self.name}@{self.joint + 1}"

    @property
    def width(self) -> int:
        """Sine and cosine."""
        return 2

    @property
    def trials(self) -> int:
        """Frequencies."""
        return self.tried

    def amount(self, size: FloatArray) -> float:
        """The amplitude."""
        return float(np.linalg.norm(size))

    @property
    def terms(self) -> tuple[NonlinearTerm, ...]:
        """Sine and cosine of N q with N as it was found."""
        symbol, words = (
            ("B", "weight or counterbalance") if self.waves == 1.0 else ("R", "ripple over position")
        )
        return tuple(
            NonlinearTerm(
                symbol + wave[0], f"{wave}({self.waves:.9g} * q)", joints=(self.joint,), words=words
            )
            for wave in ("sin", "cos")
        )

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """sin(N q), cos(N q)."""
        angle = self.waves * scene.q[:, self.joint]
        return scene.on_joint(self.joint, np.sin(angle)), scene.on_joint(self.joint, np.cos(angle))

    def words(self, size: FloatArray) -> str:
        """Amplitude and period."""
        if self.waves == 1.0:
            return f"the model lacks a weight or counterbalance{self.at} ({self.amount(size):.3g} N m)"
        every = f"every {2 * np.pi / self.waves:.3g} m"
        often = every if self.slides else f"{self.waves:.4g} times per turn"
        much = f"{self.amount(size):.3g} {self.in_unit(self.unit)}"
        return f"the torque{self.at} ripples over position by {much} ({often})"

    def remedy(self, size: FloatArray) -> str:
        """Let it be tried."""
        return TRY_AS_TERM


@dataclass(frozen=True)
class MotorCoupling(Suspect):
    """A motor that turns with two joints: s = q̈_k on joint j and q̈_j on joint k, or the same of q̇.

    Args:
        joint: j.
        other: k.
        by_speed: whether friction and not inertia couples them.
    """

    kind = Kind.PHYSICS
    finding = Name.LACKING_PHYSICS
    joint: int
    other: int
    by_speed: bool

    @property
    def key(self) -> str:
        """Both joints."""
        return f"{'viscous' if self.by_speed else 'inertia'} coupling@{self.joint + 1}-{self.other + 1}"

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """Each joint's signal on the other one."""
        signal = scene.qd if self.by_speed else scene.qdd
        made = scene.on_joint(self.joint, signal[:, self.other])
        made[:, self.other] = signal[:, self.joint]
        return (made,)

    def words(self, size: FloatArray) -> str:
        """Kind and size."""
        what, unit = ("friction", "N m s") if self.by_speed else ("inertia", "kg m²")
        return f"joint {self.joint + 1} and joint {self.other + 1} share {what} of {size[0]:+.3g} {unit}"

    def remedy(self, size: FloatArray) -> str:
        """Drives of the robot file."""
        return "Check which motors move both joints, and give the robot file their drives (ratio matrix)."


def position_effects(robot: Robot, view: RowView) -> tuple[Suspect, ...]:
    """Counterbalances, couplings of neighbours, and the best ripple of every joint."""
    n = robot.n_coordinates
    turning = [j for j in range(n) if robot.joints[robot.coordinates[j]].kind is JointKind.REVOLUTE]
    pairs = [(j, j + 1, by_speed) for j in range(n - 1) for by_speed in (False, True)]
    found = [ripple for j in view.joints_with_rows if (ripple := best_ripple(view, j)) is not None]
    return (*(Ripple(j, 1.0) for j in turning), *(MotorCoupling(*pair) for pair in pairs), *found)


def best_ripple(view: RowView, joint: int) -> Ripple | None:
    """The N that explains most on a joint; None where none explains anything.

    Args:
        view: the rows.
        joint: which.
    """
    q = view.signal(joint, lambda scene: scene.q[:, joint])
    speed = view.signal(joint, lambda scene: scene.qd[:, joint])
    reach, rms = float(np.ptp(q)), float(np.sqrt(np.mean(speed**2)))
    if not (reach > 0 and rms > 0):
        return None
    scene = view.scenes[0]
    fastest = RIPPLE.band * np.pi * scene.motion.rate_hz / scene.decimation / rms
    step = 2.0 * np.pi / (RIPPLE.per_period * reach)
    waves = np.arange(RIPPLE.first * RIPPLE.per_period, RIPPLE.most) * step
    waves = waves[waves <= fastest]
    if not len(waves):
        return None
    gains = _gains(view, joint, q, waves)
    best = int(np.argmax(gains))
    if gains[best] < RIPPLE.least * view.squares:
        return None
    near = np.linspace(waves[best] - step, waves[best] + step, 21)
    return Ripple(joint, float(near[int(np.argmax(_gains(view, joint, q, near)))]), len(waves))


def _gains(view: RowView, joint: int, q: FloatArray, waves: FloatArray) -> FloatArray:
    """Squares of ρ that each N explains, (waves,)."""
    size = max(1, RIPPLE.at_once // (2 * len(q)))
    parts = []
    for first in range(0, len(waves), size):
        angle = waves[first : first + size, None] * q
        parts.append(view.gains(joint, np.stack([np.sin(angle), np.cos(angle)], axis=1)))
    return np.concatenate(parts)
