"""How many integration steps a sample needs: step doubling over all samples of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.simulation.accuracy import MAX_SUBSTEPS, Accuracy
from dynid.simulation.batch import PIECES, Batch, Whole
from dynid.simulation.difference import Difference, Track, between, cut, worst_windows
from dynid.simulation.inertia import friction_rate
from dynid.simulation.lively import liveliest
from dynid.simulation.outcomes import sight_lost
from dynid.simulation.programs import SMOOTH
from dynid.simulation.setup import Setup
from dynid.simulation.simulator import Paths

FloatArray = NDArray[np.float64]
_SHORT = 4000
"""Samples up to which both runs of a comparison go from end to end, which costs no more than in pieces."""
_STABLE = 2.0
"""Step × rate of the friction that Runge–Kutta still follows (it is stable to 2.78)."""
_ORDER = 1
"""Lowest order met: turns and kinks that fall anywhere within a step, at their worst."""
_FACTOR = 2**_ORDER / (2**_ORDER - 1)
PILOT = 250
"""Samples of each window on which the number to try first is chosen."""
_NEAR = 3.0
"""Times the tolerance that one doubling is trusted to remove."""
_SECOND_TRIES = (2, 4, 8)
"""Times as many steps with which a loop that got lost is tried again: it may have been the integrator."""


@dataclass(frozen=True, eq=False)
class Integrated:
    """A simulation with the steps that it needs.

    Args:
        substeps: per sample; more than ``MAX_SUBSTEPS`` when no allowed number follows the friction.
        error: estimated error of q [rad or m].
        reached: whether the integration reaches the tolerance; the error of encoders that round is apart.
        paths: its signals; None when nothing was simulated.
    """

    substeps: int
    error: float
    reached: bool
    paths: Paths | None


def integrate(
    batch: Batch, accuracy: Accuracy, guess: int | None = None, *, checked: bool = True
) -> list[Integrated]:
    """Simulate with the fewest steps that reach the tolerance, found and checked by step doubling.

    Each number is compared with twice as many steps at every sample. Long simulations with feedback are
    compared in four pieces that begin with the states of the run itself and lie side by side in a vector
    register; the difference at the end of a piece is added to the next. The number to begin with is chosen on
    the windows where the reference is liveliest. A number that fails is raised on the windows where it failed
    most, and the new one is checked as a whole again.

    Args:
        batch: the simulations.
        accuracy: tolerance, friction model, and the number of steps where it is given.
        guess: number to begin with, as that of a run with parameters nearby; chosen on windows when None.
        checked: whether the number is compared with twice as many; a pass of an iteration that is not the
            last can do without, and its error is not known.
    """
    search = _Search(batch, accuracy, guess, checked)
    waiting = [k for k in range(len(batch.setups)) if k not in search.found]
    while waiting:
        for substeps in sorted({search.level[k] for k in waiting}):
            search.judge([k for k in waiting if search.level[k] == substeps], substeps)
        waiting = [k for k in waiting if k not in search.found]
    return [search.found[k] for k in range(len(batch.setups))]


class _Search:
    """The search for the numbers of steps of a batch."""

    def __init__(
        self, batch: Batch, accuracy: Accuracy, guess: int | None = None, checked: bool = True
    ) -> None:
        self.batch, self.accuracy, self.checked = batch, accuracy, checked
        given = accuracy.substeps
        least = [least_substeps(setup, accuracy) if given is None else given for setup in batch.setups]
        self.least, self.level = least, dict(enumerate(least))
        self.found = {
            k: Integrated(s, float("inf"), False, None)
            for k, s in self.level.items()
            if s > max(MAX_SUBSTEPS, given or 0)
        }
        feedback = all(setup.controller.law.feedback for setup in batch.setups)
        self.in_pieces = feedback and batch.samples > _SHORT
        self.known: dict[tuple[int, int], Whole] = {}
        if guess is not None and given is None:
            self.level |= {k: max(s, guess) for k, s in self.level.items() if k not in self.found}
        elif self.in_pieces and given is None:
            open_ones = [k for k in self.level if k not in self.found]
            for substeps in sorted({self.level[k] for k in open_ones}):
                self._pilot([k for k in open_ones if self.level[k] == substeps], substeps)

    def _pilot(self, some: Sequence[int], substeps: int) -> None:
        """Choose the numbers to try first where the references are liveliest."""
        firsts, states = [], []
        for k in some:
            setup = self.batch.setups[k]
            r = setup.reference
            assert r.qd is not None
            firsts += liveliest(r, PILOT, PIECES)
            # From the reference itself the loop has to settle first, or the jolt is taken for the motion.
            ahead = [max(at - PILOT, 0) for at in firsts[-PIECES:]]
            states += [setup.simulator.start(r.q[at], r.qd[at], setup.controller) for at in ahead]
        parts, ahead = np.repeat(some, PIECES).tolist(), [max(at - PILOT, 0) for at in firsts]
        settled = self.batch.windows(parts, np.array(states), ahead, PILOT, substeps).final
        settled[::PIECES] = self.batch.starts[list(some)]
        self._raise(some, settled, firsts, PILOT, substeps)

    def judge(self, some: Sequence[int], substeps: int) -> None:
        """Run some simulations, and accept the number of steps or raise it."""
        self._run(some, substeps)
        runs = {k: self.known.pop((k, substeps)) for k in some}
        kept = [k for k in some if not self._lost(k, runs[k], substeps)]
        if not self.checked:
            for k in kept:
                self._accept(k, substeps, float("nan"), True, runs[k])
            return
        for other in {self._other(k, substeps) for k in kept}:
            alike = [k for k in kept if self._other(k, substeps) == other]
            factor = _FACTOR if other > substeps else 1.0
            for k, fine in zip(alike, self._others(alike, [runs[k] for k in alike], other), strict=True):
                coarse = cut(runs[k], self.batch) if self.in_pieces else runs[k].paths
                encoder = self.batch.setups[k].encoder
                apart = between(coarse, fine, encoder, follows=self.in_pieces)
                reached = apart.within(self.accuracy.tolerance, factor)
                if reached or self.accuracy.substeps is not None or substeps >= MAX_SUBSTEPS:
                    self._accept(k, substeps, apart.error(factor), reached, runs[k])
                elif isinstance(coarse, Track) and not self._near(apart):
                    worst = worst_windows(coarse, fine, self.batch)
                    self._retry(k, runs[k], worst, substeps)
                else:
                    self.level[k] = min(2 * substeps, MAX_SUBSTEPS)

    def _run(self, some: Sequence[int], substeps: int) -> None:
        missing = [k for k in some if (k, substeps) not in self.known]
        if missing:
            runs = self.batch.whole(missing, substeps, pieces=self.in_pieces)
            self.known |= {(k, substeps): run for k, run in zip(missing, runs, strict=True)}

    def _accept(self, k: int, substeps: int, error: float, reached: bool, run: Whole) -> None:
        self.found[k] = Integrated(substeps, error, reached, run.paths)
        self.known = {key: whole for key, whole in self.known.items() if key[0] != k}

    def _other(self, k: int, substeps: int) -> int:
        """Steps to compare with: twice as many; fewer where twice as many are no longer allowed."""
        if 2 * substeps <= MAX_SUBSTEPS or substeps == self.least[k]:
            return 2 * substeps
        return max(self.least[k], substeps // 2)

    def _others(self, some: Sequence[int], runs: Sequence[Whole], other: int) -> list[Paths]:
        """Runs with another number of steps, in pieces or as a whole."""
        if self.in_pieces:
            return self.batch.pieces(some, runs, other)
        self._run(some, other)
        return [self.known[k, other].paths for k in some]

    def _near(self, apart: Difference) -> bool:
        """Whether the next doubling is the one to try, or nothing better is known."""
        near = apart.smooth == apart.total and _FACTOR * apart.smooth <= _NEAR * self.accuracy.tolerance
        return near or not np.isfinite(apart.total)

    def _retry(self, k: int, run: Whole, worst: Sequence[tuple[int, int]], substeps: int) -> None:
        """Choose the number to try next on the windows where this one was worst."""
        batch = self.batch
        known = batch.window_states(k, run, substeps)
        firsts = [batch.firsts[piece] + window * batch.window for piece, window in worst]
        self._raise([k], np.array([known[at] for at in worst]), firsts, batch.window, 2 * substeps)

    def _raise(
        self, some: Sequence[int], states: FloatArray, firsts: Sequence[int], samples: int, substeps: int
    ) -> None:
        """Set the first numbers of steps that are good enough on windows, a few for each simulation."""
        parts, waiting = np.repeat(some, PIECES).tolist(), list(some)
        coarse = self.batch.windows(parts, states, firsts, samples, substeps)
        while waiting and substeps < MAX_SUBSTEPS:
            fine = self.batch.windows(parts, states, firsts, samples, 2 * substeps)
            for k in waiting:
                own = slice(PIECES * some.index(k), PIECES * (some.index(k) + 1))
                apart = between(coarse.part(own), fine.part(own), self.batch.setups[k].encoder)
                if apart.within(self.accuracy.tolerance, _FACTOR) or not np.isfinite(apart.total):
                    self.level[k] = substeps
                else:
                    self.level[k] = min(2 * substeps, MAX_SUBSTEPS)
            waiting = [k for k in waiting if self.level[k] > substeps]
            coarse, substeps = fine, 2 * substeps

    def _lost(self, k: int, run: Whole, substeps: int) -> bool:
        """Whether a loop leaves its reference for good; more steps are taken where they keep it."""
        setup = self.batch.setups[k]
        follows = setup.controller.law.feedback
        end = sight_lost(run.paths.q[0], setup.reference, follows=follows)
        if end == self.batch.samples:
            return False
        for times in _SECOND_TRIES if self.accuracy.substeps is None else ():
            if times * substeps > MAX_SUBSTEPS:
                break
            again = self.batch.beginning(k, end + 1, times * substeps).q[0]
            if sight_lost(again, setup.reference, follows=follows) == end + 1:
                self.level[k] = times * substeps
                return True
        self._accept(k, substeps, float("inf"), False, run)
        return True


def least_substeps(setup: Setup, accuracy: Accuracy) -> int:
    """The least number that is stable."""
    if accuracy.friction != SMOOTH:
        return 1
    rows = np.linspace(0, setup.reference.samples - 1, 16).astype(int)
    rate = friction_rate(setup.robot, setup.standard, setup.reference.q[rows])
    return max(1, int(np.ceil(setup.step * rate / _STABLE)))
