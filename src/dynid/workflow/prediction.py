"""Torques of a saved model along logs, with or without measured ones beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dynid.checks import repair_log
from dynid.core.errors import DynidError
from dynid.core.threads import with_one_blas_thread
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log, Step
from dynid.logs.read import MappingLike, as_mapping, read_log
from dynid.logs.spool import Samples, writer_of
from dynid.preparation.motion import Motion
from dynid.preparation.unseen import prepare_unseen
from dynid.results.result import SavedResult
from dynid.validation.figures import ErrorFigures, error_figures
from dynid.validation.model import predictions
from dynid.workflow.saved_model import fitted_logs, read_as_fitted
from dynid.workflow.usable_log import logs_to_validate

_NO_TORQUE = "no torque"


@dataclass(frozen=True, eq=False)
class PredictedLog:
    """Torques along one log.

    Args:
        motion: filtered positions with their derivatives and, where measured, torques.
        torques: of the model, (samples, coordinates) [N m or N].
        sigma: their doubt from that of the parameters, likewise; None when it is not known.
        errors: of the torques that were measured, sample by sample; None when none were.
    """

    motion: Motion
    torques: Samples
    sigma: Samples | None
    errors: ErrorFigures | None


@with_one_blas_thread
def predict_logs(
    saved: SavedResult, logs: Sequence[Log], *, repair: bool = False
) -> tuple[PredictedLog, ...]:
    """Predict torques along logs whose positions are filtered as the fit's plan says.

    Args:
        saved: the model.
        logs: motor or joint side. Logs with torques are checked as for a validation.
        repair: whether repairable defects are repaired.

    Raises:
        NotTrustworthyError: when a log is not usable.
    """
    return tuple(_prediction_along(saved, log, repair) for log in logs)


def _prediction_along(saved: SavedResult, log: Log, repair: bool) -> PredictedLog:
    measured = "torque" in log.channels
    if measured:
        (held,) = logs_to_validate(saved.robot, [log], fitted_logs(saved), [None], repair=repair)
        usable = held.log
    else:
        usable = to_joint_side(_with_zero_torques(log), saved.robot)
        usable = repair_log(usable, robot=saved.robot) if repair else usable
    motion = prepare_unseen(usable, saved.plan)
    torques, sigma = predictions(saved.model, motion)
    return PredictedLog(motion, torques, sigma, error_figures([motion.tau], [torques]) if measured else None)


def _with_zero_torques(log: Log) -> Log:
    """A log that can be prepared; nobody looks at these torques."""
    if "position" not in log.channels:
        raise DynidError(f"Log {log.name!r} has no positions, along which torques could be predicted.")
    zeros = writer_of(log.samples, log.axes, on_disk=log.on_disk)
    for axis in range(log.axes):
        zeros.put(axis, np.zeros((log.samples, 1)))
    note = "The log holds no torques; only predictions are given."
    return log.with_step(Step(_NO_TORQUE, {}, note), channels={**log.channels, "torque": zeros.finish()})


def read_to_predict(saved: SavedResult, paths: Sequence[Path], mapping: MappingLike) -> tuple[Log, ...]:
    """Read logs as the fit read its own; those without torques as well.

    Args:
        saved: the result, with the mapping of its fit.
        paths: files or folders.
        mapping: the user's mapping, or None.
    """
    try:
        return read_as_fitted(saved, paths, mapping)
    except DynidError as error:
        try:
            return read_as_fitted(saved, paths, mapping, _read_positions)
        except DynidError:
            raise error from None


def _read_positions(paths: Sequence[Path], mapping: MappingLike) -> tuple[Log, ...]:
    """Logs by a mapping whose torques do not count."""
    given = as_mapping(mapping)
    if given is not None:
        kept = {name: part for name, part in given.channels.items() if name != "torque"}
        given = replace(given, channels=MappingProxyType(kept))
    return tuple(read_log(path, given, needed=("position",)) for path in paths)
