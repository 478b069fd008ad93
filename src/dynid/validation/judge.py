"""Weigh the figures of a validation: one function per kind of reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.validation.figures import ErrorFigures
from dynid.validation.residual_reasons import heavy_tailed, residual_reasons
from dynid.validation.residual_tests import ResidualTests
from dynid.validation.verdict import LEVELS, Reason, Thresholds, Verdict, grade_of

FloatArray = NDArray[np.float64]


def judge(
    figures: ErrorFigures,
    tests: Sequence[ResidualTests],
    joints: Sequence[str],
    *,
    fit: ErrorFigures | None = None,
    thresholds: Thresholds | None = None,
    seen: bool = False,
    repeated: bool = False,
    left_out: float = 0.0,
    uncertainty: str = "classical",
    concerns: Sequence[Reason] = (),
    lacking: bool = False,
) -> Verdict:
    """Weigh the figures of a validation.

    Args:
        figures: errors on the motion.
        tests: residual tests, one per coordinate.
        joints: names of the coordinates.
        fit: errors on the motion of the fit, to compare with.
        thresholds: where trust ends.
        seen: whether the motion is that of the fit, which proves less.
        repeated: whether the motion is new, but repeats that of the fit, which proves little more.
        left_out: share of the samples that do not count because the joint is nearly at rest.
        uncertainty: how σ of the parameters was found: "classical", "hac" or "bootstrap".
        concerns: what else is known about the motions.
        lacking: whether something says that the model lacks an effect: it has no dry friction, or its joints
            do not agree on the parameters they share.
    """
    limits = thresholds or Thresholds()
    where = tested_on(seen, repeated)
    doubted = [lacking or heavy_tailed(test, limits.level) for test in tests]
    reasons = [
        *concerns,
        _overall(figures, limits, where),
        *_joints(figures, fit, joints, limits, where),
        *([] if fit is None or seen else _ratios(figures, fit, joints, limits, where, doubted)),
        *_biases(figures, joints, limits),
        *_rests(left_out, limits),
        *residual_reasons(tests, joints, limits.level, uncertainty),
    ]
    ordered = tuple(sorted(reasons, key=lambda reason: -LEVELS.index(reason.level)))
    grade = grade_of(ordered)
    return Verdict(grade, _sentence(grade, figures, joints, where), ordered)


def tested_on(seen: bool, repeated: bool) -> str:
    """The motion that a model was tried on, in words."""
    if seen:
        return "the motion of the fit"
    return "motion that repeats the fit's" if repeated else "unseen motion"


def _sentence(grade: str, figures: ErrorFigures, joints: Sequence[str], where: str) -> str:
    worst = _worst(figures)
    facts = (
        f"on {where} it misses {_percent(figures.overall_percent)} of the torque over all joints and "
        f"{_percent(figures.relative_percent[worst])} on the worst joint ({joints[worst]})"
    )
    head = {
        "good": "The model predicts torques well",
        "care": "The model is usable with care",
        "fail": "The model does not predict the torques well enough to be trusted",
    }[grade]
    return f"{head}: {facts}."


def _overall(figures: ErrorFigures, limits: Thresholds, where: str) -> Reason:
    error = figures.overall_percent
    if not error <= limits.overall_percent:  # also when there is no figure at all
        return Reason(
            "fail",
            f"The error over all joints on {where} is {_percent(error)} of the torque; at most "
            f"{_percent(limits.overall_percent)} is accepted. Check the log's units and signs, and whether "
            "the robot carried another load.",
        )
    return Reason(
        "good",
        f"The error over all joints on {where} is {_percent(error)} of the torque "
        f"(at most {_percent(limits.overall_percent)} is accepted).",
    )


def _joints(
    figures: ErrorFigures, fit: ErrorFigures | None, joints: Sequence[str], limits: Thresholds, where: str
) -> list[Reason]:
    errors = figures.relative_percent
    light = [] if fit is None else _lightly_loaded(figures, fit, limits)
    asked = [j for j in range(len(joints)) if j not in light]
    grave = [j for j in asked if not errors[j] <= limits.joint_fail_percent]
    weak = [j for j in asked if limits.joint_percent < errors[j] <= limits.joint_fail_percent]
    reasons = []
    if light and fit is not None:
        reasons.append(_light(light, figures, fit, joints))
    if grave:
        reasons.append(
            Reason(
                "fail",
                f"{_listed(grave, joints, errors)} on {where}: beyond {_percent(limits.joint_fail_percent)}, "
                "the model explains too little of the joint's torque. Look at its residual: missing "
                "friction terms, a coupling or a wrong gear ratio are the usual causes.",
            )
        )
    if weak:
        reasons.append(
            Reason(
                "care",
                f"{_listed(weak, joints, errors)} on {where}: above {_percent(limits.joint_percent)}, so "
                "use the torque of such a joint with a margin. Richer friction terms or a motion that loads "
                "the joint more often help.",
            )
        )
    if not grave and not weak:
        which = "Every other joint" if light else "Every joint"
        reasons.append(Reason("good", f"{which} stays within {_percent(limits.joint_percent)} on {where}."))
    return reasons


def _light(which: list[int], figures: ErrorFigures, fit: ErrorFigures, joints: Sequence[str]) -> Reason:
    told = ", ".join(
        f"{joints[j]} ({_percent(figures.relative_percent[j])}; {figures.rms[j]:.3g} rms against "
        f"{fit.rms[j]:.3g} in the fit)"
        for j in which
    )
    return Reason(
        "care",
        f"The relative error is large on {told}: in absolute terms it errs as in the fit, but this motion "
        "hardly loads the joint and so does not prove it; validate with one that does.",
    )


def _lightly_loaded(figures: ErrorFigures, fit: ErrorFigures, limits: Thresholds) -> list[int]:
    """Joints beyond the limit only because their torque is small: no larger an error than in a good fit."""
    return [
        j
        for j, error in enumerate(figures.relative_percent)
        if error > limits.joint_percent
        and fit.relative_percent[j] <= limits.joint_percent
        and figures.rms[j] <= limits.ratio_to_fit * fit.rms[j]
    ]


def _ratios(
    figures: ErrorFigures,
    fit: ErrorFigures,
    joints: Sequence[str],
    limits: Thresholds,
    where: str,
    doubted: Sequence[bool],
) -> list[Reason]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = figures.relative_percent / fit.relative_percent
    counted = figures.relative_percent > limits.ratio_from_percent
    # A ratio of relative errors alone would blame a joint for being lightly loaded in the new motion.
    larger = figures.rms > limits.ratio_to_fit * fit.rms
    over = [j for j in range(len(joints)) if counted[j] and larger[j] and ratio[j] > limits.ratio_to_fit]
    if not over:
        return [
            Reason(
                "good",
                f"On {where} no joint errs more than {limits.ratio_to_fit:g} times what it does in the "
                "fit, in relative and absolute terms.",
            )
        ]
    told = ", ".join(f"{joints[j]} ({ratio[j]:.1f} ×)" for j in over)
    cause = (
        "Friction that the model lacks, or another effect it has not, is the likely cause; if neither, the "
        "fit's motion did not show all of the joint."
        if any(doubted[j] for j in over)
        else "The fit's motion did not show all of the joint: excite it more, or keep to essential "
        "parameters."
    )
    return [
        Reason(
            "care",
            f"{where[0].upper()}{where[1:]} is predicted more than {limits.ratio_to_fit:g} times worse than "
            "the fit's own: "
            f"{told}. {cause}",
        )
    ]


def _biases(figures: ErrorFigures, joints: Sequence[str], limits: Thresholds) -> list[Reason]:
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(figures.bias) / figures.rms
    moved = [j for j in range(len(joints)) if share[j] > limits.bias_share]
    if not moved:
        return []
    told = ", ".join(f"{joints[j]} ({figures.bias[j]:+.3g})" for j in moved)
    return [
        Reason(
            "note",
            f"The error has a constant part on {told}: an offset moved between the logs (temperature, "
            "sensor zero) or gravity is not the same.",
        )
    ]


def _rests(left_out: float, limits: Thresholds) -> list[Reason]:
    if not left_out > limits.rest_share:
        return []
    return [
        Reason(
            "care" if left_out > limits.rest_care_share else "note",
            f"{100 * left_out:.0f} % of the samples do not count because the joint is nearly at rest: there "
            "friction holds it, and the model's torque is right within ± the Coulomb friction only.",
        )
    ]


def _listed(which: Sequence[int], joints: Sequence[str], errors: FloatArray) -> str:
    told = ", ".join(f"{joints[j]} ({_percent(errors[j])})" for j in which)
    return f"The error is large on {told}"


def _worst(figures: ErrorFigures) -> int:
    return int(np.argmax(np.where(np.isfinite(figures.relative_percent), figures.relative_percent, np.inf)))


def _percent(value: float) -> str:
    return f"{value:.3g} %" if np.isfinite(value) else "an undefined share"
