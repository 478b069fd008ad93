"""``dynid fit``: from logs to a judged model with a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from dynid.cli.command import JsonOption, command
from dynid.cli.estimator_options import (
    EstimatorOptions,
    LossOption,
    NonlinearOption,
    PriorOption,
    PriorSigmaOption,
    StrengthOption,
    TuningOption,
)
from dynid.cli.fit_options import (
    ConventionOption,
    CutoffOption,
    DecimationOption,
    EssentialOption,
    ForceOption,
    MaskOption,
    MethodOption,
    OutOption,
    PlanOption,
    RepairOption,
    RuleOption,
    SplitOption,
    UncertaintyOption,
    ValidateOption,
    chosen_plan,
    chosen_strategy,
)
from dynid.cli.fit_output import print_summary, summarise
from dynid.cli.log_options import LogsArgument, MapOption
from dynid.cli.loop_options import (
    LOOP_METHODS,
    ControllerOption,
    FrictionOption,
    InstrumentsOption,
    IterationsOption,
    LoopFiles,
    LoopOptions,
    OpenLoopOption,
    ReferenceOption,
    StartOption,
    WidthOption,
    refuse_loop_options,
)
from dynid.cli.output import print_json, progress_line
from dynid.cli.robot_options import RobotArgument, RobotOptions, chosen_robot
from dynid.cli.run_facts import input_paths, run_facts
from dynid.core.lazy import later
from dynid.logs.read import read_logs
from dynid.report.page import render_report
from dynid.results.folder import reserved_folder
from dynid.results.save import write_result
from dynid.workflow.fitting import fit as fit_logs
from dynid.workflow.result import document_of

# Only methods that simulate the closed loop need the simulator: the others should not wait for it.
_loop_fit_arguments = later("dynid.cli.closed_loop", "loop_fit_arguments")


@command(
    examples=[
        "dynid fit tx40 log.csv --map map.toml --validate other.csv",
        "dynid fit tx40 log.csv --split 0.7 --method irls --essential --out out/few",
        "dynid fit scara log.csv --method didim --controller scara --out out/didim",
    ],
    exit_0="The model can be used, perhaps with care.",
    exit_2="It cannot be trusted (the folder is written all the same), or a log is not usable.",
)
def fit(
    context: typer.Context,
    robot: RobotArgument,
    logs: LogsArgument,
    mapping: MapOption = None,
    method: MethodOption = "wls",
    essential: EssentialOption = False,
    rule: RuleOption = None,
    uncertainty: UncertaintyOption = "classical",
    loss: LossOption = None,
    tuning: TuningOption = None,
    prior: PriorOption = None,
    prior_sigma: PriorSigmaOption = None,
    strength: StrengthOption = None,
    nonlinear: NonlinearOption = None,
    controller: ControllerOption = None,
    reference: ReferenceOption = None,
    friction: FrictionOption = None,
    width: WidthOption = None,
    instruments: InstrumentsOption = None,
    open_loop: OpenLoopOption = False,
    start: StartOption = None,
    max_iterations: IterationsOption = None,
    validate: ValidateOption = None,
    split: SplitOption = None,
    plan: PlanOption = None,
    cutoff_hz: CutoffOption = None,
    decimation: DecimationOption = None,
    mask: MaskOption = None,
    convention: ConventionOption = None,
    repair: RepairOption = False,
    out: OutOption = Path("out/fit"),
    force: ForceOption = False,
    *,
    variant: RobotOptions,
    as_json: JsonOption = False,
) -> int:
    """Identify a robot's parameters from logs, with uncertainties, a verdict and a report."""
    found = chosen_robot(robot, variant)
    how = LoopOptions(friction, width, instruments, open_loop, start, max_iterations)
    own = EstimatorOptions(loss, tuning, prior, prior_sigma, strength, tuple(nonlinear or ()))
    strategy = chosen_strategy(found, method, essential, rule, uncertainty, own, how)
    steps, keys = chosen_plan(plan, cutoff_hz, decimation, mask, convention, found.n_coordinates)
    facts = run_facts(context, robot, mapping)
    started = time.perf_counter()
    inputs = input_paths(context)
    with reserved_folder(out, force=force, inputs=inputs), progress_line(quiet=as_json) as tell:
        tell("reading")
        if method not in LOOP_METHODS:
            refuse_loop_options(method, controller, reference or [], how)
            given = _read(logs, validate or [], mapping)
        else:
            files = LoopFiles(logs, mapping, validate or [], controller, reference or [], how)
            given = _loop_fit_arguments(found, strategy, files)
        result = fit_logs(
            found,
            strategy=strategy,
            plan=steps,
            overrides=keys,
            split=split,
            repair=repair,
            progress=tell,
            **given,
        )
        tell("writing the report")
        document = document_of(result, {**facts, "seconds": time.perf_counter() - started})
        page = render_report(document)
        write_result(out, result.estimate, document, page, trails=result.trails)
    summary = summarise(result, document, out, time.perf_counter() - started)
    if as_json:
        print_json(summary)
    else:
        print_summary(result, summary)
    return 0 if summary["trustworthy"] else 2


def _read(logs: Sequence[Path], kept: Sequence[Path], mapping: Path | None) -> dict[str, Any]:
    return {"logs": read_logs(logs, mapping), "validate": read_logs(kept, mapping)}
