"""Does gravity point where the robot file says? Whether another direction explains the torques better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.checks.data_check import Checked
from dynid.checks.explained import COLUMNS, robot_regressor, visible_sizes
from dynid.checks.light_motion import LightMotion
from dynid.core.arrays import FloatArray, svd
from dynid.core.finding import Finding, Level, Name, Where
from dynid.model.robot import Robot


@dataclass(frozen=True)
class GravityRules:
    """When another direction is told. Chosen by hand; ``tests/checks`` holds them.

    The misfit is 1 when the axes fitted together leave no more than each axis fitted alone. A tilt eases
    noise and jitter, but does not explain them: hence the limits on the misfit above 1.

    Args:
        earth: size of gravity where the robot file has none [m/s²].
        samples: rows per axis that are fitted.
        better: misfit over that of the robot file, below which another direction is told …
        far_better: … and fails the log.
        mends: what may be left of the misfit above 1, by a direction along an axis of the base, …
        mends_free: … by any other direction, …
        mends_all: … and by one that fails the log.
        explained: share of the torques left in the best case, beyond which nothing can be said.
        least: torques are not taken to be known better than this share of their spread.
        plain: a direction along an axis is told rather than a free one whose misfit is not below this share.
        alike: misfit of gravity upside down over that of the file's, up to which neither is told apart …
        seen: … where that without gravity is at least so many times as large.
        rounds: of Gauss–Newton over the direction.
        gain: share of the misfit that a round must promise to take away, to be worth a fit.
        damping: of its steps, as a share of the squared pull of gravity.
    """

    earth: float = 9.81
    samples: int = 400
    better: float = 0.9
    far_better: float = 0.8
    mends: float = 0.8
    mends_free: float = 0.5
    mends_all: float = 0.2
    explained: float = 0.5
    least: float = 0.01
    plain: float = 0.95
    alike: float = 1.01
    seen: float = 1.2
    rounds: int = 8
    gain: float = 0.005
    damping: float = 1e-10


GRAVITY = GravityRules()


@dataclass(frozen=True, eq=False)
class GravityProblem:
    """Torques of all axes over the standard parameters, for any gravity: W(g) = W0 + Σ g_k W_k, weighted.

    Args:
        parts: W0 … W3, (4, rows, parameters).
        torques: (rows,).
        scale: norm of the torques that are left when each axis is fitted alone, as they are weighted.
        explained: share of the torques that each axis alone leaves, as a median.
        least: misfit of each axis fitted alone; no gravity gives a smaller one.
    """

    parts: FloatArray
    torques: FloatArray
    scale: float
    explained: float
    least: float


@dataclass(frozen=True, eq=False)
class GravityFit:
    """The best parameters for one gravity.

    Args:
        g: gravity [m/s²].
        misfit: RMS of what is left, over that of each axis fitted alone.
        x: standard parameters of least norm.
        left: torques that are left, (rows,).
        basis: orthonormal basis of the columns, (rows, rank).
    """

    g: FloatArray
    misfit: float
    x: FloatArray
    left: FloatArray
    basis: FloatArray


def check_gravity(motion: LightMotion, robot: Robot, W: FloatArray) -> Checked:
    """Fit with the file's gravity, with gravity along each axis of the base, with none, and a free direction.

    Args:
        motion: the signals, joint side.
        robot: its gravity is put to the test.
        W: its regressor at ``motion.rows``.
    """
    problem = gravity_problem(motion, robot, W)
    given = np.array(robot.gravity)
    size = float(np.linalg.norm(given)) or GRAVITY.earth
    ways = [sign * size * np.eye(3)[k] for k in range(3) for sign in (1, -1)] + [np.zeros(3)]
    own, *others = gravity_fits(problem, np.array([given, *ways]))
    best = min(others, key=lambda fit: fit.misfit)
    free = best if best.misfit < own.misfit else own
    clear = own.misfit > 1.0 and problem.explained <= GRAVITY.explained
    if clear and problem.least <= GRAVITY.better * own.misfit:
        free = free_direction(problem, free)
    facts = {
        "gravity_misfit": own.misfit,
        "gravity_best": best.g.tolist(),
        "gravity_best_misfit": best.misfit,
        "gravity_free": free.g.tolist(),
        "gravity_free_misfit": free.misfit,
    }
    is_plain = GRAVITY.plain * best.misfit <= free.misfit
    told = best if is_plain else free
    ratio = told.misfit / own.misfit if own.misfit > 0 else 1.0
    left = (told.misfit - 1.0) / (own.misfit - 1.0) if clear else 1.0
    most_left = GRAVITY.mends if is_plain else GRAVITY.mends_free
    if not clear or ratio > GRAVITY.better or left > most_left:
        return Checked(_told_apart(own, others), facts)
    shown = ", ".join(f"{g:.2f}" for g in told.g + 0.0)
    sentence = (
        f"Gravity along ({shown}) m/s² leaves {100 * (1 - ratio):.0f} % less of the torques unexplained than "
        f"the robot file's ({', '.join(f'{g:.2f}' for g in given)})."
    )
    remedy = "Check how the robot is mounted, the zero of its axes, and gravity in the robot file."
    level = Level.FAIL if ratio < GRAVITY.far_better and left < GRAVITY.mends_all else Level.CARE
    place = Where(channel="torque")
    return Checked((Finding(Name.GRAVITY_DIRECTION, level, sentence, remedy, place),), facts)


def _told_apart(own: GravityFit, others: Sequence[GravityFit]) -> tuple[Finding, ...]:
    """A note where gravity turned upside down explains the torques as well, and gravity is seen at all."""
    upside_down, none = [fit for fit in others if fit.g @ own.g < -0.5 * own.g @ own.g], others[-1]
    alike = [fit for fit in upside_down if fit.misfit <= GRAVITY.alike * own.misfit]
    if not alike or none.misfit < GRAVITY.seen * own.misfit:
        return ()
    shown = ", ".join(f"{g:.2f}" for g in alike[0].g + 0.0)
    sentence = (
        f"Gravity along ({shown}) m/s² explains the torques as well as the robot file's: the log cannot tell."
    )
    remedy = "Make sure how the robot is mounted; the other way round first moments change their signs."
    return (Finding(Name.GRAVITY_DIRECTION, Level.NOTE, sentence, remedy, Where(channel="torque")),)


def gravity_problem(motion: LightMotion, robot: Robot, W: FloatArray) -> GravityProblem:
    """Split the regressor by what gravity pulls, and weigh each axis by what it leaves when fitted alone.

    Args:
        motion: the signals, joint side.
        robot: the robot.
        W: its regressor at ``motion.rows``.
    """
    some = slice(None, None, max(1, len(motion.rows) // GRAVITY.samples))
    q, tau = motion.q[motion.rows[some]], motion.tau[motion.rows[some]]
    heavy = [i for i, entry in enumerate(robot.table) if entry.unit in ("kg", "kg m")]
    pulls = [robot_regressor(robot.with_gravity(*axis), q, None, None, heavy) for axis in np.eye(3).tolist()]
    still = W[:, some].copy()
    for g, pull in zip(robot.gravity, pulls, strict=True):
        still[:, :, heavy] -= g * pull
    columns = np.concatenate([still, *pulls], axis=2)
    # An axis counts by what is left when it alone may choose its parameters and its gravity.
    spread = np.std(tau, axis=0)
    weights, shares, least = np.zeros(len(spread)), [], []
    for j in np.flatnonzero(spread > COLUMNS.stuck * np.max(np.abs(tau), initial=0.0)):
        noise = _left_alone(columns[j], tau[:, j]) / np.sqrt(len(tau))
        shares.append(noise / spread[j])
        weights[j] = 1.0 / max(noise, GRAVITY.least * spread[j])
        least.append(noise * weights[j])
    # The same least-squares problems in fewer rows: R of Q R = [W0 W1 W2 W3 τ], since Q changes no length.
    rows = (columns * weights[:, None, None]).reshape(-1, columns.shape[2])
    used = np.flatnonzero(rows.any(axis=0))
    R = np.asarray(np.linalg.qr(np.column_stack([rows[:, used], (tau * weights).T.reshape(-1)]), mode="r"))
    short = np.zeros((len(R), columns.shape[2]))
    short[:, used] = R[:, :-1]
    parts = np.zeros((4, len(R), len(robot.table)))
    parts[0] = short[:, : len(robot.table)]
    parts[1:, :, heavy] = np.stack(np.split(short[:, len(robot.table) :], 3, axis=1))
    if not shares:
        return GravityProblem(parts, R[:, -1], 1.0, 1.0, 1.0)
    scale, alone = float(np.sqrt(len(tau) * len(shares))), float(np.sqrt(np.mean(np.square(least))))
    return GravityProblem(parts, R[:, -1], scale, float(np.median(shares)), alone)


def _left_alone(columns: FloatArray, y: FloatArray) -> float:
    """Norm of what the columns do not explain of a signal."""
    sizes = visible_sizes(columns)
    unit = columns[:, sizes > 0] / sizes[sizes > 0]
    x = np.linalg.lstsq(unit, y, rcond=COLUMNS.rank)[0]
    return float(np.linalg.norm(y - unit @ x))


def gravity_fits(problem: GravityProblem, gravities: FloatArray) -> list[GravityFit]:
    """The best parameters for each of some gravities.

    Args:
        problem: the torques.
        gravities: (any number, 3) [m/s²].
    """
    columns = problem.parts[0] + np.tensordot(gravities, problem.parts[1:], axes=1)
    sizes = np.stack([visible_sizes(part) for part in columns])
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    U, s, Vt = svd(columns * inverse[:, None, :], full_matrices=False)
    found = []
    for k, g in enumerate(gravities):
        rank = int(np.count_nonzero(s[k] > COLUMNS.rank * s[k, 0]))
        basis = U[k, :, :rank]
        seen = basis.T @ problem.torques
        left = problem.torques - basis @ seen
        x = (Vt[k, :rank].T @ (seen / s[k, :rank])) * inverse[k]
        found.append(GravityFit(g, float(np.linalg.norm(left)) / problem.scale, x, left, basis))
    return found


def free_direction(problem: GravityProblem, start: GravityFit) -> GravityFit:
    """Gauss–Newton over the parameters and the direction of gravity; its size is kept.

    Args:
        problem: the torques.
        start: the fit to begin with.
    """
    best, size = start, float(np.linalg.norm(start.g))
    for _ in range(GRAVITY.rounds if size > 0 else 0):
        across = _directions_across(best.g / size)
        pull = np.stack([part @ best.x for part in problem.parts[1:]], axis=1) @ across
        pull -= best.basis @ (best.basis.T @ pull)
        gram = pull.T @ pull
        if not np.trace(gram) > 0:
            break
        # A direction in which gravity pulls nothing must not be turned by rounding: hence the damping.
        step = np.linalg.solve(gram + GRAVITY.damping * np.trace(gram) * np.eye(2), pull.T @ best.left)
        if np.linalg.norm(best.left - pull @ step) > (1 - GRAVITY.gain) * np.linalg.norm(best.left):
            break
        turned = best.g + across @ step
        (found,) = gravity_fits(problem, (turned * size / float(np.linalg.norm(turned)))[None, :])
        if found.misfit >= best.misfit:
            break
        best = found
    return best


def _directions_across(unit: FloatArray) -> FloatArray:
    """Two directions at right angles to a unit vector and to each other, (3, 2)."""
    first = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(unit, first)], axis=1)
