"""A saved model against other logs: read as the fit read its own, checked, and asked whether they are new."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynid.core.errors import DynidError, FileError, option_words
from dynid.core.finding import Finding, Level, Name, gravest_first
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.core.threads import with_one_blas_thread
from dynid.logs.log import Log
from dynid.logs.mapping import LogMapping, mapping_from_table
from dynid.logs.read import MappingLike, read_logs
from dynid.report.checks import findings_of, used_logs
from dynid.results.result import SavedResult
from dynid.results.view import ResultView
from dynid.validation.figures import ErrorFigures
from dynid.workflow.motion_source import MeasuredMotion, MotionSource, Progress
from dynid.workflow.proof import Proof, data_checks, prove
from dynid.workflow.since import KnownModel
from dynid.workflow.usable_log import (
    NO_REPAIR,
    LogIdentity,
    UsableLog,
    as_logs,
    logs_to_validate,
    one_reference_each,
)

if TYPE_CHECKING:
    from dynid.simulation.controller import Controller
    from dynid.trajectories.reference import Reference

LOOP_STRATEGIES = ("DIDIM", "IV", "OutputError", "RIV")
"""Strategies whose models are put to the test by simulation."""
# Results of least squares should not wait for the simulator.
_simulated_motion = later("dynid.workflow.simulated_motion", "SimulatedMotion")
_controller_from_table = later("dynid.simulation.controller_file", "controller_from_table")
_accuracy = later("dynid.simulation.setup", "Accuracy")


@with_one_blas_thread
def validate(
    result: ResultView,
    logs: Log | Sequence[Log],
    *,
    repair: bool = False,
    accept: Iterable[str] = (),
    controller: Controller | None = None,
    references: Sequence[Reference] | None = None,
    progress: Progress | None = None,
) -> Proof:
    """Predict the torques of logs with a saved model, as its fit does with unseen logs.

    Models of DIDIM and OutputError are simulated under the law of the fit, or along the measured positions
    where law or reference are not known, which a note says. Those of IV, and of output error in open loop,
    are simulated where a controller or references are given, or a log has no positions.

    Args:
        result: of a fit, or read back from a folder.
        logs: motor or joint side; torques suffice where motions are simulated.
        repair: whether repairable defects are repaired; refused where motions are simulated.
        accept: names of findings of the data check that you know better about.
        controller: the law the robot ran under; that of the fit when None.
        references: one for all logs, or one each; the logs' own reference channels when None.
        progress: told what is being done; nobody is when None.

    Raises:
        DynidError: when law or references are missing, or are given where nothing is simulated.
        NotTrustworthyError: when a log is not usable, or cannot be simulated.
    """
    require_kinds(validate, locals())
    saved, logs = result.as_saved, as_logs(logs, accept)
    tell = progress or (lambda text: None)
    of_loop = strategy_of(saved) in LOOP_STRATEGIES
    asked = controller is not None or references is not None
    alone = [log.name for log in logs if "position" not in log.channels]
    # A law that is given is simulated; else methods are judged along the motion that they identify along.
    simulated = of_loop and (asked or bool(alone) or not _predicts_measured(saved))
    if asked and not of_loop:
        raise DynidError(
            f"A controller and references are for results of methods that simulate the closed loop "
            f"({', '.join(LOOP_STRATEGIES)}), and the result in {saved.folder} was found by "
            f"{strategy_of(saved)}; leave them out."
        )
    lacking = None if asked or alone or not simulated else _lacking_to_simulate(saved, logs)
    if not simulated or lacking is not None:
        tell("predicting")
        law = stored_controller(saved) if of_loop and lacking is None else None
        source = MeasuredMotion() if law is None else _simulated_motion(law, measured=True)
        proof = _prove_saved(saved, logs, source, None, repair)
        return proof if lacking is None else _along_measured(proof, lacking)
    if repair:
        raise DynidError(NO_REPAIR)
    law = controller or required_controller(saved, alone)
    if references is None:
        _require_references(saved, logs)
    tell("simulating")
    source = _simulated_motion(law, stored_accuracy(saved))
    return _prove_saved(saved, logs, source, references, repair=False)


def strategy_of(saved: SavedResult) -> str:
    """Name of the strategy that found a result; of the one inside a rule such as ``Essential``."""
    return str(_strategy(saved).get("name", ""))


def _strategy(saved: SavedResult) -> dict[str, Any]:
    """Name and options of the strategy, of the one inside a rule; empty where unknown."""
    strategy = saved.section("estimate").get("strategy")
    inner = (strategy.get("strategy") or strategy) if isinstance(strategy, dict) else None
    return inner if isinstance(inner, dict) else {}


def _predicts_measured(saved: SavedResult) -> bool:
    """Whether a closed-loop method identified along the measured motion: IV, open-loop output error."""
    return strategy_of(saved) in ("IV", "RIV") or bool(_strategy(saved).get("open_loop"))


def _prove_saved(
    saved: SavedResult,
    logs: Sequence[Log],
    source: MotionSource,
    references: Sequence[Reference] | None,
    repair: bool,
) -> Proof:
    described = f"{len(logs)} log{'s' * (len(logs) != 1)}"
    each = one_reference_each(references, len(logs), described)
    fitted, outcome = fitted_logs(saved), saved.section("estimate").get("outcome") or {}
    held = logs_to_validate(
        saved.robot, logs, fitted, each, repair=repair, torques_suffice=source.torques_suffice
    )
    return prove(
        saved.model,
        held,
        source,
        saved.plan,
        fitted=saved.trails,
        fit=fit_figures(saved),
        concerns=(*_log_findings(held), *_unknown_novelty(saved, held)),
        known=KnownModel.of_saved(saved) if outcome.get("level") != Level.FAIL.word else None,
    )


def _log_findings(held: Sequence[UsableLog]) -> list[Finding]:
    """What the data checks of the logs say against a proof by them."""
    logs = used_logs(data_checks(held), [used.log for used in held], "validation")
    return [finding for finding in findings_of(logs) if finding.level > Level.GOOD]


def _unknown_novelty(saved: SavedResult, held: Sequence[UsableLog]) -> tuple[Finding, ...]:
    """Say where repetition cannot be asked about."""
    if saved.trails or all(used.fitted for used in held):
        return ()
    return (
        Finding(
            Name.NOVELTY_UNKNOWN,
            Level.NOTE,
            "The result does not hold the fit's motion, because an earlier version of dynid wrote it, so it "
            "was not asked whether the logs repeat that motion; fit again to have it asked.",
        ),
    )


def _along_measured(proof: Proof, why: str) -> Proof:
    """A proof of a closed-loop result that was not simulated, with a note that says so."""
    note = Finding(
        Name.ALONG_MEASURED,
        Level.NOTE,
        "The torques were predicted along the measured positions, not along a simulated motion as in the "
        f"fit: {why}.",
    )
    verdict = proof.validation.verdict
    told = replace(verdict, findings=gravest_first((*verdict.findings, note)))
    return replace(proof, validation=replace(proof.validation, verdict=told))


def _lacking_to_simulate(saved: SavedResult, logs: Sequence[Log]) -> str | None:
    """Why logs with positions cannot be simulated without more being said; None when they can."""
    long = [log for log in logs if log.on_disk]
    if long:
        why = f"and {option_words('--controller')} or {option_words('--reference')} holds it in memory"
        return f"log {long[0].name} has {long[0].samples:,} samples, {why}"
    without = [log.name for log in logs if "reference" not in log.channels]
    if without:
        return f"log {without[0]} has no reference columns; {option_words('--reference')} gives one"
    if stored_controller(saved) is None:
        return f"the result does not hold the control law; {option_words('--controller')} gives it"
    return None


def _require_references(saved: SavedResult, logs: Sequence[Log]) -> None:
    for log in logs:
        if "reference" not in log.channels:
            raise DynidError(
                f"Log {log.name!r} has no reference columns (it has {', '.join(sorted(log.channels))}), and "
                "its motion is simulated along the reference; map them, or give what the robot followed with "
                f"{option_words('--reference')}{_option_of_fit(saved, 'reference')}."
            )


def _option_of_fit(saved: SavedResult, option: str) -> str:
    """What the fit was given, in words."""
    options = saved.run.get("options")
    value = options.get(option) if isinstance(options, dict) else None
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return f" (the fit was given {shown})" if shown else ""


def required_controller(saved: SavedResult, alone: Sequence[str] = ()) -> Controller:
    """The control law of the fit.

    Args:
        saved: the result.
        alone: names of logs without positions, for the sentence.

    Raises:
        DynidError: when the result does not hold it as data.
    """
    law = stored_controller(saved)
    if law is None:
        why = f" Log {alone[0]!r} has no positions, so its motion must be simulated." if alone else ""
        raise DynidError(
            f"The result in {saved.folder} does not hold the control law as data; give it with "
            f"{option_words('--controller')}{_option_of_fit(saved, 'controller')}.{why}"
        )
    return law


def stored_controller(saved: SavedResult) -> Controller | None:
    """The control law of the fit; None when the result does not hold it as data.

    Args:
        saved: the result. A law that is a Python file is never run from a result.

    Raises:
        FileError: when it is damaged.
    """
    text = saved.run.get("controller")
    if text is None:
        return None
    try:
        law: Controller = _controller_from_table(tomllib.loads(str(text)), saved.robot)
    except (ValueError, DynidError) as error:
        raise _unusable(
            saved, "control law", error, f"give one with {option_words('--controller')}"
        ) from None
    return law


def stored_accuracy(saved: SavedResult) -> Any:
    """How the fit simulated; what an earlier version has not kept follows from the options typed."""
    options = saved.run.get("options")
    said: Any = saved.run.get("accuracy")
    if said is None:
        typed = options if isinstance(options, dict) else {}
        said = {name: typed[name] for name in ("friction", "width") if typed.get(name) is not None}
    try:
        return _accuracy(**said)
    except (TypeError, DynidError) as error:
        raise _unusable(saved, "accuracy of the simulation", error, "fit again") from None


def stored_mapping(saved: SavedResult) -> LogMapping | None:
    """The mapping that the fit read its logs with, or None."""
    kept = saved.run.get("mapping")
    if not isinstance(kept, dict) or not isinstance(kept.get("text"), str):
        return None
    try:
        return mapping_from_table(tomllib.loads(kept["text"]))
    except (ValueError, DynidError) as error:
        raise _unusable(saved, "mapping", error, f"give one with {option_words('--map')}") from None


def _unusable(saved: SavedResult, what: str, error: Exception, remedy: str) -> FileError:
    return FileError(
        f"The {what} stored in {saved.folder} cannot be used ({str(error).rstrip('.')}); {remedy}."
    )


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
