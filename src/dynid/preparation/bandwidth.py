"""Which frequencies of the positions are kept, and by which differences: chosen from their spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.preparation.derivative import DIFFERENCE_POINTS, difference_gain
from dynid.preparation.spectrum import PositionSpectrum

_ABOVE_MOTION = 10.0
"""Cut-off over the bandwidth of the motion (P1 §2.2.2: ω_f > 10 ω_dyn)."""
_CLEAR_OF_SPEED = 3.0
"""Least cut-off over the band of the speed: the filter takes 0.02 % off the fastest motion."""
_WELL_CLEAR = 6.0
"""The same where noise is no reason to stay lower: the filter takes less than 1e-6 off."""
_QUIET = 1e-5
"""Share of noise in the power of the accelerations up to a cut-off that is no reason to stay lower."""
_TENTH = 0.1
"""Highest cut-off as a share of the rate: above, differences over 3 points take 12 % off an acceleration."""
_QUARTER = 0.25
"""The same where the motion itself asks for more: differences over 9 points take 2 % off there."""
_TAKEN = 4e-5
"""Share of the fastest acceleration that differences may take off: a fifth of what the filter may."""


@dataclass(frozen=True)
class Bandwidth:
    """Frequencies of a log [Hz] and what they ask of its preparation.

    Args:
        rate_hz: rate of the log.
        speed_hz: 99 % of the speed's power lie below.
        motion_hz: 99 % of the acceleration's power lie below.
        noise_hz: where noise takes over; None when not seen.
        trusted_hz: up to here motion is told from noise; the regression's band stays a factor below.
        cutoff_hz: of the position filter, at least ``trusted_hz``.
        points: of the central differences.
    """

    rate_hz: float
    speed_hz: float
    motion_hz: float
    noise_hz: float | None
    trusted_hz: float
    cutoff_hz: float
    points: int

    @property
    def too_fast(self) -> bool:
        """Whether the motion is too fast for the rate: the filter cannot stay clear of it."""
        return self.cutoff_hz < 0.99 * _CLEAR_OF_SPEED * self.speed_hz


def choose_bandwidth(spectrum: PositionSpectrum, rate_hz: float) -> Bandwidth:
    """Cut-off and differences that leave the motion alone and keep noise out.

    The cut-off stands ten times above the motion, or where noise takes over if that is lower, but at least
    three times above the speed, six times where the noise up to there is next to nothing. It is at most a
    tenth of the rate, more only to stay clear of the motion.

    Args:
        spectrum: of the positions.
        rate_hz: their rate.
    """
    moving = spectrum.moving()
    moving = moving if np.any(moving) else np.ones_like(moving)
    seen = spectrum.noise_begin()[moving]
    noise = float(np.max(seen[np.isfinite(seen)])) if np.any(np.isfinite(seen)) else None
    speed, motion = (float(np.max(spectrum.motion_end(order)[moving])) for order in (1, 2))
    least, most = _CLEAR_OF_SPEED * speed, _ABOVE_MOTION * motion
    wanted = most if noise is None else min(max(noise, least), most)
    limit = max(_TENTH * rate_hz, min(least, _QUARTER * rate_hz))
    trusted = min(wanted, limit)
    further = min(_WELL_CLEAR * speed, _QUARTER * rate_hz)
    quiet = further > trusted and float(np.max(spectrum.noise_share(further)[moving])) <= _QUIET
    cutoff = further if quiet else trusted
    return Bandwidth(rate_hz, speed, motion, noise, trusted, rounded(cutoff), fewest_points(motion, rate_hz))


def fewest_points(motion_hz: float, rate_hz: float) -> int:
    """Points of the shortest central difference that takes no more off than the filter does.

    Args:
        motion_hz: band of the acceleration.
        rate_hz: samples per second.
    """
    enough = (p for p in DIFFERENCE_POINTS if _taken_off(motion_hz, rate_hz, p) <= _TAKEN)
    return next(enough, DIFFERENCE_POINTS[-1])


def cutoff_reason(chosen: Bandwidth) -> str:
    """Why the cut-off is what it is."""
    cutoff, noise = chosen.cutoff_hz, chosen.noise_hz
    said = (
        f"99 % of the speed lies below {chosen.speed_hz:.3g} Hz and 99 % of the acceleration below "
        f"{chosen.motion_hz:.3g} Hz"
    )
    if noise is None:
        said += "; no noise is seen up to half the rate. "
    else:
        said += f"; noise takes over at {noise:.3g} Hz, where the accelerations' spectrum is lowest. "
    over_speed = cutoff / chosen.speed_hz if chosen.speed_hz else float("inf")
    if chosen.too_fast:
        return said + (
            f"The cut-off is a quarter of the rate, {cutoff:g} Hz, and still takes something off the motion: "
            f"the rate is low for it; log at {4 * _CLEAR_OF_SPEED * chosen.speed_hz:.3g} Hz or more."
        )
    if noise is not None and cutoff > 1.01 * chosen.trusted_hz:
        return said + (
            f"The cut-off is {over_speed:.2g} times the speed's band, {cutoff:g} Hz: noise up to there is "
            "next to nothing, and the filter leaves the motion alone."
        )
    if cutoff == rounded(_TENTH * chosen.rate_hz):
        return said + f"The cut-off is a tenth of the rate, {cutoff:g} Hz: above, differences distort."
    if noise is not None and cutoff == rounded(noise):
        return said + f"The cut-off is there: {cutoff:g} Hz."
    if cutoff == rounded(_ABOVE_MOTION * chosen.motion_hz):
        return said + f"The cut-off is ten times the acceleration's band: {cutoff:g} Hz."
    return said + f"The cut-off is three times the speed's band, to leave the motion alone: {cutoff:g} Hz."


def points_reason(chosen: Bandwidth) -> str:
    """Why differences take so many points."""
    motion, points = chosen.motion_hz, chosen.points
    taken, simple = (100 * _taken_off(motion, chosen.rate_hz, p) for p in (points, DIFFERENCE_POINTS[0]))
    said = f"Differences over {points} points take {taken:.2g} % off the acceleration at {motion:.3g} Hz"
    if points == DIFFERENCE_POINTS[0]:
        return said + "."
    said += f"; over 3 points they would take {simple:.2g} %, and a speed near its reversal the wrong sign."
    if taken > 100 * _TAKEN:
        said += " The rate is low for this motion."
    return said


def rounded(value: float) -> float:
    """Three digits are as many as such a figure deserves."""
    return float(f"{value:.3g}")


def _taken_off(frequency_hz: float, rate_hz: float, points: int) -> float:
    """Share of an acceleration that two differences take off."""
    if frequency_hz <= 0:
        return 0.0
    return 1.0 - float(difference_gain(frequency_hz, rate_hz, points)) ** 2
