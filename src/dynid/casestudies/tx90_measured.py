"""P3's measured chain, simulated, beside its figures: filters, smoothing, estimators, table 4 and table 6."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from dynid.casestudies.case import SHOWN, Row, equal_to, over_runs, rows_of_table, runs_below
from dynid.casestudies.tx90_chain import (
    CUTOFFS_HZ,
    PERIODS,
    PRINTED_HZ,
    STRATEGIES,
    ChainRuns,
    Way,
    deviations,
    essential_names,
    random_motion_error,
)
from dynid.casestudies.tx90_paper import CONDITION, SUMS, TABLE_4, TABLE_5_EXCITATION, TABLE_6_LOW_PASS
from dynid.casestudies.tx90_runs import CRITERIA, RATE_HZ, SAMPLES
from dynid.casestudies.tx90_tables import joint_rows, median_above
from dynid.estimators.estimate import Estimate
from dynid.preparation.filters import low_pass

CHAIN = Way()
"""J2's motion, 2 Hz, RLOESS, the mean period."""
LOW_PASSED = Way(smoothing="low-pass")
UNAVERAGED = Way(averaged=False), Way(smoothing="low-pass", averaged=False)
FINE_HZ = 2.0
"""Cut-off from which the positions are good enough."""
NO_BETTER = 0.95
"""Error over that of WLS from which a strategy is not significantly better, as §2.2 words it."""
DISTAL = ("4", "5", "6")


def section_measured(runs: Sequence[ChainRuns]) -> list[Row]:
    """From three recorded periods to the 29 parameters of table 4."""
    return (
        rows_of_table("measured · §4.2, §4.3: rows and condition of W", _size_rows(runs))
        + rows_of_table("measured · §4.2: cut-off of the positions (J2, WLS)", _filter_rows(runs))
        + _smoothing_rows(runs)
        + rows_of_table("measured · §2.2: “WLS and TLS do not improve”", _estimator_rows(runs))
        + _essential_rows(runs)
    )


def _size_rows(runs: Sequence[ChainRuns]) -> list[Row]:
    joints = len(TABLE_5_EXCITATION)
    rows = [
        equal_to("rows of W, three periods (§3.3)", 11250, PERIODS * SAMPLES * joints),
        equal_to("rows of W, one period (§4.5)", 3750, SAMPLES * joints),
    ]
    for name in CRITERIA:
        found = [float(r.estimate(Way(motion=name)).facts["condition"]) for r in runs]
        rows.append(runs_below(f"condition of W, prepared and decimated, {name}", CONDITION, found, np.inf))
    return rows


def _filter_rows(runs: Sequence[ChainRuns]) -> list[Row]:
    rows = [
        Row(
            f"gain of the {PRINTED_HZ:g} Hz filter on the fifth harmonic",
            None,
            _gain(PRINTED_HZ),
            "at most 0.6: it sits on it",
            _gain(PRINTED_HZ) <= 0.6,
        )
    ]
    for cutoff in CUTOFFS_HZ:
        found = [list(deviations(r.estimate(Way(cutoff_hz=cutoff))).values()) for r in runs]
        usual, largest = [float(median(own)) for own in found], [float(max(own)) for own in found]
        quantity = f"{cutoff:g} Hz: median deviation of the 29"
        if cutoff == PRINTED_HZ:
            rows.append(median_above(quantity, usual, 0.2))
        else:
            rows.append(runs_below(quantity, None, usual, 0.05 if cutoff >= FINE_HZ else np.inf))
        rows.append(runs_below(f"{cutoff:g} Hz: largest deviation of the 29", None, largest, np.inf))
    return rows


