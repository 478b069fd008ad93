"""What a calibration of gains is worth: which motors could be calibrated, and why others could not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.calibration.bilinear import BilinearFit
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.motor_payload import MotorPayload
from dynid.calibration.sequence import LARGEST_SHARE, MotorTrial, SequenceFound
from dynid.core.finding import FINE, Finding, Level, Name, Where


@dataclass(frozen=True)
class GainRules:
    """Thresholds; docs/gains.md has the population that they were set on, and their rates on the other half.

    Args:
        sure: σ by which 1/g must differ from zero for its sign to be believed.
        change: σ by which the arm's own torque must differ between free and loaded motions for a gain to
            count as changed,
        least_change: and the share it must differ by.
        contradiction: squares of the fit of all motors together, over their degrees of freedom, above which
            motors contradict each other.
    """

    sure: float = 4.0
    change: float = 3.0
    least_change: float = 0.02
    contradiction: float = 2.0


RULES = GainRules()


def judge_gains(
    rows: Sequence[MotorPayload],
    found: SequenceFound,
    together: BilinearFit | None,
    knowledge: PayloadKnowledge,
) -> tuple[Finding, tuple[Finding, ...]]:
    """The outcome, gravest first, and what is to be said of single motors.

    Args:
        rows: what each motor says of the payload.
        found: motors tried one after the other.
        together: the fit of all calibrated motors; None where there is none.
        knowledge: what is known of the payload.
    """
    single = [_motor_finding(row, trial, knowledge) for row, trial in zip(rows, found.trials, strict=True)]
    beside = [finding for finding in single if finding is not None]
    outcome = _swap_finding(rows, found.trials) or _nothing_seen(rows, found, knowledge)
    negative = [finding for finding in beside if finding.name is Name.NEGATIVE_GAIN]
    contradiction = None if together is None else _contradiction(together)
    changed = [_change_finding(row) for row in rows if _has_changed(row)]
    beside += changed
    outcome = outcome or next(iter((*negative, *changed)), None) or contradiction or FINE
    return outcome, tuple(finding for finding in beside if finding is not outcome)


def _has_changed(row: MotorPayload) -> bool:
    return abs(row.change) > max(RULES.change * row.change_sigma, RULES.least_change)


def _change_finding(row: MotorPayload) -> Finding:
    """The arm itself, without its payload, weighs or rubs otherwise in the loaded motions."""
    direction = "larger" if row.change > 0 else "smaller"
    return Finding(
        Name.GAIN_CHANGED,
        Level.FAIL,
        f"The torque of motor {row.motor + 1} for the arm itself, friction included, is "
        f"{100 * abs(row.change):.1f} ± {100 * row.change_sigma:.1f} % {direction} in the loaded logs than "
        "in the free ones: the gain or the friction changed between them, and "
        "what the payload adds cannot be told from that.",
        "Record free and loaded logs at the same temperature, one after the other, with the same settings of "
        "the drives.",
        Where(axis=row.motor + 1),
        {"change": row.change, "sigma": row.change_sigma},
    )


def is_negative(trial: MotorTrial) -> bool:
    """Whether 1/g is below zero beyond doubt."""
    return trial.theta < -RULES.sure * trial.sigma


def is_positive(trial: MotorTrial) -> bool:
    """Whether 1/g is above zero beyond doubt."""
    return trial.theta > RULES.sure * trial.sigma


def _swap_finding(rows: Sequence[MotorPayload], trials: Sequence[MotorTrial]) -> Finding | None:
    """All motors that feel what is known feel it with the wrong sign: the free log carries the load."""
    first = [(row, trial) for row, trial in zip(rows, trials, strict=True) if trial.stage == 1]
    negative = [row.motor + 1 for row, trial in first if is_negative(trial)]
    if not negative or any(is_positive(trial) for _, trial in first):
        return None
    least = max(trial.theta / trial.sigma for _, trial in first if is_negative(trial))
    one = "" if len(negative) > 1 else " Only one motor says so: its signal may also have the wrong sign."
    return Finding(
        Name.LOGS_SWAPPED,
        Level.FAIL,
        f"The load makes the torques of {_motors(negative)} smaller, not larger (1/g is negative by "
        f"{-least:.0f} σ or more): the logs called free carry the load, and the loaded ones do not.{one}",
        "Swap --free and --loaded.",
        figures={"motors": negative, "sigmas": float(least)},
    )


def _nothing_seen(
    rows: Sequence[MotorPayload], found: SequenceFound, knowledge: PayloadKnowledge
) -> Finding | None:
    """No motor could be calibrated at all."""
    first = [(row, trial) for row, trial in zip(rows, found.trials, strict=True) if trial.stage == 1]
    if found.stages or any(is_negative(trial) for _, trial in first):
        return None
    known = ", ".join(knowledge.values)
    if not first:
        return Finding(
            Name.NOT_CALIBRATABLE,
            Level.FAIL,
            f"No motor of this robot feels {known} apart from the payload's unknown parameters, whatever the "
            "motion.",
            "Give further parameters of the payload, from CAD or from weighing it on several supports.",
        )
    best = min((trial for _, trial in first), key=lambda trial: trial.share)
    said = f"of the best, 1/g is known to {100 * best.share:.0f} %" if is_positive(best) else "none does"
    return Finding(
        Name.NO_LOAD_SEEN,
        Level.FAIL,
        f"No motor shows the load well enough to calibrate it: {_motors([r.motor + 1 for r, _ in first])} "
        f"should feel {known}, but {said} (at most {100 * LARGEST_SHARE:.0f} % are taken).",
        "Check that the loaded log was taken with the payload on; move it against gravity and with large "
        "accelerations, free and loaded alike, for longer, or take a heavier payload.",
        figures={"relative_sigma": float(best.share)},
    )


def _contradiction(fit: BilinearFit) -> Finding | None:
    """Motors that are not of one mind about the payload."""
    if fit.degrees < 1:
        return None
    ratio = fit.squares / fit.degrees
    if ratio <= RULES.contradiction:
        return None
    return Finding(
        Name.MOTORS_CONTRADICT,
        Level.FAIL,
        f"The motors contradict each other about the payload: with the best gains they still differ "
        f"{np.sqrt(ratio):.1f} times as much as their own errors explain ({fit.degrees} degrees of freedom).",
        "Check that the payload is rigidly fixed and the same in all loaded logs, that gains, tool and "
        "temperature did not change between free and loaded logs, and what dynid check says of them.",
        figures={"chi_square": fit.squares, "degrees": fit.degrees},
    )


def _motor_finding(row: MotorPayload, trial: MotorTrial, knowledge: PayloadKnowledge) -> Finding | None:
    """What is to be said of a motor that was not calibrated, or None."""
    if trial.is_calibrated:
        return None
    motor, known = f"Motor {row.motor + 1}", ", ".join(knowledge.values)
    lacks = [name for name in knowledge.values if name not in row.felt]
    blind = f" It does not feel {', '.join(lacks)}." if lacks else ""
    where = Where(axis=row.motor + 1)
    figures = {"inverse_gain": trial.theta, "sigma": trial.sigma}
    if trial.stage == 0:
        hidden = blind or " Other parameters of the payload hide their effect."
        cause = (
            f"{motor} cannot be calibrated from {known}.{hidden} No calibrated motor shows what it "
            "feels of the payload."
        )
        remedy = "Give further parameters of the payload."
        return Finding(Name.NOT_CALIBRATABLE, Level.NOTE, cause, remedy, where)
    if is_negative(trial):
        return negative_gain(row.motor, trial)
    felt = ", ".join(name for name in row.felt if name not in knowledge.values) or known
    source = f"{blind} From {felt}," if trial.stage > 1 else ""
    if not is_positive(trial):
        return Finding(
            Name.UNBOUNDED_GAIN,
            Level.NOTE if trial.stage > 1 else Level.CARE,
            f"{motor} cannot be calibrated from {known} with this payload and motion.{source} "
            f"{unbounded(trial)}",
            _remedy(trial),
            where,
            figures,
        )
    return Finding(
        Name.UNCERTAIN_GAIN,
        Level.NOTE if trial.stage > 1 else Level.CARE,
        f"{motor} is not calibrated.{source} Its gain would be known to {100 * trial.share:.0f} %, and "
        f"at most {100 * LARGEST_SHARE:.0f} % are taken.",
        _remedy(trial),
        where,
        figures,
    )


def negative_gain(motor: int, trial: MotorTrial) -> Finding:
    """A motor, from 0, whose 1/g is below zero beyond doubt."""
    return Finding(
        Name.NEGATIVE_GAIN,
        Level.FAIL,
        f"Motor {motor + 1} has a negative gain: 1/g = {trial.theta:.3g} ± {trial.sigma:.2g} relative to the "
        "a-priori one, which no drive has.",
        "Turn the sign of its signal in the mapping, or check which axis the column belongs to.",
        Where(axis=motor + 1),
        {"inverse_gain": trial.theta, "sigma": trial.sigma},
    )


def unbounded(trial: MotorTrial) -> str:
    """That 1/g may be zero, in words."""
    return (
        f"1/g = {trial.theta:.3g} ± {trial.sigma:.2g} relative to the a-priori one cannot be told from 0, so "
        "that the gain has no upper bound."
    )


def _remedy(trial: MotorTrial) -> str:
    if trial.stage == 1:
        return "Move this joint against gravity or with larger accelerations while loaded, and for longer."
    return "Fix the payload with its centre of mass far from the last axis, so that MX and MY are large."


def _motors(numbers: Sequence[int]) -> str:
    """Motors in words, such as "motors 1, 2 and 3"."""
    if len(numbers) == 1:
        return f"motor {numbers[0]}"
    return f"motors {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def sentences_of_calibrated(
    rows: Sequence[MotorPayload], trials: Sequence[MotorTrial], knowledge: PayloadKnowledge
) -> Iterator[str]:
    """How each gain was found, or why not."""
    known = ", ".join(knowledge.values)
    by_stage = {
        s: [r.motor + 1 for r, t in zip(rows, trials, strict=True) if t.is_calibrated and t.stage < s]
        for s in range(2, len(rows) + 2)
    }
    for row, trial in zip(rows, trials, strict=True):
        if not trial.is_calibrated:
            finding = _motor_finding(row, trial, knowledge)
            yield finding.sentence if finding is not None else ""
        elif trial.stage == 1:
            yield f"From {known}, which motor {row.motor + 1} feels."
        else:
            felt = ", ".join(name for name in row.felt if name not in knowledge.values)
            yield f"From {felt}, as {_motors(by_stage[trial.stage])} show them; it does not feel {known}."
