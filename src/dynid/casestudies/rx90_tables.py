"""Gains and payloads beside P2: tables 2 to 4, figure 3, and the second payload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.calibration.knowledge import PayloadKnowledge
from dynid.casestudies.case import Row, over_runs, rows_of_table, runs_above, runs_below
from dynid.casestudies.rx90_paper import (
    CASES,
    MASS,
    MASS_SIGMA,
    OTHER_FOUND,
    OTHER_MASS,
    OTHER_TWO_SIGMA,
    TABLE_2,
    TABLE_2_TWO_SIGMA,
    TABLE_3,
    TABLE_3_PERCENT,
    TABLE_4,
)
from dynid.casestudies.rx90_runs import GAINS, Rx90Runs, payload_of, value_of, with_gains
from dynid.core.arrays import FloatArray
from dynid.model.payload import LABEL
from dynid.report.charts import Chart, Figure, line
from dynid.validation.model import as_model, predictions

_ALLOWED = (2.5, 2.5, 2.5, 6.0, 6.0)
"""Largest error of the gains of motors 1 to 5 [%]."""
_EXACT = 1e-6
_SHIFT = 0.05
"""Error of the weighed mass whose effect is shown [kg]."""
_JOINTS = (1, 2, 3, 4)
"""Joints of figure 3."""


def section_gains(runs: Sequence[Rx90Runs]) -> list[Row]:
    """Table 3, and what P2 does not print: motors 5 and 6, σ through the sequence, errors of the mass."""
    return (
        rows_of_table("gains · table 3: sequential from the mass", _gain_rows(runs))
        + rows_of_table("gains · all motors at once", _global_rows(runs))
        + rows_of_table("gains · exact logs and a wrong mass", _exact_rows(runs))
    )


def section_payload(runs: Sequence[Rx90Runs]) -> list[Row]:
    """Tables 2 and 4, figure 3 and the second payload."""
    return (
        rows_of_table("payload · table 2: the payload with three sets of gains", _payload_rows(runs))
        + rows_of_table("payload · table 4: relative residual", _residual_rows(runs))
        + rows_of_table(
            "payload · figure 3: torques of a motion not used, with gains found", _torque_rows(runs)
        )
        + rows_of_table("payload · the second payload", _other_rows(runs))
    )


def _near_truth(
    quantity: str, published: float | None, values: Sequence[float], truth: float, percent: float
) -> Row:
    """Within a share of the truth on every seed."""
    accept = f"within {percent:g} % of {truth:g}"
    return over_runs(quantity, published, values, accept, lambda v: abs(v / truth - 1) - percent / 100)


def _gain_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    rows = []
    for m, percent in enumerate(_ALLOWED):
        published = TABLE_3[m] if m < len(TABLE_3) else None
        values = [float(run.sequential.relative[m]) for run in runs]
        rows.append(_near_truth(f"gain of motor {m + 1}", published, values, float(GAINS[m]), percent))
    for m in range(len(_ALLOWED)):
        published = TABLE_3_PERCENT[m] if m < len(TABLE_3) else None
        values = [100 * float(run.sequential.sigma[m] / run.sequential.relative[m]) for run in runs]
        rows.append(runs_below(f"%σ of motor {m + 1}", published, values, np.inf))
    naive = [float(run.sequential.sigma[3] / run.sequential.relative[3] / _naive_share(run)) for run in runs]
    rows.append(runs_above("σ of motor 4 over that with the payload taken for exact", None, naive, 2.0))
    sixth = [float(run.sequential.gains[5].is_calibrated) for run in runs]
    rows.append(runs_below("motor 6 calibrated from the mass (1 yes, 0 no)", 0.0, sixth, 0.0))
    return rows


def _naive_share(run: Rx90Runs) -> float:
    """σ of motor 4's gain as a share, were the payload known exactly: 1/‖K χ / g‖ in units of σ."""
    row = run.sequential.rows[3]
    effect = row.matrix @ run.sequential.payload / run.sequential.relative[3]
    return float(1.0 / np.sqrt(effect @ np.linalg.solve(row.covariance, effect)))


def _global_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    rows = [
        _near_truth(
            f"gain of motor {m + 1}",
            None,
            [float(r.together.relative[m]) for r in runs],
            float(GAINS[m]),
            percent,
        )
        for m, percent in enumerate(_ALLOWED)
    ]
    ratio = [float(np.mean(r.together.sigma[:5] / r.sequential.sigma[:5])) for r in runs]
    return [*rows, runs_below("σ over that of the sequence, mean of motors 1 to 5", None, ratio, 1.0)]


def _exact_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    exact = Rx90Runs(runs[0].seed, noise=0.0)
    truth = payload_of(MASS).standard()
    rows = []
    for name, found in (("sequential", exact.sequential), ("all at once", exact.together)):
        error = float(np.max(np.abs(found.relative / GAINS - 1)))
        rows.append(
            runs_below(f"{name}, exact logs: largest relative error of a gain", None, [error], _EXACT)
        )
        error = float(np.max(np.abs(found.payload - truth)))
        rows.append(runs_below(f"{name}, exact logs: largest error of the payload", None, [error], _EXACT))
    heavier = PayloadKnowledge.of_mass(MASS + _SHIFT, MASS_SIGMA)
    moved = runs[0].gains("sequential", heavier).relative[:5] / runs[0].sequential.relative[:5] - 1
    expected = 100 * _SHIFT / MASS
    accept = f"{expected:.2f} for every motor"
    ok = bool(np.allclose(100 * moved, expected, atol=0.01))
    rows.append(
        Row("change of the gains for a mass 0.05 kg larger [%]", None, 100 * float(moved.mean()), accept, ok)
    )
    return rows


