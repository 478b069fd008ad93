"""The TX40 of P1, simulated: tables 2 to 4 beside ours, and the law behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.casestudies.case import (
    SHOWN,
    Case,
    CaseResult,
    Row,
    equal_to,
    over_runs,
    rows_of_table,
    runs_above,
    runs_below,
)
from dynid.casestudies.haptic_runs import kept_names
from dynid.casestudies.tx40_runs import RULES, Tx40Runs, attenuation, truth, values_of
from dynid.core.errors import DynidError
from dynid.core.executor import Progress, no_progress
from dynid.report.charts import Chart, Figure, line
from dynid.resolution.chain import ENCODER, TORQUE
from dynid.resolution.outcome import Outcome
from dynid.resolution.request import TORQUE_SWEEP, SensorRequest
from dynid.resolution.resolution_study import ResolutionStudy
from dynid.resolution.study import LS

TITLE = "TX40 of P1, simulated"
SEEDS = 1
RUNS = 20
"""Runs of a setting; P1 has 5, which leave κ open by a tenth."""
COUNTS = (10000, 5000, 2000, 1000)
"""P1's Δ = 2π/counts."""
TABLE_2 = {
    "ZZ1R": 1.230,
    "MX2R": 2.090,
    "XX3R": 0.127,
    "Ia3": 0.084,
    "Ia4": 0.027,
    "Ia5": 0.053,
    "Ia6": 0.014,
}
TABLE_3 = {
    "ZZ1R": (1.200, 1.141, 0.850, 0.406),
    "MX2R": (2.110, 2.132, 2.269, 2.454),
    "XX3R": (0.122, 0.116, 0.084, 0.065),
    "Ia3": (0.086, 0.089, 0.100, 0.092),
    "Ia4": (0.027, 0.028, 0.024, 0.019),
    "Ia5": (0.051, 0.054, 0.043, 0.023),
    "Ia6": (0.014, 0.014, 0.013, 0.009),
}
"""Inertias and the largest first moment at the four resolutions."""
TABLE_3_RESIDUAL = (1.0, 2.0, 10.0, 10.0)
TABLE_3_EXCEPTIONS = {"MX3": 22.2, "off4": 69.8, "off6": 27.7}
"""Parameters whose %e_j P1 finds beyond 20 %: the largest of the printed columns 1 to 3 [%]."""
TABLE_4_RESIDUAL = (1.0, 2.0, 3.0, 4.0)
INERTIAS = ("ZZ1R", "ZZ2R", "ZZ3R", "Ia4", "Ia5", "Ia6")
"""Inertias that accelerations show; XX2R and XX3R also live on squares of speeds."""
CLAIMED_ROWS, CLAIMED_CONDITION = 42620, 200
NEAR_WHOLE, NEAR_LAW, NEAR_ALONE = 0.30, 0.45, 0.20
"""Of κ: to the law of all parameters, of one column (which leaves out what columns share), and from which of
their differences on a column is said not to stand alone."""
NEAR_UNIFORM, NEAR_DOUBLING, NEAR_GAUSSIAN = 0.15, 0.20, 0.01
NOTES = (
    "The arm is the physical tx40 of the catalog: 21 values of table 2, and XX2, ZZ2, MY2, ZZ3, MY3, Fc6, "
    "Fvm6, Fcm6 assumed. Law (PD, 15 Hz), motion (57 s of moves between drawn poses with 36 % at constant "
    "speed, 5 kHz), and torque noise of 5 % are ours. Steps are those of joint encoders, 20 runs each.",
    "Table 3's ZZ1R is the law: with s of P1's filters (5061 1/s² at 5 kHz and 50 Hz) its four values are "
    "1/(1 + κ) for an rms acceleration of about 27 rad/s². Those of our motion come near it.",
    "The condition of W is below 250 where joints 2 and 3 move so far that gravity changes its sign; it "
    "grows with the accelerations of the wrist, since W has them beside the ones of the offsets.",
    "%e(ρ) of table 3 is refuted: 69 % and 33 % of ZZ1R leave so much torque unexplained that %e(ρ) < 10 % "
    "needs a residual of about half of all torques from the start (row below), which P1's figure 4 has not. "
    "Ours is 2 %, so that %e(ρ) passes 10 % before any inertia has moved by 3 %.",
    "MX3, OFFSET4, OFFSET6: P1 sees them beyond 20 % at all resolutions, also where nothing else moves. "
    "Their printed σ is 12 to 16 %, so that this is their own uncertainty, not the encoder's.",
    "P1 finds a Gaussian worse than its binary rounding; both have the variance Δ² and do the same.",
)


