"""Simulations of one compiled loop that are run together, whole or in pieces; how far two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.simulation.setup import Setup
from dynid.simulation.simulator import MANY, Paths

PIECES = MANY
"""Parts of a long simulation that are run side by side in the lanes of a vector register."""
WINDOWS = 4
"""Windows of each piece, on which more integration steps are tried."""
_FLIPS = 3.0
"""Encoder steps by which a reading that flips may move a loop; a larger difference comes from the
integration."""


@dataclass(frozen=True, eq=False)
class Whole:
    """One simulation over all samples.

    Args:
        paths: its signals, (1, samples, coordinates) each.
        states: the state vectors at the beginning of each piece, (pieces, states).
    """

    paths: Paths
    states: FloatArray


@dataclass(frozen=True, eq=False)
class Batch:
    """Simulations that share a compiled loop.

    Args:
        setups: one per simulation.
        starts: states they begin with, (simulations, states).
        inputs: of every sample, one array per simulation; the same object where they are shared.
        threads: how many share the simulations.
    """

    setups: Sequence[Setup]
    starts: FloatArray
    inputs: Sequence[FloatArray]
    threads: int = 1

    @property
    def samples(self) -> int:
        """Samples of each simulation."""
        return len(self.inputs[0])

    @property
    def window(self) -> int:
        """Samples of a window."""
        return self.samples // (PIECES * WINDOWS)

    @property
    def piece(self) -> int:
        """Samples of a piece: its windows and what the last one has more, so that all are equally long."""
        return self.samples - self.firsts[-1]

    @property
    def firsts(self) -> list[int]:
        """Samples at which the pieces begin."""
        return [k * WINDOWS * self.window for k in range(PIECES)]

    def whole_runs(self, some: Sequence[int], substeps: int, *, pieces: bool) -> list[Whole]:
        """Some simulations over all samples.

        Args:
            some: which.
            substeps: integration steps per sample.
            pieces: whether the states at the beginning of pieces are wanted.
        """
        begin, stops = self.starts[list(some)], self.firsts[1:] if pieces else []
        paths, passed = self._run(begin, self._own(some, slice(None)), some, substeps, stops)
        states = np.concatenate([begin[None], passed])
        return [Whole(paths.row(i), states[:, i]) for i in range(len(some))]

    def first_samples(self, one: int, samples: int, substeps: int) -> Paths:
        """The first samples of one simulation."""
        return self._run(self.starts[[one]], self.inputs[one][:samples], [one], substeps)[0]

    def pieces(self, some: Sequence[int], wholes: Sequence[Whole], substeps: int) -> list[Paths]:
        """All samples of some simulations in pieces that begin with the states of runs at hand.

        Returns:
            Per simulation the paths of its pieces, (pieces, samples of a piece, coordinates).
        """
        if len(some) == 1:
            lanes = [some[0]] * PIECES
            return [self.windows(lanes, wholes[0].states, self.firsts, self.piece, substeps)]
        # Many simulations fill the lanes themselves, and may share their inputs.
        runs = []
        for k, first in enumerate(self.firsts):
            own = self._own(some, slice(first, first + self.piece))
            runs.append(self._run(np.array([w.states[k] for w in wholes]), own, some, substeps)[0])
        return [_stack_paths([run.row(i) for run in runs]) for i in range(len(some))]

    def window_states(self, one: int, whole: Whole, substeps: int) -> FloatArray:
        """State vectors at the beginning of all windows, (pieces, windows, states), of a run at hand."""
        stops = [k * self.window for k in range(1, WINDOWS)]
        parts = self._parts([one] * PIECES, self.firsts, stops[-1] + 1)
        passed = self._run(whole.states, parts, [one] * PIECES, substeps, stops)[1]
        return np.moveaxis(np.concatenate([whole.states[None], passed]), 0, 1)

    def windows(
        self, some: Sequence[int], states: FloatArray, firsts: Sequence[int], samples: int, substeps: int
    ) -> Paths:
        """Parts of simulations.

        Args:
            some: the simulation of each part.
            states: where it begins, (parts, states).
            firsts: its first sample.
            samples: of every part.
            substeps: integration steps per sample.
        """
        return self._run(states, self._parts(some, firsts, samples), some, substeps)[0]

    def _parts(self, some: Sequence[int], firsts: Sequence[int], samples: int) -> FloatArray:
        parts = [self.inputs[k][at : at + samples] for k, at in zip(some, firsts, strict=True)]
        # The lanes stand last in memory, where the compiled loop wants them.
        return np.moveaxis(np.stack(parts, axis=2), 2, 0)

    def _own(self, some: Sequence[int], part: slice) -> FloatArray:
        first = self.inputs[some[0]]
        if all(self.inputs[k] is first for k in some):
            return first[part]
        return np.array([self.inputs[k][part] for k in some])

    def _run(
        self,
        states: FloatArray,
        inputs: FloatArray,
        some: Sequence[int],
        substeps: int,
        stops: Sequence[int] = (),
    ) -> tuple[Paths, FloatArray]:
        lead = self.setups[0]
        vectors = np.array([self.setups[k].vector for k in some])
        return lead.simulator.run(states, inputs, vectors, lead.step, substeps, self.threads, stops)


def _stack_paths(rows: Sequence[Paths]) -> Paths:
    return Paths(*(np.concatenate([getattr(row, f.name) for row in rows]) for f in fields(Paths)))


class Track(NamedTuple):
    """Positions of runs, true ones and as the controller sees them, (simulations, samples, coordinates)."""

    q: FloatArray
    measured: FloatArray


@dataclass(frozen=True)
class Difference:
    """Largest difference of positions between two runs [rad or m].

    Args:
        smooth: as long as all encoders read the same.
        total: at all samples.
        rounding: largest step of an encoder as the joints see it; 0 when none rounds.
    """

    smooth: float
    total: float
    rounding: float = 0.0

    def within(self, tolerance: float, factor: float) -> bool:
        """Whether the integration is good enough; readings that flip do not go away with shorter steps."""
        flips = max(tolerance / factor, _FLIPS * self.rounding)
        return factor * self.smooth <= tolerance and self.total <= flips

    def error(self, factor: float) -> float:
        """Estimated error of positions, never less than a step of an encoder that rounds."""
        return max(factor * self.total, self.rounding)


def difference_between(
    coarse: Paths | Track, fine: Paths | Track, encoder: FloatArray, *, follows: bool = False
) -> Difference:
    """The largest difference of positions between runs.

    Args:
        coarse: runs.
        fine: the same with other steps.
        encoder: how far the reading of each joint moves with one step of each encoder.
        follows: whether each run begins where the one before it ends, so that the difference at its end is
            added to those of the next: a loop that forgets nothing adds them up.
    """
    rounding = float(np.abs(encoder).sum(axis=1).max())
    with np.errstate(invalid="ignore", over="ignore"):
        apart = fine.q - coarse.q
        alike = _alike(coarse, fine, apart, encoder) if rounding else None
        total = _size(apart)
        smooth = total if alike is None else _size(np.where(alike[..., None], apart, 0.0))
        if follows:
            ends = apart[:-1, -1] if alike is None else apart[:-1, -1] * alike[:-1, -1:]
            later = apart[1:] + np.cumsum(ends, axis=0)[:, None]
            carried = _size(later if alike is None else np.where(alike[1:, :, None], later, 0.0))
            smooth, total = max(smooth, carried), max(total, carried)
    return Difference(smooth, total, rounding)


def _alike(
    coarse: Paths | Track, fine: Paths | Track, apart: FloatArray, encoder: FloatArray
) -> NDArray[np.bool_]:
    """Where all encoders have read the same so far, (simulations, samples)."""
    least = 0.5 * float(np.abs(encoder[encoder != 0]).min())
    moved = np.abs((fine.measured - coarse.measured) - apart).max(axis=2)
    return np.asarray(np.logical_and.accumulate(moved < least, axis=1))


def _size(values: FloatArray) -> float:
    found = float(np.abs(values).max())
    return found if np.isfinite(found) else float("inf")


def worst_windows(coarse: Track, fine: Paths, batch: Batch) -> list[tuple[int, int]]:
    """Pieces and windows in them where two runs differ most, as many as there are lanes."""
    apart = np.abs(fine.q - coarse.q)[:, : WINDOWS * batch.window]
    size = apart.reshape(PIECES, WINDOWS, -1).max(axis=2)
    return [divmod(int(k), WINDOWS) for k in np.argsort(size, axis=None)[-PIECES:]]


def in_pieces(whole: Whole, batch: Batch) -> Track:
    """A run over all samples in the pieces of its batch."""

    def parts(signal: FloatArray) -> FloatArray:
        return np.array([signal[0, first : first + batch.piece] for first in batch.firsts])

    return Track(parts(whole.paths.q), parts(whole.paths.measured))
