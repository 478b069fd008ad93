"""The pseudo-inertia of a link, which is positive definite exactly where a body can have its parameters.

P = ∫ x xᵀ dm with x = (r, 1), or P = [[½ tr(J) 1 − J, MS], [MSᵀ, M]] with J at the origin of the link's frame
(Wensing, Kim, Slotine 2018). It is linear in the ten standard parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.model.inertia import LinkInertia
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot

SIZE = 4
ENTRIES = tuple((row, column) for column in range(SIZE) for row in range(column + 1))
"""Entries of a symmetric matrix as a vector: the upper triangle column by column, as the solver wants it."""
_ROOT_TWO = float(np.sqrt(2.0))


def pseudo_inertia(values: ArrayLike) -> FloatArray:
    """P (4, 4) of the ten standard parameters XX XY XZ YY YZ ZZ MX MY MZ M [kg m², kg m, kg]."""
    link = LinkInertia.from_standard(values)
    P = np.empty((SIZE, SIZE))
    P[:3, :3] = 0.5 * np.trace(link.tensor) * np.eye(3) - link.tensor
    P[:3, 3] = P[3, :3] = link.moment
    P[3, 3] = link.mass
    return P


def standard_values(P: FloatArray) -> FloatArray:
    """The ten standard parameters of a pseudo-inertia (4, 4)."""
    second = P[:3, :3]
    return LinkInertia(float(P[3, 3]), P[:3, 3], np.trace(second) * np.eye(3) - second).standard()


def _symmetric_basis() -> FloatArray:
    basis = np.zeros((len(ENTRIES), SIZE, SIZE))
    for k, (row, column) in enumerate(ENTRIES):
        basis[k, row, column] = basis[k, column, row] = 1.0 if row == column else 1.0 / _ROOT_TWO
    return basis


SYMMETRIC_BASIS = _symmetric_basis()
"""Ten symmetric matrices, (10, 4, 4), orthonormal by the trace: coordinates keep Frobenius' norm."""


def as_vector(matrix: FloatArray) -> FloatArray:
    """Coordinates of a symmetric matrix (4, 4) in ``SYMMETRIC_BASIS``, (10,)."""
    return np.array([matrix[r, c] * (1.0 if r == c else _ROOT_TWO) for r, c in ENTRIES])


def as_matrix(vector: FloatArray) -> FloatArray:
    """The symmetric matrix (4, 4) of coordinates (10,)."""
    return np.asarray(np.einsum("k,kij->ij", vector, SYMMETRIC_BASIS))


def relative_coordinates(body: FloatArray) -> FloatArray:
    """T (10, 10): standard parameters = T z for P = L Z Lᵀ, with z the coordinates of Z and L Lᵀ = ``body``.

    Z is the pseudo-inertia as seen from another body: the identity where both are equal, and positive
    definite where P is. ‖Z − 1‖² is the metric of affine invariance at that body (Lee, Wensing, Park 2020).
    """
    L = np.linalg.cholesky(body)
    return np.column_stack([standard_values(L @ Z @ L.T) for Z in SYMMETRIC_BASIS])


def link_columns(robot: Robot) -> list[list[int]]:
    """Per link, where its ten parameters stand in the table."""
    return [[robot.table.index(symbol + joint.label) for symbol in INERTIAL] for joint in robot.joints]


def pseudo_inertias(robot: Robot, standard: ArrayLike) -> FloatArray:
    """P of every link, (links, 4, 4), of standard parameters in table order."""
    values = np.asarray(standard, dtype=float)
    return np.array([pseudo_inertia(values[columns]) for columns in link_columns(robot)])


def least_shares(robot: Robot, standard: ArrayLike) -> FloatArray:
    """Per link, the least principal second moment about the centre of mass as a share of their sum, (links,).

    Zero for a body without extent in some direction, negative where no body has the parameters, and minus one
    where the mass is not positive.
    """
    shares = np.full(len(robot.joints), -1.0)
    for j, P in enumerate(pseudo_inertias(robot, standard)):
        if P[3, 3] > 0:
            central = np.linalg.eigvalsh(P[:3, :3] - np.outer(P[:3, 3], P[3, :3]) / P[3, 3])
            size = float(np.abs(central).sum())
            shares[j] = central[0] / size if size > 0 else 0.0
    return shares
