"""A law of the user's own from a Python file: the file is run, so it must be one that the user trusts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import FileError
from dynid.core.files import read_text
from dynid.core.tables import shown
from dynid.dynamics.operations import symbolic
from dynid.model.robot import Robot
from dynid.simulation.law import LawSignals
from dynid.simulation.model_laws import UserLaw

_TRIES = 20


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
        raise FileError(f"{file.name} cannot be run ({_told(error)}).") from None
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


def _told(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {shown(said)[1:-1] if len(said) < 50 else said[:200]}"
