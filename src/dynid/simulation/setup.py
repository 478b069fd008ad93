"""Everything a simulation needs, checked: accuracy, robot, numbers, reference at the controller's rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.simulation.added_torques import AddedTorque, added_inertia, check_added, torques_along
from dynid.simulation.controller import Controller
from dynid.simulation.inertia import own_values
from dynid.simulation.law import per_axis, whole_number
from dynid.simulation.programs import SMOOTH, STICK, LoopPlan
from dynid.simulation.sensors import Disturbances, Sensors
from dynid.simulation.simulator import Simulator
from dynid.trajectories.reference import Reference

FRICTIONS = (SMOOTH, STICK)
MAX_SUBSTEPS = 256
"""Integration steps per sample at most; a loop that needs more has friction or inertias that are wrong."""
REST_WIDTH = 1e-9
"""Speeds below it stand for a joint at rest [rad/s or m/s]; no other term can tell them from zero."""
NO_SENSORS, NO_DISTURBANCES = Sensors(), Disturbances()


@dataclass(frozen=True)
class Accuracy:
    """How a loop is integrated.

    Args:
        friction: "smooth" (sign over |q̇| < width) or "stick" (set-valued, with rest).
        width: of the smooth sign [rad/s or m/s].
        tolerance: accepted error of q [rad or m] by step doubling.
        substeps: integration steps per sample; chosen when None. Their error is estimated either way.
    """

    friction: str = SMOOTH
    width: float = 3e-3
    tolerance: float = 5e-6
    substeps: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be integrated."""
        if self.friction not in FRICTIONS:
            raise unknown_name("friction model", self.friction, FRICTIONS)
        if not (0 < self.width < math.inf and 0 < self.tolerance < math.inf):
            raise DynidError(
                f"width is {self.width!r} and tolerance {self.tolerance!r}; both must be positive."
            )
        if self.substeps is None:
            return
        substeps = whole_number(self.substeps)
        if substeps is None or not 1 <= substeps <= MAX_SUBSTEPS:
            raise DynidError(f"substeps is {self.substeps}; allowed are 1 to {MAX_SUBSTEPS}.")
        object.__setattr__(self, "substeps", substeps)

    def robot(self, robot: Robot) -> Robot:
        """The robot whose friction can be integrated so."""
        return _with_width(robot, self.width if self.friction == SMOOTH else 0.0)

    def regressed_robot(self, robot: Robot) -> Robot:
        """The robot whose regressor tells the friction of joints at rest (``replay.held_speeds``)."""
        return _with_width(robot, self.width if self.friction == SMOOTH else REST_WIDTH)


DEFAULT = Accuracy()


def _with_width(robot: Robot, width: float) -> Robot:
    return robot if robot.sign_width == width else robot.with_sign_width(width)


Parameters = Mapping[str, float] | ArrayLike | None
Start = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True, eq=False)
class Setup:
    """Everything a run needs, checked.

    Args:
        robot: the robot as it is integrated.
        controller: the controller.
        reference: at the controller's rate.
        standard: standard parameters in table order.
        simulator: the compiled loop over base columns.
        vector: its parameter vector.
        encoder: how far the reading of each joint moves with one step of each encoder [rad or m],
            (coordinates, coordinates); zero where encoders do not round.
    """

    robot: Robot
    controller: Controller
    reference: Reference
    standard: FloatArray
    simulator: Simulator
    vector: FloatArray
    encoder: FloatArray

    @property
    def follows(self) -> tuple[bool, ...]:
        """Whether each coordinate is held to its reference: the law has feedback, and a motor drives it."""
        return tuple(self.controller.law.feedback and on for on in self.robot.driven)

    @property
    def added_terms(self) -> tuple[AddedTorque, ...]:
        """Torques beside the robot's own."""
        return self.simulator.plan.added

    @property
    def added_inertia(self) -> FloatArray:
        """What they add to the diagonal of M(q), (coordinates,)."""
        return added_inertia(self.added_terms, self.robot.n_coordinates)

    @property
    def step(self) -> float:
        """Time between samples [s]."""
        return self.reference.sample_time


