"""Rigid-body inertia in dynid's form, and conversions to and from the form of URDF and MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.model.parameters import INERTIAL


def skew(v: ArrayLike) -> FloatArray:
    """[v]× with [v]× u = v × u."""
    x, y, z = np.asarray(v, dtype=float)
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@dataclass(frozen=True)
class LinkInertia:
    """Mass, first moments and inertia tensor of a link about the origin of a frame, in that frame.

    Args:
        mass: M [kg].
        moment: MS = M·c, three values [kg m].
        tensor: J at the frame's origin, (3, 3) symmetric [kg m²].
    """

    mass: float
    moment: FloatArray
    tensor: FloatArray

    @classmethod
    def from_com(cls, mass: float, com: ArrayLike, tensor_com: ArrayLike, what: str = "link") -> LinkInertia:
        """From mass, centre of mass and the inertia about the centre of mass: J = I − M [c]×².

        Raises:
            ModelError: when no rigid body has these values.
        """
        c, tensor = np.asarray(com, dtype=float), np.asarray(tensor_com, dtype=float)
        check_physical(mass, c, tensor, what)
        with np.errstate(over="ignore", invalid="ignore"):  # the robot refuses what is not finite, by name
            return cls(float(mass), mass * c, tensor - mass * skew(c) @ skew(c))

    @classmethod
    def zero(cls) -> LinkInertia:
        """A link without mass."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @classmethod
    def from_standard(cls, values: ArrayLike) -> LinkInertia:
        """From the ten standard parameters XX XY XZ YY YZ ZZ MX MY MZ M."""
        xx, xy, xz, yy, yz, zz, mx, my, mz, m = np.asarray(values, dtype=float)
        return cls(float(m), np.array([mx, my, mz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))

    def standard(self) -> FloatArray:
        """The ten standard parameters XX XY XZ YY YZ ZZ MX MY MZ M."""
        J = self.tensor
        return np.array([J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2], *self.moment, self.mass])

    def by_name(self, label: str) -> dict[str, float]:
        """The ten standard parameters by name, as ``{"XX3": …}``."""
        return {s + label: float(v) for s, v in zip(INERTIAL, self.standard(), strict=True)}

    def __add__(self, other: LinkInertia) -> LinkInertia:
        """Two bodies welded together, both expressed in the same frame."""
        return LinkInertia(self.mass + other.mass, self.moment + other.moment, self.tensor + other.tensor)

    def expressed_in(self, rotation: ArrayLike, position: ArrayLike) -> LinkInertia:
        """The same body expressed in the antecedent frame, x_a = R x + p.

        J_a = R J Rᵀ − [p]×[R MS]× − [R MS]×[p]× − M [p]×², MS_a = R MS + M p.
        """
        R, p = np.asarray(rotation, dtype=float), np.asarray(position, dtype=float)
        ms = R @ self.moment
        P, S = skew(p), skew(ms)
        return LinkInertia(
            self.mass, ms + self.mass * p, R @ self.tensor @ R.T - P @ S - S @ P - self.mass * P @ P
        )

    def com_form(self) -> tuple[float, FloatArray, FloatArray]:
        """Mass, centre of mass and inertia about it: the form of URDF and MuJoCo. Needs a positive mass."""
        if self.mass <= 0:
            raise ModelError(f"A link of mass {self.mass:g} kg has no centre of mass.")
        c = self.moment / self.mass
        return self.mass, c, self.tensor + self.mass * skew(c) @ skew(c)


def check_physical(mass: float, com: FloatArray, tensor_com: FloatArray, what: str) -> None:
    """Refuse a mass, centre and central inertia that no rigid body can have."""
    if com.shape != (3,) or tensor_com.shape != (3, 3):
        raise ModelError(
            f"{what}: centre of mass and inertia have shapes {com.shape} and {tensor_com.shape}; expected "
            "(3,) and (3, 3)."
        )
    if not (np.isfinite(mass) and np.all(np.isfinite(com)) and np.all(np.isfinite(tensor_com))):
        raise ModelError(f"{what}: mass, centre of mass or inertia is not a finite number.")
    if mass < 0:
        raise ModelError(f"{what}: the mass {mass:g} kg is negative.")
    scale = float(np.abs(tensor_com).max())  # of the tensor itself: the links of a hand weigh grams
    if np.abs(tensor_com - tensor_com.T).max() > 1e-9 * scale:
        raise ModelError(f"{what}: the inertia tensor is not symmetric.")
    moments = np.linalg.eigvalsh(tensor_com)
    if moments[0] < -1e-9 * scale:
        raise ModelError(
            f"{what}: the inertia tensor has the negative principal moment {moments[0]:.3g} kg m²; "
            "a rigid body's are all positive."
        )
