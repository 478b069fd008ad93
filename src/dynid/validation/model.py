"""An identified model, and its torques along a motion by the compiled base regressor, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.compile.ir_batch import TILE
from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.estimators.estimate import Estimate, Further
from dynid.estimators.linear.augmented import load_torques, needs_load
from dynid.estimators.linear.terms import nonlinear_torques
from dynid.logs.spool import Samples, SpoolWriter
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.problem.row_source import RowSource

BLOCK = 1008
"""Samples per block, a multiple of TILE: W of a block stays in the caches."""
_WITHOUT_DRY = ("Fv", "off")
"""Friction terms that say nothing about dry friction: viscous friction and the offset."""


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """An identified model apart from the data it came from.

    Args:
        robot: the robot.
        base: its base parameters.
        values: values of the base parameters, (base,), SI.
        covariance: their covariance (base, base), or None when it is not known.
        further: parameters beside the base ones, of added terms; None when there are none.
        uncertainty: how the covariance was found: "classical", "blocks", "hac" or "bootstrap".
    """

    robot: Robot
    base: BaseMap
    values: FloatArray
    covariance: FloatArray | None = None
    further: Further | None = None
    uncertainty: str = "classical"

    @property
    def dry_friction(self) -> bool:
        """Whether any term besides viscous friction and offset tells how friction depends on the speed."""
        return self.further is not None or any(t.name not in _WITHOUT_DRY for t in self.robot.friction_terms)

    def covariance_root(self, columns: Sequence[int] | NDArray[np.intp]) -> FloatArray:
        """S with SᵀS = C of some base parameters, found once for all motions; C may be singular.

        Args:
            columns: which of them.
        """
        assert self.covariance is not None
        chosen = tuple(int(c) for c in columns)
        if chosen not in self._roots:
            C = self.covariance[np.ix_(chosen, chosen)]
            sizes, vectors = np.linalg.eigh((C + C.T) / 2)
            self._roots[chosen] = np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T
        return self._roots[chosen]

    @cached_property
    def _roots(self) -> dict[tuple[int, ...], FloatArray]:
        return {}

    def __post_init__(self) -> None:
        """Check sizes and that every value is a number."""
        p = len(self.base)
        _keep(self, "values", self.values, (p,))
        if self.covariance is not None:
            _keep(self, "covariance", self.covariance, (p, p))


def _keep(model: IdentifiedModel, name: str, given: FloatArray, shape: tuple[int, ...]) -> None:
    array = np.ascontiguousarray(given, dtype=float)
    if array.shape != shape:
        raise ShapeError(
            f"The {name} of the model have shape {array.shape}; expected {shape}, one entry per base "
            "parameter."
        )
    if not np.all(np.isfinite(array)):
        raise ShapeError(
            f"The {name} of the model hold values that are not finite; a model that cannot be computed "
            "cannot be validated."
        )
    object.__setattr__(model, name, array)


def as_model(source: IdentifiedModel | Estimate) -> IdentifiedModel:
    """A model as it is, or the one an estimate holds."""
    if isinstance(source, IdentifiedModel):
        return source
    base = source.problem.base
    return IdentifiedModel(
        base.robot, base, source.values, source.covariance, source.further, source.uncertainty
    )


def predictions(model: IdentifiedModel, motion: Motion) -> tuple[Samples, Samples | None]:
    """Torques and, where the covariance C is known, their standard deviations √diag(W C Wᵀ).

    τ̂ = W(q, q̇, q̈) χ (P0 eq 12). Friction that is not linear counts in the torques, not in their doubt.

    Args:
        model: the model.
        motion: prepared motion.

    Returns:
        Torques (samples, coordinates) and their doubt of the same shape, or None; on disk when the motion is.
    """
    check_width(model.robot, motion)
    if not motion.on_disk:
        return _predictions(model, motion)
    torques, doubts = SpoolWriter(motion.q.shape[1]), SpoolWriter(motion.q.shape[1])
    for piece in motion.pieces():
        made, doubt = _predictions(model, piece)
        torques.append(made)
        if doubt is not None:
            doubts.append(doubt)
    return torques.finish(), None if model.covariance is None else doubts.finish()


def _predictions(model: IdentifiedModel, motion: Motion) -> tuple[FloatArray, FloatArray | None]:
    torques = np.empty(motion.q.shape)
    doubt = None if model.covariance is None else np.empty(motion.q.shape)
    for part in regressor_blocks(model, motion):
        part.put(torques, model.values[part.columns] @ part.W)
        if doubt is not None:
            spread = model.covariance_root(part.columns) @ part.W
            part.put(doubt, np.sqrt(np.einsum("tks,tks->ts", spread, spread)))
    torques += nonlinear_part(model, motion)
    return torques, doubt


def nonlinear_part(model: IdentifiedModel, motion: Motion) -> FloatArray:
    """Torques of the parameters beside the base ones, (samples, coordinates); zero when there are none."""
    if model.further is None:
        return np.zeros(motion.q.shape)
    terms = model.further.terms
    load = load_torques(model.base, model.values, motion) if needs_load(terms) else None
    return nonlinear_torques(model.robot, terms, model.further.values, motion, load)


@dataclass(frozen=True, eq=False)
class RegressorBlock:
    """Regressor rows of one coordinate over some samples of a motion.

    Args:
        joint: the coordinate.
        rows: the samples.
        columns: base parameters that can move its torque, (k,).
        W: (tiles, k, samples of a tile); behind the last sample lies rubbish.
    """

    joint: int
    rows: slice
    columns: NDArray[np.intp]
    W: FloatArray

    def put(self, target: FloatArray, values: FloatArray) -> None:
        """Write one number per sample, (tiles, samples of a tile), to its place in (samples, joints)."""
        target[self.rows, self.joint] = values.reshape(-1)[: self.rows.stop - self.rows.start]


def regressor_blocks(model: IdentifiedModel, motion: Motion) -> Iterator[RegressorBlock]:
    """The regressor along a motion, block by block and coordinate by coordinate, without structural zeros."""
    source = RowSource(model.robot, model.base)
    compiled, absent = source.kernels, source.absent(motion)
    columns = [np.array(own, dtype=np.intp) for own in source.columns]
    ends = np.cumsum([len(own) for own in columns])
    made = compiled.kernel("regressor").blocks(motion.q, motion.qd, motion.qdd, tiles=BLOCK // TILE)
    for first, count, buffer in made:
        for j, own in enumerate(columns):
            W = buffer[: -(-count // TILE), ends[j] - len(own) : ends[j]]
            if absent.size:
                W[:, np.isin(own, absent)] = 0.0
            yield RegressorBlock(j, slice(first, first + count), own, W)


def check_width(robot: Robot, motion: Motion) -> None:
    """Refuse a motion of another number of coordinates, with a sentence."""
    if motion.q.shape[1] != robot.n_coordinates:
        raise ShapeError(
            f"Motion {motion.name!r} has {motion.q.shape[1]} coordinates, but robot {robot.name!r} has "
            f"{robot.n_coordinates}; validate with logs of the same robot."
        )
