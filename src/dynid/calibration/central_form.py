"""Mass, centre of mass and inertia about it, in the flange's frame, with σ by the delta method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import ModelError
from dynid.model.inertia import LinkInertia
from dynid.model.orientation import from_rpy
from dynid.model.parameters import TENSOR

_ORTHOGONAL = 1e-6
"""Largest entry of RᵀR − 1 of a matrix that is taken for a rotation: six decimals, as people write them."""
_STEP = 1e-6
"""Step of the differences by which σ is propagated, as a share of a parameter's own size."""
_FELT = 1e-9
"""Share of a figure by which an unknown parameter of full size must move it to make it unknown as well."""


@dataclass(frozen=True, eq=False)
class FlangeFrame:
    """Where the flange is on the link that carries the payload: x_carrier = R x_flange + p.

    Args:
        rotation: R, (3, 3).
        position: p, (3,) [m].
    """

    rotation: FloatArray
    position: FloatArray

    def __post_init__(self) -> None:
        """Refuse what is no placement."""
        R, p = (as_numbers(given, "The flange's placement") for given in (self.rotation, self.position))
        if R.shape != (3, 3) or p.shape != (3,):
            raise ModelError(
                f"The flange's rotation and position have shapes {R.shape} and {p.shape}; give (3, 3) and "
                "(3,)."
            )
        if not np.all(np.isfinite(p)) or not np.abs(R.T @ R - np.eye(3)).max() < _ORTHOGONAL:
            raise ModelError(
                "The flange's placement is no rotation matrix with a finite position; give a matrix whose "
                "columns are the flange's axes in the carrier's frame, or use FlangeFrame.from_rpy."
            )
        if np.linalg.det(R) < 0:
            raise ModelError("The flange's axes are left-handed; turn one of them round.")
        object.__setattr__(self, "rotation", R)
        object.__setattr__(self, "position", p)

    @classmethod
    def from_rpy(cls, position: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> FlangeFrame:
        """From a translation [m] and roll, pitch, yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
        angles = as_numbers(rpy, "Roll, pitch and yaw of the flange")
        if angles.shape != (3,):
            raise ModelError(f"The flange's roll, pitch, yaw has shape {angles.shape}; give three angles.")
        R = from_rpy(*angles.tolist())
        return cls(R, as_numbers(position, "The flange's position"))

    def seen_from(self, body: LinkInertia) -> LinkInertia:
        """A body of the carrier's frame in the flange's."""
        return body.expressed_in(self.rotation.T, -self.rotation.T @ self.position)


AT_CARRIER = FlangeFrame(np.eye(3), np.zeros(3))
"""The flange's frame is that of the link which carries the payload."""


@dataclass(frozen=True, eq=False)
class CentralForm:
    """What controllers ask for, in the flange's frame; not a number where the motion does not show it.

    Args:
        values: mass, centre (3), then XX XY XZ YY YZ ZZ of the inertia about the centre, (10,).
        covariance: of these, (10, 10).
    """

    values: FloatArray
    covariance: FloatArray

    @property
    def sigma(self) -> FloatArray:
        """Standard deviations, infinite where a value is not shown, (10,)."""
        return np.where(np.isnan(self.values), np.inf, np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def mass(self) -> float:
        """[kg]."""
        return float(self.values[0])

    @property
    def com(self) -> FloatArray:
        """Centre of mass, (3,) [m]."""
        return self.values[1:4]

    @property
    def com_sigma(self) -> FloatArray:
        """Its standard deviations, (3,) [m]."""
        return self.sigma[1:4]

    @cached_property
    def inertia(self) -> FloatArray:
        """About the centre of mass, axes along the flange's, (3, 3) [kg m²]."""
        return _tensor_of(self.values[4:])

    @cached_property
    def inertia_sigma(self) -> FloatArray:
        """Its standard deviations, (3, 3) [kg m²]."""
        return _tensor_of(self.sigma[4:])

    @cached_property
    def principal(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Principal moments, least first, their σ [kg m²], and their axes in columns, a right-handed frame.

        dλ = vᵀ dI v; all not a number where an entry of the inertia is not shown.
        """
        if not np.all(np.isfinite(self.values[4:])):
            return np.full(3, np.nan), np.full(3, np.inf), np.full((3, 3), np.nan)
        moments, axes = np.linalg.eigh(self.inertia)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        gradient = np.array(
            [[v[i] * v[j] * (1 if i == j else 2) for i, j in TENSOR] for v in axes.T], dtype=float
        )
        spread = gradient @ self.covariance[4:, 4:] @ gradient.T
        return moments, np.sqrt(np.maximum(np.diag(spread), 0.0)), axes


def central_form(
    values: FloatArray, covariance: FloatArray, flange: FlangeFrame, unknown: Sequence[int] = ()
) -> CentralForm:
    """Mass, centre and central inertia of standard parameters, by the delta method: C' = J C Jᵀ.

    Args:
        values: XX XY XZ YY YZ ZZ MX MY MZ M in the carrier's frame, (10,), finite.
        covariance: of these, (10, 10), finite.
        flange: the frame to tell them in.
        unknown: parameters whose values say nothing; what depends on them is not a number.
    """
    if not values[-1] > 0:
        return CentralForm(np.full(10, np.nan), np.zeros((10, 10)))
    size = np.maximum(np.abs(values), np.sqrt(np.maximum(np.diag(covariance), 0.0)))
    size = np.where(size > 0, size, 1.0)
    size[-1] = values[-1]  # steps must not make the mass vanish
    steps = _STEP * np.diag(size)
    J = np.column_stack(
        [(_central(values + h, flange) - _central(values - h, flange)) / (2 * _STEP) for h in steps]
    )
    found = _central(values, flange)
    scale = np.max(np.abs(J), axis=1) + np.abs(found) + 1e-300
    lost = np.any(np.abs(J[:, list(unknown)]) > _FELT * scale[:, None], axis=1)
    J = J / size
    spread = J @ covariance @ J.T
    spread[lost], spread[:, lost] = 0.0, 0.0
    return CentralForm(np.where(lost, np.nan, found), spread)


def _central(values: FloatArray, flange: FlangeFrame) -> FloatArray:
    """Mass, centre and inertia about it, in the flange's frame, (10,)."""
    mass, com, tensor = flange.seen_from(LinkInertia.from_standard(values)).com_form()
    return np.array([mass, *com, *(tensor[i, j] for i, j in TENSOR)])


def _tensor_of(six: FloatArray) -> FloatArray:
    tensor = np.empty((3, 3))
    for (i, j), value in zip(TENSOR, six, strict=True):
        tensor[i, j] = tensor[j, i] = value
    return tensor
