"""Designs and their validation beside P3: tables 1 to 3, 5, 7 and 8."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from dynid.casestudies.case import Row, equal_to, over_runs, rows_of_table, runs_above, runs_below
from dynid.casestudies.tx90_paper import (
    BASE_PARAMETERS,
    SUMS,
    TABLE_4,
    TABLE_5_EXCITATION,
    TABLE_5_VALIDATION,
    TABLE_7_S,
    TABLE_8,
)
from dynid.casestudies.tx90_runs import (
    AXES,
    CRITERIA,
    RANDOM,
    RANDOM_FILLING,
    Tx90Runs,
    base,
    limits,
    truth,
)
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.excitation.design import Design
from dynid.excitation.remarks import PARALLEL
from dynid.simulation.inertia import postures
from dynid.trajectories.fourier import Fourier

_GRID_HZ = 1000.0
LARGEST_ERRORS = {"J2": 3.5, "J3": 5.0}
"""Σ_j RMS of the torque error on random motions that is accepted [N m]."""
LEAST_RANDOM_ERROR = 5.5
"""The same after a random motion: if that were as good, a design would be worth nothing."""


def section_designs(runs: Sequence[Tx90Runs]) -> list[Row]:
    """The robot, what the three criteria reach in which time, and the limits."""
    return (
        rows_of_table("designs · tables 1 to 4: the robot", _robot_rows())
        + rows_of_table("designs · table 7: time of one design [s]", _time_rows(runs))
        + rows_of_table("designs · eq 23, 25, 26: what is reached", _reached_rows(runs))
        + rows_of_table("designs · eq 14 to 20: limits and rest", _limit_rows(runs))
    )


def _robot_rows() -> list[Row]:
    robot = base().robot
    inertia = kernels(robot).inertia_matrix(robot.parameters, postures(robot))
    possible = float(np.mean(np.linalg.eigvalsh(inertia)[:, 0] > 0))
    accept = "0: inverse dynamics only"
    return [
        equal_to("base parameters (table 3)", BASE_PARAMETERS, len(base())),
        equal_to("essential parameters (table 4)", len(TABLE_4), int(np.count_nonzero(truth()))),
        Row("share of 512 poses where M(q) of table 4 is possible", None, possible, accept, possible == 0.0),
    ]


def _time_rows(runs: Sequence[Tx90Runs]) -> list[Row]:
    seconds = {name: [r.designs[name].seconds for r in runs] for name in CRITERIA}
    rows = [runs_below(f"{name} [s]", TABLE_7_S[name], seconds[name], np.inf) for name in CRITERIA]
    for name in ("J2", "J3"):
        ratio = median(seconds[name]) / median(seconds["J1"])
        rows.append(runs_below(f"{name} over J1", TABLE_7_S[name] / TABLE_7_S["J1"], [ratio], np.inf))
    return rows


def _reached_rows(runs: Sequence[Tx90Runs]) -> list[Row]:
    conditions, dets = _conditions(runs), _log_dets(runs)
    hadamard = [float(np.sum(np.log(np.sum(r.observations["J1"] ** 2, axis=0)))) for r in runs]
    printed = [-float(np.sum(np.log10(np.sum(r.observations[RANDOM] ** 2, axis=0)))) for r in runs]
    disagreeing = [float(_disagreements(r)) for r in runs]
    return [
        runs_below("random start: condition of W", None, conditions[RANDOM], np.inf),
        runs_below("random start: log det WᵀW", None, dets[RANDOM], np.inf),
        runs_below("random start: log₁₀ of J1 as printed (eq 23)", None, printed, np.inf),
        over_runs("J1: Σ log ‖W_g‖²", None, hadamard, "finite", lambda v: -1.0 if np.isfinite(v) else np.inf),
        runs_below("J1: condition of W", None, conditions["J1"], np.inf),
        runs_below("J1: condition with unit columns", None, _scaled_conditions(runs, "J1"), np.inf),
        runs_below("J1: log det WᵀW", None, dets["J1"], np.inf),
        runs_below("wrongly told or untold parallel columns, J1 to J3", None, disagreeing, 0.0),
        runs_above("J2: log det WᵀW", None, dets["J2"], 535.0),
        runs_below("J2: condition of W", None, conditions["J2"], 700.0),
        runs_below("J3: condition of W", None, conditions["J3"], 40.0),
        runs_below("J3: condition of W, the best start", None, [min(conditions["J3"])], 35.0),
        runs_below("J3: log det WᵀW", None, dets["J3"], np.inf),
    ]


def _conditions(runs: Sequence[Tx90Runs]) -> dict[str, list[float]]:
    """Condition numbers of W itself, not of the WᵀW that designs work with."""
    return {
        name: [float(np.linalg.cond(r.observations[name])) for r in runs] for name in runs[0].observations
    }


def _log_dets(runs: Sequence[Tx90Runs]) -> dict[str, list[float]]:
    values = {
        name: [np.linalg.svd(r.observations[name], compute_uv=False) for r in runs]
        for name in runs[0].observations
    }
    return {name: [2 * float(np.sum(np.log(s))) for s in found] for name, found in values.items()}


def _scaled_conditions(runs: Sequence[Tx90Runs], name: str) -> list[float]:
    return [
        float(np.linalg.cond(W / np.linalg.norm(W, axis=0))) for W in (r.observations[name] for r in runs)
    ]


def _disagreements(run: Tx90Runs) -> int:
    """Designs that report parallel columns where there are none, or do not where there are."""
    return sum(
        _tells_parallel(design) != (_scaled_conditions([run], name)[0] > PARALLEL)
        for name, design in run.designs.items()
    )


def _tells_parallel(design: Design) -> bool:
    return any(finding.name is Name.PARALLEL_COLUMNS for finding in design.findings)


def _limit_rows(runs: Sequence[Tx90Runs]) -> list[Row]:
    motions = [[r.motions[name] for name in CRITERIA] for r in runs]
    excess = [max(_largest_excess(motion) for motion in own) for own in motions]
    shares = [max(_largest_share(motion) for motion in own) for own in motions]
    ends = [max(_unrest(motion) for motion in own) for own in motions]
    return [
        runs_below("beyond a limit on a 1 kHz grid [rad, rad/s, rad/s²]", None, excess, 1e-6),
        runs_below("share of a limit that the bounds (15)–(17) use", None, shares, 1.0),
        runs_below("q, q̇ or q̈ at the start or the end", None, ends, 1e-9),
    ]


def _largest_excess(motion: Fourier) -> float:
    time = np.arange(round(motion.duration * _GRID_HZ) + 1) / _GRID_HZ
    found = [np.max(np.abs(motion.at(time, order)) - limits().high[order]) for order in range(3)]
    return float(max(found))


def _largest_share(motion: Fourier) -> float:
    return float(np.max([motion.bound(order) / limits().high[order] for order in range(3)]))


def _unrest(motion: Fourier) -> float:
    ends = [0.0, motion.duration]
    return float(np.max(np.abs([motion.at(ends, order) for order in range(3)])))


def section_validation(runs: Sequence[Tx90Runs]) -> list[Row]:
    """Prediction of random motions from one noisy period; P3's residuals beside those of the same noise."""
    return (
        _error_rows("ten random motions that fill their limits", "full", runs, held=True)
        + _error_rows("the same ten as they are drawn", "small", runs, held=False)
        + _residual_rows(runs)
    )