def _gain(cutoff_hz: float, frequency_hz: float = 0.5) -> float:
    """Of the zero-phase filter at a frequency, measured on a long sine, its ends left out."""
    time = np.arange(100 * SAMPLES) / RATE_HZ
    sine = np.sin(2 * np.pi * frequency_hz * time)[:, None]
    middle = slice(len(time) // 4, -len(time) // 4)
    passed = low_pass(sine, cutoff_hz, RATE_HZ, CHAIN.plan.order, CHAIN.plan.convention)
    return float(np.std(passed[middle]) / np.std(sine[middle]))


def _smoothing_rows(runs: Sequence[ChainRuns]) -> list[Row]:
    rloess, low_passed = (
        [r.residual(way, r.estimate(way, "OLS")) for r in runs] for way in (CHAIN, LOW_PASSED)
    )
    sixth = joint_rows("residual, RLOESS", TABLE_5_EXCITATION, rloess, SUMS["table 6"][0])
    sixth += joint_rows("residual, low-pass", TABLE_6_LOW_PASS, low_passed, SUMS["table 6"][1])
    errors = {
        way: [random_motion_error(r.estimate(way, "OLS")) for r in runs]
        for way in (CHAIN, LOW_PASSED, *UNAVERAGED)
    }
    label = "Σ_j RMS of the torque error on ten random motions"
    beside = [
        runs_below(f"{label}, {way.smoothing}, {_periods(way)} [N m]", None, found, np.inf)
        for way, found in errors.items()
    ]
    ratios = _ratios(errors[LOW_PASSED], errors[CHAIN])
    beside.append(median_above("the same, low-pass over RLOESS, mean period", ratios, 1.0))
    return rows_of_table("measured · table 6: smoothing of the torques (J2, OLS)", sixth) + rows_of_table(
        "measured · table 6: what the smoothing does to predictions (J2, OLS)", beside
    )


def _periods(way: Way) -> str:
    return "mean period" if way.averaged else "three periods"


def _estimator_rows(runs: Sequence[ChainRuns]) -> list[Row]:
    rows = []
    for motion in CRITERIA:
        found = {name: [r.estimate(Way(motion=motion), name) for r in runs] for name in STRATEGIES}
        errors = {name: [random_motion_error(e) for e in own] for name, own in found.items()}
        label = f"{motion}: Σ_j RMS of the torque error on ten random motions"
        rows += [runs_below(f"{label}, {name} [N m]", None, own, np.inf) for name, own in errors.items()]
        ratios = _ratios(errors["OLS"], errors["WLS"])
        quantity = f"{motion}: the same, OLS over WLS"
        # Where columns are parallel, as on many of J1's motions, chance decides which is nearer.
        shown = runs_below(quantity, None, ratios, np.inf)
        rows.append(shown if motion == "J1" else median_above(quantity, ratios, 1.0))
        ratios = _ratios(errors["TLS"], errors["WLS"])
        rows.append(median_above(f"{motion}: the same, TLS over WLS", ratios, NO_BETTER))
        distal = {name: [_distal_deviation(e) for e in found[name]] for name in ("OLS", "WLS")}
        ratios = _ratios(distal["OLS"], distal["WLS"])
        rows.append(runs_below(f"{motion}: deviation of links 4 to 6, OLS over WLS", None, ratios, np.inf))
    return rows


def _ratios(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(first, second, strict=True)]


def _distal_deviation(estimate: Estimate) -> float:
    """Median deviation of the parameters of the last three links."""
    return float(median(value for name, value in deviations(estimate).items() if name[2] in DISTAL))


def _essential_rows(runs: Sequence[ChainRuns]) -> list[Row]:
    found = [r.estimate(CHAIN, essential=True) for r in runs]
    printed = [r.estimate(Way(motion="J1"), "OLS", essential=True) for r in runs]
    kept, theirs = [essential_names(e) for e in found], [essential_names(e) for e in printed]
    counts = [
        over_runs(
            "parameters with %σ below 20",
            len(TABLE_4),
            [float(len(own)) for own in kept],
            "equal",
            lambda v: abs(v - len(TABLE_4)),
        ),
        runs_below("of the 29, lost", None, [float(len(set(TABLE_4) - own)) for own in kept], 0.0),
        runs_below("others, kept", None, [float(len(own - set(TABLE_4))) for own in kept], 0.0),
        runs_below("median deviation of the 29", None, [median(deviations(e).values()) for e in found], 0.05),
        runs_below(
            "J1, OLS: of the 29, lost", None, [float(len(set(TABLE_4) - own)) for own in theirs], np.inf
        ),
        runs_below("J1, OLS: others, kept", None, [float(len(own - set(TABLE_4))) for own in theirs], np.inf),
    ]
    values, sigmas = [], []
    for name, (value, rsd, sigma) in TABLE_4.items():
        i = found[0].names.index(name)
        values.append(_value_row(name, value, [float(e.values[i]) for e in found]))
        sigmas += [
            runs_below(f"rsd of {name} [%]", rsd, [float(e.relative_sigma[i]) for e in found], np.inf),
            runs_below(f"σ of {name}", sigma, [float(e.sigma[i]) for e in found], np.inf),
        ]
    return rows_of_table(
        "measured · table 4: essential parameters (J2, WLS)", counts + values
    ) + rows_of_table("measured · table 4: relative standard deviations (J2, WLS)", sigmas)


def _value_row(name: str, value: float, found: Sequence[float]) -> Row:
    """The median of the seeds, and the seed farthest from the truth; only shown."""
    return over_runs(name, value, found, SHOWN, lambda v: -1.0 / (1.0 + abs(v - value)))
