"""The verb: identify a payload from prepared motions of a robot, and say what the answer is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dynid.calibration.central_form import AT_CARRIER, FlangeFrame
from dynid.calibration.payload import PayloadEstimate, payload_names
from dynid.calibration.payload_agreement import agreement_findings
from dynid.calibration.payload_judgement import judge_payload
from dynid.calibration.payload_sight import ten_parameters
from dynid.calibration.payload_ways import (
    DIFFERENCE,
    FIXED,
    REFITTED,
    WAYS,
    PayloadFit,
    fit_difference,
    fit_fixed,
    fit_refitted,
)
from dynid.core.errors import DynidError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.core.kinds import require_kinds
from dynid.estimators.estimate import Estimate
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.strategy import Strategy
from dynid.model.payload import LOADED, UNLOADED, free_and_loaded, with_own_friction
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.validation.model import IdentifiedModel, as_model

AUTO = "auto"

_MODEL_UNUSED = Finding(
    Name.MODEL_UNUSED,
    Level.NOTE,
    "Arm and payload were fitted together, so that the model of the arm was not used.",
    "The way fixed holds it.",
)


def identify_payload(
    robot: Robot,
    motions: Iterable[Motion],
    plan: Preparation,
    *,
    model: IdentifiedModel | Estimate | None = None,
    way: str = AUTO,
    mass: float | None = None,
    mass_sigma: float = 0.0,
    carrier: str | None = None,
    flange: FlangeFrame = AT_CARRIER,
    refit_friction: bool = True,
    strategy: Strategy | None = None,
) -> PayloadEstimate:
    """Identify the payload that some of the motions were taken with (P2 §III, with gains taken as right).

    Args:
        robot: the robot without payload.
        motions: prepared motions; those of condition "loaded" carry the payload, those of "free" or of no
            condition do not.
        plan: decimation and masks of the regression.
        model: of the arm without payload, for "fixed" and "difference".
        way: "fixed" (the inertias of the model held, loaded motions only), "refitted" (arm and payload
            together from free and loaded motions), "difference" (loaded less free torques of the same
            motion), or "auto": refitted where there are free motions, else fixed.
        mass: of the payload as weighed [kg]; None when it was not weighed.
        mass_sigma: its standard deviation [kg].
        carrier: name of the joint whose link carries the payload; the last one when None.
        flange: frame of the centre of mass and of the inertia about it, placed on the carrier.
        refit_friction: whether friction and offsets of loaded motions are their own, and not those of the
            model ("fixed") or of the free motions ("refitted"); they change with temperature.
        strategy: how to estimate; WLS() when None.

    Raises:
        DynidError: when motions, model and way do not go together; the sentence says what is missing.
    """
    require_kinds(identify_payload, locals())
    free, loaded = _by_condition(motions)
    arm = None if model is None else as_model(model)
    chosen = _chosen_way(way, free, arm)
    _check_model(robot, arm)
    _check_mass(mass, mass_sigma)
    whole = free_and_loaded(robot, carrier=carrier)
    if chosen == REFITTED and refit_friction:
        whole = with_own_friction(whole)
    how = strategy or WLS()
    found = _fit(chosen, whole, free, loaded, plan, how, arm, refit_friction)
    weighed = None if mass is None else (mass, mass_sigma)
    estimate = _estimate(chosen, whole, found, flange, weighed)
    if not estimate.trustworthy:
        return estimate
    parts = [
        (part.name, ten_parameters(_fit(chosen, whole, free, [part], plan, how, arm, refit_friction)))
        for part in _loaded_parts(chosen, loaded)
    ]
    unused = [_MODEL_UNUSED] if arm is not None and chosen == REFITTED else []
    return replace(estimate, findings=(*estimate.findings, *agreement_findings(parts), *unused))


def _loaded_parts(way: str, loaded: Sequence[Motion]) -> list[Motion]:
    """Loaded motions one by one, or the halves of a single one that is in memory."""
    if len(loaded) > 1:
        return list(loaded)
    (motion,) = loaded
    if way == DIFFERENCE or motion.on_disk:
        return []
    half = motion.samples // 2
    parts = (("first", slice(0, half)), ("second", slice(half, None)))
    return [replace(motion.part(rows), name=f"the {word} half") for word, rows in parts]


def _estimate(
    way: str, whole: Robot, found: PayloadFit, flange: FlangeFrame, weighed: tuple[float, float] | None
) -> PayloadEstimate:
    ten = ten_parameters(found)
    names = payload_names()
    judged = judge_payload(found, ten, names, weighed)
    ten = judged.ten
    return PayloadEstimate(
        whole.name,
        whole.joints[whole.joints[-1].antecedent].name,
        way,
        names,
        ten.values,
        ten.covariance,
        ten.seen,
        flange,
        found.uncertainty,
        judged.possible,
        judged.measured_mass,
        judged.findings,
        {**found.facts, **judged.facts},
    )


def _fit(
    way: str,
    whole: Robot,
    free: Sequence[Motion],
    loaded: Sequence[Motion],
    plan: Preparation,
    strategy: Strategy,
    arm: IdentifiedModel | None,
    refit_friction: bool,
) -> PayloadFit:
    if way == REFITTED:
        return fit_refitted(whole, [*free, *loaded], plan, strategy)
    if way == DIFFERENCE:
        return fit_difference(whole, free, loaded, plan, strategy, arm)
    assert arm is not None
    return fit_fixed(whole, loaded, plan, strategy, arm, refit_friction=refit_friction)


def _by_condition(motions: Iterable[Motion]) -> tuple[list[Motion], list[Motion]]:
    """Free and loaded motions."""
    free: list[Motion] = []
    loaded: list[Motion] = []
    for motion in motions:
        if motion.condition not in ("", UNLOADED, LOADED):
            raise unknown_name(f"condition of motion {motion.name!r}", motion.condition, (UNLOADED, LOADED))
        (loaded if motion.condition == LOADED else free).append(
            motion if motion.condition else replace(motion, condition=UNLOADED)
        )
    if not loaded:
        raise DynidError(
            f"None of the {len(free)} motions was taken with the payload; name the condition of its logs "
            f"{LOADED!r}."
        )
    return free, loaded


def _chosen_way(way: str, free: Sequence[Motion], arm: IdentifiedModel | None) -> str:
    if way not in (AUTO, *WAYS):
        raise unknown_name("way to a payload", way, (AUTO, *WAYS))
    if not free and arm is None:
        raise DynidError(
            "Loaded motions alone do not tell the payload from the link that carries it; give free motions "
            "of the same robot, or a model of the arm without payload."
        )
    if way == FIXED and arm is None:
        raise DynidError("The way 'fixed' needs a model of the arm without payload; give one, or 'refitted'.")
    if way in (REFITTED, DIFFERENCE) and not free:
        raise DynidError(f"The way {way!r} needs free motions beside the loaded ones; give some, or 'fixed'.")
    if way != AUTO:
        return way
    return REFITTED if free else FIXED


def _check_model(robot: Robot, arm: IdentifiedModel | None) -> None:
    """Refuse the model of another robot."""
    if arm is None or arm.robot.digest == robot.digest:
        return
    n, own = arm.robot.n_coordinates, robot.n_coordinates
    cause = (
        f"has {n} axes, and robot {robot.name!r} has {own}"
        if n != own
        else (f"differs from robot {robot.name!r} in geometry, gravity, terms or payload")
    )
    raise DynidError(
        f"The model is of another robot: {arm.robot.name!r} {cause}; give the model of this arm without "
        "payload."
    )


def _check_mass(mass: float | None, sigma: float) -> None:
    if mass is not None and not (np.isfinite(mass) and mass > 0):
        raise DynidError(f"The weighed mass is {mass:g} kg; give the mass of the payload in kg, above 0.")
    if not (np.isfinite(sigma) and sigma >= 0):
        raise DynidError(f"σ of the weighed mass is {sigma:g} kg; give a finite number of 0 or more.")
