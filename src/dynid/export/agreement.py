"""Generated functions held against dynid's own kernels at random states, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dynid.base.numeric import RandomStates, random_states
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.export.functions import ModelValues
from dynid.simulation.added_torques import torques_along

TOLERANCE = 1e-12
"""Largest difference, as a share of the largest torque: rounding of some hundred operations."""
Functions = Mapping[str, Callable[..., Any]]


def differences(values: ModelValues, functions: Functions) -> dict[str, float]:
    """Largest difference of each function from the kernels, as a share of the largest torque or inertia.

    Accelerations of ``forward`` are turned into torques again by the kernels, and these compared.

    Args:
        values: the model.
        functions: of arrays (samples, coordinates), by the names of ``FUNCTIONS``.
    """
    at, own = states_of(values), kernels(values.robot)
    tau, M = inverse_torques(values, at.q, at.qd, at.qdd), inertia(values, at.q)
    pairs: dict[str, Callable[[Callable[..., Any]], tuple[FloatArray, FloatArray]]] = {
        "inverse": lambda f: (f(at.q, at.qd, at.qdd), tau),
        "gravity": lambda f: (f(at.q), own.gravity(values.parameters, at.q)),
        "friction": lambda f: (f(at.q, at.qd), _friction(values, at)),
        "inertia_matrix": lambda f: (f(at.q), M),
        "forward": lambda f: (inverse_torques(values, at.q, at.qd, f(at.q, at.qd, tau), tau), tau),
    }
    found = {}
    for name, function in functions.items():
        with np.errstate(all="ignore"):  # formulas choose between values of which one may not exist
            made, expected = pairs[name](function)
        largest = _largest(M if name == "inertia_matrix" else tau)
        found[name] = _largest(made - expected) / (largest or 1.0)
    return found


def require_agreement(form: str, found: Mapping[str, float]) -> None:
    """Refuse an export whose functions are not those of the model.

    Raises:
        DynidError: with the function that differs most.
    """
    for name, difference in found.items():
        if not difference <= TOLERANCE:
            raise DynidError(
                f"The function {name!r} of the form {form!r} differs from the model by {difference:.2g} of "
                f"the largest value, and at most {TOLERANCE:g} is allowed; nothing was written. Please "
                "report it."
            )


def has_inertia(values: ModelValues) -> bool:
    """Whether the inertia matrix is positive definite at all states tried, as accelerations need it."""
    M = inertia(values, states_of(values).q)
    return bool(np.all(np.isfinite(M)) and np.linalg.eigvalsh(M).min() > 0)


def states_of(values: ModelValues) -> RandomStates:
    """The states at which functions are compared: always the same."""
    return random_states(values.robot, np.random.default_rng(0))


def inertia(values: ModelValues, q: FloatArray) -> FloatArray:
    """Inertia matrices (samples, coordinates, coordinates) by the kernels."""
    return kernels(values.robot).inertia_matrix(values.parameters, q)


def inverse_torques(
    values: ModelValues, q: FloatArray, qd: FloatArray, qdd: FloatArray, tau: FloatArray | None = None
) -> FloatArray:
    """Torques of the model by the kernels, (samples, coordinates).

    Args:
        values: the model.
        q: positions, (samples, coordinates).
        qd: speeds.
        qdd: accelerations.
        tau: torques that added terms may hold; those of the model without them when None.
    """
    return kernels(values.robot).inverse(values.parameters, q, qd, qdd) + _added_torques(
        values, q, qd, qdd, tau=tau
    )


def _friction(values: ModelValues, at: RandomStates) -> FloatArray:
    still = np.zeros_like(at.qdd)
    own = kernels(values.robot).inverse(values.friction, at.q, at.qd, still)
    return own + _added_torques(values, at.q, at.qd, still)


def _added_torques(values: ModelValues, *motion: FloatArray, tau: FloatArray | None = None) -> FloatArray:
    if not values.added:
        return np.zeros_like(motion[0])
    own = (values.robot, values.parameters, values.added)
    return torques_along(*own, *motion, links=values.load, tau=tau)


def _largest(values: FloatArray) -> float:
    return float(np.max(np.abs(values), initial=0.0))