def run(*, seeds: int = SEEDS, progress: Progress = no_progress) -> CaseResult:
    """Tables 2 to 4.

    Args:
        seeds: how many simulated experiments.
        progress: told what is being done.
    """
    if seeds < 1:
        raise DynidError(f"{seeds} seeds were asked for; give at least 1.")
    runs = [Tx40Runs(seed) for seed in range(seeds)]
    studies = []
    for own in runs:
        told = f"seed {own.seed + 1} of {seeds}: "
        studies.append(_study(own, lambda text, told=told: progress(told + text)))  # type: ignore[misc]
    rows = [*_model_rows(runs), *_table_3_rows(studies), *_law_rows(studies), *_table_4_rows(studies)]
    return CaseResult("tx40", TITLE, tuple(rows), NOTES, (_figure(studies[0]),))


def _study(own: Tx40Runs, progress: Progress) -> ResolutionStudy:
    steps = tuple(2 * np.pi / count for count in COUNTS)
    modes = ("binary", "gaussian", "uniform")
    return own.study(
        SensorRequest(modes=modes, steps=steps, thresholds=False, seed=own.seed, runs=RUNS),
        progress=progress,
    )


def _model_rows(runs: Sequence[Tx40Runs]) -> list[Row]:
    full = [r.full for r in runs]
    rows = [
        equal_to("columns of W", 60, len(full[0].names)),
        runs_below("rows of W", CLAIMED_ROWS, [float(e.facts["rows"]) for e in full], np.inf),
        runs_below("condition of W", CLAIMED_CONDITION, [e.facts["condition"] for e in full], 250.0),
    ]
    wanted = set(truth())
    for rule, label in zip(RULES, ("20 % rule", "1.04 rule"), strict=True):
        kept = [kept_names(r.essential[rule]) for r in runs]
        true = [float(len(own & wanted)) for own in kept]
        false = [float(len(own - wanted)) for own in kept]
        least = 27.0 if rule == RULES[0] else -np.inf
        rows.append(runs_above(f"{label}: of the 29 true, kept", 28, true, least))
        rows.append(runs_below(f"{label}: others, kept", None, false, 0.0))
    found = [values_of(r.essential[RULES[0]]) for r in runs]
    rows += [
        over_runs(name, value, [f[name] for f in found], SHOWN, lambda v: -abs(v))
        for name, value in TABLE_2.items()
    ]
    return rows_of_table("table 2 and essential parameters", rows)


def _of(study: ResolutionStudy, channel: str, mode: str) -> list[Outcome]:
    """Outcomes of a sensor and mode, in the order of the steps."""
    return [o for o in study.outcomes if (o.setting.channel, o.setting.mode) == (channel, mode)]


def _table_3_rows(studies: Sequence[ResolutionStudy]) -> list[Row]:
    names = studies[0].reference[LS].names
    rows = []
    for k, count in enumerate(COUNTS):
        found = [_of(s, ENCODER, "binary")[k] for s in studies]
        for name, printed in TABLE_3.items():
            ratio = printed[k] / TABLE_2[name]
            ours = [float(o.ratios[names.index(name)]) for o in found]
            rows.append(runs_below(f"{name} over table 2 at 2π/{count}", ratio, ours, np.inf))
        residual = [o.residual_percent for o in found]
        rows.append(runs_below(f"%e(ρ) at 2π/{count}", TABLE_3_RESIDUAL[k], residual, np.inf))
    third = [_of(s, ENCODER, "binary")[2] for s in studies]
    rows += [
        runs_below(
            f"%e of {name} at 2π/2000",
            printed,
            [float(o.percent_error[o.reference.names.index(name)]) for o in third],
            np.inf,
        )
        for name, printed in TABLE_3_EXCEPTIONS.items()
    ]
    rows.append(
        runs_below("residual that %e(ρ) < 10 % at 2π/2000 needs [%]", None, _residual_needed(third), np.inf)
    )
    return rows_of_table("table 3: encoders", rows)


def _residual_needed(outcomes: Sequence[Outcome]) -> list[float]:
    """Residual over the torque, in per cent, from which a shift raises it by no more than 10 %."""
    found = []
    for o in outcomes:
        R = o.reference.factor
        shift = float(np.linalg.norm(R[:, :-1] @ (o.mean - o.reference.values)))
        found.append(100.0 * shift / np.sqrt(1.1**2 - 1.0) / float(np.linalg.norm(R[:, -1])))
    return found


def _law_rows(studies: Sequence[ResolutionStudy]) -> list[Row]:
    found = [_LawFigures.of(study) for study in studies]
    within = "κ in [.02, 1]"
    return rows_of_table(
        "the law",
        [
            runs_below(
                f"κ of all inertias against the law, {within}", None, [f.whole for f in found], NEAR_WHOLE
            ),
            runs_below(f"κ of ZZ1R against (Δ s/a_rms)², {within}", None, [f.alone for f in found], NEAR_LAW),
            runs_above("inertias × steps at which a column stands alone", None, [f.lone for f in found], 6.0),
            runs_below(
                "their mean ratio, Gaussian against binary", None, [f.same for f in found], NEAR_GAUSSIAN
            ),
            runs_below(
                "their κ, uniform against a third of binary", None, [f.third for f in found], NEAR_UNIFORM
            ),
            runs_below("their κ per doubling, against 4", None, [f.doubling for f in found], NEAR_DOUBLING),
            runs_below("all main parameters: largest |ratio − law|", None, [f.ratio for f in found], np.inf),
        ],
    )


