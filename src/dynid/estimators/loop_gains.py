"""The controller of a simulated loop: whose inertia its gains follow, and how long its transient lasts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, unknown_name
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.replay import Model, inertias_of
from dynid.simulation.controller import Controller

FloatArray = NDArray[np.float64]
FOLLOW = ("start", "always", "never")


class Gains:
    """The simulated controller: its gains keep the poles while the simulated inertia changes (P0 eq 59).

    Args:
        actual: the controller the robot ran under.
        follow: "start" (only the regular start is simulated with gains of its own inertia), "always" (P0), or
            "never"; None for "start" where the law knows the inertia it was tuned for, else "never".
    """

    def __init__(self, actual: Controller, follow: str | None) -> None:
        """Find out what the law's own inertia is."""
        self.actual = actual
        self.tuned = actual.law.tuned_inertia
        self.follow = follow or ("never" if self.tuned is None else "start")
        if self.follow not in FOLLOW:
            raise unknown_name("way of the gains to follow the inertia", self.follow, FOLLOW)
        if self.follow != "never" and self.tuned is None:
            raise DynidError(
                f"The gains of the law {type(actual.law).__name__} cannot follow the inertia, because the "
                "inertia they were tuned for is not known; give it, or let follow_inertia be 'never'."
            )

    @property
    def regular_inertias(self) -> FloatArray | None:
        """Drive inertias of the regular start: one, or what fixed gains damp well."""
        return self.actual.law.damped_inertia() if self.follow == "never" else None

    def controller(self, model: Model) -> Controller:
        """The controller to simulate a model with."""
        if self.tuned is None or not (self.follow == "always" or (self.follow == "start" and model.start)):
            return self.actual
        inertias = inertias_of(model, self.actual)
        if not np.all(inertias > 0):
            return self.actual  # M(q) is not positive definite: the simulation will say so
        return self.actual.scaled(inertias / np.array(self.tuned))


def transient(given: float | None, loop: Gains, problem: LoopProblem) -> float:
    """Seconds to drop: 5/ω_n of the slowest axis (P0 §IV.B), unless the start is known."""
    if given is not None:
        return given
    if all(e.start is not None for e in problem.experiments):
        return 0.0
    slowest = loop.actual.law.slowest_frequency()
    length = min(e.time[-1] - e.time[0] for e in problem.experiments)
    return 0.0 if slowest is None else min(5.0 / slowest, length / 2)
