"""What methods that simulate the closed loop are given: files to logs, law and references."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynid.cli.estimation import LoopOptions
from dynid.cli.log_options import FitLogOptions
from dynid.core.errors import DynidError
from dynid.estimators.closed_loop import DIDIM, IV, OutputError
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.estimators.essential import Essential
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.logs.read import MappingLike, read_log
from dynid.model.robot import Robot
from dynid.results.load import parameters_from
from dynid.results.result import SavedResult
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import load_controller
from dynid.simulation.programs import STICK
from dynid.simulation.reference_file import load_reference
from dynid.simulation.setup import Accuracy
from dynid.trajectories.reference import Reference
from dynid.workflow.saved_model import read_as_fitted, required_controller


def loop_fit_arguments(
    robot: Robot, strategy: Strategy, logs: Sequence[Path], files: FitLogOptions, loop: LoopOptions
) -> dict[str, Any]:
    """Arguments of ``fit`` for didim, iv or oe: logs, those to validate with, law, references, accuracy."""
    inner = strategy.strategy if isinstance(strategy, Essential) else strategy
    assert isinstance(inner, LoopStrategy)
    if loop.controller is None:
        raise _no_controller(inner)
    if isinstance(inner, OutputError) and loop.friction == STICK:
        raise DynidError(
            "--friction is stick, but oe needs derivatives of the simulation, which set-valued friction has "
            "not; use --friction smooth."
        )
    accuracy = Accuracy(**loop.accuracy)
    given, kept = (
        [_read_for(path, files.mapping, inner) for path in paths] for paths in (logs, files.validate or [])
    )
    simulated = law_and_references(robot, loop.controller, loop.reference or [])
    return {"logs": given, "validate": kept, **simulated, "accuracy": accuracy}


def law_and_references(robot: Robot, controller: str, given: Sequence[str]) -> dict[str, Any]:
    """Controller and references that a command line names, as arguments of a verb that simulates."""
    law = load_controller(controller, robot, parameters_of=parameters_from)
    return {"controller": law, "references": _references(robot, law, given)}


def loop_validate_arguments(
    saved: SavedResult,
    paths: Sequence[Path],
    mapping: MappingLike,
    controller: str | None,
    references: Sequence[str],
) -> dict[str, Any]:
    """Arguments of ``validate`` for a result of didim, iv or oe.

    Args:
        saved: the result.
        paths: logs; torques suffice.
        mapping: what their columns are; that of the fit when None.
        controller: name or file; the fit's own law when None.
        references: names or files; the logs' own reference columns when empty.
    """
    logs = _read_as_fitted(saved, paths, mapping)
    law = None
    if controller is not None:
        law = load_controller(controller, saved.robot, parameters_of=parameters_from)
    followed = None
    if references:
        alone = [log.name for log in logs if "position" not in log.channels]
        used = law or required_controller(saved, alone)
        followed = _references(saved.robot, used, references)
    return {"logs": logs, "controller": law, "references": followed}


def _no_controller(inner: LoopStrategy) -> DynidError:
    name, needs = type(inner).__name__, inner.needs
    if isinstance(inner, IV) and inner.instruments == "reference":
        needs = "the sample time of the loop from its control law, even where the reference is the instrument"
    return DynidError(f"{name} needs {needs}; --controller is missing: give a shipped name or a TOML file.")


def _read_for(path: Path, mapping: Path | None, inner: LoopStrategy) -> Log:
    """A log that need not hold what the method does not need."""
    if isinstance(inner, DIDIM):
        return read_log(path, mapping, needed=("torque",))
    try:
        return read_log(path, mapping)
    except DynidError as error:
        if not _has_torques_alone(path, mapping):
            raise
        raise DynidError(
            f"{type(inner).__name__} needs the measured motion (positions) beside the torques; DIDIM does "
            f"not. {error}"
        ) from None


def _has_torques_alone(path: Path, mapping: MappingLike) -> bool:
    """Whether a log can be read, but has no positions."""
    try:
        return "position" not in read_log(path, mapping, needed=("torque",)).channels
    except DynidError:
        return False


def _read_as_fitted(saved: SavedResult, paths: Sequence[Path], mapping: MappingLike) -> tuple[Log, ...]:
    """Logs, with positions where they have them."""
    try:
        return read_as_fitted(saved, paths, mapping)
    except DynidError as error:
        try:
            return read_as_fitted(saved, paths, mapping, _read_torques)
        except DynidError:
            raise error from None


def _read_torques(paths: Sequence[Path], mapping: MappingLike) -> tuple[Log, ...]:
    return tuple(read_log(path, mapping, needed=("torque",)) for path in paths)


def _references(robot: Robot, law: Controller, given: Sequence[str]) -> list[Reference] | None:
    """References that a command line names; None leaves them to the logs."""
    return [load_reference(text, robot, law.sample_time) for text in given] or None
