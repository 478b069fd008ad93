"""Is motion that was kept for validation new, or does it repeat what the fit has seen?

A periodic motion cut in two repeats itself: its second part has the same states as the first, and a model
that is wrong elsewhere predicts it well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.preparation.motion import Motion, PositionSeries, sampled_positions, seconds_of, spread_of


@dataclass(frozen=True)
class RepetitionRules:
    """When a motion repeats another. Chosen by hand on periodic and new motions; lengths are standard
    deviations of the fit's positions.

    Args:
        close: RMS distance at which two stretches are the same path.
        step: travel between two samples compared: finer than the distance asked about.
        most_samples: compared of all motions together; longer ones are sampled more coarsely.
        stretches: that held-out motion is cut into; long enough that a match is no chance.
        resting: stretches that move less than this prove nothing and repeat nothing.
        share: of a motion's stretches that must repeat before the motion is said to.
    """

    close: float = 0.05
    step: float = 0.02
    most_samples: int = 40_000
    stretches: int = 6
    resting: float = 0.05
    share: float = 0.5


REPETITION = RepetitionRules()


@dataclass(frozen=True)
class Novelty:
    """What held-out motion is worth as a proof.

    Args:
        own: all of it is the fit's own.
        repeated: all of it is the fit's own or repeats it.
        findings: for the verdict, one per motion that is not new.
    """

    own: bool = False
    repeated: bool = False
    findings: tuple[Finding, ...] = ()


def novelty(held: Sequence[Motion], own: Sequence[bool], fitted: Sequence[PositionSeries]) -> Novelty:
    """Judge motions kept for validation.

    Args:
        held: prepared motions.
        own: which of them come from logs of the fit.
        fitted: motions of the fit, or their trails; where there are none, repetition is not asked about.
    """
    shares = [1.0 if same else repeated_share(motion, fitted) for motion, same in zip(held, own, strict=True)]
    return novelty_by_shares([motion.name for motion in held], own, shares)


def novelty_by_shares(names: Sequence[str], own: Sequence[bool], shares: Sequence[float]) -> Novelty:
    """Judge motions by how much of each repeats the fit's.

    Args:
        names: of the motions.
        own: which of them come from logs of the fit.
        shares: what ``repeated_share`` says of each.
    """
    if not names:
        return Novelty()
    old = [same or share >= REPETITION.share for same, share in zip(own, shares, strict=True)]
    findings = tuple(
        _own_log(name) if same else _repetition(name, share)
        for name, same, again, share in zip(names, own, old, shares, strict=True)
        if again
    )
    return Novelty(all(own), all(old) and not all(own), findings)


def _own_log(name: str) -> Finding:
    return Finding(
        Name.FIT_LOG_REUSED,
        Level.CARE,
        f"Validation log {name} is a log of the fit itself, so predicting it proves nothing new; validate "
        "with another one.",
        where=Where(log=name),
    )


def _repetition(name: str, share: float) -> Finding:
    return Finding(
        Name.REPEATED_MOTION,
        Level.CARE,
        f"Validation motion {name} repeats that of the fit: {100 * share:.0f} % of it runs through the same "
        "positions at the same speeds, so it proves little beyond them; validate with another motion.",
        where=Where(log=name),
        figures={"repeated_share": share},
    )


def repeated_share(held: Motion, fitted: Sequence[PositionSeries]) -> float:
    """Share of a motion's stretches that run along the same positions in time as a stretch of the fit's.

    Args:
        held: the motion to judge.
        fitted: the motions it may repeat.
    """
    if not fitted:
        return 0.0
    spread = spread_of(fitted)
    speed = spread.speed(held)
    if not speed > 0:
        return 0.0
    step = max(
        REPETITION.step / speed, 1.0 / held.rate_hz, seconds_of([held, *fitted]) / REPETITION.most_samples
    )
    close = max(REPETITION.close, speed * step)  # a coarse step cannot meet a finer distance
    paths = [
        (sampled_positions(path, step)[:, spread.moving] - spread.middle) / spread.scale
        for path in (held, *fitted)
    ]
    stretches = [
        s
        for s in np.array_split(paths[0], REPETITION.stretches)
        if len(s) > 2 and np.max(np.ptp(s, axis=0)) > REPETITION.resting
    ]
    if not stretches:
        return 0.0
    hits = [min(_nearest(stretch, path) for path in paths[1:]) < close for stretch in stretches]
    return float(np.mean(hits))


def _nearest(stretch: FloatArray, path: FloatArray) -> float:
    """Least RMS distance between a stretch and any piece of a path of the same length, by correlation."""
    w, n = stretch.shape
    if len(path) < w:
        return float("inf")
    size = 1 << int(np.ceil(np.log2(len(path) + w)))
    spectrum = np.fft.rfft(path, size, axis=0) * np.conj(np.fft.rfft(stretch, size, axis=0))
    match = np.fft.irfft(np.sum(spectrum, axis=1), size)[: len(path) - w + 1]
    energy = np.concatenate([[0.0], np.cumsum(np.sum(path**2, axis=1))])
    squares = energy[w:] - energy[:-w] + float(np.sum(stretch**2)) - 2 * match
    return float(np.sqrt(max(float(np.min(squares)), 0.0) / (w * n)))
