"""The answer on the first screen: may the model be trusted, and the three figures behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynid.core.finding import Finding, Level, Name, gravest_first, worst_level
from dynid.estimators.estimate import Estimate
from dynid.report.checks import UsedLog, findings_of
from dynid.report.parameters import KNOWN_PERCENT
from dynid.validation.numbers import plain
from dynid.validation.stability import Stability
from dynid.validation.validation import Validation
from dynid.validation.verdict import Thresholds, grade_of

WORDS = {
    "good": "This model can be trusted.",
    "care": "This model is usable with care.",
    "fail": "Do not trust this model.",
}


def headline(
    estimate: Estimate,
    fit: Validation,
    validation: Validation | None,
    logs: Sequence[UsedLog] = (),
    stability: Stability | None = None,
    concerns: Sequence[Finding] = (),
) -> dict[str, Any]:
    """Grade, one sentence, three figures and the findings, the gravest first.

    Args:
        estimate: what was identified.
        fit: the model on the fit's own motions.
        validation: the model on unseen motions, or None when none were given.
        logs: the logs of the fit and of the validation, with their data checks.
        stability: parameters from each experiment alone.
        concerns: what else was noticed about the parameters.
    """
    notes = estimate.findings
    findings = gravest_first(
        [
            *concerns,
            *_outcome(estimate, fit),
            *(note for note in notes if note.level >= Level.CARE),
            *findings_of(logs),
            *_proof(fit, validation),
            *(note for note in notes if note.level < Level.CARE),
            *_poorly_known(estimate),
            *_moved_parameters(stability),
        ]
    )
    grade = grade_of(findings)
    return {
        "grade": grade,
        "trustworthy": grade != "fail",
        "words": WORDS[grade],
        "sentence": _sentence(findings, fit, validation),
        "figures": _figures(estimate, fit, validation),
        "findings": [finding.to_dict() for finding in findings],
    }


def _outcome(estimate: Estimate, fit: Validation) -> list[Finding]:
    outcome = estimate.outcome
    if outcome.trustworthy and not outcome.sentence:
        if not fit.judged.overall_percent <= Thresholds().overall_percent:
            return [
                Finding(
                    Name.TORQUE_NOT_EXPLAINED,
                    Level.NOTE,
                    "The data determine every parameter kept, but the model does not explain the torques of "
                    "its own fit: the values mean little.",
                )
            ]
        sound = "The estimation ended well: every parameter kept is determined by the data."
        return [Finding(Name.ESTIMATION_SOUND, Level.GOOD, sound)]
    return [outcome]


def _poorly_known(estimate: Estimate) -> list[Finding]:
    poor = int(np.count_nonzero(estimate.kept & ~(estimate.relative_sigma <= KNOWN_PERCENT)))
    if not poor:
        return []
    kept = int(np.count_nonzero(estimate.kept))
    return [
        Finding(
            Name.POORLY_KNOWN,
            Level.NOTE,
            f"{poor} of {kept} parameters are known no better than {KNOWN_PERCENT:g} %: use the torques, "
            "not those single values, or keep only the essential parameters.",
        )
    ]


def _moved_parameters(stability: Stability | None) -> list[Finding]:
    moved = () if stability is None else stability.moved()
    if not moved:
        return []
    return [
        Finding(
            Name.PARAMETERS_MOVED,
            Level.NOTE,
            f"{len(moved)} parameters differ between experiments by more than 3 combined σ (most: "
            f"{moved[0]}): σ is too small, or the robot changed between them.",
        )
    ]


def _proof(fit: Validation, validation: Validation | None) -> list[Finding]:
    if validation is not None:
        return list(validation.verdict.findings)
    lack = Finding(
        Name.NO_UNSEEN_MOTION,
        Level.CARE,
        "No unseen motion was given, so nothing proves that the model holds beyond the motion of the fit; "
        "record a second log and validate.",
    )
    return [lack, *fit.verdict.findings]


def _where(tested: Validation) -> tuple[str, str]:
    """The motion tried on, for a sentence and for a label."""
    if tested.seen:
        return "On the motion of its own fit", "on the fit's own motion"
    if tested.repeated:
        return "On motion that repeats the fit's", "on repeated motion"
    return "On motion the fit has not seen", "on unseen motion"


def _sentence(findings: Sequence[Finding], fit: Validation, validation: Validation | None) -> str:
    tested = fit if validation is None else validation
    where, _ = _where(tested)
    error, full = _percent(tested.judged.overall_percent), _percent(tested.full.overall_percent)
    fact = f"{where}, its torques miss the measured ones by {error} over all joints"
    fact += (
        " at full rate" if tested.decimated is None else f" after filtering ({full} at full rate, with noise)"
    )
    worst = worst_level(findings)
    if worst < Level.CARE:
        return f"{fact}, and nothing found speaks against using it."
    grave = [finding for finding in findings if finding.level is worst]
    more = "" if len(grave) == 1 else f" (and {len(grave) - 1} more below)"
    return f"{fact}. The main {'objection' if worst is Level.FAIL else 'caution'}{more}: {grave[0].text}"


def _percent(value: float) -> str:
    return f"{value:.3g} %" if np.isfinite(value) else "an undefined share"


def _figures(estimate: Estimate, fit: Validation, validation: Validation | None) -> list[dict[str, Any]]:
    tested = fit if validation is None else validation
    _, where = _where(tested)
    errors = tested.judged.relative_percent
    worst = int(np.argmax(np.where(np.isfinite(errors), errors, np.inf)))
    size = f"{tested.judged.rms[worst]:.3g} {tested.units[worst]}"
    kept = int(np.count_nonzero(estimate.kept))
    known = int(np.count_nonzero(estimate.kept & (estimate.relative_sigma <= KNOWN_PERCENT)))
    own = _percent(fit.judged.overall_percent)
    told = "no unseen motion was given" if validation is None else f"{own} in the fit itself"
    beside = "" if validation is None else f", {fit.judged.rms[worst]:.3g} in the fit"
    full = f"{_percent(tested.full.overall_percent)} at full rate"
    rate = "at full rate" if tested.decimated is None else f"after filtering, {full}"
    return [
        {
            "key": "torque_error_percent",
            "label": f"Torque error {where}",
            "value": plain(tested.judged.overall_percent),
            "unit": "%",
            "full_rate": plain(tested.full.overall_percent),
            "note": f"{rate}; {told}",
        },
        {
            "key": "worst_joint_percent",
            "label": "Worst joint",
            "value": plain(float(errors[worst])),
            "unit": "%",
            "note": f"{tested.joints[worst]}: {size} rms{beside}",
        },
        {
            "key": "known_parameters",
            "label": f"Parameters known within {KNOWN_PERCENT:g} %",
            "value": known,
            "unit": f"of {kept}",
            "note": f"{estimate.uncertainty.replace('hac', 'HAC')} uncertainty, one standard deviation",
        },
    ]
