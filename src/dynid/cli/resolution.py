"""``dynid resolution``: the coarsest encoder and torque sensor with which identification still holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, pi
from pathlib import Path
from typing import Any

import typer

from dynid.cli.calibration_options import PAGE, command_facts
from dynid.cli.command import JsonOption, OptionGroup, command, numbers_in, option
from dynid.cli.log_options import LogsArgument, PreparationOptions, UsedLogOptions
from dynid.cli.output import (
    Screen,
    document_text,
    print_json,
    progress_line,
    require_free_folder,
    write_files,
)
from dynid.cli.robot_options import RobotArgument, VariantOptions, chosen_robot
from dynid.cli.worker_options import WorkerOptions
from dynid.core.errors import DynidError
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.estimators.essential import THRESHOLDS
from dynid.logs.read import read_logs
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.report.checks import used_logs
from dynid.report.resolution_document import resolution_document
from dynid.report.resolution_page import render_resolution, resolution_answer
from dynid.resolution.chain import JOINT, SIDES
from dynid.resolution.request import TORQUE_SWEEP, SensorRequest
from dynid.resolution.rounding import MODES
from dynid.resolution.study import LS, RUNS
from dynid.workflow.resolution import METHODS, NO_RULE, study_resolution

_law_and_references = later("dynid.cli.closed_loop", "law_and_references")
DOCUMENT, KEPT = "resolution.json", "runs.jsonl"


@dataclass(frozen=True)
class CoarseSensorOptions(OptionGroup, title="The sensors"):
    """Which sensors are tried."""

    side: str = option(JOINT, "SIDE", "Where sensors sit: joint or motor.", choices=SIDES)
    modes: str = option(
        "binary",
        "NAMES",
        f"Rounding modes, separated by commas: {', '.join(MODES)}. Thresholds are those of the first.",
        choices=MODES,
    )
    sweep: str | None = option(
        None,
        "COUNTS",
        "Encoder counts per turn, separated by commas, such as 10000,5000,2000,1000.",
        shown="eight around the threshold that the law expects",
    )
    steps: str | None = option(
        None, "DELTAS", "Encoder steps [rad or m] in place of counts, such as 1e-6,1e-5.", shown="see --sweep"
    )
    torque_sweep: str = option(
        ",".join(f"{share:g}" for share in TORQUE_SWEEP),
        "SHARES",
        "Steps of the torque sensors in shares of each axis' largest torque; none leaves them out.",
    )
    ratios: str | None = option(
        None,
        "R1,R2,…",
        "Encoder steps of the axes over those of the sweep; 0 leaves an axis as it is.",
        shown="all 1",
    )
    runs: int = option(RUNS, "N", "Runs of every setting; P1 has 5.")
    seed: int = option(0, "SEED", "Of all random draws.", min=0)

    def request(self, robot: Robot) -> SensorRequest:
        """What is asked for, in steps."""
        if self.sweep is not None and self.steps is not None:
            raise DynidError("--sweep and --steps are both given; give encoder counts or steps, not both.")
        n = robot.n_coordinates
        ratios = () if self.ratios is None else numbers_in(self.ratios, n)
        if self.ratios is not None and not ratios:
            raise DynidError(
                f"--ratios is {self.ratios!r}; give {n} numbers separated by commas, one per axis."
            )
        steps = _numbers(self.steps, "--steps", "1e-6,1e-5")
        if self.sweep is not None:
            counts = _numbers(self.sweep, "--sweep", "10000,5000")
            _require_turns(robot, self.side, ratios)
            for count in counts:
                if not 0 < count < float("inf"):
                    raise DynidError(f"--sweep names {count:g} counts per turn; give numbers above 0.")
            steps = tuple(2 * pi / count for count in counts)
        return SensorRequest(
            self.side,
            tuple(part.strip() for part in self.modes.split(",") if part.strip()),
            steps,
            ()
            if self.torque_sweep == NO_RULE
            else _numbers(self.torque_sweep, "--torque-sweep", "0.01,0.05"),
            ratios,
            self.runs,
            self.seed,
        )


def _numbers(text: str | None, name: str, example: str) -> tuple[float, ...]:
    if text is None:
        return ()
    found = numbers_in(text, text.count(",") + 1)
    if not found:
        raise DynidError(f"{name} is {text!r}; give numbers separated by commas, such as {example}.")
    return found


def _require_turns(robot: Robot, side: str, ratios: Sequence[float]) -> None:
    """Refuse counts per turn of encoders that do not turn."""
    studied = [robot.joints[i] for k, i in enumerate(robot.coordinates) if not ratios or ratios[k] > 0]
    sliding = [joint.name for joint in studied if joint.kind is JointKind.PRISMATIC]
    if side == JOINT and sliding:
        raise DynidError(
            f"--sweep counts per turn, but joint {sliding[0]!r} slides; give steps in metres (--steps), or "
            "the motor side (--side motor)."
        )


@dataclass(frozen=True)
class StudyOptions(OptionGroup, title="The study"):
    """What is estimated in every run."""

    essential: str = option(
        "sigma",
        "RULE",
        "Which parameters are estimated: by the rule sigma (20 %), residual (4 %) or f-test, or none: all.",
        choices=(*THRESHOLDS, NO_RULE),
    )
    methods: str = option(
        LS,
        "NAMES",
        "LS, and beside it RLS, or IV, RIV and DIDIM, which need --controller, separated by commas.",
        choices=METHODS,
    )
    controller: str | None = option(None, "FILE", "Control law of the robot, for IV, RIV and DIDIM.")
    reference: list[str] | None = option(
        None, "FILE", "What the controller followed, one for all logs or one each.", shown="the logs' own"
    )
    digits: bool = option(
        False, "", "Also find the significant digits of the estimates by stochastic arithmetic."
    )

    @property
    def names(self) -> list[str]:
        """Methods, least squares first."""
        given = [part.strip() for part in self.methods.split(",") if part.strip()]
        return [LS, *(name for name in given if name != LS)]

    def law(self, robot: Robot) -> dict[str, Any]:
        """Controller and references, read."""
        if self.controller is None:
            return {}
        found: dict[str, Any] = _law_and_references(robot, self.controller, self.reference or [])
        return found


@dataclass(frozen=True)
class ResolutionFileOptions(OptionGroup, title="Files"):
    """What is written."""

    out: Path = option(
        Path("out/resolution"),
        "FOLDER",
        f"Folder for {DOCUMENT}, {PAGE} and {KEPT}, which keeps finished runs: an interrupted study goes on.",
    )
    force: bool = option(False, "", "Overwrite these files in the folder, and begin anew.")


@command(
    examples=[
        "dynid resolution tx40_log logs --map map.toml --side motor",
        "dynid resolution arm.urdf log.csv --sweep 10000,5000,2000,1000 --modes binary,gaussian,rounding",
        "dynid resolution scara log.csv --methods LS,RLS,RIV,DIDIM --controller law.toml",
        "dynid resolution tx40 log.csv --runs 200 --scheduler tcp://127.0.0.1:8786",
    ],
    exit_0="The study is done; the page says what the sensors need.",
    exit_2="The logs are not usable, or do not determine the parameters.",
)
def resolution(
    context: typer.Context,
    robot: RobotArgument,
    logs: LogsArgument,
    sensors: CoarseSensorOptions,
    study: StudyOptions,
    files: UsedLogOptions,
    preparation: PreparationOptions,
    variant: VariantOptions,
    where: WorkerOptions,
    target: ResolutionFileOptions,
    as_json: JsonOption = False,
) -> int:
    """Find the coarsest encoder and torque sensor with which identification still holds (CESTAC)."""
    require_free_folder(target.out, (DOCUMENT, PAGE), target.force)
    arm = chosen_robot(robot, variant)
    request = sensors.request(arm)
    executor = where.executor()
    plan, keys = preparation.chosen(arm.n_coordinates)
    with progress_line(quiet=as_json) as tell:
        tell("reading")
        given = files.with_accepted(files.in_conditions(read_logs(list(logs), files.mapping)))
        found, studied = study_resolution(
            arm,
            given,
            request,
            rule=study.essential,
            plan=plan,
            overrides=keys,
            repair=files.repair,
            methods=study.names,
            **study.law(arm),
            executor=executor,
            kept_in=target.out / KEPT,
            fresh=target.force,
            digits=study.digits,
            progress=tell,
        )
        tell("writing the files")
        groups = (sensors, study, files, preparation, variant, where, target)
        run = command_facts(context, groups, studied.plan, studied.suggestion)
        checks = used_logs(studied.checks, [one.log for one in studied.logs])
        document = resolution_document(found, studied.motions, checks, run)
        write_files(
            target.out, {DOCUMENT: document_text(document), PAGE: render_resolution(document)}, target.force
        )
    if as_json:
        print_json({**document, "folder": str(target.out)})
    else:
        _print(document, target.out)
    return 0 if document["trustworthy"] else 2


def _print(document: Mapping[str, Any], folder: Path) -> None:
    screen, answer = Screen(), resolution_answer(document)
    screen.print(answer["words"], style="bold")
    screen.findings(document["findings"])
    rows = [_row(outcome, document["parameters"]) for outcome in document["outcomes"]]
    heads = (
        "sensor",
        "method",
        "rounding",
        "step",
        "counts",
        "%e(ρ)",
        "sound",
        "doubtful",
        "biased",
        "largest %e",
    )
    screen.print(TextTable("settings", heads, rows))
    screen.print(f"page: {folder / PAGE}")


def _row(outcome: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    verdicts = outcome["verdicts"]
    main = [(e, p["name"]) for e, p in zip(outcome["percent_error"], parameters, strict=True) if p["judged"]]
    error, name = max(main, default=(0.0, "none"))
    counts = "" if outcome["counts"] is None else f"{ceil(outcome['counts'])}"
    return [
        outcome["channel"],
        outcome["method"],
        outcome["mode"],
        f"{outcome['step']:.3g}",
        counts,
        f"{outcome['residual_percent']:.2g}",
        *(str(verdicts.count(word)) for word in ("sound", "doubtful", "biased")),
        f"{error:.2g} ({name})",
    ]
