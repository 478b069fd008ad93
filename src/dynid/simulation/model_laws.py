"""Laws beyond joint gains: computed torque, open loop, and a function of your own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.compile.fingerprint import fingerprint
from dynid.core.errors import DynidError
from dynid.dynamics.inverse import inverse_dynamics
from dynid.dynamics.operations import Operations
from dynid.model.robot import Robot
from dynid.simulation.law import Answer, Law, LawSignals, Scalars, per_axis
from dynid.simulation.laws import Values


@dataclass(frozen=True)
class ComputedTorque(Law):
    """τ = M̂(q) a + N̂(q, q̇) with a = q̈_r + k_d (q̇_r − q̇) + k_p (q_r − q) and a model of the robot.

    Args:
        robot: the robot the model belongs to; its parameters are the model.
        kp: [1/s²] per axis.
        kd: [1/s] per axis.
    """

    robot: Robot
    kp: Values
    kd: Values

    def __post_init__(self) -> None:
        """One value per axis, and a model that is not empty."""
        n = self.robot.n_coordinates
        if not any(self.robot.parameters.values()):
            raise DynidError(
                f"Robot {self.robot.name!r} has no parameters, so that computed torque has no model and "
                "gives no torque; give it some with robot.with_parameters(…), or take another law."
            )
        for name in ("kp", "kd"):
            object.__setattr__(self, name, per_axis(getattr(self, name), n, name))

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return self.robot.n_coordinates

    @property
    def gains(self) -> tuple[float, ...]:
        """k_p, k_d, then the model's parameters in table order."""
        model = self.robot.table.vector(self.robot.parameters)
        return (*np.atleast_1d(self.kp), *np.atleast_1d(self.kd), *model.tolist())

    @property
    def key(self) -> str:
        """The robot's equations."""
        return f"ComputedTorque {self.robot.digest}"

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Inverse dynamics of the model at the measured state."""
        n = self.axes
        kp, kd, model = gains[:n], gains[n : 2 * n], gains[2 * n :]
        wanted = [
            signals.reference_acceleration[i]
            + kd[i] * (signals.reference_speed[i] - signals.speed[i])
            + kp[i] * (signals.reference[i] - signals.position[i])
            for i in range(n)
        ]
        return inverse_dynamics(self.robot, model, signals.position, signals.speed, wanted, ops), []


@dataclass(frozen=True)
class Replay(Law):
    """No feedback: the torque given from outside (open loop).

    Args:
        n: number of axes.
    """

    n: int

    @property
    def axes(self) -> int:
        """Coordinates it drives."""
        return self.n

    @property
    def gains(self) -> tuple[float, ...]:
        """None."""
        return ()

    @property
    def feedback(self) -> bool:
        """No."""
        return False

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """The controller adds the torque given from outside to the law's."""
        return [0.0] * self.n, []


_UNSET = " (missing or zero, so that memory is empty)"
UserFunction = Callable[[LawSignals, Sequence[Any], Sequence[Any], Operations], tuple[list[Any], list[Any]]]


@dataclass(frozen=True)
class UserLaw(Law):
    """A law of your own: a Python function of scalars that is traced into the compiled loop.

    Args:
        function: ``function(signals, memory, gains, ops) -> (torques, memory_rates)`` with + − × / and the
            functions of ``ops`` (sin, cos, abs, min, max, sign, step, exp, tanh …); no ``if`` on a signal.
        n: number of axes.
        numbers: gains, handed to the function as symbols.
        states: how many numbers it remembers.
        name: for messages and the cache.
    """

    function: UserFunction
    n: int
    numbers: tuple[float, ...] = ()
    states: int = 0
    name: str = "user"

    def __post_init__(self) -> None:
        """Freeze the gains."""
        object.__setattr__(self, "numbers", tuple(float(g) for g in self.numbers))

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return self.n

    @property
    def gains(self) -> tuple[float, ...]:
        """As given."""
        return self.numbers

    @property
    def memory(self) -> int:
        """As given."""
        return self.states

    @property
    def key(self) -> str:
        """The function's code and the numbers it closes over."""
        return f"UserLaw {self.name} {self.n} {self.states} {fingerprint(self.function)}"

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """What the function answers, counted."""
        answer = self._answer(signals, memory, gains, ops)
        try:
            torques, rates = (list(part) for part in answer)
        except (TypeError, ValueError):
            raise self._refused(f"it answers {_shown(answer)}") from None
        for value in (*torques, *rates):
            if not _scalar(value):
                raise self._refused(f"it answers {_shown(value)} where a number belongs")
        if len(torques) != self.n or len(rates) != self.states:
            wrong, unset = len(rates) != self.states, _UNSET * (self.states == 0)
            remedy = f" states is {self.states}{unset}: set states = {len(rates)}." * wrong
            raise DynidError(
                f"The law {self.name!r} gives {len(torques)} torques and {len(rates)} memory rates; "
                f"{self.n} and {self.states} are needed.{remedy}"
            )
        return torques, rates

    def _answer(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Any:
        """The function's answer; what it may not do as a sentence."""
        try:
            with warnings.catch_warnings():
                # Functions of numpy warn on symbols, and say nothing that helps.
                warnings.simplefilter("error", FutureWarning)
                return self.function(signals, memory, gains, ops)
        except FutureWarning:
            raise DynidError(
                f"The law {self.name!r} calls a function of numpy on a signal; use those of ops instead, "
                "such as ops.functions['tanh'] for np.tanh."
            ) from None
        except IndexError:
            raise DynidError(
                f"The law {self.name!r} takes an entry that is not there: it has {self.n} axes, "
                f"{len(self.numbers)} gains and states = {self.states}{_UNSET * (self.states == 0)}; set "
                "states to how many numbers it remembers, and give all its gains."
            ) from None
        except DynidError:
            raise
        except (Exception, SystemExit) as error:
            told = " ".join(str(error).split())[:200]
            raise self._refused(f"{type(error).__name__}: {told}") from None

    def _refused(self, why: str) -> DynidError:
        return DynidError(
            f"The law {self.name!r} fails on symbols ({why}); return torques and memory rates as two lists, "
            "use + − × / and ops, and decide with ops instead of if."
        )


def _scalar(value: Any) -> bool:
    """A number, or a symbol of CasADi for one."""
    if isinstance(value, int | float | np.number):
        return True
    return hasattr(value, "is_scalar") and bool(value.is_scalar())


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}…"
