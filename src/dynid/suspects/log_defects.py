"""Defects of a recording: late torques, wrong zeros, scales, clock and mounting."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray, svd
from dynid.core.finding import Name
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect, unit_vector

_REVERSED = -1.5
"""Size of a torque scale below which it is a wrong sign rather than a wrong constant; −2 is exactly that."""


_NOTHING = 0.05
"""Factor below which a scale is none: dividing by it would blow up noise."""


class _Factor(Suspect):
    """A suspect whose size is a factor 1 + θ."""

    def combine(self, size: FloatArray, more: FloatArray) -> FloatArray:
        """(1 + θ)(1 + δ) − 1."""
        return (1.0 + size) * (1.0 + more) - 1.0


@dataclass(frozen=True)
class TorqueDelay(Suspect):
    """Torques that were recorded θ later than the motion: s = −ḟ."""

    name = "delay"
    kind = Kind.LOG
    finding = Name.DELAY
    unit = "s"

    of_torque = True

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """−ḟ of the joint, or of all."""
        return (-scene.rate(scene.torque) * unit_vector(scene.joints, self.joint),)

    def words(self, size: FloatArray) -> str:
        """Milliseconds, late or early."""
        late = "late" if size[0] > 0 else "early"
        return f"the torques{self.at} come {1e3 * abs(size[0]):.3g} ms {late}"

    def remedy(self, size: FloatArray) -> str:
        """The mapping's delay, and who makes torques early."""
        held = " A controller that holds its torque makes it early by half a sample." if size[0] < 0 else ""
        return (
            f"Add {size[0]:.2g} to delay_s of the torque{self.at} in the mapping (0 where it has none).{held}"
        )

    def mend(self, motion: Motion, size: FloatArray) -> Motion:
        """Torques read θ later."""
        at, tau = np.arange(motion.samples) + size[0] * motion.rate_hz, np.array(motion.tau[:])
        for j in range(tau.shape[1]) if self.joint is None else (self.joint,):
            tau[:, j] = np.interp(at, np.arange(motion.samples), tau[:, j])
        return replace(motion, tau=tau)


@dataclass(frozen=True)
class JointZero(Suspect):
    """A zero of a joint that is off: the true position is the recorded one plus θ, s = ∂f/∂q_j."""

    name = "zero"
    kind = Kind.LOG
    finding = Name.JOINT_ZERO
    unit = "rad or m"
    joint: int

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """∂f/∂q_j."""
        return (scene.along("q", self.joint),)

    def words(self, size: FloatArray) -> str:
        """Degrees and radians, or metres."""
        return f"the zero{self.at} is off by {self.angle_or_way(float(size[0]))}"

    def remedy(self, size: FloatArray) -> str:
        """The mapping's offset."""
        own = f"{size[0]:.3g} {self.in_unit(self.unit)}"
        return (
            f"Check the zero{self.at}: {own} more on the joint's side mends it (offset of the position in "
            "the mapping; times the gear ratio where the log has positions of motors)."
        )

    def mend(self, motion: Motion, size: FloatArray) -> Motion:
        """Positions moved by θ."""
        return replace(motion, q=motion.q[:] + size[0] * unit_vector(motion.q.shape[1], self.joint))


@dataclass(frozen=True)
class PositionScale(_Factor):
    """Positions of a joint in a wrong scale: the true motion is the recorded one times 1 + θ."""

    name = "position scale"
    kind = Kind.LOG
    finding = Name.POSITION_SCALE
    joint: int

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """∂f/∂q_j q_j + ∂f/∂q̇_j q̇_j + ∂f/∂q̈_j q̈_j."""
        parts = (("q", scene.q), ("qd", scene.qd), ("qdd", scene.qdd))
        j = self.joint
        return (sum((scene.along(name, j) * x[:, j : j + 1] for name, x in parts), np.zeros(scene.q.shape)),)

    def words(self, size: FloatArray) -> str:
        """Per cent."""
        return (
            f"positions{self.at} are too {'small' if size[0] > 0 else 'large'} by {100 * abs(size[0]):.3g} %"
        )

    def remedy(self, size: FloatArray) -> str:
        """The gear ratio."""
        return f"Check the gear ratio{self.at}: positions times {1 + size[0]:.4g} fit the torques."

    def mend(self, motion: Motion, size: FloatArray) -> Motion:
        """Positions, speeds and accelerations times 1 + θ."""
        by = 1.0 + size[0] * unit_vector(motion.q.shape[1], self.joint)
        return replace(motion, q=motion.q[:] * by, qd=motion.qd[:] * by, qdd=motion.qdd[:] * by)


@dataclass(frozen=True)
class TorqueScale(_Factor):
    """Torques of a joint in another scale than the others': recorded = (1 + θ) true, s = f_j e_j."""

    name = "torque gain"
    kind = Kind.LOG
    finding = Name.TORQUE_SCALE
    joint: int

    of_torque = True

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """f_j on its own joint."""
        return (scene.on_joint(self.joint, scene.torque[:, self.joint]),)

    def finding_of(self, size: FloatArray) -> Name:
        """A wrong sign has a name of its own."""
        return Name.REVERSED_SIGN if size[0] < _REVERSED else self.finding

    def words(self, size: FloatArray) -> str:
        """Per cent, or the wrong sign."""
        if size[0] < _REVERSED:
            return f"torques{self.at} have the wrong sign"
        side = "large" if size[0] > 0 else "small"
        return f"torques{self.at} are too {side} by {100 * abs(size[0]):.3g} % beside those of the others"

    def remedy(self, size: FloatArray) -> str:
        """The sign or the torque constant."""
        if size[0] < _REVERSED:
            return f"Turn the sign of the torque{self.at} in the mapping."
        return f"Check torque constant and gear ratio{self.at}: its torques divided by {1 + size[0]:.4g} fit."

    def mend(self, motion: Motion, size: FloatArray) -> Motion | None:
        """Torques over 1 + θ; None where nothing would be left of them."""
        if abs(1.0 + size[0]) < _NOTHING:
            return None
        return replace(
            motion, tau=motion.tau[:] / (1.0 + size[0] * unit_vector(motion.q.shape[1], self.joint))
        )


