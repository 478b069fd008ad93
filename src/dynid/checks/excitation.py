"""Does the motion show the parameters apart? Condition number of the scaled regressor (P3 §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.find import base_of
from dynid.checks.data_check import Checked
from dynid.checks.explained import robot_regressor
from dynid.checks.light_motion import LightMotion
from dynid.core.arrays import FloatArray, svd
from dynid.core.errors import option_words
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.model.robot import Robot


@dataclass(frozen=True)
class ExcitationLimits:
    """What a motion must show, with unit columns.

    Chosen by hand: exciting trajectories of the measured arms reach condition numbers of 30 to 100.

    Args:
        poor: condition number worth a word.
        bad: condition number that asks for care.
        apart: what is left of a unit column beside all others, below which its parameter is named.
        faint: singular value over the largest, below which a direction is hardly excited.
        most_faint: share of such directions that leaves no fit.
        shown: names listed in a sentence.
        rows_per_parameter: rows of a joint per parameter of its own: with fewer, directions that are hardly
            excited follow the noise.
    """

    poor: float = 300.0
    bad: float = 3000.0
    apart: float = 0.01
    faint: float = 0.01
    most_faint: float = 0.4
    shown: int = 12
    rows_per_parameter: int = 10


LIMITS = ExcitationLimits()


def check_excitation(
    motion: LightMotion, robot: Robot, W: FloatArray, columns: Sequence[int] | None = None
) -> Checked:
    """Condition number of the column-scaled regressor over independent columns, and what is not excited.

    Args:
        motion: the signals, joint side.
        robot: the robot.
        W: the robot's regressor at ``motion.rows``.
        columns: base parameters (indices of standard ones); found when None.
    """
    columns = base_of(robot).columns if columns is None else columns
    still = motion.still_axes
    if still:  # noise must not count as motion
        q, qd, qdd = (x[motion.rows] for x in (motion.q, motion.qd, motion.qdd))
        q[:, still], qd[:, still], qdd[:, still] = q[:, still].mean(axis=0), 0.0, 0.0
        W = robot_regressor(robot, q, qd, qdd)
    W = W[:, :, list(columns)].reshape(-1, len(columns))
    names = np.array([robot.table.names[c] for c in columns])
    sizes = np.linalg.norm(W, axis=0)
    seen = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)
    dark = names[~seen].tolist()
    if not np.any(seen):
        sentence = "No parameter of the robot is excited."
        finding = Finding(Name.EXCITATION, Level.FAIL, sentence, "Record a motion.")
        return Checked((finding,), {"parameters": len(columns), "not_excited": dark})
    R = np.asarray(np.linalg.qr(W[:, seen] / sizes[seen], mode="r"))
    _, s, Vt = svd(R, full_matrices=False)
    condition = float(s[0] / s[-1]) if s[-1] > 1e-12 * s[0] else float("inf")
    # Diagonal of the inverse of WᵀW: one over the square of what is left of each column beside the others.
    apart = 1.0 / np.sqrt(np.sum((Vt / np.maximum(s, 1e-12 * s[0])[:, None]) ** 2, axis=0))
    order = np.argsort(apart, kind="stable")
    weak = names[seen][order][apart[order] < LIMITS.apart].tolist()
    facts = {"parameters": len(columns), "condition": condition, "not_excited": dark, "weakly_excited": weak}
    faint = int(np.sum(s < LIMITS.faint * s[0]))
    if not still and faint > LIMITS.most_faint * len(s):
        seconds = len(motion.q) / motion.rate_hz
        sentence = (
            f"{faint} of {len(s)} directions of the parameters are hardly excited (condition number "
            f"{condition:.3g}): in {seconds:.2g} s the axes move too little or all alike."
        )
        remedy = "Record a longer motion that moves all axes at different speeds."
        return Checked((Finding(Name.EXCITATION, Level.FAIL, sentence, remedy),), facts)
    return Checked(tuple(_findings(condition, dark, weak, len(columns))), facts)


def _findings(condition: float, dark: list[str], weak: list[str], count: int) -> list[Finding]:
    found = []
    remedy = "Record a motion that moves all axes at different speeds, or leave these parameters out."
    if dark:
        sentence = f"{len(dark)} of {count} base parameters are not excited at all: {_name_list(dark)}."
        found.append(Finding(Name.NOT_EXCITED, Level.CARE, sentence, remedy))
    if condition > LIMITS.poor:
        level = Level.CARE if condition > LIMITS.bad else Level.NOTE
        named = f"; least told apart: {_name_list(weak)}" if weak else ""
        sentence = f"The motion tells the parameters badly apart (condition number {condition:.3g}{named})."
        found.append(Finding(Name.EXCITATION, level, sentence, remedy))
    return found


def _name_list(names: list[str]) -> str:
    more = f" and {len(names) - LIMITS.shown} more" if len(names) > LIMITS.shown else ""
    return ", ".join(names[: LIMITS.shown]) + more


def few_rows(estimate: Estimate) -> tuple[Finding, ...]:
    """Joints with fewer than ten rows per parameter that they help to determine.

    Args:
        estimate: of any linear problem, or of one at its solution.
    """
    problem = estimate.problem
    factors = problem.regression.joints
    counts = [int(np.count_nonzero(estimate.kept[list(factor.columns)])) for factor in factors]
    short = [j for j, f in enumerate(factors) if 0 < f.rows < LIMITS.rows_per_parameter * counts[j]]
    if not short:
        return ()
    named = ", ".join(
        f"{problem.robot.joints[problem.robot.coordinates[j]].name} {factors[j].rows} for {counts[j]}"
        for j in short
    )
    sentence = f"There are fewer than {LIMITS.rows_per_parameter} rows per parameter: {named}."
    less = f"decimate less: {option_words('--decimation')}, " if problem.plan.decimation > 1 else ""
    remedy = (
        f"Record longer, {less}lower the speed thresholds: {option_words('--mask')}, or keep to essential "
        "parameters."
    )
    figures = {"least_rows_per_parameter": min(factors[j].rows / counts[j] for j in short)}
    return (Finding(Name.FEW_ROWS, Level.NOTE, sentence, remedy, figures=figures),)
