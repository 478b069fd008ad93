"""Simulations of one compiled loop that are run together, as a whole or in pieces that begin on their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from dynid.simulation.setup import Setup
from dynid.simulation.simulator import MANY, Paths

FloatArray = NDArray[np.float64]
PIECES = MANY
"""Parts of a long simulation that are run side by side in the lanes of a vector register."""
WINDOWS = 4
"""Shorter parts of each piece."""


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

    def whole(self, some: Sequence[int], substeps: int, *, pieces: bool) -> list[Whole]:
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

    def beginning(self, one: int, samples: int, substeps: int) -> Paths:
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
        return [_stacked([run.row(i) for run in runs]) for i in range(len(some))]

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


def _stacked(rows: Sequence[Paths]) -> Paths:
    return Paths(*(np.concatenate([getattr(row, f.name) for row in rows]) for f in fields(Paths)))
