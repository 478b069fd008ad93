"""What of a payload the motion shows: ten parameters from the fitted columns, and which say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.calibration.payload_ways import PayloadFit
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name
from dynid.model.geometry import placement
from dynid.model.robot import Robot

SIZE_SHARE = 0.2
"""Size of a payload as a share of the arm's reach: that of the inertias which a parameter's σ is held
against. An iiwa then carries bodies of 16 cm, a TX40 of 10 cm."""
UNSHOWN = 0.5
"""σ over the size that a payload of this mass gives a parameter, above which it is not shown: the sign of a
value of that size would be in doubt."""
_INDEPENDENT = 1e-8
"""Share of a parameter, scaled by its size, that must lie in what the columns show."""
_WORDS = (
    *("inertia XX", "product of inertia XY", "product of inertia XZ", "inertia YY"),
    *("product of inertia YZ", "inertia ZZ"),
    *("centre of mass along x", "centre of mass along y", "centre of mass along z", "mass"),
)
_REMEDIES = {
    "mass": "Raise and lower the payload with the joints near the base, over a large part of the range.",
    "moments": "Turn the last joints so that gravity pulls at the payload from several sides.",
    "inertia": "Turn the last joints faster, about all three axes of the flange, with sharp accelerations.",
}


@dataclass(frozen=True, eq=False)
class TenParameters:
    """XX XY XZ YY YZ ZZ MX MY MZ M of the payload in the carrier's frame.

    Args:
        values: (10,); the shortest ones, scaled by their sizes, where some are open.
        covariance: (10, 10).
        metric: a covariance of full rank of the same size, where all are determined.
        size: what a payload of this mass may have, (10,).
        possible: whether any motion of the robot shows each, (10,).
        determined: whether the rows tell each at all, (10,).
    """

    values: FloatArray
    covariance: FloatArray
    metric: FloatArray
    size: FloatArray
    possible: NDArray[np.bool_]
    determined: NDArray[np.bool_]

    @property
    def sigma(self) -> FloatArray:
        """Standard deviations; infinite where not determined, (10,)."""
        known = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(self.possible & self.determined, known, np.inf)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which the motion shows, (10,)."""
        return np.asarray(self.sigma <= UNSHOWN * self.size, dtype=bool)


def ten_parameters(found: PayloadFit) -> TenParameters:
    """The payload's standard parameters: χ = D (K D)⁺ φ for the columns φ = K χ that were fitted.

    Args:
        found: the fit.
    """
    length = SIZE_SHARE * reach(found.problem.robot)
    K = found.matrix
    unit = np.array([length**2] * 6 + [length] * 3 + [1.0])
    inverse = unit[:, None] * np.linalg.pinv(K * unit)
    shown = inverse @ K  # the identity where all ten are independent
    possible = np.abs(np.diag(shown) - 1.0) < _INDEPENDENT
    values = inverse @ found.values
    open_columns = inverse[:, found.undetermined]
    determined = np.asarray(np.all(np.abs(open_columns) < _INDEPENDENT * unit[:, None], axis=1))
    heavy = np.where(possible & determined, np.abs(values) / unit, 0.0)[6:]
    mass = float(heavy[-1]) if heavy[-1] > 0 else float(heavy.max())
    return TenParameters(
        values,
        inverse @ found.covariance @ inverse.T,
        inverse @ found.metric @ inverse.T,
        mass * unit,
        possible,
        determined,
    )


def reach(robot: Robot) -> float:
    """Length of the stretched arm: the sum of the distances between successive frames [m]."""
    total = sum(float(np.linalg.norm(placement(joint)[1])) for joint in robot.joints)
    return total if total > 0 else 1.0


def sight_findings(ten: TenParameters, names: Sequence[str]) -> list[Finding]:
    """What the motion, or any motion, does not show, in words.

    Args:
        ten: the payload.
        names: XXL … ML.
    """
    findings = []
    never = [k for k in range(10) if not ten.possible[k]]
    if never:
        said = f"No motion of this robot shows {_words_of(never, names)} apart from the others."
        findings.append(Finding(Name.PAYLOAD_NOT_SHOWN, Level.NOTE, said))
    dim = [k for k in range(10) if ten.possible[k] and not ten.seen[k]]
    for kind, group in (("mass", (9,)), ("moments", (6, 7, 8)), ("inertia", range(6))):
        lost = [k for k in dim if k in group]
        if lost:
            told = "they are" if len(lost) > 1 else "it is"
            findings.append(
                Finding(
                    Name.PAYLOAD_NOT_SHOWN,
                    Level.NOTE if kind == "inertia" else Level.CARE,
                    f"The motion does not show {_words_of(lost, names)}: "
                    f"{_doubt(ten, lost)}, so {told} not given.",
                    _REMEDIES[kind],
                    figures={"parameters": [names[k] for k in lost]},
                )
            )
    return findings


def _doubt(ten: TenParameters, lost: Sequence[int]) -> str:
    if any(np.isinf(ten.sigma[k]) for k in lost):
        return "other parameters have the same effect on the torques"
    if not np.all(ten.size[lost] > 0):
        return "no mass or moment is shown that would tell how large they may be"
    share = float(np.min(ten.sigma[lost] / ten.size[lost]))
    return f"σ is {share:.1g} times what a payload of this mass may have, or more"


def _words_of(chosen: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(f"{names[k]} ({_WORDS[k]})" for k in chosen)
