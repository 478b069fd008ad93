"""``dynid check``: is a log fit to be fitted, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.base.find import base_of
from dynid.checks import VERDICTS, DataCheck, check_log, repair_log
from dynid.cli.output import print_json
from dynid.cli.robot_options import DrivesOption, chosen_robot
from dynid.cli.screen import Screen
from dynid.core.errors import DynidError, FileError
from dynid.core.text import TextTable
from dynid.logs.log import Log
from dynid.logs.read import read_logs
from dynid.logs.save import save_log
from dynid.model.robot import Robot

NOT_USABLE = 2


def check(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG…", help="Log files, bags or folders.")],
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="A name or robot file; more can be checked with it.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option("--map", metavar="MAP", help="TOML file that says what the columns mean.")
    ] = None,
    drives: DrivesOption = None,
    repair: Annotated[
        Path | None, typer.Option(metavar="OUT.npz", help="Repair what can be and write the log there.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the repaired log.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Check logs before a fit: stamps, values, units, signs, delay; with a robot, gravity and excitation.

    Exit code 0: good, or repairable defects only; 2: a log is not usable.
    """
    if robot is None and drives is not None:
        raise DynidError("--drives belongs to a robot; add --robot.")
    arm = None if robot is None else chosen_robot(robot, drives=drives)
    mended: Log | None = None
    if repair is None:
        read = read_logs(logs, mapping)
    else:
        mended = _mended(logs, mapping, repair, force)
        read = (mended,)
        save_log(mended, repair, force=force)
    found = [check_log(log, arm, _base(arm)) for log in read]
    worst = max((result.verdict for result in found), key=VERDICTS.index)
    if as_json:
        rows = [_document(log, result) for log, result in zip(read, found, strict=True)]
        print_json({"verdict": worst, "logs": rows, "repaired": None if repair is None else str(repair)})
    else:
        screen = Screen()
        for log, result in zip(read, found, strict=True):
            _show(screen, log, result)
        if repair is not None and mended is not None:
            _show_repairs(screen, mended, repair)
    return NOT_USABLE if worst == VERDICTS[2] else 0


def _base(robot: Robot | None) -> tuple[int, ...] | None:
    return None if robot is None else base_of(robot).columns


def _mended(logs: Sequence[Path], mapping: Path | None, target: Path, force: bool) -> Log:
    read = read_logs(logs, mapping)
    _require_target(target, read, force)
    return repair_log(read[0])


def _require_target(target: Path, read: tuple[Log, ...], force: bool) -> None:
    """Refuse before any work what could not be written after it."""
    if len(read) != 1:
        raise DynidError(f"--repair writes one log, and {len(read)} were given; repair them one by one.")
    if target.suffix.lower() != ".npz":
        raise FileError(f"--repair is {str(target)!r}; it must end in .npz.")
    if target.exists() and not force:
        raise FileError(f"{target} exists already; add --force to overwrite it.")


def _document(log: Log, result: DataCheck) -> dict[str, Any]:
    return result.to_dict() | {
        "history": [asdict(step) for step in log.history],
        "sources": [asdict(source) for source in log.sources],
    }


def _show(screen: Screen, log: Log, result: DataCheck) -> None:
    rate, seconds = result.facts.get("rate_hz"), result.facts.get("duration_s")
    size = f"{log.samples} samples, {log.axes} axes, {log.side} side"
    clock = f", {rate:.6g} Hz, {seconds:.4g} s" if rate is not None and seconds is not None else ""
    screen.print(f"{log.name}: {result.verdict} ({size}{clock})", style="bold")
    for step in log.history:
        if step.note:
            screen.print(f"  {step.note}")
    rows = [
        [f.level.word, f.name.value, f.text, f.where.moment, "yes" if f.repairable else "no"]
        for f in result.findings
    ]
    if rows:
        screen.print(TextTable("", ("level", "finding", "what and what to do", "where", "repairable"), rows))
    else:
        screen.print("  Nothing was found that would harm a fit.")
    _show_facts(screen, result)


def _show_facts(screen: Screen, result: DataCheck) -> None:
    facts = result.facts
    said = []
    if facts.get("jitter_percent") is not None:
        said.append(f"jitter {facts['jitter_percent']:.2g} %")
    if facts.get("delay_s") is not None:
        said.append(f"torques later than positions by {1e3 * facts['delay_s']:.2g} ms")
    if facts.get("unexplained_per_axis"):
        shares = ", ".join(f"{100 * share:.2g}" for share in facts["unexplained_per_axis"])
        said.append(f"torque left by a plain fit per axis {shares} %")
    if facts.get("condition") is not None:
        said.append(f"{facts['parameters']} base parameters, condition number {facts['condition']:.3g}")
    if said:
        screen.print(f"  {'; '.join(said)}.")


def _show_repairs(screen: Screen, log: Log, target: Path) -> None:
    done = [step.name.removeprefix("repair: ") for step in log.history if step.name.startswith("repair: ")]
    repaired = ", ".join(done) or "nothing"
    screen.print(f"Repaired: {repaired}. The log was written to {target}.")
