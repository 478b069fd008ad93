"""Signs: inertia is positive, friction takes power; where a fit says otherwise, τ or q is reversed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.columns import AxisColumns
from dynid.checks.finding import Checked, defect
from dynid.checks.light import Light
from dynid.core.finding import Finding, Level

_CLEAR = 0.03
"""Friction power, as a share of RMS torque times RMS speed, that counts as clear."""
_SURE = 10.0
"""Standard deviations; they are too small where residuals are not white, hence so many."""
_EXPLAINED, _HALF = 0.15, 0.5
"""Share of the torque that may be left unexplained: where friction alone is the evidence, and else."""


@dataclass(frozen=True)
class _Evidence:
    """Friction power over RMS torque × RMS speed, how sure it is, how sure inertia is, and what is left."""

    power: float
    power_sure: float
    inertia_sure: float
    left: float


def check_signs(light: Light, columns: Sequence[AxisColumns]) -> Checked:
    """Fit each axis alone and look at its own inertia and at the power of its own friction.

    An axis that control brakes, or that is carried along, may seem to have friction that drives; its inertia
    stays positive then. A reversed sign turns both.

    Args:
        light: the signals.
        columns: what may explain each axis, with its friction and inertia marked.
    """
    findings, powers = [], []
    for j, part in enumerate(columns):
        evidence = _evidence(light, part, j)
        powers.append(None if evidence is None else evidence.power)
        if evidence is None or evidence.left > _HALF:  # hardly explained: nothing can be said
            continue
        if evidence.power < -_CLEAR and evidence.power_sure < -_SURE:
            findings += _told(evidence, j)
    return Checked(tuple(_swapped(findings)), {"friction_power": powers})


def _swapped(findings: list[Finding]) -> list[Finding]:
    """Two axes that both seem to be driven may have each other's torques: that is more than a note."""
    driven = [finding for finding in findings if finding.name == "driven axis"]
    if len(driven) < 2:
        return findings
    axes = " and ".join(str(finding.where.axis) for finding in driven)
    remedy = f"Check whether the torques or positions of axes {axes} are swapped, and their signs."
    told = [replace(f, level=Level.CARE, remedy=remedy) if f in driven else f for f in findings]
    return told


def _told(evidence: _Evidence, j: int) -> list[Finding]:
    seen = f"Friction on axis {j + 1} would drive the motion ({100 * evidence.power:.0f} % of torque × speed)"
    remedy = "Turn the sign of torque or position of this axis in the mapping, or of its gear ratio."
    if evidence.inertia_sure < -_SURE / 2:
        sentence = f"{seen} and its inertia would be negative: torque or position has the wrong sign."
        return [defect("reversed sign", "error", sentence, remedy, "torque", j + 1)]
    if evidence.inertia_sure < _SURE / 2 and evidence.left < _EXPLAINED:
        sentence = f"{seen}: torque or position may have the wrong sign."
        return [defect("reversed sign", "warning", sentence, remedy, "torque", j + 1)]
    sentence = f"{seen}: control may brake it, or another axis carry it along."
    remedy = "Make sure of its sign, and drive the axis itself."
    return [defect("driven axis", "note", sentence, remedy, "torque", j + 1)]


def _evidence(light: Light, part: AxisColumns, j: int) -> _Evidence | None:
    A, y, speed = part.values, light.tau[light.rows, j], light.qd[light.rows, j]
    sizes = np.linalg.norm(A, axis=0)
    seen = sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)
    spread = float(np.sqrt(np.mean((y - y.mean()) ** 2)))
    scale = spread * float(np.sqrt(np.mean(speed**2)))
    own = part.friction[seen]
    if scale == 0 or not np.any(own) or len(A) < 2 * np.sum(seen):
        return None
    unit = A[:, seen] / sizes[seen]
    U, s, Vt = np.linalg.svd(unit, full_matrices=False)
    kept = s > 1e-6 * s[0]
    x = Vt[kept].T @ ((U[:, kept].T @ y) / s[kept])
    left = y - unit @ x
    sigma = max(float(np.sqrt(left @ left / max(1, len(y) - int(kept.sum())))), 1e-12 * spread)

    def sure(c: np.ndarray) -> float:
        """A linear function c x of the parameters over its standard deviation."""
        doubt = sigma * float(np.linalg.norm((Vt[kept] @ c) / s[kept]))
        return float(c @ x) / doubt if doubt > 0 else 0.0

    power = np.where(own, speed @ unit / len(y), 0.0)
    inertia = part.inertia[seen] / sizes[seen]
    share_left = float(np.sqrt(np.mean(left**2))) / spread
    return _Evidence(float(power @ x) / scale, sure(power), sure(inertia), share_left)
