"""Torques that a drive does not report as they are: small ones as zero, large ones cut off."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.suspects.row_view import WORTH_A_LOOK, RowView
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect


@dataclass(frozen=True)
class LevelRules:
    """Levels that are tried.

    Args:
        count: of them, a first and a second time around the best.
        low: lowest deadband over the rms torque …
        high: … and highest.
        cut: lowest saturation over the largest torque of the model.
        well_inside: part of a deadband in which recorded torques are looked at …
        zero: … and their rms over that of the model's, beyond which they are not zero.
        above: recorded torque over a limit that is beyond it …
        few_above: … and share of those near the limit that may be.
        smallest: quantile of the recorded torques beside zero that stands for the smallest one.
        trials: independent ones among them: neighbours explain nearly the same.
        least: part of ρᵀρ that a level must explain to be looked at closely.
    """

    count: int = 12
    low: float = 0.02
    high: float = 1.0
    cut: float = 0.3
    well_inside: float = 0.7
    zero: float = 0.6
    above: float = 1.1
    few_above: float = 0.1
    smallest: float = 0.02
    trials: int = 4
    least: float = WORTH_A_LOOK


LEVELS = LevelRules()


@dataclass(frozen=True)
class LevelDefect(Suspect):
    """A torque f + s(f, level) θ instead of f, θ = 1 where it is so and 0 where not.

    Args:
        joint: the joint.
        level: torque of the model at which it begins [N m or N].
        seen: the level as the recorded torques show it [N m or N].
    """

    kind = Kind.LOG
    joint: int
    level: float
    seen: float
    unit: ClassVar[str] = "N m or N"

    of_torque = True

    @property
    def trials(self) -> int:
        """Levels."""
        return LEVELS.trials

    def amount(self, size: FloatArray) -> float:
        """The level."""
        return self.seen

    @staticmethod
    @abstractmethod
    def change(torque: FloatArray, level: float) -> FloatArray:
        """s, the shape of ``torque``."""

    @staticmethod
    @abstractmethod
    def span(torque: FloatArray) -> tuple[float, float]:
        """Lowest and highest level that are tried for such torques."""

    @staticmethod
    @abstractmethod
    def recorded_level(torque: FloatArray, recorded: FloatArray, level: float) -> float | None:
        """The level as the recorded torques show it; None where they deny it: a shape alone is no proof.

        Args:
            torque: of the model, (rows,).
            recorded: at the same instants.
            level: that explains most of the residual.
        """

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """s on its joint."""
        return (scene.on_joint(self.joint, self.change(scene.torque[:, self.joint], self.level)),)


class TorqueDeadband(LevelDefect):
    """Small torques that are reported as zero: s = −f where |f| < level."""

    name = "torque deadband"
    finding = Name.TORQUE_DEADBAND

    @staticmethod
    def change(torque: FloatArray, level: float) -> FloatArray:
        """−f where |f| < level."""
        return np.where(np.abs(torque) < level, -torque, 0.0)

    @staticmethod
    def span(torque: FloatArray) -> tuple[float, float]:
        """Shares of the rms torque."""
        rms = _rms(torque)
        return LEVELS.low * rms, LEVELS.high * rms

    @staticmethod
    def recorded_level(torque: FloatArray, recorded: FloatArray, level: float) -> float | None:
        """The smallest of the torques that are not zero: between them and zero is a gap."""
        inside = np.abs(torque) < LEVELS.well_inside * level
        if not np.any(inside) or _rms(recorded[inside]) > LEVELS.zero * _rms(torque[inside]):
            return None
        outside = np.abs(recorded)[np.abs(recorded) > 0.5 * level]
        return float(np.quantile(outside, LEVELS.smallest)) if len(outside) else None

    def words(self, size: FloatArray) -> str:
        """The level."""
        return f"torques{self.at} below {self.seen:.3g} {self.in_unit(self.unit)} are reported as zero"

    def remedy(self, size: FloatArray) -> str:
        """Log what is measured."""
        return f"Log the measured torque{self.at}, or leave out rows where the model's is below that."


class TorqueSaturation(LevelDefect):
    """Large torques that are cut off: s = −sign(f) (|f| − level) where |f| > level."""

    name = "torque saturation"
    finding = Name.SATURATION

    @staticmethod
    def change(torque: FloatArray, level: float) -> FloatArray:
        """−sign(f) (|f| − level)₊."""
        return np.asarray(-np.sign(torque) * np.maximum(np.abs(torque) - level, 0.0))

    @staticmethod
    def span(torque: FloatArray) -> tuple[float, float]:
        """Shares of the largest torque."""
        most = float(np.max(np.abs(torque)))
        return LEVELS.cut * most, most

    @staticmethod
    def recorded_level(torque: FloatArray, recorded: FloatArray, level: float) -> float | None:
        """Median where the model is beyond the level: a fit to such torques is itself too low."""
        beyond = np.abs(recorded)[np.abs(torque) > level]
        seen = float(np.median(beyond)) if len(beyond) else 0.0
        return None if np.mean(beyond > LEVELS.above * seen) > LEVELS.few_above else seen

    def words(self, size: FloatArray) -> str:
        """The level."""
        return f"torques{self.at} are cut off at {self.seen:.3g} {self.in_unit(self.unit)}"

    def remedy(self, size: FloatArray) -> str:
        """Keep away from the limit."""
        return "Move more slowly or with less load, or leave out rows near the limit."


def torque_defects(view: RowView) -> tuple[Suspect, ...]:
    """The best level of each kind on each joint, where it explains something."""
    found = []
    for kind in (TorqueDeadband, TorqueSaturation):
        for j in view.joints_with_rows:
            level, gain = best_level(view, kind, j)
            if gain <= LEVELS.least * view.squares:
                continue
            torque, recorded = (
                view.signal(j, lambda scene, name=name, j=j: getattr(scene, name)[:, j])  # type: ignore[misc]
                for name in ("torque", "tau")
            )
            seen = kind.recorded_level(torque, recorded, level)
            if seen is not None:
                found.append(kind(j, level, seen))
    return tuple(found)


def best_level(view: RowView, kind: type[LevelDefect], joint: int) -> tuple[float, float]:
    """The level that explains most, and the squares of ρ that it does; only θ > 0 counts.

    Args:
        view: the rows.
        kind: of the defect.
        joint: which.
    """
    torque, own = view.signal(joint, lambda scene: scene.torque[:, joint]), view.joints[joint]
    low, high = kind.span(torque)
    if not low > 0:
        return low, 0.0
    best, gain = low, 0.0
    for _ in range(2):
        levels = np.geomspace(low, high, LEVELS.count)
        shapes = np.stack([kind.change(torque, float(level)) for level in levels])
        explained = np.where(shapes @ own.residual > 0, view.gains(joint, shapes[:, None]), 0.0)
        if explained.max() > gain:
            best, gain = float(levels[explained.argmax()]), float(explained.max())
        ratio = (high / low) ** (1.0 / LEVELS.count)
        low, high = best / ratio, best * ratio
    return best, gain


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))
