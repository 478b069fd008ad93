"""Validation of logs that arrive in pieces: the figures of ``validate`` in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.validation.figures import ErrorFigures
from dynid.validation.model import Model
from dynid.validation.parts import Parts, Shares, split
from dynid.validation.predict import predictions
from dynid.validation.tally import FigureSums, ResidualStore
from dynid.validation.validate import joint_names, regression_rows, torque_units
from dynid.validation.validation import MotionFigures, Validation
from dynid.validation.verdict import judge

FloatArray = NDArray[np.float64]


class _Tally:
    """What has been seen of one log, or of all of them."""

    def __init__(self, model: Model) -> None:
        n = model.robot.n_coordinates
        self.full, self.rows, self.residuals = FigureSums(n), FigureSums(n), ResidualStore()
        self.parts = {field.name: np.zeros(n) for field in fields(Parts)}
        self.doubt = np.zeros(n)
        self.samples = self.counted = self.listed = 0
        self.rate_hz = float("nan")

    def figures(self, name: str, decimates: bool) -> MotionFigures:
        decimated = self.rows.figures() if decimates else None
        full, tests = self.full.figures(), self.residuals.tests()
        return MotionFigures(name, self.samples, self.rate_hz, full, decimated, tests)

    def shares(self) -> Shares:
        with np.errstate(divide="ignore", invalid="ignore"):
            percent = {name: 100 * np.sqrt(square / self.full.size) for name, square in self.parts.items()}
        rms = {name: np.sqrt(square / max(self.samples, 1)) for name, square in self.parts.items()}
        return Shares(rms, percent)


def validate_pieces(
    model: Model,
    logs: Iterable[tuple[str, Iterable[Motion]]],
    plan: Preparation,
    *,
    fit: ErrorFigures | None = None,
    seen: Callable[[], bool] = lambda: False,
    repeated: Callable[[], bool] = lambda: False,
    concerns: Sequence[Finding] = (),
) -> Validation:
    """Predict the torques of logs piece by piece and say what the prediction is worth.

    Pieces are decimated one by one, which costs a few rows at their edges; residual tests look at the first
    200 000 rows of a log.

    Args:
        model: the model.
        logs: name and prepared pieces of each log; each piece is used once and may be forgotten.
        plan: the preparation they went through.
        fit: errors on the fit's own motions, to compare with.
        seen: asked after the last piece: are these the fit's own logs?
        repeated: asked then too: do these repeat the fit's motion?
        concerns: what else is known about the logs; read after the last piece, so it may grow meanwhile.
    """
    decimates = plan.decimation > 1 or bool(plan.speed_thresholds)
    total, each = _Tally(model), []
    for name, pieces in logs:
        own = _Tally(model)
        for motion in pieces:
            _add(model, motion, plan, (own, total))
        if own.samples:
            each.append(own.figures(name, decimates))
    if not each:
        raise DynidError("Validation was given no motion; give at least one.")
    names, tests, known = joint_names(model.robot), total.residuals.tests(), seen()
    again = repeated()
    full = total.full.figures()
    decimated = total.rows.figures() if decimates else None
    verdict = judge(
        full if decimated is None else decimated,
        tests,
        names,
        fit=fit,
        seen=known,
        repeated=again,
        left_out=1.0 - total.counted / total.listed if total.listed else 0.0,
        uncertainty=model.uncertainty,
        concerns=concerns,
        lacking=not model.dry_friction,
    )
    return Validation(
        joints=names,
        units=torque_units(model.robot),
        motions=tuple(each),
        full=full,
        decimated=decimated,
        tests=tests,
        shares=total.shares(),
        doubt_rms=None if model.covariance is None else np.sqrt(total.doubt / total.samples),
        seen=known,
        verdict=verdict,
        repeated=again,
    )


def _add(model: Model, motion: Motion, plan: Preparation, tallies: Sequence[_Tally]) -> None:
    predicted, doubt = predictions(model, motion)
    parts = split(model, motion)
    rows = regression_rows(motion, predicted, plan)
    for tally in tallies:
        tally.samples += motion.samples
        tally.rate_hz = motion.rate_hz
        tally.full.add(motion.tau, predicted)
        for name in tally.parts:
            tally.parts[name] += np.sum(getattr(parts, name) ** 2, axis=0)
        if doubt is not None:
            tally.doubt += np.sum(doubt**2, axis=0)
        if rows is None:
            tally.residuals.add(motion.tau - predicted)
            continue
        tau, found, counts = rows
        tally.rows.add(tau, found, counts)
        tally.residuals.add(np.where(counts, tau - found, np.nan))
        tally.counted += int(np.count_nonzero(counts))
        tally.listed += counts.size
