"""``dynid excite``: a motion that reveals a robot's parameters, within its limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from dynid.cli.command import JsonOption, OptionGroup, command, numbers_in, option
from dynid.cli.output import (
    Screen,
    document_text,
    print_json,
    progress_line,
    require_free_folder,
    typed_command,
    write_files,
)
from dynid.cli.robot_options import RobotArgument, RobotOptions, chosen_robot
from dynid.core.errors import DynidError, unknown_name
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.excitation.clearance import refuse_loops
from dynid.excitation.criteria import CRITERIA
from dynid.excitation.design import Design, design_motion
from dynid.excitation.limit_use import states_of
from dynid.excitation.limits import LimitFile, load_limits
from dynid.excitation.solvers import SOLVERS
from dynid.excitation.task import DesignTask
from dynid.excitation.workcell import Workcell
from dynid.model.joint import JointKind
from dynid.model.load import attach_shapes
from dynid.model.robot import Robot
from dynid.model.shapes import capsules_from_frames
from dynid.report.design_document import design_document
from dynid.report.design_page import render_design
from dynid.trajectories.files import (
    MOST_POINTS,
    PlannedMotion,
    csv_text,
    joint_trajectory,
    json_text,
    yaml_text,
)
from dynid.trajectories.fourier import FourierSpace
from dynid.trajectories.keys import reference_toml
from dynid.trajectories.modified_fourier import ModifiedFourierSpace
from dynid.trajectories.spline import SplineSpace
from dynid.trajectories.trajectory import MotionSpace

# Only a design that builds on logs reads and fits them.
_read_logs = later("dynid.logs.read", "read_logs")
_design_next_motion = later("dynid.workflow.next_motion", "design_next_motion")

FILES = ("motion.csv", "joint_trajectory.json", "joint_trajectory.yaml", "reference.toml", "design.json")
PAGE = "report.html"
FAMILIES: dict[str, Callable[[float, int], MotionSpace]] = {
    "fourier": lambda duration, size: FourierSpace(1.0 / duration, size),
    "modified-fourier": lambda duration, size: ModifiedFourierSpace(1.0 / duration, size, duration, True),
    "spline": lambda duration, size: SplineSpace(duration, size, True),
}
"""Spaces of motions from their length [s] and the number of harmonics or knots."""


@dataclass(frozen=True)
class SpaceOptions(OptionGroup, title="The motion"):
    """Family, length and ends of the motion."""

    family: str = option("fourier", "NAME", f"One of {', '.join(FAMILIES)}.", choices=FAMILIES)
    duration: float = option(10.0, "S", "Length; of one period where it is repeated [s].")
    harmonics: int = option(8, "N", "Harmonics of a series, or knots of a spline.", min=1, max=100)
    start: str | None = option(
        None,
        "POSE",
        "Pose at rest at both ends: one number per axis, separated by commas [rad or m].",
        shown="chosen with the motion",
    )
    start_deg: str | None = option(None, "POSE", "The same in degrees.")

    def space(self) -> MotionSpace:
        """The space of motions."""
        if self.family not in FAMILIES:
            raise unknown_name("family", self.family, FAMILIES)
        if not 0 < self.duration < math.inf:
            raise DynidError(f"--duration is {self.duration:g}; give a positive number of seconds.")
        return FAMILIES[self.family](self.duration, self.harmonics)

    def pose(self, robot: Robot) -> np.ndarray | None:
        """The start pose, where one is given."""
        if self.start is not None and self.start_deg is not None:
            raise DynidError("--start and --start-deg are both given; keep one.")
        text = self.start if self.start_deg is None else self.start_deg
        if text is None:
            return None
        slides = [
            robot.joints[j].name for j in robot.coordinates if robot.joints[j].kind is not JointKind.REVOLUTE
        ]
        if self.start_deg is not None and slides:
            raise DynidError(
                f"--start-deg is in degrees, and {', '.join(slides)} slides; give --start [rad or m]."
            )
        numbers = numbers_in(text, robot.n_coordinates)
        if not numbers:
            raise DynidError(
                f"The start pose is {text!r}; give {robot.n_coordinates} numbers separated by commas, or one "
                "for all axes."
            )
        return np.radians(numbers) if self.start_deg is not None else np.array(numbers)


@dataclass(frozen=True)
class AimOptions(OptionGroup, title="What it is to show"):
    """The criterion, and what is known already."""

    criterion: str = option("log-det", "NAME", f"One of {', '.join(CRITERIA)}.", choices=CRITERIA)
    parameters: str | None = option(
        None, "A,B,…", "Base parameters that count, such as the essential ones.", shown="all"
    )
    noise: str | None = option(
        None,
        "V",
        "Standard deviation of the torques: one number, or one per axis [N m or N].",
        shown="that of the logs given, else 1 % of the effort limits, else 1",
    )
    logs: list[Path] | None = option(
        None,
        "LOG…",
        "Logs taken already: the motion is designed to add to them. All words up to the next option.",
        name="--given",
    )
    mapping: Path | None = option(None, "MAP", "What the columns of these logs are (TOML).", name="--map")


@dataclass(frozen=True)
class RoomOptions(OptionGroup, title="Limits"):
    """What the motion must keep."""

    limits: Path | None = option(
        None, "FILE", "TOML with [limits] in place of the robot's, and [workcell]: floor, walls, margin."
    )
    share: float | None = option(None, "S", "Share of all limits that may be used, such as 0.8.", shown="1")
    conservative: bool = option(
        False, "", "P3's bounds on sums of amplitudes instead of the motion itself: faster, less motion."
    )
    floor: float | None = option(None, "Z", "Height of the floor in the base frame [m].", shown="no floor")
    link_radius: float | None = option(
        None, "R", "Radius of capsules along the frames, for a robot without shapes of its own [m]."
    )
    no_collisions: bool = option(False, "", "Do not look at collisions, though the robot has shapes.")

    def robot_with_shapes(self, robot: Robot) -> Robot:
        """The robot with shapes: its own, those of its URDF or MJCF file, or capsules along its frames."""
        if self.no_collisions:
            return robot
        own = robot if robot.shapes else attach_shapes(robot)
        if self.link_radius is None:
            return own
        if not 0 < self.link_radius < math.inf:
            raise DynidError(f"--link-radius is {self.link_radius:g}; give a positive length in metres.")
        if own.shapes:
            raise DynidError(f"Robot {robot.name!r} has shapes of its own; leave --link-radius out.")
        return robot.with_shapes(capsules_from_frames(robot, self.link_radius))

    def file(self, robot: Robot) -> LimitFile:
        """Limits and workcell as they are asked for."""
        found = LimitFile() if self.limits is None else load_limits(self.limits, robot)
        if self.share is not None:
            found = replace(found, limits=replace(found.limits, share=self.share))
        around = found.workcell
        if self.floor is not None:
            around = replace(around or Workcell(), floor=self.floor)
        if around is None and robot.shapes:
            around = Workcell()
        if around is not None and not self.no_collisions:
            refuse_loops(robot)
        if around is not None and not robot.shapes and not self.no_collisions:
            raise DynidError(
                f"Robot {robot.name!r} has no shapes, so it is unknown how near it comes to a floor or "
                "walls; give --link-radius, add shapes to its file, or leave them out with --no-collisions."
            )
        if self.no_collisions and (self.floor is not None or found.workcell is not None):
            raise DynidError("A floor or a [workcell] is given, and --no-collisions too; keep one of them.")
        return replace(found, workcell=None if self.no_collisions else around)


@dataclass(frozen=True)
class SearchOptions(OptionGroup, title="Search"):
    """How it is looked for."""

    starts: int = option(5, "N", "Random starts.", min=1, max=10_000)
    seed: int = option(0, "N", "Seed of the starts.", min=0)
    solver: str = option("barrier", "NAME", f"One of {', '.join(SOLVERS)}.", choices=SOLVERS)
    workers: int | None = option(None, "N", "Starts at once.", min=1, shown="one per core")


@dataclass(frozen=True)
class MotionFileOptions(OptionGroup, title="Files"):
    """What is written."""

    out: Path = option(Path("out/excite"), "FOLDER", f"Folder for {', '.join((*FILES, PAGE))}.")
    rate_hz: float = option(100.0, "F", "Rate of the files, and of the log that will be recorded.")
    periods: int = option(1, "N", "Repetitions of the motion in the files.", min=1, max=1000)
    force: bool = option(False, "", "Overwrite these files in the folder.")


@command(
    examples=[
        "dynid excite tx90 --out out/excite",
        "dynid excite iiwa14 --criterion log-cond --floor -0.36 --share 0.9 --starts 10",
        "dynid excite tx40 --given first.csv --map map.toml --out out/second",
        "dynid simulate tx40 --controller tx40 --reference out/excite/reference.toml --out log.csv",
    ],
    exit_0="The motion keeps all limits that were asked, and the files are written.",
    exit_2="No motion was found that keeps its limits.",
)
def excite(
    context: typer.Context,
    robot: RobotArgument,
    motion: SpaceOptions,
    aim: AimOptions,
    room: RoomOptions,
    searching: SearchOptions,
    variant: RobotOptions,
    target: MotionFileOptions,
    as_json: JsonOption = False,
) -> None:
    """Design a motion that reveals the parameters of a robot, within its limits."""
    require_free_folder(target.out, (*FILES, PAGE), target.force)
    arm = chosen_robot(robot, variant)
    arm = room.robot_with_shapes(arm)
    if searching.solver not in SOLVERS:
        raise unknown_name("solver", searching.solver, SOLVERS)
    with progress_line(quiet=as_json) as tell:
        task = _task(arm, motion, aim, room, target)
        how: dict[str, Any] = {
            "starts": searching.starts,
            "seed": searching.seed,
            "workers": searching.workers,
        }
        how |= {"solver": SOLVERS[searching.solver], "progress": tell}
        if aim.logs:
            design = _design_next_motion(arm, _read_logs(aim.logs, aim.mapping), task, **how)
        else:
            design = design_motion(arm, task, **how)
        tell("writing the files")
        groups = (motion, aim, room, searching, variant, target)
        document = design_document(design, typed_command(context, groups))
        write_motion(design, document, target.out, target.force)
    if as_json:
        print_json({**document, "folder": str(target.out)})
    else:
        _print(design, document, target.out)


def _task(
    robot: Robot, motion: SpaceOptions, aim: AimOptions, room: RoomOptions, target: MotionFileOptions
) -> DesignTask:
    asked = room.file(robot)
    noise = None if aim.noise is None else numbers_in(aim.noise, robot.n_coordinates)
    if noise is not None and (not noise or not all(0 < value < math.inf for value in noise)):
        raise DynidError(
            f"--noise is {aim.noise!r}; give one positive number, or {robot.n_coordinates} separated by "
            "commas."
        )
    names = None if aim.parameters is None else [part.strip() for part in aim.parameters.split(",")]
    task = DesignTask(
        space=motion.space(),
        criterion=aim.criterion,
        limits=asked.limits,
        workcell=asked.workcell,
        start=motion.pose(robot),
        conservative=room.conservative,
        noise=noise,
        essential=names,
        rate_hz=target.rate_hz,
        periods=target.periods,
    )
    if task.rows() > MOST_POINTS - 1:
        raise DynidError(
            f"{task.periods} periods of {task.space.duration:g} s at {task.rate_hz:g} Hz are "
            f"{task.rows():,.0f} points, and a file takes {MOST_POINTS:,}; lower --rate-hz or --periods."
        )
    return task


def write_motion(design: Design, document: Mapping[str, Any], folder: Path, force: bool) -> None:
    """Write the motion in all its forms, and its page."""
    planned = _planned_motion(design)
    message = joint_trajectory(planned)
    title = f"exciting motion of {design.robot.name}"
    texts = (
        csv_text(planned),
        json_text(message),
        yaml_text(message),
        reference_toml(design.trajectory, periods=design.task.periods, title=title, source="dynid excite"),
        document_text(document),
        render_design(document),
    )
    write_files(folder, dict(zip((*FILES, PAGE), texts, strict=True)), force)


def _planned_motion(design: Design) -> PlannedMotion:
    """Samples of all periods, with the last pose, so that the robot ends at rest."""
    trajectory, rate = design.trajectory, design.task.rate_hz
    whole = trajectory.duration * design.task.periods
    stamps = np.arange(int(whole * rate * (1 + 1e-12)) + 1) / rate
    if whole - stamps[-1] > 1e-6 / rate:
        stamps = np.append(stamps, whole)  # a last step that is shorter: the robot must end at rest
    within = np.where(stamps <= trajectory.duration, stamps, np.mod(stamps, trajectory.duration))
    within[-1] = trajectory.duration
    q, qd, qdd = states_of(trajectory, within)
    names = tuple(design.robot.joints[j].name for j in design.robot.coordinates)
    return PlannedMotion(stamps, q, qd, qdd, names, design.torques(within))


def _print(design: Design, document: Mapping[str, Any], folder: Path) -> None:
    screen = Screen()
    figures = document["figures"]
    screen.print(
        f"{design.robot.name}: {design.trajectory.duration:g} s by {document['criterion']['name']}, "
        f"condition {design.condition:.4g} ({design.condition_scaled:.3g} with unit columns), "
        f"log det {design.log_det:.4g}",
        style="bold",
    )
    screen.findings(document["findings"])
    names = [joint["name"] for joint in document["robot"]["joints"]]
    quantities = list(dict.fromkeys(row["quantity"] for row in document["limits"]))
    rows = []
    for name in names:
        used = {row["quantity"]: row["used_percent"] for row in document["limits"] if row["joint"] == name}
        rows.append([name, *("–" if used.get(q) is None else f"{used[q]:.1f}" for q in quantities)])
    heads = ["joint", *(f"{q} (1 kHz)" if q == "torque" else q for q in quantities)]
    asked = "" if design.task.limits.share == 1 else f" after a share of {design.task.limits.share:g}"
    screen.print(TextTable(f"Used of the limits{asked}, at every instant [%]", heads, rows))
    least = document["distance"]
    if least is not None:
        screen.print(f"least distance at every instant: {least['bound']:.3f} m ({least['pair']})")
    gains = [row["gain"] for row in document["parameters"] if row["gain"] is not None]
    if gains:
        screen.print(
            f"σ of the base parameters: {np.median(gains):.2g} times smaller (median; {min(gains):.2g} to "
            f"{max(gains):.2g}) than {'with the logs alone' if design.task.prior else 'of the random start'}"
        )
    screen.print(
        f"{len(design.runs)} starts, {figures['evaluations']} evaluations, {figures['seconds']:.1f} s"
    )
    screen.print(f"page: {folder / PAGE}")
