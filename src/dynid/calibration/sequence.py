"""P2's sequence: gains of the motors that feel what is known, the payload from these, then further motors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.base.subspaces import DEPENDENT
from dynid.calibration.bilinear import (
    PayloadPrior,
    bilinear_fit,
    payload_given_gains,
    payload_rows,
    prior_of,
)
from dynid.calibration.gauss_newton import shortest
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.motor_payload import MotorPayload
from dynid.core.arrays import FloatArray, svd

LARGEST_SHARE = 0.1
"""σ of a gain, as a share of it, up to which a motor counts as calibrated. At 10 % the bias of 1/θ̂, σ² as a
share, is 1 %: a tenth of σ. Beyond, the interval of 1/θ̂ is no longer symmetric."""
_STEP = 0.1
"""Step of the differences by which σ is propagated, in σ of what is measured."""
Stages = tuple[tuple[int, ...], ...]
"""Motors by the stage at which they are calibrated, as positions in the list of rows."""


@dataclass(frozen=True)
class MotorTrial:
    """One motor, tried once.

    Args:
        stage: 1 where the gain follows from what is known, 2 and more where it follows from what earlier
            motors show of the payload; 0 where, by the model, it follows from neither.
        theta: 1/g found; not a number at stage 0.
        sigma: its σ, that of all earlier stages included.
    """

    stage: int
    theta: float = np.nan
    sigma: float = np.inf

    @property
    def share(self) -> float:
        """σ as a share of the value."""
        return self.sigma / abs(self.theta) if self.theta else np.inf

    @property
    def is_calibrated(self) -> bool:
        """Whether the gain is positive and well enough determined."""
        return self.theta > 0 and self.share <= LARGEST_SHARE


@dataclass(frozen=True, eq=False)
class SequenceFound:
    """What the sequence found.

    Args:
        trials: of each row.
        stages: rows that were calibrated, by stage.
        theta: 1/g of the calibrated rows, in the order of the stages, (calibrated,).
        payload: χ from these, (payload,).
        covariance: of θ followed by χ, by the delta method.
    """

    trials: tuple[MotorTrial, ...]
    stages: Stages
    theta: FloatArray
    payload: FloatArray
    covariance: FloatArray

    @property
    def order(self) -> tuple[int, ...]:
        """Calibrated rows in the order of θ."""
        return tuple(row for stage in self.stages for row in stage)


def calibrate_in_sequence(rows: Sequence[MotorPayload], knowledge: PayloadKnowledge) -> SequenceFound:
    """Gains from the mass only, then the payload, then the gains of further motors (P2 §III.B).

    Stage 1 solves P2 eq 27 for each motor by itself, with columns W_uL (and not W_uL χ_uL, as printed) and
    W_kL χ_kL. Its gains make all rows so far tell the payload; a later stage takes this payload, with its
    covariance, for known. Motors whose σ is too large are no step for others.
    σ: C = J Σ Jᵀ, J the derivatives of the whole sequence by the stacked φ̂ and by what is known.

    Args:
        rows: what each motor says of the payload.
        knowledge: what is known of it.
    """
    trials = [MotorTrial(0)] * len(rows)
    stages: Stages = ()
    for number in range(1, len(rows) + 1):
        done = [row for stage in stages for row in stage]
        left = [i for i in range(len(rows)) if trials[i].stage == 0]
        new = tuple(i for i in left if _follows(rows, done, i, knowledge))
        if not new:
            break
        theta, _, covariance = _with_sigma(rows, knowledge, (*stages, new))
        for k, i in enumerate(new, start=len(done)):
            trials[i] = MotorTrial(number, float(theta[k]), float(np.sqrt(covariance[k, k])))
        good = tuple(i for i in new if trials[i].is_calibrated)
        if not good:
            break
        stages = (*stages, good)
    if not stages:
        none = np.zeros(0)
        return SequenceFound(tuple(trials), (), none, none, np.zeros((0, 0)))
    return SequenceFound(tuple(trials), stages, *_with_sigma(rows, knowledge, stages))


def _follows(rows: Sequence[MotorPayload], done: Sequence[int], i: int, knowledge: PayloadKnowledge) -> bool:
    """Whether, by the model, a gain follows from what is known, or from what calibrated rows show."""
    names, own = rows[i].names, rows[i].matrix
    known = knowledge.mask(names)
    if not done:
        effect, beside = own @ knowledge.vector(names), own[:, ~known]
        left = effect - beside @ np.linalg.lstsq(beside, effect, rcond=DEPENDENT)[0]
        return bool(np.linalg.norm(left) > DEPENDENT * np.linalg.norm(own @ np.abs(knowledge.vector(names))))
    seen = np.vstack([np.eye(len(names))[known], *(rows[k].matrix for k in done)])
    _, s, Vt = svd(seen / np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-300))
    rank = int(np.sum(s > DEPENDENT * s[0]))
    return bool(np.linalg.matrix_rank(own @ Vt[rank:].T, tol=DEPENDENT) < len(own))


def _with_sigma(
    rows: Sequence[MotorPayload], knowledge: PayloadKnowledge, stages: Stages
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """θ, χ and their covariance C = J Jᵀ, J by central differences in units of σ of what is measured."""
    found = _run(rows, knowledge, stages)
    count = sum(map(len, stages))
    J = [
        (_run(*move(_STEP), stages) - _run(*move(-_STEP), stages)) / (2 * _STEP)
        for move in _shifts(rows, knowledge, [i for stage in stages for i in stage])
    ]
    common = knowledge.scale_covariance(found[:count], found[count:])
    return found[:count], found[count:], np.array(J).T @ np.array(J) + common


Shift = Callable[[float], tuple[list[MotorPayload], PayloadKnowledge]]


def _shifts(rows: Sequence[MotorPayload], knowledge: PayloadKnowledge, used: Sequence[int]) -> list[Shift]:
    """Ways to move what is measured by a number of its σ: each φ̂ along its axes, and each known value."""

    def row_shift(i: int, axis: FloatArray) -> Shift:
        def move(step: float) -> tuple[list[MotorPayload], PayloadKnowledge]:
            moved = replace(rows[i], values=rows[i].values + step * axis)
            return [moved if k == i else row for k, row in enumerate(rows)], knowledge

        return move

    def value_shift(name: str, sigma: float) -> Shift:
        def move(step: float) -> tuple[list[MotorPayload], PayloadKnowledge]:
            values = {**knowledge.values, name: knowledge.values[name] + step * sigma}
            return list(rows), replace(knowledge, values=values)

        return move

    of_rows = [row_shift(i, axis) for i in used for axis in rows[i].root.T]
    return of_rows + [value_shift(name, sigma) for name, sigma in knowledge.sigma.items() if sigma > 0]


def _run(rows: Sequence[MotorPayload], knowledge: PayloadKnowledge, stages: Stages) -> FloatArray:
    """θ of all stages in their order, then χ."""
    exact = prior_of(replace(knowledge, sigma={}), rows[0].names)
    used = [rows[i] for i in stages[0]]
    theta = np.array([_gain_of_known(row, exact) for row in used])
    payload = payload_given_gains(used, theta, exact)
    for stage in stages[1:]:
        prior = exact.with_rows(*payload_rows(used, theta))
        new = [rows[i] for i in stage]
        more = [_gain_of_payload(row, prior, payload) for row in new]
        used, theta = used + new, np.append(theta, more)
        payload = payload_given_gains(used, theta, exact)
    return np.concatenate([theta, payload])


def _gain_of_known(row: MotorPayload, known: PayloadPrior) -> float:
    """The last coefficient of P2 eq 27: θ beside θ χ_u, both linear."""
    T = row.whitener
    columns = np.column_stack(
        [row.matrix[:, ~known.fixed], row.matrix[:, known.fixed] @ known.values[known.fixed]]
    )
    return float(shortest(T @ columns, T @ row.values, DEPENDENT)[-1])


def _gain_of_payload(row: MotorPayload, prior: PayloadPrior, payload: FloatArray) -> float:
    """θ of a motor whose payload was found by others, known as well as they show it."""
    T = row.whitener
    effect = T @ (row.matrix @ payload)
    start = float(effect @ (T @ row.values)) / max(float(effect @ effect), 1e-300)
    return float(bilinear_fit([row], prior, np.array([start]), payload).theta[0])
