"""Are the signs right? Inertia is positive and friction takes power, else torque or position is reversed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.data_check import Checked
from dynid.checks.explained import TorqueColumns
from dynid.checks.light_motion import LightMotion
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where


@dataclass(frozen=True)
class SignRules:
    """When a sign is wrong. Chosen by hand; the broken and measured logs of ``tests/checks`` hold them.

    Args:
        clear: friction power over RMS torque times RMS speed that counts.
        sure: friction power over its standard deviation; that is too small where residuals are not white,
            hence so large. Half of it for the inertia.
        rank: singular value over the largest, below which a direction is not used.
        explained: share of the torque that may be left where friction alone is the evidence …
        hardly: … and else; beyond, nothing can be said.
    """

    clear: float = 0.03
    sure: float = 10.0
    rank: float = 1e-6
    explained: float = 0.15
    hardly: float = 0.5


SIGNS = SignRules()


@dataclass(frozen=True)
class _Evidence:
    """Friction power over RMS torque × RMS speed, how sure it is, how sure inertia is, and what is left."""

    power: float
    power_sure: float
    inertia_sure: float
    left: float


def check_signs(motion: LightMotion, columns: Sequence[TorqueColumns]) -> Checked:
    """Fit each axis alone and look at its own inertia and at the power of its own friction.

    An axis that control brakes, or that is carried along, may seem to have friction that drives; its inertia
    stays positive then. A reversed sign turns both.

    Args:
        motion: the signals.
        columns: what may explain each axis, with its friction and inertia marked.
    """
    findings = list[Finding]()
    powers = list[float | None]()
    for axis, part in enumerate(columns):
        evidence = _evidence(motion, part, axis)
        powers.append(None if evidence is None else evidence.power)
        if evidence is None or evidence.left > SIGNS.hardly:
            continue
        if evidence.power < -SIGNS.clear and evidence.power_sure < -SIGNS.sure:
            findings.append(_finding(evidence, axis))
    return Checked(tuple(_with_swapped_axes(findings)), {"friction_power": powers})


def _finding(evidence: _Evidence, axis: int) -> Finding:
    seen = f"Friction on axis {axis + 1} would drive the motion"
    seen += f" ({100 * evidence.power:.0f} % of torque × speed)"
    remedy = "Turn the sign of torque or position of this axis in the mapping, or of its gear ratio."
    place = Where(channel="torque", axis=axis + 1)
    if evidence.inertia_sure < -SIGNS.sure / 2:
        sentence = f"{seen} and its inertia would be negative: torque or position has the wrong sign."
        return Finding(Name.REVERSED_SIGN, Level.FAIL, sentence, remedy, place)
    if evidence.inertia_sure < SIGNS.sure / 2 and evidence.left < SIGNS.explained:
        sentence = f"{seen}: torque or position may have the wrong sign."
        return Finding(Name.REVERSED_SIGN, Level.CARE, sentence, remedy, place)
    sentence = f"{seen}: control may brake it, or another axis carry it along."
    remedy = "Make sure of its sign, and drive the axis itself."
    return Finding(Name.DRIVEN_AXIS, Level.NOTE, sentence, remedy, place)


def _with_swapped_axes(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Two axes that both seem to be driven may have each other's torques: that is more than a note."""
    driven = [finding for finding in findings if finding.name is Name.DRIVEN_AXIS]
    if len(driven) < 2:
        return findings
    axes = " and ".join(str(finding.where.axis) for finding in driven)
    remedy = f"Check whether the torques or positions of axes {axes} are swapped, and their signs."
    return [replace(f, level=Level.CARE, remedy=remedy) if f in driven else f for f in findings]


def _evidence(motion: LightMotion, part: TorqueColumns, axis: int) -> _Evidence | None:
    y, speed = motion.tau[motion.rows, axis], motion.qd[motion.rows, axis]
    seen = part.sizes > 0
    own, sizes = part.friction[seen], part.sizes[seen]
    spread = float(np.std(y))
    scale = spread * float(np.sqrt(np.mean(speed**2)))
    if scale == 0 or not np.any(own) or len(y) < 2 * len(sizes):
        return None
    U, s, Vt = part.svd
    kept = s > SIGNS.rank * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    x = Vt.T @ ((U.T @ y) / s)
    left = y - U @ (U.T @ y)
    sigma = max(float(np.sqrt(left @ left / max(1, len(y) - len(s)))), 1e-12 * spread)

    def certainty(c: FloatArray) -> float:
        """A linear function c x of the parameters over its standard deviation."""
        deviation = sigma * float(np.linalg.norm((Vt @ c) / s))
        return float(c @ x) / deviation if deviation > 0 else 0.0

    power = np.where(own, (speed @ part.values[:, seen]) / sizes / len(y), 0.0)
    inertia = part.inertia[seen] / sizes
    share_left = float(np.sqrt(np.mean(left**2))) / spread
    return _Evidence(float(power @ x) / scale, certainty(power), certainty(inertia), share_left)