@dataclass(frozen=True)
class _LawFigures:
    """How far simulated inertias are from the law, relative, the worst of all inertias.

    Args:
        whole: κ against the law of all parameters together, step by step.
        alone: κ of ZZ1R against that of its column alone.
        lone: inertias and steps at which κ by the law of all parameters is within 20 % of that of the column
            alone. Where columns are alike, what one loses another takes, and κ is no multiple of Δ². The
            figures that follow are of these.
        same: ratios with Gaussian errors over those with binary ones, mean, less 1.
        third: κ of uniform errors against a third of that of binary ones, sums.
        doubling: κ from step to step, brought to a doubling, against 4.
        ratio: all main parameters: |ratio − law|, where the law is a shift of less than 100 %.
    """

    whole: float
    alone: float
    lone: float
    same: float
    third: float
    doubling: float
    ratio: float

    @classmethod
    def of(cls, study: ResolutionStudy) -> _LawFigures:
        """The figures of one study."""
        names = study.reference[LS].names
        place, first = [names.index(name) for name in INERTIAS], names.index("ZZ1R")
        modes = {m: _of(study, ENCODER, m) for m in ("binary", "gaussian", "uniform")}
        ratios = {m: np.array([o.ratios for o in found]) for m, found in modes.items()}
        law = np.array([o.law for o in modes["binary"]])
        columns = np.array([o.kappa for o in modes["binary"]])
        alone = columns[:, first]
        kappa, expected = attenuation(ratios["binary"][:, place]), attenuation(law[:, place])
        within = (expected >= 0.02) & (expected <= 1.0)
        lone = within & (np.abs(expected / columns[:, place] - 1.0) <= NEAR_ALONE)
        seen = (alone >= 0.02) & (alone <= 1.0)
        third = np.sum(attenuation(ratios["uniform"][:, place])[lone])
        steps = 2.0 * np.diff(np.log([o.setting.step for o in modes["binary"]]))[:, None]
        grown = np.diff(np.log(np.maximum(kappa, 1e-12)), axis=0) / steps
        main = study.reference[LS].main_parameters & (np.abs(law - 1.0) < 1.0)
        return cls(
            float(np.max(np.abs(kappa / expected - 1.0)[within])),
            float(np.max(np.abs(attenuation(ratios["binary"][:, first]) / alone - 1.0)[seen])),
            float(lone.sum()),
            float(abs(np.mean((ratios["gaussian"] / ratios["binary"])[:, place][lone]) - 1.0)),
            float(abs(3.0 * third / np.sum(kappa[lone]) - 1.0)),
            float(np.max(np.abs(4.0 ** (grown - 1.0) - 1.0)[lone[1:] & lone[:-1]])),
            float(np.max(np.abs(ratios["binary"] - law)[main])),
        )


def _table_4_rows(studies: Sequence[ResolutionStudy]) -> list[Row]:
    rows = []
    for k, step in enumerate(TORQUE_SWEEP):
        found = [_of(s, TORQUE, "binary")[k] for s in studies]
        label = f"at {100 * step:g} % of the largest torque"
        rows.append(
            runs_below(f"%e(ρ) {label}", TABLE_4_RESIDUAL[k], [o.residual_percent for o in found], 1.0)
        )
        worst = [float(np.max(o.shown_error[o.reference.main_parameters])) for o in found]
        rows.append(
            runs_below(f"largest shift of a main parameter beyond chance {label} [%]", 5.0, worst, 1.0)
        )
    return rows_of_table("table 4: torque sensors", rows)


def _figure(study: ResolutionStudy) -> Figure:
    """ZZ1R against the resolution: P1, ours, the law."""
    k = study.reference[LS].names.index("ZZ1R")
    x = [float(np.log10(count)) for count in COUNTS]
    binary = _of(study, ENCODER, "binary")
    laws = [float(o.law[k]) for o in binary if o.law is not None]
    lines = (
        line("P1, table 3", x, [v / TABLE_2["ZZ1R"] for v in TABLE_3["ZZ1R"]], marks=True, colour="measured"),
        line("ours", x, [float(o.ratios[k]) for o in binary], marks=True, colour="predicted"),
        line("law", x, laws, colour="residual"),
    )
    chart = Chart("ZZ1R", "log₁₀ of counts per turn", "over the value at full resolution", lines)
    return Figure("Table 3 as a curve", "What a coarser encoder leaves of ZZ1R.", (chart,))


CASE = Case("tx40", TITLE, None, run, ("seeds",))
