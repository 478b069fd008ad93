"""What a payload is worth: its mass against zero and a scale, bodies that exist, joints that agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynid.calibration.joint_views import joint_findings
from dynid.calibration.payload_sight import TenParameters, sight_findings
from dynid.calibration.payload_ways import PayloadFit
from dynid.calibration.possible_payload import nearest_payload
from dynid.core.finding import Finding, Level, Name
from dynid.model.inertia import LinkInertia


@dataclass(frozen=True)
class PayloadRules:
    """Thresholds; docs/payload.md has the population that those of the joints were set on.

    Args:
        zero: σ by which a mass must differ from zero to be one.
        mass: σ of the difference by which a found mass may differ from the weighed one.
        small: share by which it may then differ and still be used with care: gains are rarely known better.
        hidden: variance of the mass over that of its column alone, from which the motion does not depend on
            the load: other columns explain all but a ten-thousandth of it.
        uncertain: σ of the mass over it from which on it asks for care: collision detectors tell 10 % …
        useless: … and from which on it is of no use.
    """

    zero: float = 2.0
    mass: float = 3.0
    small: float = 0.05
    hidden: float = 1e4
    uncertain: float = 0.1
    useless: float = 0.25


RULES = PayloadRules()
_EXCITATION = (Name.RANK_DEFICIENT, Name.UNDER_EXCITED, Name.POOR_CONDITION, Name.POORLY_KNOWN)
"""Findings of the regression about parameters, which σ and ``seen`` of the payload say more exactly."""


@dataclass(frozen=True, eq=False)
class JudgedPayload:
    """A payload with what is said of it.

    Args:
        ten: its parameters, with a weighed mass taken in.
        measured_mass: mass and σ from the torques alone [kg].
        possible: the nearest payload that can exist, where the one found cannot.
        findings: all of them.
        facts: figures by name.
    """

    ten: TenParameters
    measured_mass: tuple[float, float]
    possible: LinkInertia | None
    findings: tuple[Finding, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)


def judge_payload(
    found: PayloadFit, ten: TenParameters, names: Sequence[str], weighed: tuple[float, float] | None
) -> JudgedPayload:
    """Judge a payload, and take in a weighed mass that does not contradict it.

    Args:
        found: the fit.
        ten: the payload's parameters from it.
        names: XXL … ML.
        weighed: mass and its σ [kg], or None.
    """
    measured = (float(ten.values[-1]), float(ten.sigma[-1]))
    findings = [f if f.name not in _EXCITATION else replace(f, level=Level.NOTE) for f in found.findings]
    unusable = _mass_finding(found, ten)
    if unusable is not None:
        return JudgedPayload(ten, measured, None, (unusable, *findings))
    if not ten.seen[-1]:
        findings.append(_mass_not_shown(ten, weighed))
    elif weighed is not None:
        compared, ten = _against_scale(ten, weighed)
        findings.append(compared)
    else:
        findings.append(_common_gain())
    joints, facts = joint_findings(found, ten)
    findings += [*joints, *_large_sigma(ten), *sight_findings(ten, names)]
    possible = None
    if ten.seen.all():
        possible, said = nearest_payload(ten)
        findings += [said] if said is not None else []
    return JudgedPayload(ten, measured, possible, tuple(findings), facts)


def _mass_finding(found: PayloadFit, ten: TenParameters) -> Finding | None:
    """A mass that is not shown, negative, or none."""
    mass, sigma = float(ten.values[-1]), float(ten.sigma[-1])
    if ten.possible[-1] and (not np.isfinite(sigma) or _hidden_share(found) > RULES.hidden):
        return Finding(
            Name.NO_LOAD_SEEN,
            Level.FAIL,
            "The loaded motions do not depend on the load: the effect of the mass cannot be told from "
            "friction, offsets or the arm itself.",
            "Move the joints that lift the payload, over a large part of their range, free and loaded.",
        )
    if not ten.possible[-1]:
        return None
    if mass < -RULES.zero * sigma:
        return Finding(
            Name.LOGS_SWAPPED,
            Level.FAIL,
            f"The mass of the payload comes out as {mass:.3g} ± {sigma:.1g} kg, which is negative: the logs "
            "called loaded carry less than the others, or than the model's arm did.",
            "Swap the free and the loaded logs; look whether the model was fitted to logs with a payload.",
            figures={"mass": mass, "sigma": sigma},
        )
    if mass <= RULES.zero * sigma:
        return Finding(
            Name.PAYLOAD_ABSENT,
            Level.FAIL,
            f"No payload is seen: its mass comes out as {mass:.2g} ± {sigma:.2g} kg, which may be zero; a "
            f"mass above {2 * RULES.zero * sigma:.2g} kg would have shown.",
            "Check that the loaded logs were taken with the payload; a light one needs longer or faster "
            "motions. Where friction changed between free and loaded logs, take --way fixed or difference.",
            figures={"mass": mass, "sigma": sigma},
        )
    return None


def _large_sigma(ten: TenParameters) -> list[Finding]:
    """A mass that is known too badly for a controller."""
    share = float(ten.sigma[-1] / abs(ten.values[-1])) if ten.seen[-1] else 0.0
    if share <= RULES.uncertain:
        return []
    return [
        Finding(
            Name.PAYLOAD_UNCERTAIN,
            Level.FAIL if share > RULES.useless else Level.CARE,
            f"The mass of the payload is known to {100 * share:.0f} % only (one standard deviation).",
            "Record longer or faster motions, free and loaded; friction that changed between them, or a "
            "payload that moved, shows so too: compare --way fixed and --way difference.",
            figures={"share": share},
        )
    ]


def _hidden_share(found: PayloadFit) -> float:
    """Variance of the mass over what it would be if all other columns were known."""
    place = int(found.fit.kept[: int(found.columns[-1])].sum())
    T = found.fit.root[place]
    return float(T @ T) * float(found.fit.spectrum.scale[place]) ** 2


def _mass_not_shown(ten: TenParameters, weighed: tuple[float, float] | None) -> Finding:
    """No motion, or not this one, shows the mass: nothing compares with a scale."""
    if not ten.seen.any():
        return Finding(
            Name.NO_LOAD_SEEN,
            Level.FAIL,
            "The torques show nothing of the payload: no parameter of it moves a joint that is driven here.",
            "Check the carrier and the axes; move joints that lift or turn the payload.",
        )
    scale = (
        ""
        if weighed is None
        else f" The weighed mass of {weighed[0]:.4g} kg can neither be checked nor used."
    )
    return Finding(
        Name.PAYLOAD_NOT_SHOWN,
        Level.CARE,
        f"The torques do not show the payload's mass, so neither it nor a centre of mass is given.{scale}",
        "Use the first moments that are shown, or move joints that lift the payload.",
    )


def _against_scale(ten: TenParameters, weighed: tuple[float, float]) -> tuple[Finding, TenParameters]:
    """Gaussian conditioning on a weighed mass, χ + C_M (m − M)/(C_MM + s²), where both agree."""
    mass, s = weighed
    found, sigma = float(ten.values[-1]), float(ten.sigma[-1])
    both = float(np.hypot(sigma, s))
    factor = found / mass
    figures = {"factor": factor, "sigmas": (found - mass) / both, "weighed": mass}
    told = f"The torques say {found:.4g} ± {sigma:.2g} kg, and the payload was weighed as {mass:.4g} kg"
    if abs(found - mass) > RULES.mass * both:
        level = Level.FAIL if abs(factor - 1) > RULES.small else Level.CARE
        said = (
            f"{told}: the torques are {factor:.3g} times what they should be, as when the drive gains are "
            "wrong by this factor. The weighed mass was therefore not taken in."
        )
        return Finding(
            Name.GAINS_IN_DOUBT,
            level,
            said,
            "Calibrate the gains with the same logs and the weighed mass: dynid gains.",
            figures=figures,
        ), ten
    agreed = Finding(Name.MASS_CONFIRMED, Level.GOOD, f"{told}: both agree.", figures=figures)
    return agreed, _given_mass(ten, mass, s)


def _given_mass(ten: TenParameters, mass: float, s: float) -> TenParameters:
    made = {}
    for name in ("covariance", "metric"):
        C = getattr(ten, name)
        made[name] = C - np.outer(C[:, -1], C[-1]) / (C[-1, -1] + s**2)
        made[name][-1, -1] = C[-1, -1] * s**2 / (C[-1, -1] + s**2)
    C = ten.covariance
    gain = C[:, -1] / (C[-1, -1] + s**2) if C[-1, -1] + s**2 > 0 else np.zeros(10)
    return replace(ten, values=ten.values + gain * (mass - ten.values[-1]), **made)


def _common_gain() -> Finding:
    return Finding(
        Name.COMMON_GAIN_UNCHECKED,
        Level.NOTE,
        "The mass was not weighed, so a factor that is common to all drive gains cannot be seen: it scales "
        "mass, moments and inertia alike and leaves the centre of mass.",
        "Weigh the payload and give its mass.",
    )
