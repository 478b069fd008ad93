"""Figures 4 and 5 of P4, and what its recursions must show beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.casestudies.case import Row, rows_of_table, runs_above, runs_below
from dynid.casestudies.iiwa_runs import IiwaRuns, base, truth
from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS, WLS
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.strategies import RIV, RLS
from dynid.report.charts import Chart, Figure, line

LARGE = ("XX2R", "ZZ2R", "MY2R", "XX4R", "ZZ4R", "MY4R")
WELL_EXCITED = (*LARGE, "MY5R", "MY6R")
SHOWN_OF_JOINT_4 = ("XX4R", "ZZ4R", "MY4R", "Fc4")


@dataclass(frozen=True)
class RecursionRules:
    """What is accepted.

    Args:
        same: largest difference of a recursion from its batch, over |χ| + σ.
        no_knowledge: P4's variance of every parameter where nothing is known, in squared SI units.
        converged: samples after which both starts of Figure 4 have come together; P4 says 1000 to 2000.
    """

    same: float = 1e-6
    no_knowledge: float = 100.0
    converged: int = 2000


RULES = RecursionRules()


def places(names: Sequence[str]) -> list[int]:
    """Where base parameters are."""
    return [base().names.index(name) for name in names]


def percent_off(values: FloatArray, names: Sequence[str]) -> FloatArray:
    """|χ̂/χ − 1| of the real arm, (…, names) [%]."""
    at = places(names)
    return np.asarray(100 * np.abs(values[..., at] / truth()[at] - 1), dtype=float)


def recursion_rows(runs: Sequence[IiwaRuns]) -> list[Row]:
    """Recursive equals batch; precise and coarse encoders; weights."""
    rows = [*_batch_rows(runs), *_fine_rows(runs), *_coarse_rows(runs), *_weight_rows(runs)]
    return rows_of_table("recursive and batch, encoders, weights", rows)


def batch_difference(recursive: FloatArray, batch: Estimate) -> float:
    """max |Δχ| over |χ| + σ."""
    return float(np.max(np.abs(recursive - batch.values) / (np.abs(batch.values) + batch.sigma)))


def _batch_rows(runs: Sequence[IiwaRuns]) -> list[Row]:
    plain, weighted = OLS(uncertainty="classical"), WLS(uncertainty="classical")
    ways: dict[str, Callable[[IiwaRuns], float]] = {
        "RLS − LS, sample by sample": lambda r: batch_difference(
            r.fine.course("RLS")[-1], r.fine.plain_batch["RLS"]
        ),
        "RIV − IV, sample by sample": lambda r: batch_difference(
            r.fine.course("RIV")[-1], r.fine.plain_batch["RIV"]
        ),
        "RLS − WLS, weighted": lambda r: batch_difference(
            identify(
                r.fine.problem(r.fine.filtered_motion), RLS(step=weighted, uncertainty="classical")
            ).values,
            r.fine.weighted_batch["RLS"],
        ),
        "RIV − IV, weighted": lambda r: batch_difference(
            identify(r.fine.loop, RIV(step=weighted, uncertainty="classical")).values,
            r.fine.weighted_batch["RIV"],
        ),
        "RLS − LS, coarse encoders": lambda r: batch_difference(
            identify(
                r.coarse.problem(r.coarse.filtered_motion), RLS(step=plain, uncertainty="classical")
            ).values,
            r.coarse.plain_batch["RLS"],
        ),
    }
    return [
        runs_below(f"{name}: largest |Δ|/(|χ| + σ)", None, [way(run) for run in runs], RULES.same)
        for name, way in ways.items()
    ]


def _fine_rows(runs: Sequence[IiwaRuns]) -> list[Row]:
    found = [percent_off(run.fine.plain_batch["RLS"].values, WELL_EXCITED) for run in runs]
    at = places(WELL_EXCITED)
    apart = [
        100 * np.abs(run.fine.plain_batch["RIV"].values[at] / run.fine.plain_batch["RLS"].values[at] - 1)
        for run in runs
    ]
    rows = [
        runs_below(f"2e-5 rad, filtered RLS: {name} off [%]", None, [float(own[i]) for own in found], 1.0)
        for i, name in enumerate(WELL_EXCITED)
    ]
    rows += [
        runs_below(f"2e-5 rad: |RIV − RLS| of {name} [%]", 2.0, [float(own[i]) for own in apart], 2.0)
        for i, name in enumerate(WELL_EXCITED)
    ]
    small = [name for name in base().own_values if name not in WELL_EXCITED]
    others = places(small)
    wide = [
        float(100 * np.max(np.abs(
            run.fine.plain_batch["RIV"].values[others] / run.fine.plain_batch["RLS"].values[others] - 1
        )))
        for run in runs
    ]  # fmt: skip
    return [*rows, runs_below("2e-5 rad: largest |RIV − RLS| of the 13 others [%]", 2.0, wide, np.inf)]


def _coarse_rows(runs: Sequence[IiwaRuns]) -> list[Row]:
    def of(kind: str) -> list[float]:
        return [float(percent_off(run.coarse.plain_batch[kind].values, ("ZZ2R",))[0]) for run in runs]

    return [
        runs_above("3e-4 rad, RLS without filter: ZZ2R off [%]", None, of("raw RLS"), 10.0),
        runs_below("3e-4 rad, RIV without filter: ZZ2R off [%]", None, of("RIV"), 4.0),
        runs_below("3e-4 rad, filtered RLS: ZZ2R off [%]", None, of("RLS"), 4.0),
    ]


def _weight_rows(runs: Sequence[IiwaRuns]) -> list[Row]:
    def of(kind: str, weighted: bool) -> list[float]:
        made = [run.fine.weighted_batch if weighted else run.fine.plain_batch for run in runs]
        return [float(percent_off(own[kind].values, ("ZZ7",))[0]) for own in made]

    return [
        runs_below("filtered RLS, weighted: ZZ7 off [%]", None, of("RLS", True), 4.0),
        runs_below("filtered RLS, not weighted: ZZ7 off [%]", None, of("RLS", False), np.inf),
        runs_below("RIV, weighted: ZZ7 off [%]", None, of("RIV", True), np.inf),
        runs_below("RIV, not weighted: ZZ7 off [%]", None, of("RIV", False), np.inf),
    ]


def figure_4_rows(runs: Sequence[IiwaRuns]) -> list[Row]:
    """The start from the controller's model against a start from nothing, and RIV from the same start."""
    known = [run.fine.course("RLS", run.prior) for run in runs]
    unknown = [run.fine.course("RLS", _no_knowledge()) for run in runs]
    instruments = [run.fine.course("RIV", run.prior) for run in runs]
    at = places(LARGE)
    met = [
        float(100 * np.max(np.abs(b[RULES.converged :, at] / a[RULES.converged :, at] - 1)))
        for a, b in zip(known, unknown, strict=True)
    ]
    rows = [
        runs_below(f"RLS from the controller's model: {name} off, at any time [%]", None,
                   [float(percent_off(own, (name,)).max()) for own in known], 5.0)
        for name in LARGE
    ]  # fmt: skip
    rows += [
        runs_below("RIV from the controller's model: the six large off, at any time [%]", None,
                   [float(percent_off(own, LARGE).max()) for own in instruments], 5.0),
        runs_above("RLS from nothing: the worst of the six after a second [%]", None,
                   [float(percent_off(own[50], LARGE).max()) for own in unknown], 5.0),
        runs_below("both starts apart from sample 2000 on, the six large [%]", None, met, 1.0),
    ]  # fmt: skip
    return rows_of_table("figures 4 and 5: starts", rows)