def _error_rows(label: str, which: str, runs: Sequence[Tx90Runs], *, held: bool) -> list[Row]:
    """Judged by the median over the seeds."""
    rows = []
    for name in (*CRITERIA, RANDOM, RANDOM_FILLING):
        values = [float(getattr(r.white_noise[name], which).sum()) for r in runs]
        quantity = f"after {name}: Σ_j RMS of the torque error [N m]"
        if held and name in LARGEST_ERRORS:
            rows.append(median_below(quantity, values, LARGEST_ERRORS[name]))
        elif held and name == RANDOM:
            rows.append(median_above(quantity, values, LEAST_RANDOM_ERROR))
        else:
            rows.append(runs_below(quantity, None, values, np.inf))
    return rows_of_table(f"validation · {label}", rows)


def _residual_rows(runs: Sequence[Tx90Runs]) -> list[Row]:
    residuals = {name: [r.white_noise[name].residual for r in runs] for name in CRITERIA}
    others = [r.white_noise["J1"].on_noisy_motions for r in runs]
    label = "residual on the exciting motion"
    fifth = joint_rows(label, TABLE_5_EXCITATION, residuals["J1"], SUMS["table 5"][0])
    fifth += joint_rows("residual on other motions", TABLE_5_VALIDATION, others, SUMS["table 5"][1])
    eighth = []
    for name, printed in zip(CRITERIA, SUMS["table 8"], strict=True):
        eighth += joint_rows(f"{name}: {label}", TABLE_8[name], residuals[name], printed)
    return rows_of_table("validation · table 5: with noise, J1", fifth) + rows_of_table(
        "validation · table 8: with noise", eighth
    )


def joint_rows(label: str, printed: Sequence[float], values: Sequence[FloatArray], total: float) -> list[Row]:
    """RMS torques of each joint and their sum, shown beside those that P3 prints.

    Args:
        label: what they are.
        printed: of each joint [N m].
        values: of each seed, (joints,) [N m].
        total: the sum as printed.
    """
    rows = [
        runs_below(
            f"{label}, joint {axis} [N m]", printed[axis - 1], [float(v[axis - 1]) for v in values], np.inf
        )
        for axis in AXES
    ]
    return [*rows, runs_below(f"{label}, sum [N m]", total, [float(v.sum()) for v in values], np.inf)]


def median_below(quantity: str, values: Sequence[float], bound: float) -> Row:
    """The median over the seeds is not above a bound; the worst seed is shown."""
    ok = median(values) <= bound
    return Row(quantity, None, float(median(values)), f"median at most {bound:g}", ok, worst=max(values))


def median_above(quantity: str, values: Sequence[float], bound: float) -> Row:
    """The median over the seeds is not below a bound; the worst seed is shown."""
    ok = median(values) >= bound
    return Row(quantity, None, float(median(values)), f"median at least {bound:g}", ok, worst=min(values))
