"""Calibrations as data: everything that their pages and their JSON show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynid.calibration.gains import DriveGains
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, gravest_first, worst_level
from dynid.core.plain import plain
from dynid.estimators.estimate import Estimate
from dynid.model.joint import JointKind
from dynid.model.payload import LOADED
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.report.charts import line
from dynid.report.checks import UsedLog, findings_of
from dynid.report.document import versions
from dynid.validation.model import as_model, predictions

GAINS_SCHEMA = "dynid.gains/1"
_GRADES = {Level.GOOD: "good", Level.NOTE: "good", Level.CARE: "care", Level.FAIL: "fail"}


def gains_document(
    gains: DriveGains,
    before: Estimate,
    after: Estimate | None,
    motions: Sequence[Motion],
    logs: Sequence[UsedLog],
    run: Mapping[str, Any],
    *,
    on_joint_side: bool = False,
) -> dict[str, Any]:
    """Assemble the document of a calibration of drive gains.

    Args:
        gains: what was found.
        before: arm and payload with the a-priori gains.
        after: the same with the gains found; None where none were.
        motions: with the torques of the gains found.
        logs: what the data check says of the logs.
        run: how it was run.
        on_joint_side: whether the torques of the logs were given on the joint side.
    """
    robot = gains.robot
    names = [robot.joints[j].name for j in robot.coordinates]
    content = gains.to_dict()
    rows = [{**row, "joint": name} for row, name in zip(content["gains"], names, strict=True)]
    return {
        "schema": GAINS_SCHEMA,
        "title": f"Drive gains of {robot.title or robot.name}",
        "robot": robot.name,
        "method": gains.method,
        "uncertainty": " and ".join(dict.fromkeys(content["uncertainty"])),
        **answer_of(_telling_findings(gains), logs),
        "calibrated": [gain.motor for gain in gains.gains if gain.is_calibrated],
        "gains": rows,
        "correlation": content["correlation"],
        "payload": _payload_rows(gains, before, after),
        "errors": error_rows(robot, before, after),
        "torques": [] if after is None else torque_curves(robot, after, motions),
        "drives": gains.to_toml(),
        "use": use_of_gains(gains, on_joint_side),
        "data": [log.to_dict() for log in logs],
        "run": run_facts(run, motions),
    }


def _telling_findings(gains: DriveGains) -> list[Finding]:
    """Outcome and findings; where the logs themselves are at fault, advice on single motors would mislead."""
    single = (Name.UNCERTAIN_GAIN, Name.UNBOUNDED_GAIN, Name.ONE_ARM_LEAVES_MORE)
    failed = gains.outcome.level is Level.FAIL
    return [gains.outcome, *(f for f in gains.findings if not (failed and f.name in single))]


def use_of_gains(gains: DriveGains, on_joint_side: bool) -> str:
    """How these gains are used with logs of the same kind, in a sentence or two."""
    if not on_joint_side:
        return "Give the table below to --drives, or put it into the robot file."
    assert gains.robot.drives is not None
    coupled = gains.robot.drives.coupled_motors()
    if coupled:
        return (
            "These logs are on the joint side, where no drive gain counts: --drives has no effect on them. "
            "On a coupled wrist gains belong to motors; log motor torques or currents, with "
            'side = "motor" in the mapping, and give the table below to --drives.'
        )
    numbers = ", ".join(f"{gain.absolute:.6g}" for gain in gains.gains)
    return (
        "These logs are on the joint side, where no drive gain counts: --drives has no effect on them. In "
        f"their mapping multiply scale of [torque] (1 where it has none) by [{numbers}]; or say side = "
        '"motor" there and give the table below to --drives.'
    )


def answer_of(findings: Sequence[Finding], logs: Sequence[UsedLog]) -> dict[str, Any]:
    """The grade and all findings, of the calibration and of its logs, the gravest first."""
    every = gravest_first(one for one in [*findings, *findings_of(logs)] if one.sentence)
    grade = _GRADES[worst_level(every)]
    return {
        "grade": grade,
        "trustworthy": grade != "fail",
        "findings": [plain(finding.to_dict()) for finding in every],
    }


def _payload_rows(gains: DriveGains, before: Estimate, after: Estimate | None) -> list[dict[str, Any]]:
    """Each parameter of the payload: known, fitted with both gains, and found with the gains."""
    rows = []
    units = {entry.name: entry.unit for entry in gains.robot.table}
    found = zip(gains.payload_names, gains.payload, gains.payload_sigma, strict=True)
    for name, value, sigma in found:
        known = gains.knowledge.values.get(name)
        rows.append(
            {
                "name": name,
                "unit": units[name],
                "known": known,
                "known_sigma": None if known is None else gains.knowledge.sigma_of(name),
                "value": plain(float(value)) if np.isfinite(sigma) else None,
                "sigma": plain(float(sigma)),
                "before": _fit_value(before, name),
                "after": None if after is None else _fit_value(after, name),
            }
        )
    return rows


def _fit_value(estimate: Estimate, name: str) -> dict[str, Any] | None:
    """A parameter of the payload as a fit has it, alone in its base parameter."""
    if name not in estimate.names:
        return None
    k = estimate.names.index(name)
    return {"value": plain(float(estimate.values[k])), "sigma": plain(float(estimate.sigma[k]))}


def error_rows(robot: Robot, before: Estimate, after: Estimate | None) -> list[dict[str, Any]]:
    """‖y − W χ̂‖ / ‖y‖ of each joint with the a-priori gains and with those found (P2 Table 4) [%]."""
    shares = [_shares(fit) for fit in (before, after) if fit is not None]
    return [
        {
            "joint": robot.joints[j].name,
            "before_percent": plain(float(shares[0][k])),
            "after_percent": None if after is None else plain(float(shares[1][k])),
        }
        for k, j in enumerate(robot.coordinates)
    ]


def _shares(estimate: Estimate) -> FloatArray:
    problem = estimate.problem
    size = problem.torque_norms()
    left = problem.residual_norms(estimate.values)
    return np.asarray(100 * np.divide(left, size, out=np.full_like(size, np.nan), where=size > 0))


def torque_curves(robot: Robot, estimate: Estimate, motions: Sequence[Motion]) -> list[dict[str, Any]]:
    """Measured and modelled torque of each joint along the first loaded motion in memory (P2 Figure 3)."""
    motion = next((one for one in motions if one.condition == LOADED and not one.on_disk), None)
    if motion is None:
        return []
    predicted = np.asarray(predictions(as_model(estimate), motion)[0])
    curves = []
    for k, j in enumerate(robot.coordinates):
        unit = "N m" if robot.joints[j].kind is JointKind.REVOLUTE else "N"
        pair = (("measured", np.asarray(motion.tau)[:, k]), ("model", predicted[:, k]))
        lines = [line(name, motion.time, values) for name, values in pair]
        curves.append(
            {
                "joint": robot.joints[j].name,
                "motion": motion.name,
                "unit": unit,
                "lines": [{"name": one.name, "x": list(one.x), "y": list(one.y)} for one in lines],
            }
        )
    return curves


def run_facts(run: Mapping[str, Any], motions: Sequence[Motion]) -> dict[str, Any]:
    """Command, options, versions and input files: what is needed to make the same again."""
    files = {source.path: source for motion in motions for source in motion.sources}
    inputs = [{"path": s.path, "size": s.size, "sha256": s.sha256} for s in files.values()]
    defaults = {"command": "", "options": {}, "preparation": {}, "reasons": []}
    return {**defaults, "versions": versions(), "inputs": inputs, **plain(dict(run))}
