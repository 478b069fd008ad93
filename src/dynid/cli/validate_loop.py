"""``dynid validate`` by simulation: results of methods that simulate the closed loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dynid.cli.closed_loop import references_for, refuse_repair
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.read import MappingLike, read_log
from dynid.results.load import parameters_from
from dynid.results.result import SavedResult
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import load_controller
from dynid.workflow.fit import Progress
from dynid.workflow.saved import Proof, along_measured, read_as_fitted, validate_saved
from dynid.workflow.saved_loop import stored_controller, validate_replayed


def prove_loop(
    saved: SavedResult,
    paths: Sequence[Path],
    mapping: Path | None,
    controller: str | None,
    references: Sequence[str],
    repair: bool,
    tell: Progress,
) -> Proof:
    """Simulate logs with a saved model, as its fit does; along measured positions where that cannot be.

    Args:
        saved: the result of a closed-loop method.
        paths: logs.
        mapping: what their columns are; that of the fit when None.
        controller: name or file; the fit's own law when None.
        references: names or files; the logs' own reference columns when empty.
        repair: refused where motions are simulated.
        tell: told what is being done.
    """
    logs = _read(saved, paths, mapping)
    alone = [log.name for log in logs if "position" not in log.channels]
    asked = controller is not None or bool(references) or bool(alone)
    lacking = None if asked else _lacking(saved, logs)
    if lacking is not None:
        tell("predicting")
        return along_measured(validate_saved(saved, logs, repair=repair), lacking)
    refuse_repair(repair)
    law = _law(saved, controller, alone)
    count = len(logs)
    given = references_for(saved.robot, law, references, count, f"{count} log{'s' * (count != 1)}")
    if given is None:
        _require_references(saved, logs)
    tell("simulating")
    return validate_replayed(saved, logs, law, given)


def _read(saved: SavedResult, paths: Sequence[Path], mapping: MappingLike) -> tuple[Log, ...]:
    """Logs, with positions where they have them."""
    try:
        return read_as_fitted(saved, paths, mapping)
    except DynidError as error:
        try:
            return read_as_fitted(saved, paths, mapping, _torques)
        except DynidError:
            raise error from None


def _torques(paths: Sequence[Path], mapping: MappingLike) -> tuple[Log, ...]:
    return tuple(read_log(path, mapping, needed=("torque",)) for path in paths)


def _lacking(saved: SavedResult, logs: Sequence[Log]) -> str | None:
    """Why logs with positions cannot be simulated without more being said; None when they can."""
    long = [log for log in logs if log.on_disk]
    if long:
        why = "and --controller or --reference holds it in memory"
        return f"log {long[0].name} has {long[0].samples:,} samples, {why}"
    without = [log.name for log in logs if "reference" not in log.channels]
    if without:
        return f"log {without[0]} has no reference columns; --reference gives one"
    if stored_controller(saved) is None:
        return "the result does not hold the control law; --controller gives it"
    return None


def _law(saved: SavedResult, given: str | None, alone: Sequence[str]) -> Controller:
    if given is not None:
        return load_controller(given, saved.robot, parameters_of=parameters_from)
    law = stored_controller(saved)
    if law is None:
        why = f" Log {alone[0]!r} has no positions, so its motion must be simulated." if alone else ""
        raise DynidError(
            f"The result in {saved.folder} does not hold the control law as data; give it with --controller"
            f"{_typed(saved, 'controller')}.{why}"
        )
    return law


def _require_references(saved: SavedResult, logs: Sequence[Log]) -> None:
    for log in logs:
        if "reference" not in log.channels:
            raise DynidError(
                f"Log {log.name!r} has no reference columns (it has {', '.join(sorted(log.channels))}), and "
                "its motion is simulated along the reference; map them, or give what the robot followed with "
                f"--reference{_typed(saved, 'reference')}."
            )


def _typed(saved: SavedResult, option: str) -> str:
    """What the fit was given, in words."""
    options = saved.run.get("options")
    value = options.get(option) if isinstance(options, dict) else None
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return f" (the fit was given {shown})" if shown else ""
