"""The suggested preparation, tried on the robot: enough rows, band, logged speeds and mask."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.checks.excitation import LIMITS as EXCITATION
from dynid.core.arrays import FloatArray
from dynid.core.errors import option_words
from dynid.logs.log import Log
from dynid.logs.resample import steady_rate
from dynid.model.robot import Robot
from dynid.preparation.preparation import DIFFERENTIATED, MEASURED, Preparation
from dynid.preparation.spectrum import BAND, FEWEST_SAMPLES, three_digits
from dynid.preparation.suggestion import Suggestion
from dynid.workflow.choice import RULES, Gain, PartRows, best_of, gain_over, least_squares
from dynid.workflow.friction_mask import friction_thresholds
from dynid.workflow.trial_rows import TrialLogs, TrialRows, trial_logs


@dataclass(frozen=True)
class TrialLimits:
    """What may be tried.

    Args:
        least_share: of a joint's samples that are taken to be above its mask when rows are counted: a joint
            that mostly rests should not decide on the band of the others.
        spare: rows that are counted on over those that are wanted: a thinned log counts them roughly.
        apart: scale less one and phase [rad] of logged derivatives, beyond which they are not those of the
            positions (unit, delay, filter).
        least_rows: samples per part and candidate below which nothing can be told.
    """

    least_share: float = 0.25
    spare: float = 1.03
    apart: float = 0.05
    least_rows: int = 8


LIMITS = TrialLimits()


def choose_preparation(
    robot: Robot, logs: Sequence[Log], suggestion: Suggestion, given: Collection[str] = ()
) -> Suggestion:
    """A suggestion for this robot: each joint has rows enough, and what predicts better takes its place.

    Candidates are the band (cut-off and decimation), and logged speeds and accelerations. Each predicts parts
    of the logs that its fit has not used, on rows in the suggested band, so that errors can be compared. Then
    the mask grows where friction near rest is not what it is above, and faster motion is predicted no worse.

    Args:
        robot: the robot.
        logs: of the fit, joint side.
        suggestion: from the longest of them, with the user's keys in place.
        given: keys of the user's, which stand.
    """
    plan = suggestion.plan
    if suggestion.facts.get("samples", 0) < FEWEST_SAMPLES or plan.convention == "matlab":
        return suggestion
    bench, found = _bench(base_of(robot), logs, plan), suggestion
    judge = len(bench.rows.part) >= LIMITS.least_rows * RULES.parts
    if "decimation" not in given:
        found = _with_enough_rows(bench, found, judge)
    free = [name for name in ("velocity", "acceleration") if name in bench.channels and name not in given]
    if free:
        found = _with_best_derivatives(bench, found, free, judge)
    if judge and plan.cutoff_hz is not None and not {"cutoff_hz", "decimation"} & set(given):
        found = _with_best_band(bench, found)
    if plan.speed_thresholds and "speed_thresholds" not in given:
        found = _with_friction_mask(bench, found)
    return found


def thresholds_of(plan: Preparation, joints: int) -> FloatArray:
    """Speed thresholds of a plan, (joints,); zeros where it has none."""
    return np.array(plan.speed_thresholds or (0.0,) * joints)


@dataclass(frozen=True, eq=False)
class _Bench:
    """What candidates share.

    Args:
        trial: thinned logs.
        width: number of base parameters.
        samples: of all logs together, at full rate.
        rate_hz: of the logs.
        suggested: the plan whose decimation and mask all are judged with.
        sigma: error of each joint, by which rows are weighted [N m or N].
        channels: what every log holds.
    """

    trial: TrialLogs
    width: int
    samples: int
    rate_hz: float
    suggested: Preparation
    sigma: FloatArray
    channels: frozenset[str]

    @property
    def rows(self) -> TrialRows:
        """Rows of the suggested plan."""
        return self.trial.rows(self.suggested, self.suggested.decimation)

    def errors(self, plan: Preparation) -> FloatArray:
        """Torque errors on parts that a fit under this plan has not used, in the suggested band."""
        if plan not in self._errors:
            limits = thresholds_of(self.suggested, len(self.sigma))
            train, test = (
                self.trial.rows(plan, decimation).parts(limits, self.sigma, self.width)
                for decimation in (plan.decimation, self.suggested.decimation)
            )
            self._errors[plan] = PartRows(train, test).held_out_errors(least_squares)
        return self._errors[plan]

    @cached_property
    def _errors(self) -> dict[Preparation, FloatArray]:
        return {}


def _bench(base: BaseMap, logs: Sequence[Log], plan: Preparation) -> _Bench:
    trial = trial_logs(logs, plan, base)
    rows = trial.rows(plan, plan.decimation)
    return _Bench(
        trial,
        len(base),
        sum(log.samples - sum(plan.ends) for log in logs),
        float(steady_rate(logs[0].time)),
        plan,
        rows.own_sigma(thresholds_of(plan, len(rows.W))),
        frozenset.intersection(*(frozenset(log.channels) for log in logs)),
    )


def _with_enough_rows(bench: _Bench, found: Suggestion, judge: bool) -> Suggestion:
    """Ten rows per parameter and joint come before a narrow band, unless they predict worse."""
    rows, plan = bench.rows, found.plan
    share = np.mean(rows.mask(thresholds_of(plan, len(rows.W))), axis=1)
    wanted = float(EXCITATION.rows_per_parameter) * np.array([max(len(own), 1) for own in rows.columns])
    wanted *= LIMITS.spare
    most = max(1, int(np.min(bench.samples * np.maximum(share, LIMITS.least_share) / wanted)))
    if plan.decimation <= most:
        return found
    roomy = replace(plan, decimation=most)
    if judge and gain_over(bench.errors(roomy), bench.errors(plan)).surely_better:
        reason = (
            f"Decimation by {most} would leave {EXCITATION.rows_per_parameter} rows per parameter and joint, "
            f"but predicts parts that were not used worse than decimation by {plan.decimation}."
        )
        return _with_plan(found, plan, "rows", reason)
    reason = (
        f"Decimation by {most} instead of {plan.decimation} gives {EXCITATION.rows_per_parameter} rows per "
        f"parameter and joint, as far as the logs go; the band ends at {0.4 * bench.rate_hz / most:.3g} Hz."
    )
    return _with_plan(found, roomy, "rows", reason)


def _with_best_derivatives(bench: _Bench, found: Suggestion, free: Sequence[str], judge: bool) -> Suggestion:
    """Logged speeds and accelerations where they predict better."""
    plans = {
        _WORDS[velocity, acceleration]: replace(found.plan, velocity=velocity, acceleration=acceleration)
        for velocity, acceleration in _WORDS
        if (velocity == DIFFERENTIATED or "velocity" in free)
        and (acceleration == DIFFERENTIATED or "acceleration" in free)
    }
    apart = {name: _disagreement(bench.trial, plan) for name, plan in plans.items()}
    tried = {name: plan for name, plan in plans.items() if judge and apart[name] <= LIMITS.apart}
    default = bench.errors(found.plan) if tried else np.zeros(0)
    gains = {name: gain_over(default, bench.errors(plan)) for name, plan in tried.items()}
    best = best_of(gains)
    if best is not None:
        reason = (
            f"Logged {best} are used: they predict parts that were not used "
            f"{-gains[best].percent:.2g} % better than differentiated positions."
        )
        return _with_plan(found, plans[best], "velocity", reason)
    said = "; ".join(f"logged {name} {_why_not(gains.get(name), apart[name])}" for name in plans)
    taken = f"{option_words('--velocity', MEASURED)} takes them"
    reason = f"Speeds and accelerations are differentiated positions: {said}. {taken}."
    return _with_plan(found, found.plan, "velocity", reason)


_WORDS = {
    (MEASURED, DIFFERENTIATED): "speeds",
    (DIFFERENTIATED, MEASURED): "accelerations",
    (MEASURED, MEASURED): "speeds and accelerations",
}


def _why_not(gain: Gain | None, apart: float) -> str:
    if apart > LIMITS.apart:
        return f"differ from them by {100 * apart:.2g} % in size or phase"
    if gain is None:
        return "cannot be judged on so short a log"
    much = f"{abs(gain.percent):.2g} % {'worse' if gain.mean > 0 else 'better'}"
    return f"predict parts that were not used {much}" + (", no clear gain" if gain.mean <= 0 else "")


def _disagreement(trial: TrialLogs, plan: Preparation) -> float:
    """How far logged derivatives are from being those of the positions, of the worst axis: scale and phase.

    With x logged and d differentiated, d ≈ b x + c ẋ has the scale b and the time c by which x is late:
    hypot(b − 1, c ‖ẋ‖ / ‖x‖). Noise of d does not count, that of x makes b smaller than one.
    """
    worst, signals = 0.0, {"velocity": "qd", "acceleration": "qdd"}
    for own, logged in zip(trial.motions(plan.for_channels(())), trial.motions(plan), strict=True):
        for name in plan.logged_derivatives:
            d, x = (np.asarray(getattr(motion, signals[name])) for motion in (own, logged))
            size = np.linalg.norm(x, axis=0)
            for axis in np.flatnonzero(size > 1e-3 * np.max(size, initial=0.0)):
                change = np.gradient(x[:, axis])
                both = np.stack([x[:, axis], change])
                b, c = np.linalg.solve(both @ both.T, both @ d[:, axis])
                worst = max(worst, float(np.hypot(b - 1.0, c * np.linalg.norm(change) / size[axis])))
    return worst


def _with_best_band(bench: _Bench, found: Suggestion) -> Suggestion:
    """A lower cut-off, or twice the band, where it predicts better."""
    plans = _other_bands(bench, found)
    default = bench.errors(found.plan) if plans else np.zeros(0)
    gains = {name: gain_over(default, bench.errors(plan)) for name, plan in plans.items()}
    best = best_of(gains)
    if best is None:
        return found
    plan = plans[best]
    reason = (
        f"{best} (cut-off {plan.cutoff_hz:g} Hz, decimation by {plan.decimation}) predicts parts that were "
        f"not used {-gains[best].percent:.2g} % better than a cut-off of {found.plan.cutoff_hz:g} Hz and "
        f"decimation by {found.plan.decimation}."
    )
    return _with_plan(found, plan, "band", reason)


def _other_bands(bench: _Bench, found: Suggestion) -> dict[str, Preparation]:
    plan, speed = found.plan, found.facts["speed_hz"]
    cutoff = plan.cutoff_hz or 0.0
    lower = three_digits(max(0.5 * cutoff, BAND.clear_of_speed * speed))
    upper = three_digits(min(2.0 * cutoff, BAND.highest_needed * bench.rate_hz))
    plans = dict[str, Preparation]()
    if lower < 0.8 * cutoff:
        plans["A lower cut-off"] = replace(plan, cutoff_hz=lower)
    if upper > 1.25 * cutoff:
        plans["A wider band"] = replace(plan, cutoff_hz=upper, decimation=max(1, plan.decimation // 2))
    return plans


def _with_friction_mask(bench: _Bench, found: Suggestion) -> Suggestion:
    """Speeds up to which friction is seen not to be that of the model are left out."""
    suggested = found.plan.speed_thresholds
    rows = bench.trial.rows(found.plan, 1)  # the joint passes near rest in few samples
    grown = friction_thresholds(rows, np.array(suggested), bench.width)
    thresholds = _roomy_thresholds(bench, found.plan, grown)
    more = [j for j, (new, old) in enumerate(zip(thresholds, suggested, strict=True)) if new > old]
    if not more or not _predicts_no_worse(bench, found.plan, np.array(thresholds)):
        return found
    named = ", ".join(f"{thresholds[j]:g} on axis {j + 1} (from {suggested[j]:g})" for j in more)
    reason = f"Near rest friction is not what it is above: the least speeds are {named} rad/s or m/s."
    return _with_plan(found, replace(found.plan, speed_thresholds=thresholds), "friction", reason)


def _roomy_thresholds(bench: _Bench, plan: Preparation, grown: FloatArray) -> tuple[float, ...]:
    """Grown thresholds of the joints that keep rows enough with them, the others as they were."""
    rows = bench.trial.rows(plan, plan.decimation)
    left = np.mean(rows.mask(grown), axis=1) * bench.samples / plan.decimation
    return tuple(
        three_digits(float(new)) if n >= EXCITATION.rows_per_parameter * len(own) else old
        for new, old, n, own in zip(grown, plan.speed_thresholds, left, rows.columns, strict=True)
    )


def _predicts_no_worse(bench: _Bench, plan: Preparation, grown: FloatArray) -> bool:
    """Whether a fit with a grown mask predicts faster rows of parts that were not used as well or better."""
    rows, old = bench.trial.rows(plan, plan.decimation), np.array(plan.speed_thresholds)
    judged = rows.parts(grown, bench.sigma, bench.width)
    default, candidate = (
        PartRows(rows.parts(limits, bench.sigma, bench.width), judged).held_out_errors(least_squares)
        for limits in (old, grown)
    )
    return gain_over(default, candidate).mean <= 0.0


def _with_plan(found: Suggestion, plan: Preparation, key: str, reason: str) -> Suggestion:
    return Suggestion(plan, {**found.why, key: reason}, found.facts)
