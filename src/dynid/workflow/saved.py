"""A saved model against other logs: read as the fit read its own, checked, and asked whether they are new."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid.core.errors import DynidError, FileError
from dynid.core.finding import Finding, Level, Name
from dynid.logs.log import Log
from dynid.logs.mapping import LogMapping, mapping_from_table
from dynid.logs.read import MappingLike, read_logs
from dynid.preparation.motion import Motion
from dynid.preparation.prepare import prepare
from dynid.report.checks import findings_of, used_logs
from dynid.results.result import SavedResult
from dynid.validation.figures import ErrorFigures
from dynid.validation.validation import Validation
from dynid.workflow.held import Held, hold, predicted, with_note
from dynid.workflow.identity import LogIdentity


@dataclass(frozen=True, eq=False)
class Proof:
    """What a saved model is worth on other logs.

    Args:
        validation: the figures and the verdict, with what is known about the logs in it.
        data: data checks of the logs, as the report shows them.
        remarks: reasons of the verdict about the proof itself, to be told whatever their level.
    """

    validation: Validation
    data: tuple[dict[str, Any], ...]
    remarks: tuple[Finding, ...] = ()


def stored_mapping(saved: SavedResult) -> LogMapping | None:
    """The mapping that the fit read its logs with, or None."""
    kept = saved.run.get("mapping")
    if not isinstance(kept, dict) or not isinstance(kept.get("text"), str):
        return None
    try:
        return mapping_from_table(tomllib.loads(kept["text"]))
    except (ValueError, DynidError) as error:
        raise FileError(
            f"The mapping stored in {saved.folder} cannot be used ({error}); give one with --map."
        ) from None


def fitted_logs(saved: SavedResult) -> tuple[LogIdentity, ...]:
    """The logs of the fit, as far as the result says."""
    try:
        return tuple(LogIdentity.from_dict(row) for row in saved.run.get("fitted", ()))
    except (KeyError, TypeError):
        return ()


def fit_figures(saved: SavedResult) -> ErrorFigures | None:
    """Errors on the fit's own motions, to compare with; None where the result does not tell them."""
    try:
        own = saved.document["fit"]
        figures = ErrorFigures.from_dict(own["full"] if own["decimated"] is None else own["decimated"])
    except (KeyError, TypeError, ValueError):
        return None
    shape = (saved.robot.n_coordinates,)
    return figures if figures.rms.shape == figures.relative_percent.shape == shape else None


def read_as_fitted(
    saved: SavedResult,
    paths: Sequence[Path],
    mapping: MappingLike,
    reader: Callable[[Sequence[Path], MappingLike], tuple[Log, ...]] = read_logs,
) -> tuple[Log, ...]:
    """Read logs with the mapping given, else with that of the fit, else by common names.

    Args:
        saved: the result.
        paths: files or folders.
        mapping: the user's mapping, or None.
        reader: reads them with one mapping.
    """
    own = stored_mapping(saved) if mapping is None else None
    if own is None:
        return reader(paths, mapping)
    try:
        return reader(paths, own)
    except DynidError as error:
        # A log without the columns of the fit's, such as a repaired one, may still be understood by itself.
        try:
            return reader(paths, None)
        except DynidError:
            raise error from None


def validate_saved(saved: SavedResult, logs: Sequence[Log], *, repair: bool = False) -> Proof:
    """Predict the torques of logs.

    Args:
        saved: the result.
        logs: motor or joint side.
        repair: whether repairable defects are repaired.

    Raises:
        NotTrustworthyError: when a log is not usable.
    """
    held = hold(logs, saved.robot, fitted_logs(saved), repair=repair)
    return proof_of(saved, held, [prepare(log, saved.plan) for log in held.logs])


def proof_of(saved: SavedResult, held: Held, motions: Sequence[Motion]) -> Proof:
    """Predict motions with a saved model, and say how much of a proof that is.

    Args:
        saved: the result.
        held: the logs they come from.
        motions: prepared, or simulated under the controller.
    """
    logs = used_logs(held.checks, motions, "validation")
    remarks = _unknown_motion(saved, held.own)
    concerns = (*(found for found in findings_of(logs) if found.level > Level.GOOD), *remarks)
    figures = fit_figures(saved)
    found = predicted(saved.model, motions, held.own, saved.trails, saved.plan, figures, concerns)
    return Proof(found, tuple(log.to_dict() for log in logs), remarks)


def remarked(proof: Proof, remark: Finding) -> Proof:
    """A proof with one more remark, a note that changes no grade."""
    return Proof(with_note(proof.validation, remark), proof.data, (*proof.remarks, remark))


def along_measured(proof: Proof, why: str) -> Proof:
    """A proof of a closed-loop result that was not simulated, with a note that says so.

    Args:
        proof: along measured positions.
        why: what is in the way of a simulation, and how to get it.
    """
    told = (
        "The torques were predicted along the measured positions, not along a simulated motion as in the fit"
    )
    return remarked(proof, Finding(Name.ALONG_MEASURED, Level.NOTE, f"{told}: {why}."))


def _unknown_motion(saved: SavedResult, own: Sequence[bool]) -> tuple[Finding, ...]:
    """Say where repetition cannot be asked about."""
    if saved.trails or all(own):
        return ()
    return (
        Finding(
            Name.NOVELTY_UNKNOWN,
            Level.NOTE,
            "The result does not hold the fit's motion, because an earlier version of dynid wrote it, so it "
            "was not asked whether the logs repeat that motion; fit again to have it asked.",
        ),
    )
