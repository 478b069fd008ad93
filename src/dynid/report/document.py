"""The report as data: everything the page shows, ready for JSON."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dynid
from dynid.base.base_map import BaseMap
from dynid.checks import DataCheck
from dynid.core.finding import Finding
from dynid.core.plain import plain
from dynid.estimators.estimate import Estimate
from dynid.model.joint import BASE, LENGTHS, Joint
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.report.checks import used_logs
from dynid.report.headline import headline
from dynid.report.parameters import correlation, parameter_rows
from dynid.suspects.account import suspects_document
from dynid.suspects.judgement import SuspectJudgement
from dynid.validation.cross import Stability
from dynid.validation.curves import motion_curves
from dynid.validation.model import as_model
from dynid.validation.validation import Validation

SCHEMA = "dynid.report/2"
READABLE = (SCHEMA, "dynid.report/1")
"""Schemas of documents that a page can be made of: the second lacks frames and calls findings reasons."""
_PACKAGES = ("numpy", "scipy", "casadi", "llvmlite")


def build_document(
    estimate: Estimate,
    motions: Sequence[Motion],
    plan: Preparation,
    fit: Validation,
    *,
    validation: Validation | None = None,
    validation_motions: Sequence[Motion] = (),
    checks: Sequence[DataCheck] = (),
    validation_checks: Sequence[DataCheck] = (),
    concerns: Sequence[Finding] = (),
    stability: Stability | None = None,
    cross: Mapping[str, Any] | None = None,
    suspects: SuspectJudgement | None = None,
    possibility: Mapping[str, Any] | None = None,
    prior: Mapping[str, float] | None = None,
    run: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Assemble the document of a report.

    Args:
        estimate: what was identified.
        motions: the motions of the fit.
        plan: their preparation.
        fit: validation on those motions (``validate(estimate, motions, plan, seen=True)``).
        validation: validation on unseen motions, or None.
        validation_motions: the unseen motions.
        checks: data checks of the logs of the fit, as ``check_log`` gives them.
        validation_checks: data checks of the logs of the validation.
        concerns: what else was noticed about the parameters, for the verdict.
        stability: parameters from each experiment alone.
        cross: cross-validation over experiments, as a dictionary.
        suspects: what may be wrong with the logs or missing in the model.
        possibility: the nearest robot that can exist beside the fit, ready for JSON.
        prior: values known before, by standard parameter, SI; the robot's own when None.
        run: how it was run: "command", "options", "seed", "created" and whatever else is to be kept.
        title: heading of the page; the robot's title when None.
    """
    base, robot = estimate.problem.base, estimate.problem.base.robot
    model = as_model(estimate)
    logs = (*used_logs(checks, motions), *used_logs(validation_checks, validation_motions, "validation"))
    return {
        "schema": SCHEMA,
        "title": title or robot.title or robot.name,
        "verdict": headline(
            estimate,
            fit,
            validation,
            logs,
            stability,
            concerns,
            None if suspects is None else suspects.changed,
        ),
        "robot": robot_facts(robot, base),
        "data": [log.to_dict() for log in logs],
        "estimate": estimate.to_dict(),
        "parameters": parameter_rows(estimate, prior),
        "correlation": correlation(estimate),
        "fit": fit.to_dict(),
        "validation": None if validation is None else validation.to_dict(),
        "stability": None if stability is None else stability.to_dict(),
        "cross_validation": None if cross is None else plain(cross),
        "suspects": None if suspects is None else suspects_document(suspects),
        "possibility": None if possibility is None else dict(possibility),
        "curves": motion_curves(model, motions, validation_motions),
        "reproducibility": reproducibility([*motions, *validation_motions], plan, run or {}),
    }


def robot_facts(robot: Robot, base: BaseMap) -> dict[str, Any]:
    """What the robot is: joints, frames, gravity, terms, counts of parameters."""
    joints = []
    for c in robot.coordinates:
        joint = robot.joints[c]
        limits = {name: value for name, value in asdict(joint.limits).items() if math.isfinite(value)}
        joints.append({"name": joint.name, "kind": str(joint.kind), "label": joint.label, "limits": limits})
    return {
        "name": robot.name,
        "title": robot.title,
        "source": robot.source,
        "gravity": list(robot.gravity),
        "terms": list(robot.terms),
        "lengths": dict(robot.lengths),
        "joints": joints,
        "frames": [_frame(robot, joint) for joint in robot.joints],
        "coupled": robot.coupling is not None,
        "n_standard": len(robot.table),
        "n_base": len(base),
        "unseen": list(base.unseen),
        "base_method": base.method,
        "digest": robot.digest,
    }


def _frame(robot: Robot, joint: Joint) -> dict[str, Any]:
    """How the frame of a joint lies: modified Denavit–Hartenberg parameters, angles in degrees."""
    angles = {f"{name}_deg": math.degrees(getattr(joint, name)) for name in ("gamma", "alpha", "theta")}
    return {
        "joint": joint.name,
        "label": joint.label,
        "antecedent": "base" if joint.antecedent == BASE else robot.joints[joint.antecedent].name,
        "kind": str(joint.kind),
        **angles,
        **{name: getattr(joint, name) for name in LENGTHS},
        "symbols": dict(joint.symbols),
    }


def reproducibility(motions: Sequence[Motion], plan: Preparation, run: Mapping[str, Any]) -> dict[str, Any]:
    """What is needed to run it again: inputs with hashes, steps, options, versions."""
    inputs = {(s.path, s.sha256): asdict(s) for motion in motions for s in motion.sources}
    steps = [
        {
            "motion": motion.name,
            "steps": [
                {"name": s.name, "options": plain(dict(s.options)), "note": s.note} for s in motion.history
            ],
        }
        for motion in motions
    ]
    own = {"versions": versions(), "inputs": list(inputs.values()), "preparation": plain(plan.to_dict())}
    return own | {"steps": steps} | {str(key): plain(value) for key, value in run.items()}


def versions() -> dict[str, str]:
    """Versions of dynid and its libraries, the interpreter and the machine's kind."""
    machine = f"{platform.system()} {platform.machine()}"
    own = {"python": platform.python_version(), "machine": machine, "dynid": dynid.__version__}
    return own | {package: _version(package) for package in _PACKAGES}


def _version(package: str) -> str:
    """From the name of the folder that an installer leaves beside a package.

    To ask Python for it would load a parser of mail headers, which takes longer than this whole report.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return "not installed"
    for folder in Path(spec.origin).parents[1].glob(f"{package}-*.dist-info"):
        return folder.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    return "unknown"
