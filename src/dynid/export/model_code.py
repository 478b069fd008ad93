"""What every form that is program code shares: which functions, from which values, and that they agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.export.agreement import (
    TOLERANCE,
    differences,
    has_inertia,
    inverse_torques,
    require_agreement,
    states_of,
)
from dynid.export.functions import (
    FUNCTIONS,
    ModelFunction,
    ModelValues,
    base_values,
    model_function,
    standard_values,
)
from dynid.export.numpy_module import module_functions, python_text
from dynid.export.words import NO_STANDARD
from dynid.results.result import SavedResult

BASE_FORM = "_base"
"""Behind the name of a function from base parameters, where there is one from standard parameters too."""


@dataclass(frozen=True, eq=False)
class ModelCode:
    """The functions of a model.

    Args:
        functions: to be written, in order.
        values: the model that they are of.
        base: the base parameters, where one more function of the base form stands beside; None where
            ``values`` are the base parameters.
        lost: what such functions cannot hold, in sentences.
    """

    functions: tuple[ModelFunction, ...]
    values: ModelValues
    base: ModelValues | None
    lost: tuple[str, ...]

    @property
    def form_words(self) -> str:
        """Which parameters the functions are made of."""
        if self.base is None:
            return (
                "All functions: identified base parameters, the others zero; the result has no standard ones."
            )
        return (
            "Functions: standard parameters of a possible robot; those in _base: identified base parameters."
        )

    @property
    def operations(self) -> dict[str, dict[str, int]]:
        """Operations of one evaluation, by function and kind."""
        return {function.name: function.operations for function in self.functions}

    def figures_of(self, form: str, callables: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
        """Figures of an export whose functions agree with the kernels.

        Args:
            form: for the sentence.
            callables: the functions as written, by name, over arrays (samples, coordinates).

        Raises:
            DynidError: when they do not agree.
        """
        own = {name: f for name, f in callables.items() if not name.endswith(BASE_FORM)}
        found = differences(self.values, own)
        figures: dict[str, Any] = {"operations": self.operations}
        if self.base is not None:
            based = {name.removesuffix(BASE_FORM): f for name, f in callables.items() if name not in own}
            found |= {name + BASE_FORM: value for name, value in differences(self.base, based).items()}
            figures["standard_from_base"] = forms_apart(self.values, self.base)
        require_agreement(form, found)
        return {"largest_difference": max(found.values(), default=0.0), "differences": found, **figures}


def model_code(result: SavedResult) -> ModelCode:
    """The functions of a result: from its standard parameters where it has them, else from the base ones."""
    base = base_values(result)
    values = base if result.standard is None else standard_values(result)
    functions = [model_function(values, name) for name in FUNCTIONS if name != "forward"]
    forward, why_not = _forward(result, values)
    functions += [forward] if forward is not None else []
    if values is not base:
        functions.append(model_function(base, "inverse", BASE_FORM))
    lost = (*why_not, *lost_in_code(result))
    return ModelCode(tuple(functions), values, None if values is base else base, lost)


def _forward(result: SavedResult, values: ModelValues) -> tuple[ModelFunction | None, tuple[str, ...]]:
    """Forward dynamics, or None and a sentence on why there is none."""
    if not has_inertia(values):
        return None, (
            "Forward dynamics: the inertia matrix of these parameters is not positive definite everywhere, "
            "so no acceleration follows from a torque.",
        )
    made = model_function(values, "forward")
    if not values.added:
        return made, ()
    found = differences(values, module_functions(python_text(result, [made]), [made]))
    if found["forward"] <= TOLERANCE:
        return made, ()
    return None, (
        "Forward dynamics: the added terms depend on the accelerations in a way that the steps of Newton's "
        "method do not solve.",
    )


def lost_in_code(result: SavedResult) -> tuple[str, ...]:
    """What functions of the motion cannot hold, in sentences."""
    lost = ["Standard deviations of the parameters."]
    lost += [] if result.standard is not None else [NO_STANDARD]
    if result.robot.drives is not None:
        lost.append("The drives: positions and torques are those of the joints, not of the motors.")
    for term in dict.fromkeys(term.expression for term in result.added_torques if term.holds("tau")):
        lost.append(
            f"The measured torque in the added term {term!r}: inverse dynamics and friction take the torque "
            "of the model without added terms in its place."
        )
    return tuple(lost)


def forms_apart(values: ModelValues, base: ModelValues) -> float:
    """How far the torques of two sets of values are apart, ‖τ − τ_base‖ / ‖τ_base‖ at random states."""
    at = states_of(values)
    one, other = (inverse_torques(each, at.q, at.qd, at.qdd) for each in (values, base))
    size = float(np.linalg.norm(other))
    return float(np.linalg.norm(one - other)) / (size or 1.0)
