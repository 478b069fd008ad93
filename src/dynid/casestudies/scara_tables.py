"""Tables 1 to 9 of P0 beside ours: one function per section of its chapter VI."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.casestudies.case import Row, rows_of_table, runs_above, runs_below
from dynid.casestudies.scara_rules import (
    INVERSE,
    NEAR,
    SLOWLY,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5_DIDIM,
    TABLE_5_IDIM,
    TABLE_5_RESIDUALS,
    TABLE_6,
    TABLE_7_DIDIM,
    TABLE_7_IDIM,
    TABLE_7_RESIDUALS,
    TABLE_8,
    TABLE_9,
    VISCOUS,
    estimate_rows,
    is_told,
    off_by,
    parameter_rows,
)
from dynid.casestudies.scara_runs import Runs, joint_residuals, overall_residual, paper_units, truth
from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate

SIGNALS = ("speed", "acceleration")


def iterations(label: str, published: float, estimates: Sequence[Estimate], bound: float) -> Row:
    """Passes of DIDIM."""
    return runs_below(f"iterations{label}", published, [float(e.iterations) for e in estimates], bound)


def torque_errors(estimate: Estimate, passes: int) -> FloatArray:
    """‖Y − W χ^k‖ / ‖Y‖ for k = 0 … passes − 1, (joints, passes); the residual after the last pass."""
    history = [h["torque_error"] for h in estimate.facts["history"]]
    rows = [*history, *[joint_residuals(estimate).tolist()] * passes][:passes]
    return np.array(rows, dtype=float).T


def section_a(runs: Sequence[Runs]) -> list[Row]:
    """Good initial values: IDIM, and DIDIM that starts from it."""
    inverse, direct = [r.idim for r in runs], [r.from_idim for r in runs]
    gaps = [
        float(np.max(np.abs(r.from_idim.values - r.regular_start.values) / r.regular_start.sigma))
        for r in runs
    ]
    rows = estimate_rows(", IDIM", None, inverse, INVERSE)
    rows += estimate_rows(", DIDIM from IDIM", None, direct, NEAR)
    rows += [
        runs_below("‖Y − Wχ‖/‖Y‖, IDIM", 0.03, [overall_residual(e) for e in inverse], 0.03),
        runs_below("‖Y − Wχ‖/‖Y‖, DIDIM", 0.03, [overall_residual(e) for e in direct], 0.03),
        iterations("", 2, direct, 3),
        runs_below("distance to the fixed point of the regular start [σ]", None, gaps, 0.2),
    ]
    return rows_of_table("A · table 1: IDIM, and DIDIM from it", rows)


def section_b(runs: Sequence[Runs]) -> list[Row]:
    """The regular start."""
    found = [r.regular_start for r in runs]
    ratios = [overall_residual(r.regular_start) / overall_residual(r.idim) for r in runs]
    rows = estimate_rows("", TABLE_2, found, NEAR, sigma_factor=2.0)
    rows += [
        iterations("", 3, found, 5),
        runs_below("‖Y − Wχ‖/‖Y‖", 0.03, [overall_residual(e) for e in found], 0.03),
        runs_below("the same over IDIM's", None, ratios, 1.05),
    ]
    errors = [torque_errors(e, 4) for e in found]
    third = [
        runs_below(
            f"torque error of joint {j + 1}, k = {k}",
            TABLE_3[j][k],
            [float(e[j, k]) for e in errors],
            # The first depends on the trajectory, which the paper does not give.
            (np.inf, 0.15, 0.03, 0.03)[k],
        )
        for j in range(2)
        for k in range(4)
    ]
    fourth = []
    for k, printed in enumerate(TABLE_4):
        solved = [_values_after_pass(e, k) for e in found]
        fourth += parameter_rows(f", χ^{k + 1}", printed, solved, NEAR if k else {}, VISCOUS if k else {})
    return (
        rows_of_table("B · table 2: regular start", rows)
        + rows_of_table("B · table 3: torque error per iteration", third)
        + rows_of_table("B · table 4: parameters per iteration", fourth)
        + _rows_of_ideal_data(runs)
    )


def _values_after_pass(estimate: Estimate, k: int) -> FloatArray:
    """Values after pass k + 1, or after the last."""
    history = estimate.facts["history"]
    return paper_units(np.array(history[min(k, len(history) - 1)]["solved"]))


def _rows_of_ideal_data(runs: Sequence[Runs]) -> list[Row]:
    """Without noise every parameter comes back; with white noise σ tells the truth."""
    exact = [r.without_noise for r in runs]
    worst = [float(np.max(np.abs(paper_units(e.values) / truth() - 1.0))) for e in exact]
    inside = [
        np.abs(paper_units(r.with_white_noise.values) - truth()) <= 2 * paper_units(r.with_white_noise.sigma)
        for r in runs
    ]
    share = float(np.mean(inside))
    return rows_of_table(
        "B · without noise, and with white torque noise only",
        [
            runs_below("largest deviation of the 8 parameters, no noise", None, worst, 0.001),
            iterations(", no noise", 3, exact, 6),
            Row("share of estimates within 2σ, white noise", None, share, "at least 0.8", share >= 0.8),
        ],
    )


def section_c(runs: Sequence[Runs]) -> list[Row]:
    """Torques and positions sampled at 0.5 Hz."""
    inverse, direct = [r.slow_idim for r in runs], [r.slow_didim for r in runs]
    rows = estimate_rows(", IDIM", TABLE_5_IDIM, inverse, {}, {})
    rows.append(runs_above("deviation of ZZ1R, IDIM", None, off_by("ZZ1R", inverse), 0.3))
    rows += estimate_rows(", DIDIM", TABLE_5_DIDIM, direct, SLOWLY, {})
    rows += [
        iterations(", DIDIM", 3, direct, 5),
        runs_above("‖Y − Wχ‖/‖Y‖, IDIM", TABLE_5_RESIDUALS[0], [overall_residual(e) for e in inverse], 0.3),
        runs_below("‖Y − Wχ‖/‖Y‖, DIDIM", TABLE_5_RESIDUALS[1], [overall_residual(e) for e in direct], 0.08),
    ]
    sixth = [
        runs_above(
            f"error of the {signal} of joint {j + 1}",
            TABLE_6[s][j],
            [float(r.distortion[s, j]) for r in runs],
            0.3,
        )
        for s, signal in enumerate(SIGNALS)
        for j in range(2)
    ]
    return rows_of_table("C · table 5: samples at 0.5 Hz", rows) + rows_of_table(
        "C · table 6: what 0.5 Hz does to speed and acceleration", sixth
    )


def section_d(runs: Sequence[Runs]) -> list[Row]:
    """No filter at all."""
    inverse, direct = [r.raw_idim for r in runs], [r.raw_didim for r in runs]
    rows = estimate_rows(", IDIM", TABLE_7_IDIM, inverse, {}, {})
    rows.append(runs_above("deviation of ZZ1R, IDIM", None, off_by("ZZ1R", inverse), 0.3))
    rows += estimate_rows(", DIDIM", TABLE_7_DIDIM, direct, NEAR)
    rows += [
        iterations(", DIDIM", 2, direct, 5),
        runs_above("‖Y − Wχ‖/‖Y‖, IDIM", TABLE_7_RESIDUALS[0], [overall_residual(e) for e in inverse], 0.3),
        runs_below("‖Y − Wχ‖/‖Y‖, DIDIM", TABLE_7_RESIDUALS[1], [overall_residual(e) for e in direct], 0.08),
    ]
    return rows_of_table("D · table 7: no filter", rows)


def section_e(runs: Sequence[Runs]) -> list[Row]:
    """Half the bandwidth in the simulation: reported, never accepted."""
    half, fast = [r.half_bandwidth for r in runs], [r.fast_half_bandwidth for r in runs]
    told = [float(is_told(e)) for e in half]
    rows = estimate_rows("", TABLE_8, half, {}, {})
    rows += [
        runs_above("told as a mismatch of the control law", None, told, 1.0),
        iterations("", 6, half, np.inf),
        # Table 8 is not reproduced; were ZZ1R or the residual small, the diagnostic would be wrong.
        runs_above("deviation of ZZ1R: not as printed", 0.003, off_by("ZZ1R", half), 0.05),
    ]
    rows += [
        runs_above(
            f"residual of joint {j + 1}: not as printed",
            0.02,
            [float(joint_residuals(e)[j]) for e in half],
            0.1,
        )
        for j in range(2)
    ]
    errors = [torque_errors(e, 7) for e in half]
    ninth = [
        runs_below(
            f"torque error of joint {j + 1}, k = {k}", TABLE_9[j][k], [float(e[j, k]) for e in errors], np.inf
        )
        for j in range(2)
        for k in range(7)
    ]
    quick = runs_below("deviation of ZZ1R, ω_n = 100 × the trajectory's", 0.003, off_by("ZZ1R", fast), 0.02)
    return (
        rows_of_table("E · table 8: half the bandwidth (not reproduced, and told so)", rows)
        + rows_of_table("E · table 9: torque error per iteration, half the bandwidth", ninth)
        + rows_of_table("E · half the bandwidth of a loop far above the trajectory", [quick])
    )


SECTIONS = {"A": section_a, "B": section_b, "C": section_c, "D": section_d, "E": section_e}
