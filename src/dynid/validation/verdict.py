"""May the model be used? The figures of a validation, weighed: a grade and findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name, findings_repr, gravest_first, worst_level
from dynid.estimators.estimate import SIGMA_WORDS
from dynid.validation.causes import blame_excitation
from dynid.validation.figures import ErrorFigures, percent_text
from dynid.validation.residual_tests import ResidualTests

_HEAVY_KURTOSIS = 3.0
"""Excess kurtosis beyond which large errors are called frequent; a Gaussian has 0, a Laplace law 3."""


@dataclass(frozen=True)
class Thresholds:
    """Where trust ends. All of them can be changed.

    Args:
        overall_percent: relative error over all joints beyond which the model fails.
        joint_percent: relative error of one joint beyond which that joint needs care.
        joint_fail_percent: relative error of one joint beyond which the model fails.
        ratio_to_fit: how many times the fit's own error, relative and rms, a joint may have on unseen motion.
        ratio_from_percent: relative error below which the ratio is not asked about.
        bias_share: |bias| / rms beyond which a joint's offset is said to have moved.
        rest_share: share of samples left out as nearly at rest beyond which that is said.
        rest_care_share: the same beyond which it asks for care: most of the motion proves nothing.
        expected_share: error that the parameters' doubt leads to expect over the one that is seen, from where
            on too little excitation is named as its cause.
        level: probability below which a residual test rejects.
    """

    overall_percent: float = 15.0
    joint_percent: float = 15.0
    joint_fail_percent: float = 30.0
    ratio_to_fit: float = 2.0
    ratio_from_percent: float = 5.0
    bias_share: float = 0.5
    rest_share: float = 0.1
    rest_care_share: float = 0.5
    expected_share: float = 0.5
    level: float = 0.01

    def __post_init__(self) -> None:
        """Refuse thresholds that nothing or everything would pass."""
        for name, value in asdict(self).items():
            if not value > 0:
                raise DynidError(f"The validation threshold {name} is {value}; it must be positive.")


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer, and what speaks for and against it.

    Args:
        sentence: the answer in one sentence.
        findings: the gravest first.
    """

    sentence: str
    findings: tuple[Finding, ...]

    @property
    def grade(self) -> str:
        """ "good", "care" or "fail": the level of the gravest finding; notes do not lower it."""
        return grade_of(self.findings)

    @property
    def trustworthy(self) -> bool:
        """Whether the model may be used, if need be with care."""
        return worst_level(self.findings) < Level.FAIL

    def __repr__(self) -> str:
        """The answer, and the gravest findings."""
        return findings_repr(f"{self.grade}: {self.sentence}", self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "grade": self.grade,
            "trustworthy": self.trustworthy,
            "sentence": self.sentence,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def grade_of(findings: Iterable[Finding]) -> str:
    """The word of the gravest level among findings, notes aside: "good", "care" or "fail"."""
    worst = worst_level(findings)
    return Level.GOOD.word if worst is Level.NOTE else worst.word


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
    concerns: Sequence[Finding] = (),
    lacking: bool = False,
    doubt_rms: FloatArray | None = None,
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
        uncertainty: how σ of the parameters was found: "classical", "blocks", "hac" or "bootstrap".
        concerns: what else is known about the motions.
        lacking: whether something says that the model lacks an effect: it has no dry friction, or its joints
            do not agree on the parameters they share.
        doubt_rms: RMS of the predicted torques' standard deviation that comes from that of the parameters
            [N m or N], (coordinates,); None where it is not known.
    """
    limits = thresholds or Thresholds()
    where = tested_on(seen, repeated)
    doubted = [lacking or _heavy_tailed(test, limits.level) for test in tests]
    errors = [_overall_error(figures, limits, where), *_joint_errors(figures, fit, joints, limits, where)]
    if fit is not None and not seen:
        errors += _errors_against_fit(figures, fit, joints, limits, where, doubted)
    if not seen:
        errors = blame_excitation(errors, figures, doubt_rms, limits.expected_share)
    findings = gravest_first(
        [
            *concerns,
            *errors,
            *_moved_offsets(figures, joints, limits),
            *_rows_at_rest(left_out, limits),
            *_coloured_residuals(tests, joints, limits.level, uncertainty),
            *_heavy_tails(tests, joints, limits.level),
        ]
    )
    return verdict_of(findings, figures, joints, where)


def tested_on(seen: bool, repeated: bool) -> str:
    """The motion that a model was tried on, in words."""
    if seen:
        return "the motion of the fit"
    return "motion that repeats the fit's" if repeated else "unseen motion"


def verdict_of(
    findings: tuple[Finding, ...], figures: ErrorFigures, joints: Sequence[str], where: str
) -> Verdict:
    """Findings with the answer they lead to.

    Args:
        findings: the gravest first.
        figures: errors on the motion.
        joints: names of the coordinates.
        where: the motion, in words.
    """
    errors, worst = figures.relative_percent, figures.worst
    facts = (
        f"on {where} it misses {percent_text(figures.overall_percent)} of the torque over all joints and "
        f"{percent_text(errors[worst])} on the worst joint ({joints[worst]})"
    )
    head = {
        "good": "The model predicts torques well",
        "care": "The model is usable with care",
        "fail": "The model does not predict the torques well enough to be trusted",
    }[grade_of(findings)]
    return Verdict(f"{head}: {facts}.", findings)


def _overall_error(figures: ErrorFigures, limits: Thresholds, where: str) -> Finding:
    error, limit = figures.overall_percent, percent_text(limits.overall_percent)
    seen = f"The error over all joints on {where} is {percent_text(error)} of the torque"
    if error <= limits.overall_percent:
        return Finding(Name.TORQUE_ERROR, Level.GOOD, f"{seen} (at most {limit} is accepted).")
    return Finding(  # also when there is no figure at all
        Name.TORQUE_ERROR,
        Level.FAIL,
        f"{seen}; at most {limit} is accepted.",
        "Check the log's units and signs, and whether the robot carried another load.",
    )


def _joint_errors(
    figures: ErrorFigures, fit: ErrorFigures | None, joints: Sequence[str], limits: Thresholds, where: str
) -> list[Finding]:
    errors = figures.relative_percent
    light = [] if fit is None else _lightly_loaded(figures, fit, limits)
    undriven = np.flatnonzero(figures.undriven).tolist()
    asked = [j for j in range(len(joints)) if j not in light and j not in undriven]
    grave = [j for j in asked if not errors[j] <= limits.joint_fail_percent]
    weak = [j for j in asked if limits.joint_percent < errors[j] <= limits.joint_fail_percent]
    findings = []
    if undriven:
        listed = ", ".join(f"{joints[j]} ({figures.rms[j]:.3g} rms)" for j in undriven)
        said = f"There is no torque on {listed}: the model misses zero by that much."
        findings.append(Finding(Name.UNDRIVEN_AXIS, Level.NOTE, said))
    if light and fit is not None:
        findings.append(_hardly_loaded(light, figures, fit, joints))
    if grave:
        findings.append(
            Finding(
                Name.JOINT_ERROR,
                Level.FAIL,
                f"{_large_errors(grave, joints, errors)} on {where}: beyond "
                f"{percent_text(limits.joint_fail_percent)}, the model explains too little of the joint's "
                "torque.",
                "Look at its residual: missing friction terms, a coupling or a wrong gear ratio are the "
                "usual causes.",
            )
        )
    if weak:
        findings.append(
            Finding(
                Name.JOINT_ERROR,
                Level.CARE,
                f"{_large_errors(weak, joints, errors)} on {where}: above "
                f"{percent_text(limits.joint_percent)}, so use the torque of such a joint with a margin.",
                "Richer friction terms or a motion that loads the joint more often help.",
            )
        )
    if not grave and not weak:
        which = "Every other joint" if light or undriven else "Every joint"
        within = f"{which} stays within {percent_text(limits.joint_percent)} on {where}."
        findings.append(Finding(Name.JOINT_ERROR, Level.GOOD, within))
    return findings


def _large_errors(which: Sequence[int], joints: Sequence[str], errors: FloatArray) -> str:
    return "The error is large on " + ", ".join(f"{joints[j]} ({percent_text(errors[j])})" for j in which)


def _hardly_loaded(
    which: list[int], figures: ErrorFigures, fit: ErrorFigures, joints: Sequence[str]
) -> Finding:
    listed = ", ".join(
        f"{joints[j]} ({percent_text(figures.relative_percent[j])}; {figures.rms[j]:.3g} rms against "
        f"{fit.rms[j]:.3g} in the fit)"
        for j in which
    )
    return Finding(
        Name.JOINT_HARDLY_LOADED,
        Level.CARE,
        f"The relative error is large on {listed}: in absolute terms it errs as in the fit, but this motion "
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


def _errors_against_fit(
    figures: ErrorFigures,
    fit: ErrorFigures,
    joints: Sequence[str],
    limits: Thresholds,
    where: str,
    doubted: Sequence[bool],
) -> list[Finding]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(
            figures.undriven, figures.rms / fit.rms, figures.relative_percent / fit.relative_percent
        )
    counted = figures.undriven | (figures.relative_percent > limits.ratio_from_percent)
    # A ratio of relative errors alone would blame a joint for being lightly loaded in the new motion.
    larger = figures.rms > limits.ratio_to_fit * fit.rms
    over = [j for j in range(len(joints)) if counted[j] and larger[j] and ratio[j] > limits.ratio_to_fit]
    if not over:
        return [
            Finding(
                Name.WORSE_THAN_FIT,
                Level.GOOD,
                f"On {where} no joint errs more than {limits.ratio_to_fit:g} times what it does in the "
                "fit, in relative and absolute terms.",
            )
        ]
    listed = ", ".join(f"{joints[j]} ({ratio[j]:.1f} ×)" for j in over)
    cause = (
        "Friction that the model lacks, or another effect it has not, is the likely cause; if neither, the "
        "fit's motion did not show all of the joint."
        if any(doubted[j] for j in over)
        else "The fit's motion did not show all of the joint: excite it more, or keep to essential "
        "parameters."
    )
    return [
        Finding(
            Name.WORSE_THAN_FIT,
            Level.CARE,
            f"{where[0].upper()}{where[1:]} is predicted more than {limits.ratio_to_fit:g} times worse than "
            f"the fit's own: {listed}.",
            cause,
        )
    ]


def _moved_offsets(figures: ErrorFigures, joints: Sequence[str], limits: Thresholds) -> list[Finding]:
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(figures.bias) / figures.rms
    moved = [j for j in range(len(joints)) if share[j] > limits.bias_share]
    if not moved:
        return []
    listed = ", ".join(f"{joints[j]} ({figures.bias[j]:+.3g})" for j in moved)
    return [
        Finding(
            Name.OFFSET_MOVED,
            Level.NOTE,
            f"The error has a constant part on {listed}: an offset moved between the logs (temperature, "
            "sensor zero) or gravity is not the same.",
        )
    ]


def _rows_at_rest(left_out: float, limits: Thresholds) -> list[Finding]:
    if not left_out > limits.rest_share:
        return []
    return [
        Finding(
            Name.NEARLY_AT_REST,
            Level.CARE if left_out > limits.rest_care_share else Level.NOTE,
            f"{100 * left_out:.0f} % of the samples do not count because the joint is nearly at rest: there "
            "friction holds it, and the model's torque is right within ± the Coulomb friction only.",
        )
    ]


def _coloured_residuals(
    tests: Sequence[ResidualTests], joints: Sequence[str], level: float, uncertainty: str
) -> list[Finding]:
    coloured = [joints[j] for j, test in enumerate(tests) if not test.white(level)]
    if not coloured:
        return []
    seen = f"The residual is not white on {', '.join(coloured)}: something systematic is left."
    if uncertainty != "classical":
        seen += (
            f" The {SIGMA_WORDS[uncertainty]} σ of the parameters allows for errors that are alike in time."
        )
        return [Finding(Name.COLOURED_RESIDUAL, Level.NOTE, seen)]
    remedy = (
        "The classical σ of the parameters holds only if long blocks of time differ no more than white "
        "errors would. The default σ (honest) looks at such blocks and is larger where they differ more."
    )
    return [Finding(Name.COLOURED_RESIDUAL, Level.NOTE, seen, remedy)]


def _heavy_tails(tests: Sequence[ResidualTests], joints: Sequence[str], level: float) -> list[Finding]:
    heavy = [joints[j] for j, test in enumerate(tests) if _heavy_tailed(test, level)]
    if not heavy:
        return []
    return [
        Finding(
            Name.HEAVY_TAILS,
            Level.NOTE,
            f"Large errors are frequent on {', '.join(heavy)}: look for outliers, or for friction at "
            "reversals; a robust fit (IRLS) weighs them down.",
        )
    ]


def _heavy_tailed(test: ResidualTests, level: float) -> bool:
    """Whether large errors are frequent, as friction at reversals makes them."""
    return not test.gaussian(level) and test.excess_kurtosis > _HEAVY_KURTOSIS
