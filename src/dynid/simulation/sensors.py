"""What stands between the true motion and the log: encoders, torque sensing, and disturbances in the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.simulation.law import per_axis, whole_number

SIDES = ("joint", "motor")
Values = float | Sequence[float]


@dataclass(frozen=True)
class Sensors:
    """Sensors of the loop and of the log.

    Args:
        position_noise: standard deviation of the encoder [rad or m], joint side; the controller sees it too.
        resolution: encoder step [rad or m]; 0 none. True rounding of what the controller and the log see.
        side: where the encoder sits: "joint", or "motor" (the gear then divides the step).
        torque_noise: standard deviation of the logged torque [N m or N].
        torque_noise_relative: the same as a share of each axis' rms torque.
        torque_resolution: step of the logged torque; 0 none.
        torque_delay: samples by which the logged torque lags.
    """

    position_noise: Values = 0.0
    resolution: Values = 0.0
    side: str = "joint"
    torque_noise: Values = 0.0
    torque_noise_relative: Values = 0.0
    torque_resolution: Values = 0.0
    torque_delay: int = 0

    def __post_init__(self) -> None:
        """Refuse what no sensor is."""
        if self.side not in SIDES:
            raise unknown_name("encoder side", self.side, SIDES)
        for name in (
            "position_noise", "resolution", "torque_noise", "torque_noise_relative", "torque_resolution",
        ):  # fmt: skip
            _positive(getattr(self, name), name)
        delay = whole_number(self.torque_delay)
        if delay is None or delay < 0:
            raise DynidError(
                f"torque_delay is {self.torque_delay!r}; give a whole number of samples, at least 0."
            )
        object.__setattr__(self, "torque_delay", delay)

    def check_length(self, samples: int) -> None:
        """Refuse a delay that leaves no torque in a log of so many samples."""
        if self.torque_delay >= samples:
            raise DynidError(
                f"torque_delay is {self.torque_delay} samples, and the log has only {samples}; shorten the "
                "delay or lengthen the reference."
            )

    def position_errors(self, shape: tuple[int, int], rng: np.random.Generator | None) -> FloatArray:
        """Additive encoder noise of every sample."""
        return _noise(per_axis(self.position_noise, shape[1], "position_noise"), shape, rng)

    def logged_torque(self, torque: FloatArray, rng: np.random.Generator | None) -> FloatArray:
        """The torque as the log holds it."""
        n = torque.shape[1]
        spread = np.array(per_axis(self.torque_noise, n, "torque_noise"))
        share = np.array(per_axis(self.torque_noise_relative, n, "torque_noise_relative"))
        step = np.array(per_axis(self.torque_resolution, n, "torque_resolution"))
        rounded = torque
        if np.any(spread) or np.any(share):
            spread = np.hypot(spread, share * np.sqrt(np.mean(torque**2, axis=0)))
            rounded = torque + _noise(tuple(spread), torque.shape, rng)
        if np.any(step):
            whole = step * np.round(rounded / np.where(step > 0, step, 1.0))
            rounded = np.where(step > 0, whole, rounded)
        lag = self.torque_delay
        return rounded if lag == 0 else np.concatenate([np.repeat(rounded[:1], lag, axis=0), rounded[:-lag]])

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Disturbances:
    """Torques that act on the joints inside the loop and are not logged.

    Args:
        noise: standard deviation of a torque that is drawn anew at every sample [N m or N].
        noise_relative: the same as a share of each axis' rms torque along the reference.
        ripple: amplitude of a torque that varies with the joint's position [N m or N].
        ripple_order: its periods per turn (or per metre) of the joint.
    """

    noise: Values = 0.0
    noise_relative: Values = 0.0
    ripple: Values = 0.0
    ripple_order: Values = 0.0

    def __post_init__(self) -> None:
        """Refuse negative sizes, and a ripple that would do nothing."""
        for name in ("noise", "noise_relative", "ripple", "ripple_order"):
            _positive(getattr(self, name), name)
        size, order = np.atleast_1d(self.ripple), np.atleast_1d(self.ripple_order)
        alike = len(size) == len(order) or 1 in (len(size), len(order))
        if alike and np.any((size > 0) & (order == 0)):
            raise DynidError(
                f"ripple is {self.ripple!r}, but ripple_order is {self.ripple_order!r}, so that a ripple "
                "would do nothing; give its periods per turn or metre as ripple_order (--ripple-order)."
            )

    @property
    def ripples(self) -> bool:
        """Whether any axis ripples."""
        return bool(np.any(np.asarray(self.ripple) > 0))

    def torques(self, nominal: FloatArray, rng: np.random.Generator | None) -> FloatArray:
        """The drawn part, given the torques along the reference."""
        n = nominal.shape[1]
        spread = np.array(per_axis(self.noise, n, "noise"))
        share = np.array(per_axis(self.noise_relative, n, "noise_relative"))
        return _noise(
            tuple(np.hypot(spread, share * np.sqrt(np.mean(nominal**2, axis=0)))), nominal.shape, rng
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def _positive(values: Values, name: str) -> None:
    given = np.asarray(values, dtype=float)
    if not np.all(np.isfinite(given)) or np.any(given < 0):
        raise DynidError(f"{name} is {values!r}; give numbers of at least 0.")


def _noise(spread: tuple[float, ...], shape: tuple[int, ...], rng: np.random.Generator | None) -> FloatArray:
    if not any(spread):
        return np.zeros(shape)
    if rng is None:
        raise DynidError(
            "Noise needs a source of random numbers; give a numpy Generator (or a seed on the command line)."
        )
    return np.array(spread) * rng.standard_normal(shape)