@dataclass(frozen=True)
class GearRatio(_Factor):
    """A wrong gear ratio: true positions are the recorded ones times 1 + θ, true torques over it."""

    name = "gear ratio"
    kind = Kind.LOG
    finding = Name.GEAR_RATIO
    joint: int

    of_torque = True

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """Those of position and torque scale together."""
        (motion,), (torque,) = (kind(self.joint).columns(scene) for kind in (PositionScale, TorqueScale))
        return (motion + torque,)

    def words(self, size: FloatArray) -> str:
        """Per cent."""
        side = "large" if size[0] > 0 else "small"
        return f"the gear ratio{self.at} is taken too {side} by {100 * abs(size[0]):.3g} %"

    def remedy(self, size: FloatArray) -> str:
        """The ratio."""
        return f"Check the gear ratio{self.at}: dividing it by {1 + size[0]:.4g} fits the torques."

    def mend(self, motion: Motion, size: FloatArray) -> Motion | None:
        """Both scales."""
        return TorqueScale(self.joint).mend(PositionScale(self.joint).mend(motion, size), size)


@dataclass(frozen=True)
class ClockRate(_Factor):
    """A clock that runs wrong: true speeds are the recorded ones times 1 + θ, accelerations (1 + θ)²."""

    name = "clock"
    kind = Kind.LOG
    finding = Name.CLOCK_RATE

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """Σ_j ∂f/∂q̇_j q̇_j + 2 ∂f/∂q̈_j q̈_j."""
        made = np.zeros(scene.q.shape)
        for j in range(scene.joints):
            made += scene.along("qd", j) * scene.qd[:, j : j + 1]
            made += 2.0 * scene.along("qdd", j) * scene.qdd[:, j : j + 1]
        return (made,)

    def words(self, size: FloatArray) -> str:
        """Per cent of the rate."""
        return f"the stamps run too {'slow' if size[0] < 0 else 'fast'} by {100 * abs(size[0]):.3g} %"

    def remedy(self, size: FloatArray) -> str:
        """The rate."""
        return f"Check the sample rate: {1 + size[0]:.4g} times the rate of the stamps fits the torques."

    def mend(self, motion: Motion, size: FloatArray) -> Motion:
        """Another rate: positions and torques stay as they are."""
        by = 1.0 + size[0]
        return replace(
            motion,
            time=motion.time / by,
            rate_hz=motion.rate_hz * by,
            qd=motion.qd[:] * by,
            qdd=motion.qdd[:] * by**2,
        )


@dataclass(frozen=True)
class GravityTilt(Suspect):
    """Gravity that points elsewhere: s = ∂f/∂g along the two directions across it, θ in m/s²."""

    name = "gravity direction"
    kind = Kind.LOG
    finding = Name.GRAVITY_DIRECTION
    unit = "m/s²"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    @property
    def width(self) -> int:
        """Both directions."""
        return 2

    @property
    def across(self) -> FloatArray:
        """Two unit vectors across gravity, (2, 3)."""
        return svd(np.array(self.gravity)[None])[2][1:]

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """Torques of gravity along each."""
        return tuple(scene.gravity(direction) for direction in self.across)

    def direction(self, size: FloatArray) -> FloatArray:
        """Gravity with the tilt, of the same length [m/s²]."""
        g = np.array(self.gravity) + size @ self.across
        return np.asarray(g * np.linalg.norm(self.gravity) / np.linalg.norm(g))

    def size_of(self, direction: FloatArray) -> FloatArray:
        """θ that tilts gravity into a direction less than 90° from the file's, (2,)."""
        g = np.array(self.gravity)
        along = max(float(direction @ g), 1e-9 * float(g @ g))
        return np.asarray(self.across @ direction * float(g @ g) / along)

    def words(self, size: FloatArray) -> str:
        """Degrees."""
        tilt = np.degrees(np.arctan2(np.linalg.norm(size), np.linalg.norm(self.gravity)))
        return f"gravity is tilted by {tilt:.3g}° against the robot file"

    def remedy(self, size: FloatArray) -> str:
        """The robot file's gravity."""
        g = ", ".join(f"{x:.3g}" for x in self.direction(size))
        return f"Check how the robot is mounted: gravity = [{g}] fits the torques."


def log_defects(robot: Robot) -> tuple[Suspect, ...]:
    """All defects of a recording that torques can show, for every joint of a robot."""
    found: list[Suspect] = [
        kind(j)
        for kind in (TorqueDelay, JointZero, PositionScale, TorqueScale, GearRatio)
        for j in range(robot.n_coordinates)
    ]
    found += [TorqueDelay(None), ClockRate(None)]
    if any(robot.gravity):
        found.append(GravityTilt(None, gravity=robot.gravity))
    return tuple(found)
