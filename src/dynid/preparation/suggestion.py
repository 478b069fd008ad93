"""A preparation suggested by the log itself, with a reason for every figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.keys import entries_of
from dynid.core.kinds import require_kinds
from dynid.logs.log import Log
from dynid.logs.resample import is_even, steady_rate
from dynid.preparation.derivative import central_difference
from dynid.preparation.filters import low_pass
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import refuse_unprepared, stands_still
from dynid.preparation.robust import replace_outliers
from dynid.preparation.spectrum import (
    BAND,
    FEWEST_SAMPLES,
    MotionBand,
    PositionSpectrum,
    choose_bandwidth,
    cutoff_reason,
    even_positions,
    points_reason,
    position_spectrum,
    spectrum_of_log,
    three_digits,
)


@dataclass(frozen=True)
class SuggestionRules:
    """What a plan is suggested by. Chosen by hand on simulated and measured logs.

    Args:
        stretch: samples of a log on disk that are looked at: minutes of motion, 100 MB for seven axes.
        above_band: trusted frequency over the band of the regression: a filter there takes 0.07 % off in it.
        rows: samples that decimation should leave.
        periods_dropped: of the cut-off, after which the filter's swing at the ends has fallen below 0.1 %.
        most_dropped: at most one of so many samples is dropped at an end.
        noises: deviations of its noise that a speed must have before its sign is believed.
        speed_share: of the largest speed, below which friction is not Coulomb's.
        slow_share: the same for instruments. A reversal between two samples puts friction into inertias, by
            0.1 % on the SCARA; rows around it are left out. Of 1, 3 and 6 % the last came closest to the
            truth, and kept 2σ honest (92 to 98 %; 84 to 88 % with 1 %).
        top: share of the spectrum, from its end, whose median is the floor of the positions' noise.
        loud: share of noise in the accelerations' power that is worth a sentence.
        spike_window: samples of the outlier filter.
        spike: robust deviations that make an outlier.
    """

    stretch: int = 300_000
    above_band: float = 2.5
    rows: int = 100
    periods_dropped: float = 3.0
    most_dropped: int = 10
    noises: float = 5.0
    speed_share: float = 0.01
    slow_share: float = 0.06
    top: float = 0.5
    loud: float = 0.02
    spike_window: int = 11
    spike: float = 12.0


RULES = SuggestionRules()
ATTENUATION = "attenuation"
"""Key of the sentence on noise in the accelerations, which holds for the suggested band and least squares."""
STILL_AXES = "still axes"
"""Key of the sentence on axes that hardly move."""


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A plan and why.

    Args:
        plan: the suggested preparation.
        why: one sentence per choice, by the key of the plan; ``ATTENUATION`` and ``STILL_AXES`` are doubts.
        facts: the figures behind them: ``rate_hz``, ``samples`` (those looked at), ``speed_hz`` and
            ``motion_hz`` (99 % of speed and of acceleration lie below), ``noise_hz`` (where noise takes
            over; None when not seen), ``band_hz`` of the regression, and per axis
            ``noise_share`` (of the acceleration's power in that band),
            ``position_noise`` and ``speed_noise`` (rms below the cut-off).
    """

    plan: Preparation
    why: Mapping[str, str]
    facts: Mapping[str, Any]

    @property
    def reasons(self) -> tuple[str, ...]:
        """The sentences, in the order in which the choices were made."""
        return tuple(self.why.values())

    def with_keys(self, given: Mapping[str, Any]) -> Suggestion:
        """The suggestion with keys of the user's in place, and sentences that say so.

        The decimation limits the band too, so that it follows a cut-off that is given alone, and so do the
        samples that are dropped where the filter swings in.

        Args:
            given: keys of the preparation to replace.
        """
        if not given:
            return self
        for key in given:
            if key not in self.plan.to_dict():
                raise unknown_name("key of the preparation", key, self.plan.to_dict())
        plan = replace(self.plan, **given)
        follows = _keys_of_cutoff(given, self.facts)
        stale = {*given, *follows, *({ATTENUATION} if {"cutoff_hz", "decimation"} & set(given) else ())}
        why = {key: _given_reason(key, value, getattr(self.plan, key)) for key, value in given.items()}
        why |= {key: reason for key, (_, reason) in follows.items()}
        why |= {key: reason for key, reason in self.why.items() if key not in stale}
        plan = replace(plan, **{key: value for key, (value, _) in follows.items()})
        return Suggestion(plan, why, self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Plan, reasons and facts, ready for JSON."""
        return {"plan": self.plan.to_dict(), "reasons": list(self.reasons), "facts": dict(self.facts)}


def suggest(log: Log) -> Suggestion:
    """Suggest cut-off, differences, decimation, speed thresholds and outlier filter from the spectrum.

    The cut-off stands ten times above the motion (P1 §2.2.2), or where noise takes over if that is lower,
    but clear of the motion itself. Differences take as many points as the rate asks for. The decimation is
    n_d = 0.8 f_s / (2 f_b) (P1 eq 13) with the band f_b a factor 2.5 below what motion is told from noise,
    where the filter still leaves positions and torques alike.

    Args:
        log: joint side, with position and torque.
    """
    require_kinds(suggest, locals())
    refuse_unprepared(log)
    samples = log.samples
    if log.on_disk:
        first = (samples - RULES.stretch) // 2
        log = log.part(slice(first, first + RULES.stretch))
    if log.samples < FEWEST_SAMPLES:
        return _suggestion_for_short_log(log)
    rate = steady_rate(log.time)
    why: dict[str, str] = {}
    if log.samples < samples:
        why["samples"] = f"The log is long: its {log.samples} samples in the middle were looked at."
    spikes = Preparation(median_window=_spike_window(log, why), median_threshold=RULES.spike)
    q = even_positions(log, spikes)
    if not is_even(log.time):
        why["stamps"] = f"The stamps are uneven: positions and torques are interpolated to {rate:.6g} Hz."
    spectrum = position_spectrum(q, rate)
    chosen = choose_bandwidth(spectrum, rate)
    why |= {"cutoff_hz": cutoff_reason(chosen), "difference_points": points_reason(chosen)}
    cutoff = chosen.cutoff_hz
    decimation = _decimation(len(q), chosen, why)
    facts: dict[str, Any] = {
        "speed_hz": chosen.speed_hz,
        "motion_hz": chosen.motion_hz,
        "noise_hz": chosen.noise_hz,
    }
    _warn_of_attenuation(spectrum, 0.4 * rate / decimation, stands_still(np.ptp(q, axis=0)), facts, why)
    thresholds, noises = _thresholds(q, spectrum, cutoff, rate, why)
    drop = swing_in_samples(len(q), cutoff, rate)
    why["drop_samples"] = f"{drop} samples are dropped at both ends, where the filter swings in."
    plan = replace(
        spikes,
        cutoff_hz=cutoff,
        difference_points=chosen.points,
        drop_samples=drop,
        decimation=decimation,
        speed_thresholds=thresholds,
    )
    facts |= {"rate_hz": rate, "samples": len(q), "band_hz": 0.4 * rate / decimation, **noises}
    return Suggestion(plan, why, facts)


def suggest_for_instruments(log: Log) -> Suggestion:
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
    highest, old = BAND.highest_needed * spectrum.rate_hz, found.plan.cutoff_hz
    limited = min(highest, _clear_of_noise(spectrum, np.array(found.plan.speed_thresholds)))
    cutoff = three_digits(limited)
    why = {key: reason for key, reason in found.why.items() if key != ATTENUATION}
    if cutoff <= old:
        return _clear_of_reversals(log, replace(found, why=why))
    limit = (
        "a quarter of the rate"
        if limited == highest
        else "as far as noise leaves the speeds that are used their sign"
    )
    reason = (
        f"The cut-off is {cutoff:g} Hz, {limit}: instruments keep the positions' noise out of the "
        "parameters, and a filter nearer to the motion blurs it where friction reverses (for least squares "
        f"{old:g} Hz would be suggested)."
    )
    why = {"cutoff_hz": reason, **{key: why[key] for key in why if key != "cutoff_hz"}}
    return _clear_of_reversals(log, Suggestion(replace(found.plan, cutoff_hz=cutoff), why, found.facts))


def _clear_of_reversals(log: Log, found: Suggestion) -> Suggestion:
    """Higher speed thresholds v, and a decimation shorter than the time 2 v/a spent below them."""
    assert found.plan.cutoff_hz is not None
    rate = steady_rate(log.time)
    q = low_pass(even_positions(log, found.plan), found.plan.cutoff_hz, rate)
    speed = central_difference(q, rate)
    usual = np.sqrt(np.mean(central_difference(speed, rate) ** 2, axis=0))
    old = np.array(found.plan.speed_thresholds)
    limits = np.where(old > 0, np.maximum(old, RULES.slow_share * np.abs(speed).max(axis=0)), 0.0)
    spent = np.divide(2 * limits, usual, out=np.full_like(limits, np.inf), where=(limits > 0) & (usual > 0))
    decimation = max(1, int(min(found.plan.decimation, rate * float(spent.min(initial=np.inf)))))
    why = {
        "decimation": f"Decimation by {decimation} does not reach over the time that a reversal takes.",
        "speed_thresholds": f"Rows slower than {RULES.slow_share:.0%} of the largest speed are left out: a "
        "reversal between two samples would put friction into inertias.",
    }
    plan = replace(
        found.plan,
        decimation=decimation,
        speed_thresholds=tuple(three_digits(float(limit)) for limit in limits),
    )
    facts = {**found.facts, "band_hz": 0.4 * rate / decimation}
    return Suggestion(plan, {**found.why, **why}, facts)


def _clear_of_noise(spectrum: PositionSpectrum, thresholds: FloatArray) -> float:
    """Highest cut-off [Hz] at which every axis' least speed stands clear of noise; infinite without any."""
    asked = thresholds > 0
    floor = np.median(spectrum.density[spectrum.frequency >= RULES.top * spectrum.frequency[-1]], axis=0)
    noise = thresholds[asked] / RULES.noises
    limits = np.cbrt(3.0 * noise**2 / np.maximum((2.0 * np.pi) ** 2 * floor[asked], 1e-300))
    return float(np.min(limits, initial=np.inf))


def _suggestion_for_short_log(log: Log) -> Suggestion:
    """Safe defaults where a spectrum says too little."""
    samples = log.samples
    rate = steady_rate(log.time) if samples > 2 else float("nan")
    reason = f"The log has {samples} samples, fewer than {FEWEST_SAMPLES}: its spectrum says too little. "
    if samples < 32:
        plan = Preparation()
        reason += "Nothing is filtered; use a longer log."
    else:
        plan = Preparation(cutoff_hz=three_digits(rate / 10.0), difference_points=5)
        reason += f"The cut-off is set to a tenth of the rate, {plan.cutoff_hz:g} Hz, without decimation; "
        reason += "differences over 5 points take at most 1 % off below it."
    facts = {"rate_hz": rate, "speed_hz": None, "motion_hz": None, "noise_hz": None}
    return Suggestion(plan, {"cutoff_hz": reason}, facts)


def _keys_of_cutoff(given: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    """Decimation and dropped samples that go with a cut-off of the user's, with their reasons."""
    cutoff, rate, samples = given.get("cutoff_hz"), facts["rate_hz"], facts.get("samples", 0)
    if cutoff is None or samples < FEWEST_SAMPLES:
        return {}
    if cutoff * samples < rate:
        raise DynidError(
            f"The cut-off is {cutoff:.3g} Hz, but the log lasts {samples / rate:.3g} s: nothing of its "
            f"motion would be left. Give one above {rate / samples:.2g} Hz, and above the motion's band "
            "(--cutoff-hz), or none: one is then suggested."
        )
    decimation = _fitting_decimation(samples, cutoff, rate)
    drop = swing_in_samples(samples, cutoff, rate)
    follows = {
        "decimation": (
            decimation,
            f"Decimation by {decimation} follows the cut-off that was given: the band ends at "
            f"{0.4 * rate / decimation:.3g} Hz.",
        ),
        "drop_samples": (drop, f"{drop} samples are dropped at both ends, where that filter swings in."),
    }
    return {key: value for key, value in follows.items() if key not in given}


def _fitting_decimation(samples: int, cutoff_hz: float, rate_hz: float) -> int:
    """Decimation whose band ends a factor 2.5 below a cut-off, with enough samples left."""
    wanted = math.floor(0.4 * rate_hz * RULES.above_band / cutoff_hz)
    return max(1, min(wanted, samples // RULES.rows))


def swing_in_samples(samples: int, cutoff_hz: float, rate_hz: float) -> int:
    """Samples at either end in which a filter swings in."""
    return min(math.ceil(RULES.periods_dropped * rate_hz / cutoff_hz), samples // RULES.most_dropped)


def _given_reason(key: str, new: Any, old: Any) -> str:
    unit = next((e.key.unit for e in entries_of(Preparation) if e.field.name == key), "")
    return f"{key} is {_value_text(new, unit)} as given (suggested: {_value_text(old, unit)})."


def _value_text(value: Any, unit: str) -> str:
    if value is None or value == ():
        return "none"
    text = ", ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else value
    return f"{text:g} {unit}".rstrip() if isinstance(text, float) else f"{text} {unit}".rstrip()


def _spike_window(log: Log, why: dict[str, str]) -> int:
    """Window of the outlier filter if single samples stand out, else 0."""
    both = np.concatenate([log.array("position"), log.array("torque")], axis=1)
    replaced = sum(replace_outliers(both, RULES.spike_window, RULES.spike).replaced)
    if not replaced:
        return 0
    why["median_window"] = (
        f"The outlier filter is on: {replaced} of {both.size} values stand more than {RULES.spike:g} robust "
        f"deviations out of {RULES.spike_window} neighbours."
    )
    return RULES.spike_window


def _decimation(samples: int, chosen: MotionBand, why: dict[str, str]) -> int:
    rate = chosen.rate_hz
    decimation = _fitting_decimation(samples, three_digits(chosen.trusted_hz), rate)
    band = 0.4 * rate / decimation
    said = f"Decimation by {decimation} keeps the band up to {band:.3g} Hz, "
    said += (
        "which the position filter leaves untouched"
        if decimation < samples // RULES.rows
        else f"and at least {RULES.rows} samples"
    )
    why["decimation"] = said + f" (n_d = 0.8 f_s / 2 f_b with f_b = {band:.3g} Hz)."
    return decimation


def _warn_of_attenuation(
    spectrum: PositionSpectrum, band: float, still: BoolArray, facts: dict[str, Any], why: dict[str, str]
) -> None:
    """Say when noise is a visible share κ of the accelerations: an inertia comes out as 1/(1 + κ) (P1 §3)."""
    share = spectrum.noise_share(band)
    facts["noise_share"] = share.tolist()
    loud = [f"{share[j]:.0%} (axis {j + 1})" for j in np.flatnonzero(~still & (share > RULES.loud))]
    if loud:
        why[ATTENUATION] = (
            f"In that band noise makes {', '.join(loud)} of the accelerations' power: inertias will come out "
            "low by about as much. Faster motion, a finer encoder or an instrumental-variable fit would help."
        )


def _thresholds(
    q: FloatArray,
    spectrum: PositionSpectrum,
    cutoff: float,
    rate: float,
    why: dict[str, str],
) -> tuple[tuple[float, ...], dict[str, Any]]:
    """Speeds below which the sign of the speed is noise, or friction is not Coulomb's."""
    density = spectrum.noise_density()
    position = np.sqrt(density * cutoff)
    speed = np.sqrt(density * (2.0 * np.pi) ** 2 * cutoff**3 / 3.0)
    largest = np.max(np.abs(central_difference(low_pass(q, cutoff, rate), rate)), axis=0)
    limits = np.maximum(RULES.noises * speed, RULES.speed_share * largest)
    still = ~spectrum.moving_axes() | (limits > 0.5 * largest)
    limits[still] = 0.0
    why["speed_thresholds"] = (
        f"Rows slower than {RULES.speed_share:.0%} of the largest speed, or than {RULES.noises:g} times the "
        "speed's noise where that is more, are left out: there the sign of the speed says nothing about "
        "friction."
    )
    if np.any(still):
        named = ", ".join(str(j + 1) for j in np.flatnonzero(still))
        why[STILL_AXES] = f"Axis {named} hardly moves: nothing is left out, but its friction cannot be seen."
    facts = {"position_noise": position.tolist(), "speed_noise": speed.tolist()}
    return tuple(three_digits(float(limit)) for limit in limits), facts
