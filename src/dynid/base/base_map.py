"""The map from standard parameters to base parameters, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.forms import Form
from dynid.base.formulas import fitted_forms, forms_hold, formula
from dynid.base.numeric import random_states, regressor_matrix, remainders
from dynid.base.subspaces import triangle
from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.model.robot import Robot

_NEARLY = 1e-4
"""Remainder of a unit column beside the others below which the noise of any real log hides it."""


@dataclass(frozen=True, eq=False, repr=False)
class BaseMap:
    """Base parameters of a robot: χ_base = K χ and W χ = W[:, columns] K χ (P0 §II, P1 §2.1, P3 §4.1).

    Args:
        robot: the robot.
        method: "numeric" or "closed-form".
        columns: indices of the kept columns of the standard regressor.
        matrix: K (base, standard); the identity on the kept columns.
        rank_gap: how clearly kept and dropped columns are apart; infinite when nothing had to be decided.
        rows: coordinates whose torques are considered.
        order: links in the order in which their columns were tried.
        forms: rows of K with named lengths, from the closed form; None from the numeric method.
    """

    robot: Robot
    method: str
    columns: tuple[int, ...]
    matrix: FloatArray
    rank_gap: float
    rows: tuple[int, ...]
    order: tuple[int, ...]
    forms: tuple[Form, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Freeze the matrix."""
        self.matrix.setflags(write=False)

    def __repr__(self) -> str:
        """In short."""
        count = f"{len(self)} of {len(self.robot.table)} parameters"
        return f"<BaseMap of {self.robot.name}: {count}, {self.method}>"

    def __eq__(self, other: object) -> bool:
        """Whether two maps regroup the same parameters of the same robot in the same way."""
        if not isinstance(other, BaseMap):
            return NotImplemented
        same = (self.robot, self.columns, self.rows) == (other.robot, other.columns, other.rows)
        return same and np.allclose(self.matrix, other.matrix, rtol=1e-9, atol=1e-12)

    def __hash__(self) -> int:
        """By what is compared exactly."""
        return hash((self.robot.digest, self.columns, self.rows))

    @cached_property
    def own_values(self) -> dict[str, float]:
        """The base parameters of the robot's own values that are not zero, by name, SI."""
        values = self.regroup(self.robot.parameters)
        return {name: float(value) for name, value in zip(self.names, values, strict=True) if value}

    def subset(self, kept: ArrayLike) -> BaseMap:
        """The map to some of the base parameters, as where only essential ones are estimated.

        Args:
            kept: which, (base,) of bool.
        """
        chosen = np.flatnonzero(np.asarray(kept, dtype=bool))
        forms = None if self.forms is None else tuple(self.forms[i] for i in chosen)
        columns = tuple(self.columns[i] for i in chosen)
        return replace(self, columns=columns, matrix=self.matrix[chosen].copy(), forms=forms)

    def __len__(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters: that of the kept parameter, with an R behind it when regrouped."""
        standard = self.robot.table.names
        regrouped = np.count_nonzero(self.matrix, axis=1) > 1
        return tuple(standard[c] + "R" * bool(r) for c, r in zip(self.columns, regrouped, strict=True))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """SI units of the base parameters."""
        return tuple(self.robot.table.entries[c].unit for c in self.columns)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """Standard parameters that have no effect on the torques considered."""
        effect = np.any(self.matrix != 0, axis=0)
        return tuple(name for name, seen in zip(self.robot.table.names, effect, strict=True) if not seen)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """Each base parameter as a sum of standard ones, such as ``XX6R = XX6 - YY6``."""
        forms = self.forms
        if forms is None or not forms_hold(self.robot, self.rows, self.columns, forms):
            forms = fitted_forms(self.robot, self.rows, self.columns, self.matrix)
        rows = zip(self.names, self.columns, forms, strict=True)
        return tuple(formula(name, own, form, self.robot.table.names) for name, own, form in rows)

    @cached_property
    def nearly_dependent(self) -> tuple[str, ...]:
        """Base parameters that no real log will tell from the others, though they are independent by rank.

        What is left of their unit column beside the earlier ones is below 1e-4. The usual cause is an angle
        rounded in a robot file, such as 1.5708 for π/2: two axes are then not quite parallel.
        """
        states = random_states(self.robot, np.random.default_rng(0))
        W = regressor_matrix(self.robot, states, self.rows)[:, list(self.columns)]
        left = remainders(triangle(W / np.linalg.norm(W, axis=0)))
        return tuple(name for name, size in zip(self.names, left, strict=True) if size < _NEARLY)

    def regroup(self, values: Mapping[str, float] | ArrayLike) -> FloatArray:
        """Base parameters of a set of standard parameters: K χ.

        Args:
            values: standard parameters by name (absent ones are zero) or as a vector in table order, SI.
        """
        return np.asarray(self.matrix @ self._standard(values), dtype=float)

    def expand(self, base: ArrayLike, prior: Mapping[str, float] | ArrayLike | None = None) -> FloatArray:
        """Standard parameters, in table order, that give the same torques as base parameters.

        Without a prior the kept parameters take the base values and the others are zero; with one, it is the
        nearest set to the prior: χ = χ_prior + K⁺ (χ_base − K χ_prior).

        Args:
            base: base parameters, shape (base,), SI.
            prior: standard parameters to stay close to, by name or in table order.
        """
        x = np.asarray(base, dtype=float)
        if x.shape != (len(self),):
            raise ShapeError(f"The base parameters have shape {x.shape}; expected ({len(self)},).")
        if prior is None:
            standard = np.zeros(self.matrix.shape[1])
            standard[list(self.columns)] = x
            return standard
        near = self._standard(prior)
        correction = np.linalg.lstsq(self.matrix, x - self.matrix @ near, rcond=None)[0]
        return np.asarray(near + correction, dtype=float)

    def to_dict(self) -> dict[str, Any]:
        """Everything a saved result needs, ready for JSON; an infinite gap is None."""
        rows = zip(self.names, self.formulas, self.units, strict=True)
        return {
            "robot": self.robot.name,
            "method": self.method,
            "n_standard": len(self.robot.table),
            "n_base": len(self),
            "rank_gap": self.rank_gap if math.isfinite(self.rank_gap) else None,
            "rows": list(self.rows),
            "order": list(self.order),
            "unseen": list(self.unseen),
            "nearly_dependent": list(self.nearly_dependent),
            "base": [{"name": n, "formula": f, "unit": u} for n, f, u in rows],
        }

    def _standard(self, values: Mapping[str, float] | ArrayLike) -> FloatArray:
        table = self.robot.table
        if isinstance(values, Mapping):
            return table.vector(values)
        vector = np.asarray(values, dtype=float)
        if vector.shape != (len(table),):
            raise ShapeError(
                f"The standard parameters have shape {vector.shape}; expected ({len(table)},), or give them "
                "by name."
            )
        return vector
