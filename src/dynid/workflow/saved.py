"""A saved model against other logs: read as the fit read its own, checked, and asked whether they are new."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid.errors import DynidError, FileError
from dynid.export.result import SavedResult
from dynid.report.checks import normalised, reasons_of
from dynid.signals.check import DataCheck
from dynid.signals.log import Log
from dynid.signals.mapping import LogMapping, mapping_from_table
from dynid.signals.motion import Motion
from dynid.signals.prepare import prepare
from dynid.signals.read import MappingLike, read_logs
from dynid.validation.pieces import validate_pieces
from dynid.validation.validate import validate
from dynid.validation.validation import Validation
from dynid.validation.verdict import Reason
from dynid.workflow.held import hold
from dynid.workflow.identity import LogIdentity, identity_of, own_logs
from dynid.workflow.long_log import open_long
from dynid.workflow.novelty import own_log


@dataclass(frozen=True, eq=False)
class Proof:
    """What a saved model is worth on other logs.

    Args:
        validation: the figures and the verdict, with what is known about the logs in it.
        data: data checks of the logs, as the report shows them.
    """

    validation: Validation
    data: tuple[dict[str, Any], ...]


def stored_mapping(saved: SavedResult) -> LogMapping | None:
    """The mapping that the fit read its logs with, or None."""
    kept = saved.run.get("mapping")
    if not isinstance(kept, dict) or not isinstance(kept.get("text"), str):
        return None
    try:
        return mapping_from_table(tomllib.loads(kept["text"]))
    except (ValueError, DynidError) as error:
        raise FileError(
            f"The mapping stored in {saved.folder} cannot be used ({error}); give one with --map.",
            name="mapping",
            value=str(saved.folder),
        ) from None


def fitted_logs(saved: SavedResult) -> tuple[LogIdentity, ...]:
    """The logs of the fit, as far as the result says."""
    try:
        return tuple(LogIdentity.from_dict(row) for row in saved.run.get("fitted", ()))
    except (KeyError, TypeError):
        return ()


def read_as_fitted(
    saved: SavedResult, paths: Sequence[Path], mapping: MappingLike
) -> tuple[tuple[Log, ...], MappingLike]:
    """Read logs with the mapping given, else with that of the fit, else by common names.

    Args:
        saved: the result.
        paths: files or folders.
        mapping: the user's mapping, or None.

    Returns:
        The logs, and the mapping they were read with.
    """
    own = stored_mapping(saved) if mapping is None else None
    if own is None:
        return read_logs(paths, mapping), mapping
    try:
        return read_logs(paths, own), own
    except DynidError as error:
        # A log without the columns of the fit's, such as a repaired one, may still be understood by itself.
        try:
            return read_logs(paths, None), None
        except DynidError:
            raise error from None


def validate_saved(saved: SavedResult, logs: Sequence[Log], *, repair: bool = False) -> Proof:
    """Predict logs that fit into memory.

    Args:
        saved: the result.
        logs: motor or joint side.
        repair: whether repairable defects are repaired.

    Raises:
        NotTrustworthyError: when a log is not usable.
    """
    held = hold(logs, saved.robot, fitted_logs(saved), repair=repair)
    motions = [prepare(log, saved.plan) for log in held.logs]
    mended = [m.name for m in motions if any(step.name.startswith("repair") for step in m.history)]
    data = tuple(normalised(check, mended, use="validation") for check in held.checks)
    own = [own_log(m.name) for m, same in zip(motions, held.own, strict=True) if same]
    concerns = (*own, *_warnings(data))
    found = validate(saved.model, motions, saved.plan, seen=all(held.own), concerns=concerns)
    return Proof(found, data)


def validate_long(
    saved: SavedResult,
    paths: Sequence[Path],
    mapping: MappingLike,
    progress: Callable[[str], None] = lambda text: None,
) -> Proof:
    """Predict logs chunk by chunk, with memory that does not depend on their length.

    Data checks look at the beginning of each log; garbage anywhere stops it.

    Args:
        saved: the result.
        paths: Parquet, CSV or other files.
        mapping: what their columns are; that of the fit when None.
        progress: told how far it is.
    """
    used = stored_mapping(saved) if mapping is None else mapping
    fitted, checks = fitted_logs(saved), list[DataCheck]()
    own, concerns = list[bool](), list[Reason]()

    def logs() -> Iterator[tuple[str, Iterator[Motion]]]:
        for path in paths:
            long = open_long(saved.robot, path, used, use="validation")
            checks.append(long.check)
            own.extend(own_logs([identity_of(long.head, streamed=True)], fitted))
            concerns.extend([own_log(long.head.name)] if own[-1] else [])
            concerns.extend(_warnings([normalised(long.check, use="validation")]))
            yield long.head.name, long.motions(saved.plan, progress)

    found = validate_pieces(saved.model, logs(), saved.plan, concerns=concerns, seen=lambda: all(own))
    return Proof(found, tuple(normalised(check, use="validation") for check in checks))


def _warnings(data: Sequence[dict[str, Any]]) -> list[Reason]:
    return [reason for reason in reasons_of(data) if reason.level != "good"]
