"""Are the signs right? Inertia is positive and friction takes power, else torque or position is reversed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.data_check import Checked
from dynid.checks.explained import TorqueColumns, visible_sizes
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
        strong: friction power that is evidence by itself.
        mended: what all axes leave together with the torque turned round, over what they leave as it is, from
            which the sign is wrong …
        hardly_mended: … or may be. Set on the arms of ``tests/support/state_logs.py``, sound and reversed.
        rows: of each axis, when all are fitted together.
        least: torques are not taken to be known better than this share of their spread.
    """

    clear: float = 0.03
    sure: float = 10.0
    rank: float = 1e-6
    explained: float = 0.15
    hardly: float = 0.5
    strong: float = 0.5
    mended: float = 0.85
    hardly_mended: float = 0.97
    rows: int = 400
    least: float = 0.01


SIGNS = SignRules()


@dataclass(frozen=True)
class _Evidence:
    """Friction power over RMS torque × RMS speed, how sure it is, how sure inertia is, what is left."""

    power: float
    power_sure: float
    inertia_sure: float
    left: float
    spread: float


def check_signs(
    motion: LightMotion, columns: Sequence[TorqueColumns], W: FloatArray | None = None
) -> Checked:
    """Fit each axis alone and look at its own inertia and at the power of its own friction.

    An axis that control brakes, or that is carried along, may seem to have friction that drives; its inertia
    stays positive then. A reversed sign turns both.

    Args:
        motion: the signals.
        columns: what may explain each axis, with its friction and inertia marked.
        W: the robot's regressor at ``motion.rows``; None without a robot.
    """
    found = [_evidence(motion, part, axis) for axis, part in enumerate(columns)]
    suspects = {
        axis: evidence
        for axis, evidence in enumerate(found)
        if evidence is not None
        and evidence.left <= SIGNS.hardly
        and evidence.power < -SIGNS.clear
        and evidence.power_sure < -SIGNS.sure
    }
    turned = {} if W is None else _misfits_turned(motion, found, W, tuple(suspects))
    findings = [
        _finding(evidence, axis, turned.get(axis), W is not None) for axis, evidence in suspects.items()
    ]
    powers = [None if evidence is None else evidence.power for evidence in found]
    return Checked(tuple(_with_swapped_axes(findings)), {"friction_power": powers, "sign_turned": turned})


def _misfits_turned(
    motion: LightMotion, found: Sequence[_Evidence | None], W: FloatArray, suspects: Sequence[int]
) -> dict[int, float]:
    """By axis, what all axes leave together with its torque turned round, over what they leave as it is.

    Axes that share parameters agree on them only with the right signs. A motor that is off gives 1: its
    torque is next to nothing whatever its sign.
    """
    axes = [axis for axis, evidence in enumerate(found) if evidence is not None]
    if len(axes) < 2 or not suspects:
        return {}
    some = slice(None, None, max(1, len(motion.rows) // SIGNS.rows))
    tau = motion.tau[motion.rows[some]]
    weights = {
        axis: 1.0 / (max(e.left, SIGNS.least) * e.spread) for axis, e in enumerate(found) if e is not None
    }
    stack = np.concatenate([weights[axis] * W[axis, some] for axis in axes])
    sizes = visible_sizes(stack)
    U, s, _ = np.linalg.svd(stack[:, sizes > 0] / sizes[sizes > 0], full_matrices=False)
    basis = U[:, s > SIGNS.rank * s[0]]

    def left(turned: int | None) -> float:
        y = np.concatenate([weights[axis] * tau[:, axis] * (-1 if axis == turned else 1) for axis in axes])
        return float(np.linalg.norm(y - basis @ (basis.T @ y)))

    own = left(None)
    return {axis: left(axis) / own if own > 0 else 1.0 for axis in suspects}


def _finding(evidence: _Evidence, axis: int, turned: float | None, with_robot: bool) -> Finding:
    """What friction that would drive means, by what else speaks for a wrong sign.

    Args:
        evidence: of the axis alone.
        axis: from 0.
        turned: what all axes leave together with its torque turned round; None where the axis is alone.
        with_robot: whether the columns are the robot's, not plain ones.
    """
    seen = f"Friction on axis {axis + 1} would drive the motion"
    seen += f" ({100 * evidence.power:.0f} % of torque × speed)"
    remedy = "Turn the sign of torque or position of this axis in the mapping, or of its gear ratio."
    place = Where(channel="torque", axis=axis + 1)
    negative = evidence.inertia_sure < -SIGNS.sure / 2
    if turned is not None and turned < SIGNS.mended:
        less = 100 * (1 - turned)
        sentence = (
            f"{seen}, and with its torque turned round all axes together leave {less:.0f} % less: wrong sign."
        )
        return Finding(Name.REVERSED_SIGN, Level.FAIL, sentence, remedy, place)
    # Where all axes are reversed they agree as they are, on a negative inertia.
    if with_robot and negative and (turned is None or turned > 1 / SIGNS.mended):
        sentence = f"{seen} and its inertia would be negative: torque or position has the wrong sign."
        return Finding(Name.REVERSED_SIGN, Level.FAIL, sentence, remedy, place)
    strong = evidence.power < -SIGNS.strong and evidence.inertia_sure < SIGNS.sure / 2
    mended = turned is not None and turned < SIGNS.hardly_mended
    if mended or (evidence.left < SIGNS.explained and (strong or (negative and not with_robot))):
        sentence = f"{seen}: torque or position may have the wrong sign."
        return Finding(Name.REVERSED_SIGN, Level.CARE, sentence, remedy, place)
    sentence = f"{seen}: control may brake it, its motor be off, or another axis carry it along."
    remedy = "Make sure of its sign; drive the axis itself to see its friction."
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
    return _Evidence(float(power @ x) / scale, certainty(power), certainty(inertia), share_left, spread)
