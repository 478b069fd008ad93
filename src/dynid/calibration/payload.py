"""The payload that logs show: standard parameters, the forms controllers ask for, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.calibration.central_form import CentralForm, FlangeFrame, central_form
from dynid.calibration.controller_forms import controller_forms
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, findings_repr, gravest_first, worst_level
from dynid.core.plain import plain
from dynid.model.inertia import LinkInertia
from dynid.model.parameters import INERTIAL
from dynid.model.payload import LABEL

UNITS = ("kg m²",) * 6 + ("kg m",) * 3 + ("kg",)
"""Units of the ten standard parameters."""


@dataclass(frozen=True, eq=False, repr=False)
class PayloadEstimate:
    """A payload with its uncertainty, able to say what the motion did not show.

    Args:
        robot: name of the robot.
        carrier: name of the joint whose link carries the payload.
        way: "fixed", "refitted" or "difference".
        names: XXL … ML.
        found: values in the carrier's frame, also where they say nothing, (10,); ``values`` hides those.
        found_covariance: their covariance, (10, 10).
        seen: which of them the motion shows, (10,).
        flange: the frame of ``central``.
        uncertainty: how σ was found: "classical", "blocks", "hac" or "bootstrap".
        possible: the nearest payload that can exist, in the carrier's frame; None where the one found can
            exist, or where there is none.
        measured_mass: mass and σ from the torques alone, before a weighed mass was taken in [kg].
        findings: what speaks for and against it.
        facts: further figures by name, ready for JSON.
    """

    robot: str
    carrier: str
    way: str
    names: tuple[str, ...]
    found: FloatArray
    found_covariance: FloatArray
    seen: NDArray[np.bool_]
    flange: FlangeFrame
    uncertainty: str
    possible: LinkInertia | None = None
    measured_mass: tuple[float, float] = (np.nan, np.inf)
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Mass and centre, and the gravest findings."""
        head = f"Payload of {self.robot!r} on {self.carrier} ({self.way}): {self.summary}"
        return findings_repr(head, gravest_first(self.findings))

    @property
    def trustworthy(self) -> bool:
        """Whether nothing speaks against its use."""
        return worst_level(self.findings) < Level.FAIL

    @property
    def values(self) -> FloatArray:
        """XXL … ML in the carrier's frame; not a number where the motion does not show them, (10,)."""
        return np.where(self.seen, self.found, np.nan)

    @property
    def sigma(self) -> FloatArray:
        """Standard deviations; infinite where the motion does not show a parameter, (10,)."""
        known = np.sqrt(np.maximum(np.diag(self.found_covariance), 0.0))
        return np.where(self.seen, known, np.inf)

    @property
    def covariance(self) -> FloatArray:
        """(10, 10); not a number where the motion does not show a parameter."""
        return np.where(np.outer(self.seen, self.seen), self.found_covariance, np.nan)

    @property
    def correlation(self) -> FloatArray:
        """(10, 10); not a number where the motion does not show a parameter."""
        deviation = np.sqrt(np.maximum(np.diag(self.found_covariance), 1e-300))
        matrix = np.clip(self.covariance / np.outer(deviation, deviation), -1.0, 1.0)
        np.fill_diagonal(matrix, np.where(self.seen, 1.0, np.nan))
        return np.asarray(matrix, dtype=float)

    @cached_property
    def central(self) -> CentralForm:
        """Mass, centre of mass and inertia about it in the flange's frame, with σ."""
        return central_form(
            self.found, self.found_covariance, self.flange, np.flatnonzero(~self.seen).tolist()
        )

    @property
    def mass(self) -> float:
        """[kg]; not a number where the motion does not show it."""
        return float(self.values[-1])

    @property
    def mass_sigma(self) -> float:
        """[kg]."""
        return float(self.sigma[-1])

    @property
    def com(self) -> FloatArray:
        """Centre of mass in the flange's frame, (3,) [m]."""
        return self.central.com

    @property
    def com_sigma(self) -> FloatArray:
        """Its standard deviations, (3,) [m]."""
        return self.central.com_sigma

    @property
    def summary(self) -> str:
        """Mass and centre of mass in a line."""
        if not np.isfinite(self.mass):
            return "the mass is not shown"
        said = f"mass {self.mass:.4g} ± {self.mass_sigma:.2g} kg"
        parts = [
            f"{axis} {1e3 * c:.1f} ± {1e3 * s:.1g}" if np.isfinite(c) else f"{axis} not shown"
            for axis, c, s in zip("xyz", self.com, self.com_sigma, strict=True)
        ]
        return f"{said}, centre of mass {', '.join(parts)} mm"

    @property
    def body(self) -> LinkInertia | None:
        """The payload to use, in the carrier's frame: the possible one where there is one beside it."""
        if self.possible is not None or not self.seen.all():
            return self.possible
        return LinkInertia.from_standard(self.found)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; what is not shown is None."""
        central = self.central
        moments, moment_sigma, axes = central.principal
        rows = zip(self.names, UNITS, self.values, self.sigma, strict=True)
        return {
            "robot": self.robot,
            "carrier": self.carrier,
            "way": self.way,
            "uncertainty": self.uncertainty,
            "summary": self.summary,
            "trustworthy": self.trustworthy,
            "parameters": [
                {"name": name, "unit": unit, "value": plain(value), "sigma": plain(sigma)}
                for name, unit, value, sigma in rows
            ],
            "covariance": plain(self.covariance),
            "correlation": plain(self.correlation),
            "flange": {"rotation": plain(self.flange.rotation), "position": plain(self.flange.position)},
            "central": {
                "mass": plain(central.mass),
                "mass_sigma": plain(float(central.sigma[0])),
                "com": plain(central.com),
                "com_sigma": plain(central.com_sigma),
                "inertia": plain(central.inertia),
                "inertia_sigma": plain(central.inertia_sigma),
                "principal_moments": plain(moments),
                "principal_sigma": plain(moment_sigma),
                "principal_axes": plain(axes),
            },
            "possible": None if self.possible is None else plain(self.possible.standard()),
            "measured_mass": plain(list(self.measured_mass)),
            "controller_forms": plain(self.controller_forms()),
            "findings": [plain(finding.to_dict()) for finding in gravest_first(self.findings)],
            "facts": plain(self.facts),
        }

    def controller_forms(self) -> dict[str, Any]:
        """What robot controllers ask for, in the flange's frame; see ``controller_forms``."""
        possible = None if self.possible is None else self.flange.seen_from(self.possible)
        return controller_forms(self.central, possible)


def payload_names(label: str = LABEL) -> tuple[str, ...]:
    """Names of the ten standard parameters of a payload, XXL … ML."""
    return tuple(symbol + label for symbol in INERTIAL)
