"""How many integration steps a sample needs: step doubling over all samples of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.simulation.batch import (
    PIECES,
    Batch,
    Difference,
    Track,
    Whole,
    difference_between,
    in_pieces,
    worst_windows,
)
from dynid.simulation.inertia import element_rate, friction_rate
from dynid.simulation.outcomes import first_lost_sample
from dynid.simulation.programs import SMOOTH
from dynid.simulation.setup import MAX_SUBSTEPS, Accuracy, Setup
from dynid.simulation.simulator import Paths
from dynid.trajectories.reference import Reference

PILOT = 250
"""Samples of each window on which the number of steps to try first is chosen."""
_SHORT = 4000
"""Samples up to which both runs of a comparison go from end to end, which costs no more than in pieces."""
_STABLE = 2.0
"""Step × rate of friction, springs and dampers that Runge–Kutta still follows (it is stable to 2.78)."""
_FACTOR = 2.0
"""Error of a run over its difference to one with twice the steps, 2ᵖ/(2ᵖ − 1), for the lowest order met:
p = 1, where a turn or a kink falls anywhere within a step."""
_NEAR = 3.0
"""Error over tolerance up to which one doubling is expected to be enough."""
_SECOND_TRIES = (2, 4, 8)
"""Times as many steps with which a loop that got lost is tried again: the integrator may be to blame."""


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
    search = _Search(batch, accuracy, checked)
    search.begin(guess)
    while search.waiting:
        substeps = min(search.waiting)
        search.judge(search.waiting[substeps], substeps)
    return [search.found[k] for k in range(len(batch.setups))]


def least_substeps(setup: Setup, accuracy: Accuracy) -> int:
    """The least number that is stable."""
    rows = np.linspace(0, setup.reference.samples - 1, 16).astype(int)
    q = setup.reference.q[rows]
    rate = element_rate(setup.robot, setup.standard, q)
    if accuracy.friction == SMOOTH:
        rate += friction_rate(setup.robot, setup.standard, q, setup.added_terms)
    return max(1, int(np.ceil(setup.step * rate / _STABLE)))


class _Search:
    """The search for the numbers of steps of a batch.

    Every simulation has a level, the number of steps to try next, until it is found. A level is judged so:
    a loop that got lost is tried again with more steps (``_lost``); an unchecked one is accepted; the others
    are compared with another number of steps and accepted, doubled, or raised on their worst windows.
    """

    def __init__(self, batch: Batch, accuracy: Accuracy, checked: bool) -> None:
        self.batch, self.accuracy, self.checked = batch, accuracy, checked
        self.given = accuracy.substeps
        feedback = all(all(setup.follows) for setup in batch.setups)
        self.in_pieces = feedback and batch.samples > _SHORT
        self.least = [self.given or least_substeps(setup, accuracy) for setup in batch.setups]
        self.level = dict(enumerate(self.least))
        self.found: dict[int, Integrated] = {}
        self.known: dict[tuple[int, int], Whole] = {}

    @property
    def waiting(self) -> dict[int, list[int]]:
        """Simulations that are not found yet, by their level."""
        groups: dict[int, list[int]] = {}
        for k, substeps in self.level.items():
            if k not in self.found:
                groups.setdefault(substeps, []).append(k)
        return groups

    def begin(self, guess: int | None) -> None:
        """Set the first levels: the number given, the guess, or what windows of the motion need."""
        if self.given is not None:
            return
        for k, substeps in self.level.items():
            if substeps > MAX_SUBSTEPS:
                self.found[k] = Integrated(substeps, float("inf"), False, None)
        if guess is not None:
            self.level |= {k: max(s, guess) for k, s in self.level.items() if k not in self.found}
        elif self.in_pieces:
            for substeps, some in sorted(self.waiting.items()):
                self._pilot(some, substeps)

    def _pilot(self, some: Sequence[int], substeps: int) -> None:
        """Choose the first levels where the references are liveliest."""
        firsts, states = [], []
        for k in some:
            setup = self.batch.setups[k]
            r = setup.reference
            assert r.qd is not None
            firsts += liveliest_windows(r, PILOT, PIECES)
            # From the reference itself the loop has to settle first, or the jolt is taken for the motion.
            ahead = [max(at - PILOT, 0) for at in firsts[-PIECES:]]
            states += [setup.simulator.start(r.q[at], r.qd[at], setup.controller) for at in ahead]
        parts, ahead = np.repeat(some, PIECES).tolist(), [max(at - PILOT, 0) for at in firsts]
        settled = self.batch.windows(parts, np.array(states), ahead, PILOT, substeps).final
        settled[::PIECES] = self.batch.starts[list(some)]
        self._raise_on_windows(some, settled, firsts, PILOT, substeps)

    def judge(self, some: Sequence[int], substeps: int) -> None:
        """Run some simulations, and accept the number of steps or raise it."""
        self._run(some, substeps)
        runs = {k: self.known.pop((k, substeps)) for k in some}
        runs = {k: run for k, run in runs.items() if not self._got_lost(k, run, substeps)}
        if not self.checked:
            for k, run in runs.items():
                self._accept(k, substeps, float("nan"), True, run)
            return
        for other in {self._compared_with(k, substeps) for k in runs}:
            alike = [k for k in runs if self._compared_with(k, substeps) == other]
            fine = self._other_runs(alike, [runs[k] for k in alike], other)
            for k, path in zip(alike, fine, strict=True):
                self._compare(k, runs[k], path, substeps, _FACTOR if other > substeps else 1.0)

    def _run(self, some: Sequence[int], substeps: int) -> None:
        missing = [k for k in some if (k, substeps) not in self.known]
        if missing:
            runs = self.batch.whole_runs(missing, substeps, pieces=self.in_pieces)
            self.known |= {(k, substeps): run for k, run in zip(missing, runs, strict=True)}

    def _accept(self, k: int, substeps: int, error: float, reached: bool, run: Whole) -> None:
        self.found[k] = Integrated(substeps, error, reached, run.paths)
        self.known = {key: whole for key, whole in self.known.items() if key[0] != k}

    def _compared_with(self, k: int, substeps: int) -> int:
        """Steps to compare with: twice as many; fewer where twice as many are no longer allowed."""
        if 2 * substeps <= MAX_SUBSTEPS or substeps == self.least[k]:
            return 2 * substeps
        return max(self.least[k], substeps // 2)

    def _other_runs(self, some: Sequence[int], runs: Sequence[Whole], other: int) -> list[Paths]:
        """Runs with another number of steps, in pieces or as a whole."""
        if self.in_pieces:
            return self.batch.pieces(some, runs, other)
        self._run(some, other)
        return [self.known[k, other].paths for k in some]

    def _compare(self, k: int, run: Whole, fine: Paths, substeps: int, factor: float) -> None:
        """Accept a run or raise its level, by its difference to one with other steps.

        Args:
            k: the simulation.
            run: with the steps that are judged.
            fine: with other steps, in pieces or as a whole.
            substeps: that are judged.
            factor: error of the run over the difference.
        """
        coarse = in_pieces(run, self.batch) if self.in_pieces else run.paths
        apart = difference_between(coarse, fine, self.batch.setups[k].encoder, follows=self.in_pieces)
        reached = apart.within(self.accuracy.tolerance, factor)
        if reached or self.given is not None or substeps >= MAX_SUBSTEPS:
            self._accept(k, substeps, apart.error(factor), reached, run)
        elif (
            isinstance(coarse, Track) and 2 * substeps < MAX_SUBSTEPS and not self._one_doubling_helps(apart)
        ):
            self._raise_where_worst(k, run, worst_windows(coarse, fine, self.batch), substeps)
        else:
            self.level[k] = min(2 * substeps, MAX_SUBSTEPS)

    def _one_doubling_helps(self, apart: Difference) -> bool:
        """Whether the next doubling is the one to try, or nothing better is known."""
        near = apart.smooth == apart.total and _FACTOR * apart.smooth <= _NEAR * self.accuracy.tolerance
        return near or not np.isfinite(apart.total)

    def _raise_where_worst(self, k: int, run: Whole, worst: Sequence[tuple[int, int]], substeps: int) -> None:
        """Choose the next level on the windows where this one was worst."""
        batch = self.batch
        states = batch.window_states(k, run, substeps)
        firsts = [batch.firsts[piece] + window * batch.window for piece, window in worst]
        self._raise_on_windows(
            [k], np.array([states[at] for at in worst]), firsts, batch.window, 2 * substeps
        )

    def _raise_on_windows(
        self, some: Sequence[int], states: FloatArray, firsts: Sequence[int], samples: int, substeps: int
    ) -> None:
        """Set the first levels, from ``substeps`` on, that are good enough on a few windows of each."""
        parts, waiting = np.repeat(some, PIECES).tolist(), list(some)
        coarse = self.batch.windows(parts, states, firsts, samples, substeps)
        while waiting and substeps < MAX_SUBSTEPS:
            fine = self.batch.windows(parts, states, firsts, samples, 2 * substeps)
            for k in waiting:
                own = slice(PIECES * some.index(k), PIECES * (some.index(k) + 1))
                apart = difference_between(coarse.part(own), fine.part(own), self.batch.setups[k].encoder)
                enough = apart.within(self.accuracy.tolerance, _FACTOR) or not np.isfinite(apart.total)
                self.level[k] = substeps if enough else min(2 * substeps, MAX_SUBSTEPS)
            waiting = [k for k in waiting if self.level[k] > substeps]
            coarse, substeps = fine, 2 * substeps

    def _got_lost(self, k: int, run: Whole, substeps: int) -> bool:
        """Whether a loop leaves its reference for good; its level is raised where more steps keep it."""
        reference, follows = self.batch.setups[k].reference, self.batch.setups[k].follows
        end = first_lost_sample(run.paths.q[0], reference, follows)
        if end == self.batch.samples:
            return False
        tries = () if self.given is not None else [times * substeps for times in _SECOND_TRIES]
        for more in [steps for steps in tries if steps <= MAX_SUBSTEPS]:
            again = self.batch.first_samples(k, end + 1, more).q[0]
            if first_lost_sample(again, reference, follows) == end + 1:
                self.level[k] = more
                return True
        self._accept(k, substeps, float("inf"), False, run)
        return True


def liveliest_windows(reference: Reference, samples: int, count: int) -> list[int]:
    """First samples of windows: the beginning of the reference, then where it asks most of an integration.

    A window scores its turns, as a share of the most that any has, and for every joint the largest
    acceleration, as a share of that of the whole reference.

    Args:
        reference: at the controller's rate, at least ``count`` windows long.
        samples: of a window.
        count: how many windows.
    """
    assert reference.qd is not None
    assert reference.qdd is not None
    windows = reference.samples // samples
    shape = (windows, samples, reference.axes)
    speeds, rates = (x[: windows * samples].reshape(shape) for x in (reference.qd, reference.qdd))
    turns = np.sum(np.signbit(speeds[:, 1:]) != np.signbit(speeds[:, :-1]), axis=(1, 2))
    peaks = np.abs(rates).max(axis=1)
    score = turns / max(turns.max(), 1) + (peaks / np.maximum(peaks.max(axis=0), 1e-300)).mean(axis=1)
    later = 1 + np.argsort(-score[1:], kind="stable")[: count - 1]
    return [0, *sorted(int(k) * samples for k in later)]