def prepare_loop(
    robot: Robot,
    parameters: Parameters,
    controller: Controller,
    reference: Reference,
    accuracy: Accuracy = DEFAULT,
    base: BaseMap | None = None,
    sensors: Sensors = NO_SENSORS,
    disturbances: Disturbances = NO_DISTURBANCES,
    added: Sequence[AddedTorque] = (),
) -> Setup:
    """Check that everything fits together and describe the loop.

    Args:
        robot: the robot.
        parameters: standard parameters by name or in table order; the robot's own when None.
        controller: law, clock and limits.
        reference: what to follow.
        accuracy: friction model and integration.
        base: base parameters of the robot, found when None.
        sensors: encoders and torque sensing.
        disturbances: torques inside the loop.
        added: torques beside the robot's own.
    """
    controller.check_robot(robot)
    check_added(robot, tuple(added))
    reference.check_robot(robot)
    n = robot.n_coordinates
    smooth = accuracy.robot(robot)
    standard = _standard(robot, parameters)
    found = base_of(robot) if base is None else base
    resolution = np.array(per_axis(sensors.resolution, n, "resolution"))
    ripple = np.array(per_axis(disturbances.ripple, n, "ripple"))
    if sensors.side == "motor" and np.any(resolution > 0) and robot.drives is None:
        raise DynidError(
            f"Encoders are on the motors, but robot {robot.name!r} has no [drives] that turn motor angles "
            "into joint angles; put them on the joints or describe the drives."
        )
    orders: tuple[float, ...] = ()
    if disturbances.ripples:
        given = np.array(per_axis(disturbances.ripple_order, n, "ripple_order"))
        orders = tuple((given * _phase(robot)).tolist())
    plan = LoopPlan(
        smooth,
        found.columns,
        replace(controller, name=""),
        accuracy.friction,
        bool(np.any(resolution > 0)),
        sensors.side == "motor",
        orders,
        tuple(added),
    )
    simulator = Simulator(plan)
    vector = simulator.vector(found.matrix @ standard, controller, resolution, ripple)
    at = reference if controller.sample_time is None else reference.resampled(controller.sample_time)
    sensors.check_length(at.samples)
    return Setup(smooth, controller, at, standard, simulator, vector, _encoder(robot, sensors, resolution))


def loop_inputs(
    setup: Setup,
    disturbances: Disturbances = NO_DISTURBANCES,
    sensors: Sensors = NO_SENSORS,
    rng: np.random.Generator | None = None,
    torque: ArrayLike | None = None,
) -> FloatArray:
    """Inputs of every sample: reference, its derivatives, torque from outside, errors, disturbances."""
    r = setup.reference
    n = r.axes
    assert r.qd is not None
    assert r.qdd is not None
    model = kernels(setup.robot)
    outside = np.zeros((r.samples, n)) if torque is None else np.asarray(torque, dtype=float)
    if outside.shape != (r.samples, n) or not np.all(np.isfinite(outside)):
        raise ShapeError(
            f"The torque from outside has shape {outside.shape} or values that are not finite; expected "
            f"{(r.samples, n)}, one row per sample of the controller."
        )
    if setup.controller.feedforward is not None:
        outside = outside + model.inverse(dict(setup.controller.feedforward), r.q, r.qd, r.qdd)
    nominal = np.zeros((r.samples, n))
    if np.any(np.asarray(disturbances.noise_relative) > 0):
        nominal = model.inverse(setup.standard, r.q, r.qd, r.qdd)
        nominal = nominal + torques_along(setup.robot, setup.standard, setup.added_terms, r.q, r.qd, r.qdd)
    pushed = disturbances.torques(nominal, rng)
    errors = sensors.position_errors((r.samples, n), rng)
    return np.hstack([r.q, r.qd, r.qdd, outside, errors, pushed])


def start_of(reference: Reference, start: Start | None) -> tuple[FloatArray, FloatArray]:
    """q and q̇ at the beginning: as given, or those of the reference."""
    assert reference.qd is not None
    q, qd = (reference.q[0], reference.qd[0]) if start is None else start
    pair = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    for values in pair:
        if values.shape != (reference.axes,) or not np.all(np.isfinite(values)):
            raise ShapeError(
                f"The start has shape {values.shape} or values that are not finite; give finite positions "
                f"and speeds ({reference.axes},)."
            )
    return pair


def _encoder(robot: Robot, sensors: Sensors, resolution: FloatArray) -> FloatArray:
    """Changes of the joints' readings per step of each encoder."""
    if sensors.side != "motor" or robot.drives is None:
        return np.diag(resolution)
    return np.asarray(np.linalg.inv(robot.drives.matrix) * resolution, dtype=float)


def _phase(robot: Robot) -> FloatArray:
    """Phase of one period per turn or per metre: 1 per radian, 2π per metre."""
    kinds = [robot.joints[j].kind for j in robot.coordinates]
    return np.array([2 * np.pi if kind is JointKind.PRISMATIC else 1.0 for kind in kinds])


def _standard(robot: Robot, parameters: Parameters) -> FloatArray:
    given = own_values(robot) if parameters is None else parameters
    values = robot.table.vector(given) if isinstance(given, Mapping) else np.asarray(given, dtype=float)
    if values.shape != (len(robot.table),) or not np.all(np.isfinite(values)):
        raise ShapeError(
            f"The parameters of robot {robot.name!r} have shape {values.shape} or are not finite; expected "
            f"({len(robot.table)},), or give them by name."
        )
    return values
