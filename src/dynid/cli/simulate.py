"""``dynid simulate``: the log that a robot would write under a controller."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dynid.base.find import base_of
from dynid.cli import simulate_options as options
from dynid.cli.output import print_json
from dynid.cli.parameter_files import parameters_from
from dynid.cli.progress import progress_line
from dynid.cli.robot_options import (
    DrivesOption,
    GravityOption,
    PayloadOption,
    RobotArgument,
    TermsOption,
    chosen_robot,
)
from dynid.cli.simulate_summary import Run, print_summary, summarise
from dynid.core.errors import DynidError
from dynid.logs.log import Step
from dynid.logs.save import check_target, save_log
from dynid.simulation.accuracy import DEFAULT, Accuracy
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import load_controller
from dynid.simulation.reference_file import load_reference
from dynid.simulation.sensors import Disturbances, Sensors
from dynid.simulation.simulate import simulate as simulate_loop

NOT_TRUSTWORTHY = 2


def simulate(
    robot: RobotArgument,
    controller: options.ControllerOption,
    reference: options.ReferenceOption,
    mapping: options.MapOption = None,
    parameters: options.ParametersOption = None,
    duration: options.DurationOption = None,
    seed: options.SeedOption = None,
    count: options.CountOption = 1,
    position_noise: options.PositionNoiseOption = "0",
    resolution: options.ResolutionOption = "0",
    side: options.SideOption = "joint",
    torque_noise: options.TorqueNoiseOption = "0",
    torque_noise_relative: options.TorqueShareOption = "0",
    torque_resolution: options.TorqueStepOption = "0",
    torque_delay: options.TorqueDelayOption = 0,
    disturbance: options.DisturbanceOption = "0",
    disturbance_relative: options.DisturbanceShareOption = "0",
    ripple: options.RippleOption = "0",
    ripple_order: options.RippleOrderOption = "0",
    friction: options.FrictionOption = "smooth",
    width: options.WidthOption = 3e-3,
    tolerance: options.ToleranceOption = DEFAULT.tolerance,
    substeps: options.SubstepsOption = None,
    rate_hz: options.RateOption = None,
    out: options.OutOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the log.")] = False,
    terms: TermsOption = None,
    gravity: GravityOption = None,
    payload: PayloadOption = False,
    drives: DrivesOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Simulate a robot under a controller along a reference, and write the log it would record.

    Exit code 0: fine; 2: the simulation cannot be trusted (it diverges, say), and nothing is written.
    """
    files = _targets(out, count, force)
    found = chosen_robot(robot, terms, gravity, payload, drives)
    n = found.n_coordinates
    each = options.per_joint(
        {
            "--position-noise": position_noise,
            "--resolution": resolution,
            "--torque-noise": torque_noise,
            "--torque-noise-relative": torque_noise_relative,
            "--torque-resolution": torque_resolution,
            "--disturbance": disturbance,
            "--disturbance-relative": disturbance_relative,
            "--ripple": ripple,
            "--ripple-order": ripple_order,
        },
        n,
    )
    sensors = Sensors(
        each["--position-noise"],
        each["--resolution"],
        side,
        each["--torque-noise"],
        each["--torque-noise-relative"],
        each["--torque-resolution"],
        torque_delay,
    )
    pushed = Disturbances(
        each["--disturbance"], each["--disturbance-relative"], each["--ripple"], each["--ripple-order"]
    )
    _require_seed(each, seed, count)
    accuracy = Accuracy(friction, width, tolerance, substeps)
    started = time.perf_counter()
    with progress_line(quiet=as_json) as tell:
        law = load_controller(controller, found, parameters_of=parameters_from)
        keep = _kept(law, rate_hz)
        step = law.sample_time or (None if rate_hz is None else 1.0 / rate_hz)
        path = load_reference(reference, found, step, mapping, duration=duration)
        values = None if parameters is None else parameters_from(parameters, found)
        if values is None and not found.parameters:
            raise DynidError(
                f"Robot {found.name!r} has no parameters of its own; give some with --parameters."
            )
        base = base_of(found)
        runs: list[Run] = []
        for k, file in enumerate(files):
            tell(f"simulation {k + 1} of {count}")
            own = None if seed is None else seed + k
            result = simulate_loop(
                found,
                values,
                law,
                path,
                sensors=sensors,
                disturbances=pushed,
                accuracy=accuracy,
                rng=None if own is None else np.random.default_rng(own),
                base=base,
                name=found.name if file is None else file.stem,
            )
            noted = Step(
                "sensors", {"seed": own, "sensors": sensors.to_dict(), "disturbances": pushed.to_dict()}
            )
            log = replace(result.log.part(slice(None, None, keep)), history=(*result.log.history, noted))
            written = file if result.outcome.trustworthy else None
            if written is not None:
                save_log(log, written, force=force)
            runs.append(Run(own, result, log, written))
    document = summarise(found, law, reference, runs, time.perf_counter() - started)
    if as_json:
        print_json(document)
    else:
        print_summary(document)
    return 0 if document["trustworthy"] else NOT_TRUSTWORTHY


def _targets(out: Path | None, count: int, force: bool) -> list[Path | None]:
    """The file of each simulation; refused before any work when it cannot be written."""
    if out is None:
        return [None] * count
    files = [out] if count == 1 else [out.with_stem(f"{out.stem}-{k + 1}") for k in range(count)]
    for file in files:
        check_target(file, force)
    return list(files)


def _require_seed(each: dict[str, tuple[float, ...]], seed: int | None, count: int) -> None:
    noisy = [name for name in each if ("noise" in name or "disturbance" in name) and any(each[name])]
    if noisy and seed is None:
        raise DynidError(
            f"{noisy[0]} draws random numbers; give a --seed, so that the simulation can be repeated."
        )
    if count > 1 and not noisy:
        raise DynidError(
            f"--count is {count}, but nothing differs between the simulations; give noise and a --seed."
        )


def _kept(controller: Controller, rate_hz: float | None) -> int:
    """One sample of so many is logged."""
    if rate_hz is not None and not 0 < rate_hz < math.inf:
        raise DynidError(f"--rate-hz is {rate_hz:g}; it must be positive.")
    if rate_hz is None or controller.sample_time is None:
        return 1
    ratio = 1.0 / (controller.sample_time * rate_hz)
    if abs(ratio - round(ratio)) > 1e-6 * ratio or round(ratio) < 1:
        raise DynidError(
            f"--rate-hz is {rate_hz:g}, and the controller runs at {1 / controller.sample_time:g} Hz; give "
            "that rate or a whole part of it."
        )
    return round(ratio)
