"""The loop of P1's haptic arm beside its closed form: closure, G, singularity, power, base parameters."""

from __future__ import annotations

import numpy as np

from dynid.base.find import base_of
from dynid.casestudies.case import Row, at_most, equal_to, rows_of_table
from dynid.casestudies.haptic_runs import AMPLITUDES, FREQUENCIES_HZ, MIDDLE, base, robot
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.model.assembly import Linkage
from dynid.model.continuation import tangent
from dynid.trajectories.sines import Sines

G = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 1], [0, 0, -1], [0, 0, 1], [0, 1, -1]], dtype=float)
SHIFT = np.array([0.0, 0.0, -np.pi, np.pi, 0.0, 0.0])
"""q_tree = G q + SHIFT over q1, q2, q5: q3 = q5 − q2 − π, q4 = π − q5, q6 = q2 − q5."""
LINKS = {
    "1": "ZZ MX MY",
    "2": "XX XY XZ YZ ZZ MX MY",
    "3": "XX XY XZ YZ ZZ MX MY",
    "4": "MX",
    "5": "MX MY",
    "6": "MY",
}
"""Inertial base parameters by link."""
POSES = 1000
MARGIN = 0.1
"""How far q5 stays away from q2, and from the other stretched position, in the workspace [rad]."""


def loop_rows() -> list[Row]:
    """What is known about the loop without any experiment."""
    q = workspace()
    return rows_of_table(
        "§4.2, table 5: the loop",
        [
            at_most("gap of the cut loop over the workspace [m]", closure_gap(q), 1e-10),
            at_most("G from the cut less the closed form", float(np.abs(cut_G(q) - G).max()), 1e-8),
            at_most("smallest singular value of the cut at q5 = q2", singular_value(_flat_poses(q)), 1e-10),
            at_most("|τᵀq̇ − dE/dt| along sines over the largest power", power_error(), 1e-6),
            equal_to("base parameters", 30, len(base())),
            equal_to("base parameters that differ from the list", 0, len(base_set() ^ listed_set())),
            equal_to("base parameters with joint 1 vertical", 28, len(_upright_base())),
        ],
    )


def workspace() -> FloatArray:
    """Poses q1, q2, q5 drawn where the loop is open enough to move, (poses, 3) [rad]."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSES, 3))
    q[:, 2] = q[:, 1] + np.random.default_rng(1).uniform(MARGIN, np.pi - MARGIN, POSES)
    return q


def _flat_poses(q: FloatArray) -> FloatArray:
    """The poses with q5 = q2."""
    return np.column_stack([q[:, :2], q[:, 1]])


def linkage() -> Linkage:
    """The tree, cut where link 6 meets link 3 (table 5), and what the second parallelogram holds."""
    closure = robot().closure
    assert closure is not None
    return Linkage(robot().joints, closure.cuts, closure.coordinates)


def closure_gap(q: FloatArray) -> float:
    """Largest residual of the cuts at the positions that the closed form gives [m]."""
    return float(np.abs(linkage().residuals(q @ G.T + SHIFT)).max())


def cut_G(q: FloatArray) -> FloatArray:
    """G = [1; −Jₚ⁺ Jₐ] from the Jacobian of the cuts, (poses, joints, coordinates)."""
    cut = linkage()
    found = np.empty((len(q), *G.shape))
    found[:, list(cut.coordinates)] = np.eye(G.shape[1])
    found[:, list(cut.dependent)] = tangent(cut, q @ G.T + SHIFT).follow
    return found


def singular_value(q: FloatArray) -> float:
    """Largest over poses of the smallest singular value of Jₚ, its columns of unit length."""
    return float(tangent(linkage(), q @ G.T + SHIFT).singular.max())


def power_error() -> float:
    """Largest difference of τᵀq̇ and dE/dt without friction, beside the largest power."""
    motion = Sines(AMPLITUDES, FREQUENCIES_HZ, offsets=MIDDLE)
    time, step = np.arange(0.0, 10.0, 0.01), 1e-5
    bodies = {k: v for k, v in robot().parameters.items() if not k.startswith(("Fv", "Fc", "off"))}
    own = kernels(robot())
    power = np.sum(own.inverse(bodies, *(motion.at(time, k) for k in range(3))) * motion.at(time, 1), axis=1)
    after, before = (
        np.sum(own.energy(bodies, motion.at(time + h, 0), motion.at(time + h, 1)), axis=0)
        for h in (step, -step)
    )
    return float(np.abs(power - (after - before) / (2 * step)).max() / np.abs(power).max())


def base_set() -> set[str]:
    """Standard parameters that carry the base parameters."""
    return {robot().table.names[column] for column in base().columns}


def listed_set() -> set[str]:
    """The closed list: inertial parameters by link, and friction of the three motors."""
    inertial = {symbol + link for link, symbols in LINKS.items() for symbol in symbols.split()}
    return inertial | {term + motor for term in ("Fv", "Fc", "off") for motor in "125"}


def _upright_base() -> tuple[str, ...]:
    return base_of(robot().with_gravity(0.0, 0.0, -9.81)).names
