"""The answer on the first screen: may the model be trusted, and the three figures behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynid.core.finding import Finding, Level, Name, gravest_first, worst_level
from dynid.core.plain import plain
from dynid.estimators.estimate import SIGMA_WORDS, Estimate
from dynid.report.checks import UsedLog, findings_of
from dynid.report.parameters import KNOWN_PERCENT
from dynid.validation.causes import with_causes_first
from dynid.validation.cross import Stability
from dynid.validation.figures import percent_text
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
    changed: bool | None = None,
) -> dict[str, Any]:
    """Grade, one sentence, three figures and the findings, the gravest first.

    Args:
        estimate: what was identified.
        fit: the model on the fit's own motions.
        validation: the model on unseen motions, or None when none were given.
        logs: the logs of the fit and of the validation, with their data checks.
        stability: parameters from each experiment alone.
        concerns: what else was noticed about the parameters.
        changed: whether a suspect says that something changed between or within the logs; None where none
            could be asked.
    """
    notes = estimate.findings
    findings = gravest_first(
        [
            *concerns,
            _outcome(estimate, fit),
            *(note for note in notes if note.level >= Level.CARE),
            *findings_of(logs),
            *_proof(fit, validation),
            *(note for note in notes if note.level < Level.CARE),
            *_poorly_known(estimate),
            *_moved_parameters(stability, changed),
        ]
    )
    if validation is None or not _worse_than_fit(validation):  # what explains the fit's errors explains these
        findings = with_causes_first(findings)
    grade = grade_of(findings)
    return {
        "grade": grade,
        "trustworthy": grade != "fail",
        "words": WORDS[grade],
        "sentence": _sentence(findings, fit if validation is None else validation),
        "figures": _figures(estimate, fit, validation),
        "findings": [finding.to_dict() for finding in findings],
    }


def _outcome(estimate: Estimate, fit: Validation) -> Finding:
    if not estimate.outcome.trustworthy or estimate.outcome.sentence:
        return estimate.outcome
    if fit.judged.overall_percent <= Thresholds().overall_percent:
        sound = "The estimation ended well: every parameter kept is determined by the data."
        return Finding(Name.ESTIMATION_SOUND, Level.GOOD, sound)
    doubt = (
        "The data determine every parameter kept, but the model does not explain the torques of its own fit"
    )
    return Finding(Name.TORQUE_NOT_EXPLAINED, Level.NOTE, f"{doubt}: the values mean little.")


def _poorly_known(estimate: Estimate) -> list[Finding]:
    poor = int(np.count_nonzero(estimate.kept & ~(estimate.relative_sigma <= KNOWN_PERCENT)))
    kept = int(np.count_nonzero(estimate.kept))
    said = f"{poor} of {kept} parameters are known no better than {KNOWN_PERCENT:g} %"
    remedy = "Use the torques, not those single values, or keep only the essential parameters."
    return [Finding(Name.POORLY_KNOWN, Level.NOTE, f"{said}.", remedy)] if poor else []


def _moved_parameters(stability: Stability | None, changed: bool | None) -> list[Finding]:
    """Parameters that differ between experiments: a caution where something is seen to have changed.

    Otherwise they only take up friction that the model lacks, each motion in its own way: a note.
    """
    found = None if stability is None else stability.contradiction
    if found is not None:
        return [replace(found, level=min(found.level, Level.NOTE)) if changed is False else found]
    moved = () if stability is None else stability.moved_parameters()
    if not moved:
        return []
    said = f"{len(moved)} parameters differ between experiments by more than 3 combined σ (most: {moved[0]})"
    cause = "a single one may by chance; look whether the robot changed between them."
    return [Finding(Name.PARAMETERS_MOVED, Level.NOTE, f"{said}: {cause}")]


def _proof(fit: Validation, validation: Validation | None) -> tuple[Finding, ...]:
    if validation is not None:
        return validation.verdict.findings
    said = "No unseen motion was given, so nothing proves that the model holds beyond the motion of the fit."
    lack = Finding(Name.NO_UNSEEN_MOTION, Level.CARE, said, "Record a second log and validate.")
    return (lack, *fit.verdict.findings)


def _worse_than_fit(validation: Validation) -> bool:
    findings = validation.verdict.findings
    return any(f.name is Name.WORSE_THAN_FIT and f.level >= Level.CARE for f in findings)


def _where(tested: Validation) -> tuple[str, str]:
    """The motion tried on, for a sentence and for a label."""
    if tested.seen:
        return "On the motion of its own fit", "on the fit's own motion"
    if tested.repeated:
        return "On motion that repeats the fit's", "on repeated motion"
    return "On motion the fit has not seen", "on unseen motion"


def _sentence(findings: Sequence[Finding], tested: Validation) -> str:
    where, _ = _where(tested)
    error, full = percent_text(tested.judged.overall_percent), percent_text(tested.full.overall_percent)
    filtered = f"after filtering ({full} at full rate, with noise)"
    rate = "at full rate" if tested.decimated is None else filtered
    fact = f"{where}, its torques miss the measured ones by {error} over all joints {rate}"
    worst = worst_level(findings)
    if worst < Level.CARE:
        return f"{fact}, and nothing found speaks against using it."
    grave = [finding for finding in findings if finding.level is worst]
    more = "" if len(grave) == 1 else f" (and {len(grave) - 1} more below)"
    return f"{fact}. The main {'objection' if worst is Level.FAIL else 'caution'}{more}: {grave[0].text}"


def _figures(estimate: Estimate, fit: Validation, validation: Validation | None) -> list[dict[str, Any]]:
    tested = fit if validation is None else validation
    full = f"{percent_text(tested.full.overall_percent)} at full rate"
    rate = "at full rate" if tested.decimated is None else f"after filtering, {full}"
    own = f"{percent_text(fit.judged.overall_percent)} in the fit itself"
    beside = "no unseen motion was given" if validation is None else own
    errors, rms = tested.judged.relative_percent, tested.judged.rms
    worst = tested.judged.worst
    size = f"{tested.joints[worst]}: {rms[worst]:.3g} {tested.units[worst]} rms"
    size += "" if validation is None else f", {fit.judged.rms[worst]:.3g} in the fit"
    kept = int(np.count_nonzero(estimate.kept))
    known = int(np.count_nonzero(estimate.kept & (estimate.relative_sigma <= KNOWN_PERCENT)))
    doubt = f"{SIGMA_WORDS[estimate.uncertainty]} σ, one standard deviation"
    rows = [
        ("torque_error_percent", f"Torque error {_where(tested)[1]}", tested.judged.overall_percent, "%"),
        ("worst_joint_percent", "Worst joint", float(errors[worst]), "%"),
        ("known_parameters", f"Parameters known within {KNOWN_PERCENT:g} %", known, f"of {kept}"),
    ]
    notes = (f"{rate}; {beside}", size, doubt)
    figures = [
        {"key": key, "label": label, "value": plain(value), "unit": unit, "note": note}
        for (key, label, value, unit), note in zip(rows, notes, strict=True)
    ]
    figures[0]["full_rate"] = plain(tested.full.overall_percent)
    return figures
