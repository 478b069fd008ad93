"""``dynid simulate``: the log that a robot would write under a controller."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dynid.base.find import base_of
from dynid.cli.command import REQUIRED, JsonOption, OptionGroup, command, numbers_in, option
from dynid.cli.output import Screen, print_json, progress_line
from dynid.cli.robot_options import RobotArgument, RobotOptions, chosen_robot
from dynid.core.errors import DynidError
from dynid.core.finding import FINE
from dynid.core.text import TextTable
from dynid.logs.log import Log, Step
from dynid.logs.save import check_target, save_log
from dynid.model.robot import Robot
from dynid.results.load import parameters_from, plant_from
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import controller_names, load_controller
from dynid.simulation.reference_file import load_reference, reference_names
from dynid.simulation.sensors import SIDES, Disturbances, Sensors
from dynid.simulation.setup import DEFAULT, FRICTIONS, Accuracy
from dynid.simulation.simulation import Simulation, simulate as simulate_loop

NOT_TRUSTWORTHY = 2


@dataclass(frozen=True)
class MotionOptions(OptionGroup, title="The motion"):
    """What moves the robot, and for how long."""

    controller: str = option(
        REQUIRED,
        "C",
        f"Control law: a TOML file, or one of {', '.join(controller_names())}.",
        choices=controller_names,
    )
    reference: str = option(
        REQUIRED,
        "R",
        f"What it follows: a TOML file, a log, or one of {', '.join(reference_names())}.",
        choices=reference_names,
    )
    mapping: Path | None = option(
        None, "MAP", "What the columns of a log given as reference are (TOML).", name="--map"
    )
    parameters: Path | None = option(
        None,
        "P",
        "Values that move the robot: a result folder (with its added terms), TOML or JSON; the controller "
        "keeps its own.",
        shown="the robot's own",
    )
    duration: float | None = option(None, "S", "Seconds to simulate.", shown="the whole reference")


@dataclass(frozen=True)
class SensorOptions(OptionGroup, title="Sensors (V is one number, or one per axis: 0.1,0.2)"):
    """What the encoders and the log make of the true motion."""

    position_noise: str = option(
        "0", "V", "Standard deviation of the encoders [rad or m]; the controller sees it too."
    )
    resolution: str = option("0", "V", "Step of the encoders [rad or m].")
    side: str = option("joint", "SIDE", "Where the encoders sit: joint or motor.", choices=SIDES)
    torque_noise: str = option("0", "V", "Standard deviation of the logged torque [N m or N].")
    torque_noise_relative: str = option("0", "V", "The same as a share of the rms torque, such as 0.05.")
    torque_resolution: str = option("0", "V", "Step of the logged torque [N m or N].")
    torque_delay: int = option(0, "N", "Samples by which the logged torque lags.", min=0)

    def sensors(self, axes: int) -> Sensors:
        """The sensors of a robot with so many axes."""
        each = _numbers_of(self, axes, ("side", "torque_delay"))
        return Sensors(**each, side=self.side, torque_delay=self.torque_delay)


@dataclass(frozen=True)
class DisturbanceOptions(OptionGroup, title="Disturbances inside the loop (V likewise)"):
    """What pushes the robot."""

    disturbance: str = option("0", "V", "Standard deviation of a random torque [N m or N].")
    disturbance_relative: str = option("0", "V", "The same as a share of the rms torque along the reference.")
    ripple: str = option("0", "V", "Amplitude of torque ripple [N m or N].")
    ripple_order: str = option("0", "V", "Periods of the ripple per turn or metre.")

    def disturbances(self, axes: int) -> Disturbances:
        """The disturbances of a robot with so many axes."""
        return Disturbances(*_numbers_of(self, axes).values())


@dataclass(frozen=True)
class RepeatOptions(OptionGroup, title="Random numbers"):
    """Seeds of the noise."""

    seed: int | None = option(None, "N", "Seed of all noise; needed where there is some.", min=0)
    count: int = option(
        1,
        "N",
        "Simulations, with seeds from --seed on; files get -1, -2 … behind their names.",
        min=1,
        max=10_000,
    )

    def require_noise(self, sensors: Sensors, disturbances: Disturbances) -> None:
        """Refuse noise without a seed, and repetitions that do not differ."""
        sizes = {
            "--position-noise": sensors.position_noise,
            "--torque-noise": sensors.torque_noise,
            "--torque-noise-relative": sensors.torque_noise_relative,
            "--disturbance": disturbances.noise,
            "--disturbance-relative": disturbances.noise_relative,
        }
        noisy = [option for option, size in sizes.items() if np.any(size)]
        if noisy and self.seed is None:
            raise DynidError(
                f"{noisy[0]} draws random numbers; give a --seed, so that the simulation can be repeated."
            )
        if self.count > 1 and not noisy:
            raise DynidError(
                f"--count is {self.count}, but nothing differs between the simulations; give noise and a "
                "--seed."
            )


@dataclass(frozen=True)
class IntegrationOptions(OptionGroup, title="Integration"):
    """How the loop is integrated: the fields of ``Accuracy``."""

    friction: str = option(
        DEFAULT.friction, "NAME", f"Friction: {' or '.join(FRICTIONS)}.", choices=FRICTIONS
    )
    width: float = option(DEFAULT.width, "V", "Speed below which the smooth sign bends [rad/s or m/s].")
    tolerance: float = option(DEFAULT.tolerance, "V", "Accepted integration error of positions [rad or m].")
    substeps: int | None = option(None, "N", "Integration steps per sample.", shown="by the tolerance")


@dataclass(frozen=True)
class SimulatedLogOptions(OptionGroup, title="The log"):
    """Where the log goes."""

    out: Path | None = option(None, "FILE", "Log to write: .csv, .npz or .parquet; whole or not at all.")
    rate_hz: float | None = option(
        None,
        "F",
        "Rate of the log: a whole part of the controller's; samples are left out as a slow logger does, "
        "without a filter. A continuous law is sampled at it.",
        shown="the controller's",
    )
    force: bool = option(False, "", "Overwrite the log.")

    def files(self, count: int) -> list[Path | None]:
        """The file of each simulation; refused before any work when it cannot be written."""
        if self.out is None:
            return [None] * count
        stem = self.out.stem
        names = [stem] if count == 1 else [f"{stem}-{k + 1}" for k in range(count)]
        files = [self.out.with_stem(name) for name in names]
        for file in files:
            check_target(file, self.force)
        return list(files)

    def step(self, controller: Controller) -> int:
        """One sample of so many is logged."""
        rate_hz = self.rate_hz
        if rate_hz is not None and not 0 < rate_hz < math.inf:
            raise DynidError(f"--rate-hz is {rate_hz:g}; it must be positive.")
        if rate_hz is None or controller.sample_time is None:
            return 1
        ratio = 1.0 / (controller.sample_time * rate_hz)
        if abs(ratio - round(ratio)) > 1e-6 * ratio or round(ratio) < 1:
            raise DynidError(
                f"--rate-hz is {rate_hz:g}, and the controller runs at {1 / controller.sample_time:g} Hz; "
                "give that rate or a whole part of it."
            )
        return round(ratio)


@command(
    examples=[
        "dynid simulate scara --controller scara --reference scara --out scara.csv",
        "dynid simulate scara --controller scara --reference scara --seed 1 \\",
        "      --position-noise 4e-5 --torque-noise-relative 0.05 --count 5 --out noisy.npz",
        "dynid simulate scara --controller pd.toml --reference log.csv --parameters out/fit",
    ],
    exit_2="It cannot be trusted (it diverges, say), and no log is written.",
)
def simulate(
    robot: RobotArgument,
    motion: MotionOptions,
    sensing: SensorOptions,
    pushes: DisturbanceOptions,
    repeat: RepeatOptions,
    integration: IntegrationOptions,
    variant: RobotOptions,
    target: SimulatedLogOptions,
    as_json: JsonOption = False,
) -> int:
    """Simulate a robot under a controller along a reference, and write the log it would record."""
    files = target.files(repeat.count)
    arm = chosen_robot(robot, variant)
    sensors, disturbances = sensing.sensors(arm.n_coordinates), pushes.disturbances(arm.n_coordinates)
    repeat.require_noise(sensors, disturbances)
    started = time.perf_counter()
    with progress_line(quiet=as_json) as tell:
        law = load_controller(motion.controller, arm, parameters_of=parameters_from)
        kept = slice(None, None, target.step(law))
        step = law.sample_time or (None if target.rate_hz is None else 1.0 / target.rate_hz)
        path = load_reference(motion.reference, arm, step, motion.mapping, duration=motion.duration)
        values, added = (None, ()) if motion.parameters is None else plant_from(motion.parameters, arm)
        if values is None and not arm.parameters:
            raise DynidError(f"Robot {arm.name!r} has no parameters of its own; give some with --parameters.")
        simulated = partial(
            simulate_loop,
            arm,
            values,
            law,
            path,
            sensors=sensors,
            disturbances=disturbances,
            accuracy=Accuracy(**vars(integration)),
            added=added,
            base=base_of(arm),
        )
        runs: list[_SimulatedLog] = []
        for k, file in enumerate(files):
            tell(f"simulation {k + 1} of {repeat.count}")
            seed = None if repeat.seed is None else repeat.seed + k
            rng = None if seed is None else np.random.default_rng(seed)
            result = simulated(rng=rng, name=arm.name if file is None else file.stem)
            seen = {"seed": seed, "sensors": sensors.to_dict(), "disturbances": disturbances.to_dict()}
            log = replace(result.log.part(kept), history=(*result.log.history, Step("sensors", seen)))
            written = file if result.outcome.trustworthy else None
            if written is not None:
                save_log(log, written, force=target.force)
            runs.append(_SimulatedLog(seed, result, log, written))
    document = {
        "robot": arm.name,
        "controller": law.name,
        "reference": motion.reference,
        "trustworthy": all(run.result.outcome.trustworthy for run in runs),
        "simulations": [_summary(arm, run) for run in runs],
        "seconds": time.perf_counter() - started,
    }
    if as_json:
        print_json(document)
    else:
        _print(document)
    return 0 if document["trustworthy"] else NOT_TRUSTWORTHY


def _numbers_of(
    options: OptionGroup, axes: int, others: tuple[str, ...] = ()
) -> dict[str, tuple[float, ...]]:
    """Options that hold one number, or one per axis separated by commas, by field."""
    found = {}
    for name, text in vars(options).items():
        if name not in others:
            found[name] = numbers_in(text, axes)
            if not found[name] or not all(0 <= value < math.inf for value in found[name]):
                many = f", or {axes} separated by commas" if axes > 1 else ""
                typed = f"--{name.replace('_', '-')}"
                raise DynidError(f"{typed} is {text!r}; give one number of at least 0{many}.")
    return found


@dataclass(frozen=True, eq=False)
class _SimulatedLog:
    """One simulation of a command: its seed, what came out, and the log and file it was written to."""

    seed: int | None
    result: Simulation
    log: Log
    file: Path | None


def _summary(robot: Robot, run: _SimulatedLog) -> dict[str, Any]:
    result, log = run.result, run.log
    error = result.q - result.log.channel("reference")
    rows = []
    for i, j in enumerate(robot.coordinates):
        rows.append(
            {
                "name": robot.joints[j].name,
                "tracking_rms": _rms(error[:, i]),
                "tracking_max": float(np.abs(error[:, i]).max()),
                "torque_rms": _rms(result.tau[:, i]),
                "torque_max": float(np.abs(result.tau[:, i]).max()),
                "passive": not robot.driven[i],
            }
        )
    return {
        "seed": run.seed,
        "file": None if run.file is None else str(run.file),
        "samples": log.samples,
        "duration_s": log.duration,
        "rate_hz": log.rate_hz,
        "substeps": result.substeps,
        "error": result.error,
        "outcome": (*result.findings, FINE)[0].name,
        "trustworthy": result.outcome.trustworthy,
        "findings": [finding.to_dict() for finding in result.findings],
        "joints": rows,
    }


def _rms(values: Any) -> float:
    with np.errstate(over="ignore"):  # a diverged loop has an infinite mean
        return float(np.sqrt(np.mean(values**2)))


def _print(document: dict[str, Any]) -> None:
    screen = Screen()
    for run in document["simulations"]:
        seed = "" if run["seed"] is None else f", seed {run['seed']}"
        screen.print(
            f"{document['robot']} under {document['controller']}{seed}: {run['outcome']}", style="bold"
        )
        screen.findings(run["findings"])
        if not run["trustworthy"]:
            screen.print("  No log was written.")
            continue
        steps = run["substeps"]
        how = f"{steps} step{'s' * (steps > 1)} per sample" if steps else "adaptive steps"
        error = f", position error about {run['error']:.1g}" if math.isfinite(run["error"]) else ""
        screen.print(
            f"  {run['samples']} samples, {run['duration_s']:.6g} s at {run['rate_hz']:.6g} Hz, {how}{error}"
        )
        columns = ("joint", "tracking rms", "largest", "torque rms", "largest")
        screen.print(TextTable("", columns, [_row(joint) for joint in run["joints"]]))
        if run["file"] is not None:
            screen.print(f"log: {run['file']}")
    screen.print(f"{document['seconds']:.2f} s")


def _row(joint: dict[str, Any]) -> list[str]:
    """Name and figures; a joint without a motor follows nothing and has no torque."""
    if joint["passive"]:
        return [joint["name"], *4 * ["passive"]]
    return [joint["name"], *(f"{joint[k]:.4g}" for k in list(joint)[1:5])]
