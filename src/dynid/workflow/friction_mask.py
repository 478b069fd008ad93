"""The speed below which friction is not what it is above, from the residual as a function of speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.preparation.column import run_ends
from dynid.problem.factor import Spectrum, spectrum
from dynid.workflow.trial_rows import TrialRows


@dataclass(frozen=True)
class MaskRules:
    """How a mask grows. Set on one half of a population (docs page on preparation), shown on the other.

    Args:
        step: ratio of the speeds that bound a shell.
        most_share: of a joint's rows that the mask may leave out beyond the suggested one.
        most_speed: of the largest speed, which the shells may reach. Where none of them is within chance, the
            law of friction is another one everywhere, which no mask cures.
        errors: standard errors by which a shell's mean residual must differ from zero.
        share: of the joint's RMS torque that the mean residual must exceed as well.
        passages: times that the joint must pass a shell before it counts.
    """

    step: float = 1.5
    most_share: float = 0.4
    most_speed: float = 0.2
    errors: float = 4.0
    share: float = 0.01
    passages: int = 4


MASK = MaskRules()


def friction_thresholds(rows: TrialRows, thresholds: FloatArray, width: int) -> FloatArray:
    """Thresholds that leave out speeds at which the residual along the motion is not zero.

    The model is fitted to the faster rows alone. Below, sign(q̇) (y − W χ) has the mean that dry friction
    lacks there (a smooth sign) or has too much (Stribeck): shell by shell of speeds from the suggested
    threshold up, as long as that mean is more than chance.

    Args:
        rows: of all joints, before any mask.
        thresholds: suggested ones, (joints,); joints with 0 stay.
        width: number of base parameters.

    Returns:
        Thresholds, (joints,), nowhere lower.
    """
    top = np.array([_largest_threshold(rows.speed[j], t) for j, t in enumerate(thresholds)])
    if not np.any(top > MASK.step * thresholds):
        return thresholds
    sigma = rows.own_sigma(top)
    fast = spectrum(np.concatenate(rows.parts(top, sigma, width)))
    grown = thresholds.copy()
    for j in np.flatnonzero(top > MASK.step * thresholds):
        grown[j] = _grown_threshold(rows, int(j), float(thresholds[j]), float(top[j]), float(sigma[j]), fast)
    return grown


def _largest_threshold(speed: FloatArray, threshold: float) -> float:
    """Speed above which enough of the rows are left."""
    if threshold <= 0:
        return 0.0
    fast = np.abs(speed)[np.abs(speed) >= threshold]
    if not len(fast):
        return threshold
    return max(threshold, min(float(np.quantile(fast, MASK.most_share)), MASK.most_speed * float(fast.max())))


def _grown_threshold(
    rows: TrialRows, joint: int, threshold: float, top: float, sigma: float, fast: Spectrum
) -> float:
    """Upper end of the shells, from the threshold up, whose mean residual is not zero, if it ends."""
    columns, speed = list(rows.columns[joint]), rows.speed[joint]
    along = np.sign(speed) * (rows.y[joint] - fast.solution[columns] @ rows.W[joint])
    least = MASK.share * float(np.sqrt(np.mean(rows.y[joint] ** 2)))
    edge = threshold
    while MASK.step * edge <= top:
        shell = (np.abs(speed) >= edge) & (np.abs(speed) < MASK.step * edge)
        starts, stops = run_ends(shell)
        if len(starts) < MASK.passages:
            return edge
        means = np.array([along[a:b].mean() for a, b in zip(starts, stops, strict=True)])
        x = (np.sign(speed[shell]) * rows.W[joint][:, shell]).mean(axis=1)
        doubt = sigma * float(np.linalg.norm(fast.root[columns].T @ x))
        error = float(np.hypot(np.std(means, ddof=1) / np.sqrt(len(means)), doubt))
        if abs(float(means.mean())) <= max(MASK.errors * error, least):
            return edge
        edge *= MASK.step
    return threshold
