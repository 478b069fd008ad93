"""Kalman filters on state and parameters: measured torques in, measured positions out, instant by instant."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.recursive.joint_state import AugmentedModel
from dynid.estimators.recursive.limits import CovarianceLimits
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.root_filter import RootFilter

HOLDS = ("zero", "first")


@dataclass(frozen=True, eq=False)
class StateNoise:
    """Standard deviations of the sensors, each one for all coordinates or (n,).

    Args:
        position: of measured positions [rad or m].
        torque: of measured torques, white, which enter as process noise M⁻¹ σ_τ on q̈ [N m or N].
        speed: of measured speeds [rad/s or m/s]; None where speeds are not used.
    """

    position: ArrayLike
    torque: ArrayLike
    speed: ArrayLike | None = None

    def of(self, axes: int, name: str) -> FloatArray:
        """One of them for every coordinate, (n,)."""
        given = np.asarray(getattr(self, name), dtype=float)
        if given.shape not in ((), (axes,)) or not np.all(np.isfinite(given) & (given > 0)):
            raise DynidError(
                f"The noise of {name} is {np.asarray(given).tolist()}; give one positive number, or one for "
                f"each of the {axes} coordinates."
            )
        return np.broadcast_to(given, (axes,)).copy()


@dataclass(frozen=True, kw_only=True, eq=False)
class StateFilterOptions:
    """What a filter on state and parameters does beside predicting.

    Args:
        hold: torques between samples: "zero" (held, as a sampled controller does) or "first" (a straight
            line, for measured torques).
        walk: random walk of the parameters: σ that is added in a second, as a share of the prior's σ [1/√s].
            Zero for parameters that do not change.
        limits: of the standard deviations of the parameters; None for none.
        start_speed: σ of unmeasured speeds at a start [rad/s or m/s].
        longest_gap: time between samples above which the state starts anew [s]: an arm may have stopped and
            turned round in it.
        kept_inertia: share of M(q) that one update must leave in every direction. Below zero it could become
            indefinite; near one nothing could be learnt. At .5 one update in 8000 was shortened from starts
            up to 50 % off, at .8 one in 500, none of them the worse for it (SCARA, eight seeds).
        most_substeps: Runge–Kutta steps per sample at most.
        checked: updates between two looks at how fast friction acts, which costs one evaluation.
    """

    hold: str = "zero"
    walk: float = 0.0
    limits: CovarianceLimits | None = None
    start_speed: float = 1.0
    longest_gap: float = 0.1
    kept_inertia: float = 0.5
    most_substeps: int = 8
    checked: int = 100

    def __post_init__(self) -> None:
        """Refuse options that contradict themselves."""
        if self.hold not in HOLDS:
            raise unknown_name("hold of torques", self.hold, HOLDS)
        good = self.walk >= 0 and self.start_speed > 0 and self.longest_gap > 0 and 0 < self.kept_inertia < 1
        if not good or self.most_substeps < 1 or self.checked < 1:
            raise DynidError(
                "walk must not be negative, start_speed and longest_gap positive, kept_inertia from 0 to 1, "
                "most_substeps and checked at least 1."
            )


class StateFilter(RootFilter):
    """χ and [q, q̇] followed sample by sample: start → update → estimate.

    Args:
        model: the robot with its base parameters.
        noise: of the sensors.
        prior: values with M(q) > 0, and finite standard deviations.
        options: holds, walk, limits, guards.
    """

    def __init__(
        self, model: AugmentedModel, noise: StateNoise, prior: ParameterPrior, options: StateFilterOptions
    ) -> None:
        """Begin; the state itself begins with the first sample."""
        n = model.axes
        super().__init__(model.base.names, prior, 2 * n, options.limits)
        self.model, self.options = model, options
        self._torque_sigma = noise.of(n, "torque")
        self._position_sigma = noise.of(n, "position")
        self._speed_sigma = None if noise.speed is None else noise.of(n, "speed")
        self._time, self._tau, self._substeps = np.nan, np.zeros(n), 1
        self.predicted, self.innovation = np.zeros(n), np.zeros(n)
        self.outcomes: Counter[str] = Counter()

    @abstractmethod
    def _ahead(self, tau: tuple[FloatArray, FloatArray], step: float) -> tuple[FloatArray, FloatArray] | None:
        """The state one sample ahead (2n,) and the spread of [χ, x] (base + 2n, columns); None when M(q) is
        not positive definite."""

    @property
    def position(self) -> FloatArray:
        """q̂ (n,)."""
        return self._x[: self.model.axes]

    @property
    def speed(self) -> FloatArray:
        """The filter's q̇ (n,)."""
        return self._x[self.model.axes :]

    def update(self, time: float, q: ArrayLike, tau: ArrayLike, qd: ArrayLike | None = None) -> float:
        """Take in one instant.

        Args:
            time: [s]; later than the last one.
            q: measured positions (n,).
            tau: measured torques (n,); with a zero hold they act from now on.
            qd: measured speeds (n,); used where the noise of speeds was given.

        Returns:
            χ² = eᵀ S⁻¹ e of the innovation, about one per measured number where model and noise are right; 0
            where the state starts.
        """
        at, torque = self._vector("q", q), self._vector("tau", tau)
        speed = None if qd is None or self._speed_sigma is None else self._vector("qd", qd)
        step = time - self._time
        if step <= 0 or not np.isfinite(time):
            raise DynidError(
                f"The instant {time:g} s does not follow {self._time:g} s; give samples in order of time."
            )
        before, self._time, self._tau = self._tau, float(time), torque
        if not step <= self.options.longest_gap:
            if np.isfinite(step):
                self.outcomes["gap"] += 1
            self._begin(at, speed)
            return 0.0
        self._choose_substeps(step)
        found = self._ahead((before, torque if self.options.hold == "first" else before), step)
        if found is None or not (np.all(np.isfinite(found[0])) and np.all(np.isfinite(found[1]))):
            self.outcomes["indefinite" if found is None else "diverged"] += 1
            self._begin(at, speed)
            return 0.0
        return self._correct(*found, at, speed, step)

    def _correct(
        self, x: FloatArray, spread: FloatArray, q: FloatArray, qd: FloatArray | None, step: float
    ) -> float:
        """The measurement taken into the prediction."""
        n, p = self.model.axes, len(self.names)
        self._x = x
        if self.options.walk:
            added = np.zeros((len(spread), p))
            added[:p] = np.diag(self.options.walk * np.sqrt(step) * self.prior.sigma)
            spread = np.hstack([spread, added])
        measured, sigma = q, self._position_sigma
        if qd is not None and self._speed_sigma is not None:
            measured, sigma = np.concatenate([q, qd]), np.concatenate([sigma, self._speed_sigma])
        self.predicted, error = x[:n], measured - x[: len(measured)]
        self.innovation = error[:n]
        known, kept = self.values, self.options.kept_inertia

        def keeps_inertia(values: FloatArray) -> bool:
            """M(q, χ⁺) > kept · M(q, χ⁻), one question because M is linear in χ."""
            return self.model.inertia_positive(q, values - kept * known)

        seen = spread[p : p + len(measured)]
        squares, shortened = self._take(spread, seen, sigma, error, keeps_inertia)
        self.outcomes["limited"] += bool(shortened)
        return squares

    def _begin(self, q: FloatArray, qd: FloatArray | None) -> None:
        """The state as it is measured, the parameters as they are known."""
        n, p = self.model.axes, len(self.names)
        sigma = np.full(n, self.options.start_speed) if qd is None else self._speed_sigma
        self._x = np.concatenate([q, np.zeros(n) if qd is None else qd])
        self._root[p:] = 0.0
        self._root[range(p, p + n), range(p, p + n)] = self._position_sigma
        self._root[range(p + n, p + 2 * n), range(p + n, p + 2 * n)] = sigma
        self.predicted, self.innovation = q, np.zeros(n)

    def _choose_substeps(self, step: float) -> None:
        """Steps in which friction changes a speed by less than its rate allows; RK4 is stable up to 2.78."""
        if self.updates % self.options.checked:
            return
        wanted = int(np.ceil(step * self.model.fastest_rate(self.position, self.values)))
        self._substeps = min(max(wanted, 1), self.options.most_substeps)
        self.outcomes["stiff"] += wanted > 2 * self.options.most_substeps

    def _vector(self, name: str, values: ArrayLike) -> FloatArray:
        given = np.asarray(values, dtype=float)
        if given.shape != (self.model.axes,) or not np.all(np.isfinite(given)):
            raise ShapeError(
                f"{name} of an instant has shape {given.shape} or is not finite; expected {self.model.axes} "
                "numbers. Leave such instants out."
            )
        return given

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, as arrays and numbers."""
        counts = np.array([self.outcomes[name] for name in _OUTCOMES])
        instant = np.array([self._time, self._substeps])
        return super().state() | {"instant": instant, "tau": self._tau.copy(), "outcomes": counts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a filter with the same parameters."""
        super().restore(state)
        self._time, substeps = np.asarray(state["instant"], dtype=float).tolist()
        self._substeps, self._tau = int(substeps), self._vector("tau", state["tau"])
        counts = np.asarray(state["outcomes"]).astype(int).tolist()
        self.outcomes = Counter(dict(zip(_OUTCOMES, counts, strict=True)))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What went other than planned so far; none when all is well."""
        return tuple(
            Finding(name, level, f"{sentence} ({self.outcomes[kind]} of {self.updates} updates).", remedy)
            for kind, (name, level, sentence, remedy) in _OUTCOMES.items()
            if self.outcomes[kind]
        )


_OUTCOMES = {
    "limited": (
        Name.INERTIA_NOT_POSITIVE,
        Level.CARE,
        "Updates that would have taken M(q) near or below zero were shortened",
        "Give a prior with a smaller sigma, or more noise of the torques.",
    ),
    "indefinite": (
        Name.INERTIA_NOT_POSITIVE,
        Level.FAIL,
        "The estimated M(q) was not positive definite at the measured position; the state started anew",
        "Start from values with M(q) > 0 everywhere, such as those of a possible robot.",
    ),
    "diverged": (
        Name.DIVERGED,
        Level.FAIL,
        "The prediction was not finite; the state started anew",
        "Give a wider sign_width, a higher rate or a smaller prior sigma.",
    ),
    "stiff": (
        Name.FRICTION_TOO_STIFF,
        Level.CARE,
        "Friction acts faster than the steps of the filter can follow",
        "Give a wider sign_width or samples at a higher rate.",
    ),
    "points": (
        Name.INERTIA_NOT_POSITIVE,
        Level.NOTE,
        "Sigma points without M(q) > 0 were drawn nearer to the mean",
        "Give a prior with a smaller sigma.",
    ),
    "gap": (
        Name.LONG_GAPS,
        Level.NOTE,
        "The state started anew behind gaps",
        "",
    ),
}
"""Finding of each kind of outcome: name, level, sentence, remedy."""
