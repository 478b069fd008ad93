"""A control law of the user's own: a Python function, from a program or from a file that the user trusts."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid.compile.trace import fingerprint
from dynid.core.errors import DynidError, FileError
from dynid.core.files import read_text
from dynid.core.tables import shown
from dynid.dynamics.operations import Operations, symbolic
from dynid.model.robot import Robot
from dynid.simulation.law import Answer, Law, LawSignals, Scalars

_UNSET = " (missing or zero, so that memory is empty)"
UserFunction = Callable[[LawSignals, Sequence[Any], Sequence[Any], Operations], tuple[list[Any], list[Any]]]
_TRIES = 20
"""Random signals of each size on which a law is tried."""


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
            raise self._refusal(f"it answers {_shown(answer)}") from None
        for value in (*torques, *rates):
            if not _scalar(value):
                raise self._refusal(f"it answers {_shown(value)} where a number belongs")
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
            raise self._refusal(f"{type(error).__name__}: {told}") from None

    def _refusal(self, why: str) -> DynidError:
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


def python_law(
    file: Path, function: str, robot: Robot, numbers: tuple[float, ...] = (), states: int = 0
) -> UserLaw:
    """Run a Python file and take a function of it as control law, tried once on symbols.

    Args:
        file: the Python file.
        function: its name; it takes what ``UserLaw`` says.
        robot: whose axes it drives.
        numbers: gains, handed to it as symbols.
        states: how many numbers it remembers.
    """
    found = _namespace(file).get(function)
    if not callable(found) or not hasattr(found, "__code__"):
        raise FileError(f"{file.name} has no function {function!r}; define it with def.")
    law = UserLaw(found, robot.n_coordinates, numbers, states, f"{file.stem}.{function}")
    _try(law, robot)
    return law


def _namespace(file: Path) -> dict[str, Any]:
    read_text(file, "law file")  # has the sentences for what cannot be read
    spec = importlib.util.spec_from_file_location(f"dynid_law_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise FileError(f"{file} is not a Python file; it must end in .py.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FileError(f"{file.name} cannot be run ({_error_text(error)}).") from None
    return vars(module)


def _try(law: UserLaw, robot: Robot) -> None:
    """Trace it once, so that what it cannot do is said before a simulation starts."""
    import casadi as ca

    def symbols(name: str, count: int) -> list[Any]:
        return [ca.SX.sym(f"{name}{i}") for i in range(count)]

    n = law.axes
    names = ("reference", "reference_speed", "reference_acceleration", "position", "speed", "torque")
    signals = LawSignals(*(symbols(name, n) for name in names))
    memory, gains = symbols("memory", law.states), symbols("gain", len(law.gains))
    torques, rates = law.torque(signals, memory, gains, symbolic())
    answer = [ca.SX(value) for value in (*torques, *rates)]
    told = [*(s for name in names for s in getattr(signals, name)), *memory, *gains]
    _require_numbers(law, ca.Function("law", told, answer))


def _require_numbers(law: UserLaw, function: Any) -> None:
    """Refuse a law that gives NaN wherever it is tried; a limit on torques would hide it."""
    rng, own = np.random.default_rng(0), list(law.gains)
    count = function.n_in() - len(own)
    for size in np.repeat([1e-2, 0.1, 1.0], _TRIES):
        values = function(*rng.uniform(-size, size, count).tolist(), *own)
        if not np.any(np.isnan([float(v) for v in (values if isinstance(values, tuple) else (values,))])):
            return
    raise FileError(
        f"The function {law.name} gives NaN for all signals that were tried; look for 0/0, roots and "
        "logarithms of negative numbers."
    )


def _error_text(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {shown(said)[1:-1] if len(said) < 50 else said[:200]}"
