"""The data check as a user asks for it: a log by itself, and with a robot also against its model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.checks import DataCheck, check_log
from dynid.checks.check import accept_findings, accepted_names
from dynid.checks.data_check import Checked, data_check
from dynid.core.errors import DynidError
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.suggestion import suggest
from dynid.problem.build import build_problem
from dynid.suspects.judgement import judge_stretches, judge_suspects


@with_one_blas_thread
def check(log: Log, robot: Robot | None = None, *, accept: Iterable[str] = ()) -> DataCheck:
    """Judge a log: stamps, values, levels, units; with a robot also delays, zeros, scales, signs, gravity.

    With a robot a plain weighted fit is made, and what it leaves is asked for suspects. The log is not
    changed; what is repairable is named, and ``dynid.repair`` mends it on request.

    Args:
        log: raw, motor or joint side.
        robot: what was moved; its drives bring a motor-side log to the joints.
        accept: names of findings that the user knows better about, such as "stuck channel".

    Raises:
        ShapeError: when the log's axes are not the robot's.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    require_kinds(check, locals(), "check")
    log = accept_findings(log, accept)
    if robot is None:
        return check_log(log)
    robot.lives_in(log.condition)
    # One log is of one condition, in which all parameters together span what it can show.
    log, robot = replace(log, condition=""), robot.with_conditions()
    base = base_of(robot)
    found = check_log(log, robot, base.columns)
    return found if not found.usable or found.defects else with_suspects(found, log, base)


def with_suspects(found: DataCheck, log: Log, base: BaseMap) -> DataCheck:
    """A data check with what a plain fit of the log says about it.

    Args:
        found: of the log by itself.
        log: usable as it is.
        base: base parameters of the robot.
    """
    side = to_joint_side(log, base.robot)
    try:
        plan = suggest(side).plan
        motions = [prepare(side, plan)]
        estimate = identify(build_problem(base.robot, motions, plan, base), WLS())
    except DynidError:  # too short or too still for a fit, which the check has said already
        return found
    judged = judge_suspects(estimate) or judge_stretches(estimate, motions)
    if judged is None:
        return found
    of_fit = Checked(judged.findings, {"suspects": {**judged.table.to_dict(), "picture": None}})
    return data_check(found.log, [Checked(found.findings, found.facts), of_fit], accepted_names(log))
