"""``dynid validate``: a saved model against logs it has not seen."""

from __future__ import annotations

from pathlib import Path

from dynid.cli.fit_options import JsonOption, LogsArgument, MapOption, RepairOption
from dynid.cli.loop_options import LOOP_METHODS
from dynid.cli.output import print_json
from dynid.cli.progress import progress_line
from dynid.cli.report import ResultArgument
from dynid.cli.screen import Screen, TextTable
from dynid.cli.torque_logs import torques_alone
from dynid.errors import DynidError
from dynid.export.result import SavedResult, load_result
from dynid.signals.log import Log
from dynid.workflow.fit import Progress
from dynid.workflow.logs import is_long
from dynid.workflow.saved import Proof, read_as_fitted, stored_mapping, validate_long, validate_saved
from dynid.workflow.stream import LONG


def validate(
    result: ResultArgument,
    logs: LogsArgument,
    mapping: MapOption = None,
    repair: RepairOption = False,
    as_json: JsonOption = False,
) -> int:
    """Predict the torques of logs with a saved model and say what the prediction is worth."""
    saved = load_result(result)
    with progress_line(quiet=as_json) as tell:
        proof = _proven(saved, logs, mapping, repair, tell)
    found = proof.validation
    if as_json:
        print_json({"result": str(result), **found.to_dict(), "data": list(proof.data)})
    else:
        _print(proof)
    return 0 if found.trustworthy else 2


def _proven(
    saved: SavedResult, logs: list[Path], mapping: Path | None, repair: bool, tell: Progress
) -> Proof:
    tell("reading")
    used = stored_mapping(saved) if mapping is None else mapping
    long = [log for log in logs if is_long(log, used, LONG)]
    if not long:
        given = _read(saved, logs, mapping)
        tell("predicting")
        return validate_saved(saved, given, repair=repair)
    if repair:
        raise DynidError(
            f"--repair needs the whole log in memory, and {long[0]} has more than {LONG:,} samples; cut it.",
            name="repair",
            value=str(long[0]),
        )
    return validate_long(saved, logs, mapping, tell)


def _read(saved: SavedResult, logs: list[Path], mapping: Path | None) -> tuple[Log, ...]:
    """Logs with positions; where there are none, say what else can be done with such a result."""
    try:
        return read_as_fitted(saved, logs, mapping)[0]
    except DynidError as error:
        used = stored_mapping(saved) if mapping is None else mapping
        alone = [log for log in logs if torques_alone(log, used)]
        if not alone or not _simulated(saved):
            raise
        raise DynidError(
            f"{error} This result came from a simulated closed loop: logs of torques alone are validated "
            f"by that simulation, with dynid fit --validate {alone[0]} and the same --controller.",
            name="logs",
            value=str(alone[0]),
        ) from None


def _simulated(saved: SavedResult) -> bool:
    """Whether a closed-loop method made the result, alone or inside ``Essential``."""
    strategy = (saved.document.get("estimate") or {}).get("strategy") or {}
    inner = strategy.get("strategy") or strategy
    return inner.get("name") in LOOP_METHODS.values()


def _print(proof: Proof) -> None:
    found = proof.validation
    screen = Screen()
    screen.print(found.verdict.sentence)
    for reason in found.verdict.reasons:
        if reason.level in ("care", "fail"):
            screen.print(f"  {reason.sentence}", style="dim")
    figures = found.judged
    rows = [
        [name, f"{figures.relative_percent[j]:.2f} %", f"{figures.rms[j]:.4g} {found.units[j]}"]
        for j, name in enumerate(found.joints)
    ]
    screen.print(TextTable("", ("joint", "relative error", "RMS"), rows))
