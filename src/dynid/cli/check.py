"""``dynid check``: is a log fit to be fitted, and if not, why."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dynid.checks import VERDICTS, DataCheck, repair_log, split_log
from dynid.cli.command import JsonOption, OptionGroup, command, option
from dynid.cli.log_options import LogOptions, LogsArgument
from dynid.cli.output import Screen, print_json, progress_line, require_free
from dynid.cli.robot_options import NamedRobotOptions, RobotOptions, chosen_robot
from dynid.core.errors import DynidError, FileError
from dynid.core.finding import Level
from dynid.logs.log import Log
from dynid.logs.read import read_logs
from dynid.logs.save import save_log
from dynid.model.robot import Robot
from dynid.workflow.checking import check as check_log

NOT_USABLE = 2


@dataclass(frozen=True)
class RepairOptions(OptionGroup, title="Repair"):
    """Where the repaired log goes."""

    repair: Path | None = option(
        None, "OUT.npz", "Repair what can be repaired and write the log there; one log at a time."
    )
    parts: bool = option(
        False, "", "With --repair: write every stretch between long gaps as a log of its own, OUT-1.npz …"
    )
    force: bool = option(False, "", "Overwrite the repaired log.")


@command(
    examples=[
        "dynid check log.csv",
        "dynid check log.csv --map map.toml --robot tx40 --gravity 0,0,-9.81",
        "dynid check log.csv --repair mended.npz",
        "dynid check log.csv --repair mended.npz --parts",
    ],
    exit_0="Good, or with repairable defects only.",
    exit_2="A log is not usable.",
)
def check(
    logs: LogsArgument,
    files: LogOptions,
    named: NamedRobotOptions,
    variant: RobotOptions,
    mend: RepairOptions,
    as_json: JsonOption = False,
) -> int:
    """Check logs before a fit: stamps, values, units; with a robot, delay, zeros, signs, gravity."""
    if named.robot is None and variant.given:
        raise DynidError(f"--{next(iter(variant.given))} belongs to a robot; add --robot.")
    arm = None if named.robot is None else chosen_robot(named.robot, variant)
    if mend.parts and mend.repair is None:
        raise DynidError("--parts belongs to --repair; add --repair OUT.npz.")
    written: tuple[Path, ...] = ()
    with progress_line(quiet=as_json) as tell:
        tell("reading")
        read = files.with_accepted(files.in_conditions(read_logs(logs, files.mapping)))
        if mend.repair is not None:
            read, written = _mended(read, mend, mend.repair, arm)
        found = []
        for k, log in enumerate(read):
            tell(f"checking log {k + 1} of {len(read)}, {log.name}")
            found.append(check_log(log, arm))
    worst = max((result.verdict for result in found), key=VERDICTS.index)
    if as_json:
        rows = [_document(log, result) for log, result in zip(read, found, strict=True)]
        paths = [str(path) for path in written]
        repaired = paths if mend.parts else paths[0] if paths else None
        print_json({"verdict": worst, "logs": rows, "repaired": repaired})
    else:
        screen = Screen()
        for log, result in zip(read, found, strict=True):
            _show(screen, log, result)
            if result.usable and result.defects and mend.repair is None:
                screen.print("  To repair: dynid check LOG --repair OUT.npz, or add --repair to dynid fit.")
        for log, path in zip(read, written, strict=False):
            _show_repairs(screen, log, path)
    return NOT_USABLE if worst == VERDICTS[2] else 0


def _mended(
    read: tuple[Log, ...], mend: RepairOptions, target: Path, robot: Robot | None
) -> tuple[tuple[Log, ...], tuple[Path, ...]]:
    """The one log repaired, whole or in parts, and where it was saved."""
    if len(read) != 1:
        raise DynidError(f"--repair writes one log, and {len(read)} were given; repair them one by one.")
    if target.suffix.lower() != ".npz":
        raise FileError(f"--repair is {str(target)!r}; it must end in .npz.")
    paths: tuple[Path, ...] = (target,)
    if mend.parts:
        logs = split_log(read[0], robot)
        if not logs:
            raise DynidError(
                f"Log {read[0].name!r} has no stretch of 20 rows and more; there is nothing to write."
            )
        paths = tuple(target.with_stem(f"{target.stem}-{k + 1}") for k in range(len(logs)))
    for path in paths:
        require_free(path, mend.force)
    if not mend.parts:
        logs = (repair_log(read[0], robot=robot),)
    for log, path in zip(logs, paths, strict=True):
        save_log(log, path, force=mend.force)
    return logs, paths


def _document(log: Log, result: DataCheck) -> dict[str, Any]:
    return result.to_dict() | {
        "history": [asdict(step) for step in log.history],
        "sources": [asdict(source) for source in log.sources],
    }


def _show(screen: Screen, log: Log, result: DataCheck) -> None:
    rate, seconds = result.facts.get("rate_hz"), result.facts.get("duration_s")
    size = f"{log.samples} samples, {log.axes} axes, {log.side} side"
    clock = f", {rate:.6g} Hz, {seconds:.4g} s" if rate is not None and seconds is not None else ""
    doubts = result.verdict == VERDICTS[0] and any(f.level >= Level.CARE for f in result.findings)
    said = f"{result.verdict}, with care" if doubts else result.verdict
    screen.print(f"{log.name}: {said} ({size}{clock})", style="bold")
    screen.findings([finding.to_dict() for finding in result.findings], named=True)
    if not result.findings:
        screen.print("  Nothing was found that would harm a fit.")
    for step in log.history:
        if step.note:
            screen.print(f"  {step.note}")
    _show_facts(screen, result)


def _show_facts(screen: Screen, result: DataCheck) -> None:
    facts = result.facts
    said = []
    if facts.get("jitter_percent") is not None:
        said.append(f"jitter {facts['jitter_percent']:.2g} %")
    if facts.get("unexplained_per_axis"):
        left = facts["unexplained_per_axis"]
        shares = ", ".join("no torque" if math.isnan(share) else f"{100 * share:.2g} %" for share in left)
        said.append(f"torque left by a plain fit per axis {shares}")
    if facts.get("condition") is not None:
        said.append(f"{facts['parameters']} base parameters, condition number {facts['condition']:.3g}")
    if said:
        screen.print(f"  {'; '.join(said)}.")


def _show_repairs(screen: Screen, log: Log, target: Path) -> None:
    done = [step.name.removeprefix("repair: ") for step in log.history if step.name.startswith("repair: ")]
    repaired = ", ".join(done) or "nothing"
    screen.print(f"Repaired: {repaired}. The log was written to {target}.")
