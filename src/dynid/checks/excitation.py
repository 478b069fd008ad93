"""Excitation: whether the motion shows the parameters apart (P3 §3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.checks.columns import independent_columns, robot_regressor
from dynid.checks.finding import Checked, defect
from dynid.checks.light import Light
from dynid.core.finding import Finding
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
_POOR, _BAD = 300.0, 3000.0
_APART = 0.01
"""What is left of a unit column beside all others, below which its parameter is not told from them."""
_FAINT, _MOST_FAINT = 0.01, 0.4
"""A direction of the parameters is faint below this share of the clearest; so many of them leave no fit."""
_SHOWN = 12


def check_excitation(
    light: Light,
    robot: Robot,
    still: tuple[int, ...],
    W: FloatArray,
    columns: Sequence[int] | None = None,
) -> Checked:
    """Condition number of the column-scaled regressor over independent columns, and what is not excited.

    Args:
        light: the signals, joint side.
        robot: the robot.
        still: axes (from 0) that do not move; noise must not count as motion.
        W: the robot's regressor at ``light.rows``.
        columns: base parameters (indices of standard ones), found from random states when None.
    """
    columns = independent_columns(robot) if columns is None else columns
    if still:
        q, qd, qdd = (x[light.rows].copy() for x in (light.q, light.qd, light.qdd))
        for axis in still:
            q[:, axis], qd[:, axis], qdd[:, axis] = q[:, axis].mean(), 0.0, 0.0
        W = robot_regressor(robot, q, qd, qdd)
    W = W[:, :, list(columns)].reshape(-1, len(columns))
    names = [robot.table.names[c] for c in columns]
    sizes = np.linalg.norm(W, axis=0)
    seen = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)
    dark = [name for name, visible in zip(names, seen, strict=True) if not visible]
    if not np.any(seen):
        finding = defect("excitation", "error", "No parameter of the robot is excited.", "Record a motion.")
        return Checked((finding,), {"parameters": len(columns), "not_excited": dark})
    _, s, Vt = np.linalg.svd(np.linalg.qr(W[:, seen] / sizes[seen], mode="r"), full_matrices=False)
    condition = float(s[0] / s[-1]) if s[-1] > 1e-12 * s[0] else float("inf")
    # Diagonal of the inverse of WᵀW: one over the square of what is left of each column beside the others.
    inverse = np.sum((Vt / np.maximum(s, 1e-12 * s[0])[:, None]) ** 2, axis=0)
    apart = 1.0 / np.sqrt(inverse)
    visible = [name for name, is_seen in zip(names, seen, strict=True) if is_seen]
    weak = [
        name for name, left in sorted(zip(visible, apart, strict=True), key=lambda p: p[1]) if left < _APART
    ]
    facts = {"parameters": len(columns), "condition": condition, "not_excited": dark, "weakly_excited": weak}
    faint = int(np.sum(s < _FAINT * s[0]))
    if not still and faint > _MOST_FAINT * len(s):
        seconds = len(light.q) / light.rate_hz
        sentence = (
            f"{faint} of {len(s)} directions of the parameters are hardly excited (condition number "
            f"{condition:.3g}): in {seconds:.2g} s the axes move too little or all alike."
        )
        remedy = "Record a longer motion that moves all axes at different speeds."
        return Checked((defect("excitation", "error", sentence, remedy),), facts)
    return Checked(tuple(_findings(condition, dark, weak, len(columns))), facts)


def _findings(condition: float, dark: list[str], weak: list[str], count: int) -> list[Finding]:
    found = []
    remedy = "Record a motion that moves all axes at different speeds, or leave these parameters out."
    if dark:
        sentence = f"{len(dark)} of {count} base parameters are not excited at all: {_listed(dark)}."
        found.append(defect("not excited", "warning", sentence, remedy))
    if condition > _POOR:
        severity = "warning" if condition > _BAD else "note"
        named = f"; least told apart: {_listed(weak)}" if weak else ""
        sentence = f"The motion tells the parameters badly apart (condition number {condition:.3g}{named})."
        found.append(defect("excitation", severity, sentence, remedy))
    return found


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