def _payload_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    rows = []
    for name, printed in TABLE_2.items():
        unit = "kg" if name == "ML" else "kg m"
        truth = payload_of(MASS).by_name(LABEL)[name]
        for k, label in enumerate(CASES):
            found = [value_of(run.cases[k], name) for run in runs]
            values = [value for value, _ in found]
            quantity = f"{name}, {label} [{unit}]"
            if k == 1:
                rows.append(_near_truth(quantity, printed[k], values, truth, 2.5))
            else:
                rows.append(runs_below(quantity, printed[k], values, np.inf))
            sigma = [2 * s for _, s in found]
            rows.append(runs_below(f"2σ of {quantity}", TABLE_2_TWO_SIGMA[name][k], sigma, np.inf))
    return rows + _case_3_rows(runs)


def _case_3_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    """How the payload follows gains that are 1.2 times as large."""
    rows = [_between(runs, "ML", 1.15, 1.3), _between(runs, "MZL", 1.0, 1.2)]
    every, fourth = np.full(6, 1.2), np.array([1.2, 1.2, 1.2, 0.8, 1.0, 1.0])
    for label, factors in (("all six gains × 1.2", every), ("gains 1 to 3 × 1.2, gain 4 × 0.8", fourth)):
        ratios = [
            value_of(r.payload(r.used_gains[1] * factors), "MZL")[0] / value_of(r.cases[1], "MZL")[0]
            for r in runs
        ]
        rows.append(runs_below(f"MZL over case 2 with {label}", None, ratios, np.inf))
    return rows


def _between(runs: Sequence[Rx90Runs], name: str, low: float, high: float) -> Row:
    """A parameter of case 3 over that of case 2, held between two bounds."""
    printed = TABLE_2[name][2] / TABLE_2[name][1]
    ratios = [value_of(r.cases[2], name)[0] / value_of(r.cases[1], name)[0] for r in runs]
    accept = f"between {low:g} and {high:g}"
    return over_runs(
        f"{name} of case 3 over case 2", printed, ratios, accept, lambda v: max(low - v, v - high)
    )


def _residual_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    found = np.array([[case.facts["relative_residual"] / 100 for case in run.cases] for run in runs])
    rows = [runs_below(label, TABLE_4[k], found[:, k].tolist(), np.inf) for k, label in enumerate(CASES)]
    for k in (0, 2):
        ratio = (found[:, k] / found[:, 1]).tolist()
        printed = TABLE_4[k] / TABLE_4[1]
        rows.append(runs_above(f"case {k + 1} over case 2", printed, ratio, 1.0))
    return rows


def _torque_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    errors = np.array([_relative_errors(run) for run in runs])
    return [
        runs_below(f"joint {j}: ‖τ − τ̂‖ / ‖τ‖ [%]", None, errors[:, j - 1].tolist(), 5.0) for j in _JOINTS
    ]


def _reconstruction(run: Rx90Runs) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Time, torques with the gains found, and those of the model of case 2, along the motion not used."""
    [motion] = with_gains([run.logs["unseen"]], run.used_gains[1])
    actual = np.asarray(motion.tau, dtype=float)
    return motion.time, actual, np.asarray(predictions(as_model(run.cases[1]), motion)[0], dtype=float)


def _relative_errors(run: Rx90Runs) -> FloatArray:
    _, actual, rebuilt = _reconstruction(run)
    return np.asarray(
        100 * np.linalg.norm(actual - rebuilt, axis=0) / np.linalg.norm(actual, axis=0), dtype=float
    )


def _other_rows(runs: Sequence[Rx90Runs]) -> list[Row]:
    found = [value_of(run.payload(run.used_gains[1], "other"), "ML") for run in runs]
    percent = 100 * OTHER_TWO_SIGMA / OTHER_MASS
    values, sigma = [value for value, _ in found], [2 * s for _, s in found]
    return [
        _near_truth(
            "mass of 4.275 kg, with the gains found [kg]", OTHER_FOUND, values, OTHER_MASS, round(percent, 1)
        ),
        runs_below("its 2σ [kg]", OTHER_TWO_SIGMA, sigma, OTHER_TWO_SIGMA),
    ]


def torque_figure(run: Rx90Runs) -> Figure:
    """Figure 3: actual and reconstructed torques of joints 1 to 4."""
    time, actual, rebuilt = _reconstruction(run)
    charts = tuple(
        Chart(
            f"Joint {j}",
            "time [s]",
            "torque [N m]",
            (
                line("actual", time, actual[:, j - 1]),
                line("reconstructed", time, rebuilt[:, j - 1]),
                line("error", time, actual[:, j - 1] - rebuilt[:, j - 1]),
            ),
        )
        for j in _JOINTS
    )
    words = "Torques with the gains found, and those of the model, along a loaded motion that was not used."
    return Figure("Fig. 3", words, charts)
