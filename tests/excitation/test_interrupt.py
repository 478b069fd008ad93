"""Ctrl-C ends the search for a motion with the best so far, and leaves Python's handler as it was."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.core.executor import Progress
from dynid.core.finding import Name
from dynid.excitation import Design, DesignTask, LimitChoice, LogDet, design_motion
from dynid.excitation.criteria import Graded
from dynid.excitation.solvers import SOLVERS, Solver
from dynid.model.load import load_robot

ROBOT = load_robot("scara")
LIMITS = LimitChoice(lower=-2.0, upper=2.0)  # type: ignore[arg-type]


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@dataclass(frozen=True)
class Interrupting(LogDet):
    """The criterion during whose n-th computations Ctrl-C is pressed."""

    at: tuple[int, ...] = ()
    calls: list[int] = field(default_factory=list)

    def grade(self, G: np.ndarray) -> Graded:
        self.calls.append(1)
        if len(self.calls) in self.at:
            press_ctrl_c()
        return super().grade(G)


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Python's usual handler, whatever the runner of the tests has set; it must be there afterwards."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def design(*at: int, starts: int = 3, workers: int = 1, solver: Solver | None = None) -> Design:
    task = DesignTask(criterion=Interrupting(at), limits=LIMITS)
    return design_motion(ROBOT, task, starts=starts, workers=workers, solver=solver)


def assert_best_so_far(found: Design) -> None:
    told = [finding for finding in found.findings if finding.name is Name.INTERRUPTED]
    assert [finding.sentence for finding in told] == ["The search was interrupted; this is the best so far."]
    assert all(use.kept for use in found.uses)
    time = np.linspace(0.0, 10.0, 10001)
    for order in range(3):
        assert np.all(np.abs(found.trajectory.at(time, order)) <= found.limits.high[order] * (1 + 1e-6))


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
def test_in_the_first_start(solver: Solver) -> None:
    found = design(60 if solver.name == "barrier" else 150, solver=solver)
    assert [run.outcome for run in found.runs] == ["interrupted"]
    assert_best_so_far(found)
    start = found.problem.value(found.runs[0].first)
    assert found.runs[0].value < start


def test_starts_that_are_done_count() -> None:
    criterion = Interrupting()
    whole = design_motion(ROBOT, DesignTask(criterion=criterion, limits=LIMITS), starts=2, workers=1)
    found = design(len(criterion.calls) + 50, starts=4)
    assert sorted(run.outcome for run in found.runs) == ["converged", "converged", "interrupted"]
    assert_best_so_far(found)
    assert found.runs[0].value <= whole.runs[0].value


def test_side_by_side() -> None:
    found = design(100, starts=6, workers=2)
    assert 1 <= len(found.runs) <= 2
    assert {run.outcome for run in found.runs} == {"interrupted"}
    assert_best_so_far(found)


def pressed_at(text: str, times: int = 1) -> Progress:
    """A progress that presses Ctrl-C when it is told something."""

    def told(words: str) -> None:
        if words.startswith(text):
            for _ in range(times):
                press_ctrl_c()

    return told


def interrupted(progress: Progress) -> Design:
    return design_motion(ROBOT, DesignTask(limits=LIMITS), starts=3, workers=1, progress=progress)


def test_between_two_starts() -> None:
    found = interrupted(pressed_at("1 of 3"))
    assert [run.outcome for run in found.runs] == ["converged"]
    assert_best_so_far(found)


def test_before_the_first_motion_there_is_nothing_to_give() -> None:
    with pytest.raises(DynidError, match="was interrupted before its first motion; nothing was designed"):
        interrupted(pressed_at("0 of 3"))


def test_the_second_one_is_as_usual() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(pressed_at("1 of 3", times=2))


def test_in_another_thread_signals_are_left_alone() -> None:
    made: list[Design] = []
    worker = threading.Thread(target=lambda: made.append(design(starts=1)))
    worker.start()
    worker.join()
    assert [run.outcome for run in made[0].runs] == ["converged"]
    assert Name.INTERRUPTED not in [finding.name for finding in made[0].findings]
