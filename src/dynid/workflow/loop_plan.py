"""The preparation of closed-loop methods: from the reference, or from the positions where those are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.closed_loop.iv import IV
from dynid.estimators.essential import Essential
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.preparation.bandwidth import rounded
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import spectrum_of_log
from dynid.preparation.suggest import ATTENUATION, Suggestion, suggest
from dynid.simulation.reference import Reference

FloatArray = NDArray[np.float64]
_NOISES = 5.0
"""Deviations of its noise that a speed must have before its sign is believed, as in every suggestion."""
_QUARTER = 0.25
"""Highest cut-off as a share of the rate; 9 points take 2 % off an acceleration there."""
_TOP = 0.5
"""Share of the spectrum, from its end, whose median is the floor of the positions' noise."""


def chosen_loop_plan(
    logs: Sequence[Log],
    references: Sequence[Reference],
    strategy: Strategy,
    plan: Preparation | None,
    overrides: Mapping[str, Any],
) -> tuple[Preparation, Suggestion | None]:
    """The plan given, or one that the longest log suggests, with the user's keys in place.

    Args:
        logs: joint side.
        references: one per log.
        strategy: IV prepares measured positions; the other methods use the plan for simulated motion, whose
            band is that of the reference.
        plan: the user's.
        overrides: keys of the suggested preparation to replace.
    """
    if plan is not None:
        return plan, None
    log, reference = max(zip(logs, references, strict=True), key=lambda pair: pair[0].samples)
    inner = strategy.strategy if isinstance(strategy, Essential) else strategy
    measured = isinstance(inner, IV) and "position" in log.channels
    found = for_instruments(log) if measured else suggest(_followed(log, reference))
    suggestion = found.with_keys(overrides)
    return suggestion.plan, suggestion


def for_instruments(log: Log) -> Suggestion:
    """What a log suggests where instruments keep the noise of the positions out of the parameters.

    The decimation limits noise already. A position filter near the motion's band is of no use then, but blurs
    speeds near reversals, where friction moves the robot faster than the reference does: the cut-off f goes
    up until σ = 2π √(S f³/3), the speed's noise by the floor S of the spectrum, is a fifth of the least speed
    that is used.

    Args:
        log: joint side, with position and torque.
    """
    found = suggest(log)
    spectrum = spectrum_of_log(log, found.plan)
    if spectrum is None or found.plan.cutoff_hz is None:
        return found
    rate, old = spectrum.rate_hz, found.plan.cutoff_hz
    why = {key: reason for key, reason in found.why.items() if key != ATTENUATION}
    floor = np.median(spectrum.density[spectrum.frequency >= _TOP * spectrum.frequency[-1]], axis=0)
    allowed = _highest(floor, np.array(found.plan.speed_thresholds), rate)
    if rounded(allowed) <= old:
        return replace(found, why=why)
    limit = (
        "a quarter of the rate"
        if allowed == _QUARTER * rate
        else "as far as noise leaves the speeds that are used their sign"
    )
    reason = (
        f"The cut-off is {rounded(allowed):g} Hz, {limit}: instruments keep the positions' noise out of the "
        "parameters, and a filter nearer to the motion blurs it where friction reverses (for least squares "
        f"{old:g} Hz would be suggested)."
    )
    why = {"cutoff_hz": reason, **{key: why[key] for key in why if key != "cutoff_hz"}}
    return Suggestion(replace(found.plan, cutoff_hz=rounded(allowed)), why, found.facts)


def _highest(floor: FloatArray, thresholds: FloatArray, rate_hz: float) -> float:
    """Highest cut-off [Hz] at which every axis' least speed stands clear of noise."""
    asked = thresholds > 0
    noise = thresholds[asked] / _NOISES
    limits = np.cbrt(3.0 * noise**2 / np.maximum((2.0 * np.pi) ** 2 * floor[asked], 1e-300))
    return float(min([_QUARTER * rate_hz, *limits]))


def _followed(log: Log, reference: Reference) -> Log:
    """The log with its reference in place of the positions, for the spectrum of the motion."""
    q = np.column_stack([np.interp(log.time, reference.time, column) for column in reference.q.T])
    return replace(log, channels={**log.channels, "position": q})