def _no_knowledge() -> ParameterPrior:
    return ParameterPrior.even(len(base()), RULES.no_knowledge)


def course_figures(run: IiwaRuns) -> tuple[Figure, Figure]:
    """Figures 4 and 5: parameters of joint 4 over samples."""
    known, unknown = run.fine.course("RLS", run.prior), run.fine.course("RLS", _no_knowledge())
    instruments = run.fine.course("RIV", run.prior)
    with_and_without = {"without knowledge": unknown, "from the controller's model": known}
    two_ways = {"RLS, filtered": known, "RIV, not filtered": instruments}
    return (
        Figure(
            "Figure 4",
            "RLS with and without the start from the controller's model; P4 shows the same parameters.",
            tuple(_chart(name, with_and_without) for name in SHOWN_OF_JOINT_4),
        ),
        Figure(
            "Figure 5",
            "RLS on filtered signals and RIV on signals as they are, both from the controller's model.",
            tuple(_chart(name, two_ways) for name in SHOWN_OF_JOINT_4),
        ),
    )


def _chart(name: str, courses: dict[str, FloatArray], shown: int = 3000) -> Chart:
    """One parameter; what is below zero or above twice its true size is cut."""
    (at,) = places((name,))
    true, unit = float(truth()[at]), base().units[at]
    low, high = sorted((0.0, 2 * true))
    lines = [
        line(label, np.arange(1, shown + 1), np.clip(own[:shown, at], low, high))
        for label, own in courses.items()
    ]
    ends = [1.0, float(shown)]
    return Chart(name, "samples", unit, (*lines, line("real arm", ends, [true, true], colour="measured")))
