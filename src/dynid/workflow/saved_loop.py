"""A saved result of a closed-loop method against other logs: simulated under the law it was found with."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dynid.core.errors import DynidError, FileError
from dynid.logs.log import Log
from dynid.results.result import SavedResult
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import controller_from_table
from dynid.simulation.reference import Reference
from dynid.simulation.setup import Accuracy
from dynid.workflow.loop_held import ACCURACY, CONTROLLER, hold_loop, pushed, replayed
from dynid.workflow.saved import Proof, fitted_logs, proof_of, remarked


def stored_controller(saved: SavedResult) -> Controller | None:
    """The control law of the fit; None when the result does not hold it as data.

    Args:
        saved: the result. A law that is a Python file is never run from a result.

    Raises:
        FileError: when it is damaged.
    """
    text = saved.run.get(CONTROLLER)
    if text is None:
        return None
    try:
        return controller_from_table(tomllib.loads(str(text)), saved.robot)
    except (ValueError, DynidError) as error:
        raise _unusable(saved, "control law", error, "give one with --controller") from None


def stored_accuracy(saved: SavedResult) -> Accuracy:
    """How the fit simulated; what an earlier version has not kept follows from the options typed."""
    options = saved.run.get("options")
    said: Any = saved.run.get(ACCURACY)
    if said is None:
        typed = options if isinstance(options, dict) else {}
        said = {name: typed[name] for name in ("friction", "width") if typed.get(name) is not None}
    try:
        return Accuracy(**said)
    except (TypeError, DynidError) as error:
        raise _unusable(saved, "accuracy of the simulation", error, "fit again") from None


def _unusable(saved: SavedResult, what: str, error: Exception, remedy: str) -> FileError:
    return FileError(
        f"The {what} stored in {saved.folder} cannot be used ({str(error).rstrip('.')}); {remedy}."
    )


def validate_replayed(
    saved: SavedResult,
    logs: Sequence[Log],
    controller: Controller,
    references: Sequence[Reference] | None = None,
) -> Proof:
    """Predict the torques of logs along their simulated motion, as ``fit_loop`` does with unseen logs.

    Args:
        saved: the result.
        logs: motor or joint side; torques are needed, positions are only checked.
        controller: the law the robot ran under.
        references: one per log; the logs' own reference channels when None.

    Raises:
        NotTrustworthyError: when a log is not usable, or cannot be simulated.
    """
    held = hold_loop(logs, saved.robot, fitted_logs(saved))
    run = replayed(
        saved.base, saved.values, held.logs, controller, references, saved.plan, stored_accuracy(saved)
    )
    proof = proof_of(saved, held, run.motions)
    remark = pushed(saved.model, held, saved.plan, proof.validation)
    proof = proof if remark is None else remarked(proof, remark)
    return replace(proof, validation=run.told(proof.validation))
