"""The main job by methods that simulate the closed loop: files to logs, law and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dynid.cli.loop_options import LoopFiles
from dynid.cli.torque_logs import torques_alone
from dynid.core.errors import DynidError
from dynid.estimators.closed_loop.didim import DIDIM
from dynid.estimators.closed_loop.iv import IV
from dynid.estimators.closed_loop.output_error import OutputError
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.estimators.essential import Essential
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.robot import Robot
from dynid.results.load import parameters_from
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import load_controller
from dynid.simulation.programs import STICK
from dynid.simulation.reference import Reference
from dynid.simulation.reference_file import load_reference
from dynid.simulation.setup import Accuracy
from dynid.workflow.fit import FitResult, split_log
from dynid.workflow.loop_fit import fit_loop


def fit_closed_loop(
    robot: Robot, strategy: Strategy, files: LoopFiles, options: Mapping[str, Any]
) -> FitResult:
    """The main job by didim, iv or oe."""
    inner = strategy.strategy if isinstance(strategy, Essential) else strategy
    assert isinstance(inner, LoopStrategy)
    if files.controller is None:
        raise _no_controller(inner)
    refuse_repair(bool(options.get("repair")))
    if isinstance(inner, OutputError) and files.options.friction == STICK:
        raise DynidError(
            "--friction is stick, but oe needs derivatives of the simulation, which set-valued friction has "
            "not; use --friction smooth."
        )
    accuracy = Accuracy(**files.options.accuracy)
    law = load_controller(files.controller, robot, parameters_of=parameters_from)
    options["progress"]("reading")
    given, unseen = (
        [_read(path, files.mapping, inner) for path in paths] for paths in (files.logs, files.kept)
    )
    told = f"{len(given)} logs to fit and {len(unseen)} to validate"
    found = references_for(robot, law, files.references, len(given) + len(unseen), told)
    own = None if found is None else found[: len(given)]
    other = None if found is None else found[len(given) :]
    if files.split is not None:
        parts = [split_log(log, files.split) for log in given]
        given, unseen = [a for a, _ in parts], [*unseen, *(b for _, b in parts)]
        # The rest of a log follows the rest of the same reference.
        other = None if other is None or own is None else [*other, *own]
    rest = {key: value for key, value in options.items() if key != "repair"} | {"accuracy": accuracy}
    return fit_loop(robot, given, strategy, law, own, unseen=unseen, unseen_references=other, **rest)


def _no_controller(inner: LoopStrategy) -> DynidError:
    name, needs = type(inner).__name__, inner.needs
    if isinstance(inner, IV) and inner.instruments == "reference":
        needs = "the sample time of the loop from its control law, even where the reference is the instrument"
    return DynidError(f"{name} needs {needs}; --controller is missing: give a shipped name or a TOML file.")


def _read(path: Path, mapping: Path | None, inner: LoopStrategy) -> Log:
    """A log that need not hold what the method does not need."""
    if isinstance(inner, DIDIM):
        return read_log(path, mapping, needed=("torque",))
    try:
        return read_log(path, mapping)
    except DynidError as error:
        if not torques_alone(path, mapping):
            raise
        raise DynidError(
            f"{type(inner).__name__} needs the measured motion (positions) beside the torques; DIDIM does "
            f"not. {error}"
        ) from None


def refuse_repair(repair: bool) -> None:
    """A simulated motion has nothing to repair."""
    if repair:
        raise DynidError("--repair is for measured motions; repair the log with dynid check --repair first.")


def references_for(
    robot: Robot, law: Controller, given: Sequence[str], logs: int, told: str
) -> list[Reference] | None:
    """References that a command line names: one for all logs, or one each; None leaves them to the logs.

    Args:
        robot: the robot.
        law: its sample time is used.
        given: names or files.
        logs: how many there are.
        told: the same in words, for the sentence.
    """
    if not given:
        return None
    if len(given) not in (1, logs):
        raise DynidError(
            f"{len(given)} references were given for {told}; give one for all, or one each in that order."
        )
    found = [load_reference(text, robot, law.sample_time) for text in given]
    return found * logs if len(found) == 1 else found
