"""Direction of gravity: whether another one explains the torques better than the robot file's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.columns import left_by, robot_regressor
from dynid.checks.finding import Checked, defect
from dynid.checks.light import Light
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
_EARTH = 9.81
_SAMPLES = 400
_BETTER, _FAR_BETTER = 0.9, 0.8
"""The misfit must fall to this share before another direction is told, as a warning or as an error."""
_MENDS, _MENDS_FREE, _MENDS_ALL = 0.8, 0.5, 0.2
"""What a plain and a free direction may leave of the misfit above 1, and one that is told as an error. A tilt
eases noise and jitter, but does not explain them."""
_EXPLAINED = 0.5
"""Share of the torques that may be left unexplained in the best case; beyond it nothing can be said."""
_LEAST = 0.01
"""Torques are not taken to be better than this share of their spread."""
_ROUNDS = 8


def check_gravity(light: Light, robot: Robot, W: FloatArray) -> Checked:
    """Fit with the file's gravity, with gravity along each axis of the base, and with a free direction.

    Args:
        light: the signals, joint side.
        robot: its gravity is put to the test.
        W: its regressor at ``light.rows``.
    """
    fit = _Fit(light, robot, W)
    own = np.array(robot.gravity)
    size = float(np.linalg.norm(own)) or _EARTH
    ways = [sign * size * np.eye(3)[k] for k in range(3) for sign in (1, -1)] + [np.zeros(3)]
    misfit = fit.misfit(own)
    best = min(ways, key=fit.misfit)
    best_misfit = fit.misfit(best)
    free = fit.free(best if best_misfit < misfit else own)
    free_misfit = fit.misfit(free)
    facts = {
        "gravity_misfit": misfit,
        "gravity_best": [float(g) for g in best],
        "gravity_best_misfit": best_misfit,
        "gravity_free": [float(g) for g in free],
        "gravity_free_misfit": free_misfit,
    }
    # A plain direction is told rather than a free one that is hardly better.
    plain = best_misfit <= free_misfit / 0.95
    told, told_misfit = (best, best_misfit) if plain else (free, free_misfit)
    ratio = told_misfit / misfit if misfit > 0 else 1.0
    left = (told_misfit - 1.0) / (misfit - 1.0) if misfit > 1.0 else 1.0
    if ratio > _BETTER or left > (_MENDS if plain else _MENDS_FREE) or fit.explained > _EXPLAINED:
        return Checked((), facts)
    shown = ", ".join(f"{g:.2f}" for g in told + 0.0)
    sentence = (
        f"Gravity along ({shown}) m/s² leaves {100 * (1 - ratio):.0f} % less of the torques unexplained than "
        f"the robot file's ({', '.join(f'{g:.2f}' for g in own)})."
    )
    remedy = "Check how the robot is mounted, the zero of its axes, and gravity in the robot file."
    severity = "error" if ratio < _FAR_BETTER and left < _MENDS_ALL else "warning"
    return Checked((defect("gravity direction", severity, sentence, remedy, "torque"),), facts)


class _Fit:
    """Torques of all axes over the standard parameters, for any gravity: W(g) = W0 + Σ g_k W_k."""

    def __init__(self, light: Light, robot: Robot, W: FloatArray) -> None:
        some = slice(None, None, max(1, len(light.rows) // _SAMPLES))
        q, tau = light.q[light.rows[some]], light.tau[light.rows[some]]
        heavy = [i for i, entry in enumerate(robot.table) if entry.unit in ("kg", "kg m")]
        parts = [W[:, some].copy()]
        for axis, own in zip(np.eye(3).tolist(), robot.gravity, strict=True):
            pulled = np.zeros_like(parts[0])
            pulled[:, :, heavy] = robot_regressor(robot.with_gravity(*axis), q, None, None, heavy)
            parts[0] -= own * pulled
            parts.append(pulled)
        # An axis counts by what is left when it alone may choose its parameters and its gravity.
        spread = np.std(tau, axis=0)
        weights = np.zeros(len(spread))
        shares = []
        for j in np.flatnonzero(spread > 0):
            explaining = np.concatenate([part[j] for part in parts], axis=1)
            noise = left_by(explaining, tau[:, j]) / np.sqrt(len(tau))
            shares.append(noise / float(spread[j]))
            weights[j] = 1.0 / max(noise, _LEAST * float(spread[j]))
        self.explained = float(np.median(shares)) if shares else 1.0
        self.rows = tau.size
        self.parts, self.torques = _turned(
            [(p * weights[:, None, None]).reshape(-1, p.shape[2]) for p in parts],
            (tau * weights).T.reshape(-1),
        )
        self._known: dict[bytes, float] = {}

    def columns(self, g: FloatArray) -> FloatArray:
        """W(g), weighted."""
        made: FloatArray = self.parts[0] + np.tensordot(g, self.parts[1:], axes=1)
        return made

    def misfit(self, g: FloatArray) -> float:
        """RMS of what no parameters explain, over what is left when each axis is fitted alone."""
        if g.tobytes() not in self._known:
            self._known[g.tobytes()] = left_by(self.columns(g), self.torques) / float(np.sqrt(self.rows))
        return self._known[g.tobytes()]

    def free(self, start: FloatArray) -> FloatArray:
        """Gauss–Newton over the parameters and the direction of gravity; its size is kept."""
        g, size = start, float(np.linalg.norm(start))
        if size == 0:
            return g
        misfit = self.misfit(g)
        for _ in range(_ROUNDS):
            W = self.columns(g)
            x = np.linalg.lstsq(W, self.torques, rcond=1e-8)[0]
            across = np.linalg.svd(g[None, :])[2][1:].T  # the two directions in which it may turn
            pull = np.stack([part @ x for part in self.parts[1:]], axis=1) @ across
            step = np.linalg.lstsq(np.column_stack([W, pull]), self.torques - W @ x, rcond=1e-8)[0]
            turned = g + across @ step[-2:]
            turned = turned * size / float(np.linalg.norm(turned))
            found = self.misfit(turned)
            if found >= misfit * (1 - 1e-4):
                break
            g, misfit = turned, found
        return g


def _turned(parts: list[FloatArray], torques: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same least-squares problems in fewer rows: R of Q R = [W0 W1 W2 W3 τ], since Q changes no length.

    Args:
        parts: W0 … W3, (rows, parameters) each.
        torques: (rows,).
    """
    used = [np.flatnonzero(np.any(part, axis=0)) for part in parts]
    columns = [part[:, own] for part, own in zip(parts, used, strict=True)]
    R = np.asarray(np.linalg.qr(np.column_stack([*columns, torques]), mode="r"))
    short = np.zeros((len(parts), len(R), parts[0].shape[1]))
    last = 0
    for part, own in zip(short, used, strict=True):
        part[:, own] = R[:, last : last + len(own)]
        last += len(own)
    return short, R[:, -1]
