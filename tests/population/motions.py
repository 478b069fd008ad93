"""Paths with exact derivatives at any time: Fourier series, and moves from place to place with rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynid.model.joint import JointKind
from dynid.model.robot import Robot

Array = NDArray[np.float64]
State = tuple[Array, Array, Array]
_SMOOTH = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])
"""From 0 to 1 with four derivatives that vanish at both ends: torques through springs have two more."""


class Path(Protocol):
    """Where the links are."""

    seconds: float

    def at(self, time: Array) -> State:
        """q, q̇, q̈, each (samples, joints)."""


@dataclass(frozen=True, eq=False)
class Fourier:
    """q = centre + Σ size/w sin(w t + phase); size, w and phase are (terms, joints)."""

    seconds: float
    centre: Array
    size: Array
    w: Array
    phase: Array

    def at(self, time: Array) -> State:
        """q, q̇, q̈, each (samples, joints)."""
        q = np.tile(self.centre, (len(time), 1))
        qd, qdd = np.zeros_like(q), np.zeros_like(q)
        for size, w, phase in zip(self.size, self.w, self.phase, strict=True):
            angle = time[:, None] * w + phase
            s, c = np.sin(angle), np.cos(angle)
            q, qd, qdd = q + size / w * s, qd + size * c, qdd - size * w * s
        return q, qd, qdd


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves from place to place; ``start`` and ``length`` (moves,) [s], ``places`` (moves + 1, joints)."""

    seconds: float
    start: Array
    length: Array
    places: Array

    def at(self, time: Array) -> State:
        """q, q̇, q̈, each (samples, joints)."""
        k = np.clip(np.searchsorted(self.start, time, side="right") - 1, 0, None)
        s = np.clip((time - self.start[k]) / self.length[k], 0, 1)
        way, T = self.places[k + 1] - self.places[k], self.length[k][:, None]
        q = self.places[k] + way * _SMOOTH(s)[:, None]
        first, second = _SMOOTH.deriv(), _SMOOTH.deriv(2)
        return q, way / T * first(s)[:, None], way / T**2 * second(s)[:, None]


def draw_path(robot: Robot, kind: str, speed: float, seconds: float, rng: np.random.Generator) -> Path:
    """A path of a kind ("fourier" or "moves") and an rms speed [rad/s]; slides go a fourth of that [m/s]."""
    prismatic = [robot.joints[c].kind is JointKind.PRISMATIC for c in robot.coordinates]
    unit = np.where(prismatic, 0.25, 1.0)
    return (_fourier if kind == "fourier" else _moves)(unit, speed, seconds, rng)


def _fourier(unit: Array, speed: float, seconds: float, rng: np.random.Generator) -> Path:
    terms, n = int(rng.integers(4, 8)), len(unit)
    reach = rng.uniform(0.6, 1.6, n)  # rms speed over rms frequency is about the reach [rad]
    top = np.clip(speed / reach, 0.15, 2.0) / (2 * np.pi) * 2.0
    w = 2 * np.pi * np.maximum(rng.uniform(0.15, 1.0, (terms, n)) * top, 0.8 / seconds)
    size = speed * rng.uniform(0.6, 1.4, (terms, n)) * np.sqrt(2 / terms)
    size = np.minimum(size, 1.2 * w)  # no term goes farther than 1.2 rad
    return Fourier(
        seconds, unit * rng.uniform(-0.8, 0.8, n), unit * size, w, rng.uniform(0, 2 * np.pi, (terms, n))
    )


def _moves(unit: Array, speed: float, seconds: float, rng: np.random.Generator) -> Path:
    starts, lengths, at = [], [], float(rng.uniform(0.1, 0.6))
    while at < seconds:
        starts.append(at)
        lengths.append(float(rng.uniform(1.0, 2.0) / np.clip(speed, 0.4, 1.3)))
        at += lengths[-1] + float(rng.choice([0.0, rng.uniform(0.05, 0.8)]))
    places = unit * rng.uniform(-1.4, 1.4, (len(starts) + 1, len(unit)))
    return Moves(seconds, np.array(starts), np.array(lengths), places)


def weak_path(robot: Robot, seconds: float, rng: np.random.Generator) -> Path:
    """One slow sine of a few degrees per joint, all joints alike: hardly any parameter shows."""
    n = robot.n_coordinates
    w = np.full((1, n), 2 * np.pi * float(rng.uniform(0.1, 0.2)))
    return Fourier(
        seconds, rng.uniform(-0.5, 0.5, n), rng.uniform(0.02, 0.06, (1, n)) * w, w, np.zeros((1, n))
    )
