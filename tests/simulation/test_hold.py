"""Sample and hold is exact: the compiled loop against DOP853 between samples under a law in Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import PID, Accuracy, Controller, Disturbances, Sensors, Sines, Velocity, simulate
from support.loops import Array, Loop, accelerations, largest, scara_reference, slider

KP, KD, T = np.array([20.0, 3.0]), np.array([2.0, 0.2]), 5e-3
FINE = Accuracy(substeps=16)


def viscous() -> Robot:
    """A pendulum of two links: gravity, coupling, no jump, so that both sides are exact."""
    return load_robot("double_pendulum").with_terms("Fv")


def pd(r: Array, rd: Array, rdd: Array, q: Array, v: Array) -> Array:
    return KP * (r - q) + KD * (rd - v)


def controller(**options: object) -> Controller:
    return Controller(PID(tuple(KP), tuple(KD)), T, **options)  # type: ignore[arg-type]


def by_hand(robot: Robot, **options: object) -> Loop:
    return Loop(accelerations(robot), pd, T, **options)  # type: ignore[arg-type]


REFERENCE = scara_reference(T, 0.2)


@pytest.mark.parametrize(
    ("estimate", "options"),
    [
        (Velocity("exact"), {"velocity": "exact"}),
        (Velocity("backward"), {"velocity": "backward"}),
        (Velocity("mean"), {"velocity": "mean"}),
        (Velocity("filtered", 30.0), {"velocity": "filtered", "cutoff_hz": 30.0}),
    ],
    ids=lambda value: value.kind if isinstance(value, Velocity) else "",
)
def test_each_velocity_estimate_equals_the_loop_by_hand(
    estimate: Velocity, options: dict[str, object]
) -> None:
    robot = viscous()
    ours = simulate(robot, None, controller(velocity=estimate), REFERENCE, accuracy=FINE)
    truth = by_hand(robot, **options).run(REFERENCE)
    assert largest(ours.q, truth.q) < 1e-8
    assert largest(ours.qd, truth.qd) < 1e-7
    assert largest(ours.tau, truth.tau) < 1e-6
    assert ours.outcome.name == "fine"


def test_velocity_estimates_differ_from_each_other() -> None:
    kinds = [Velocity("exact"), Velocity("backward"), Velocity("mean"), Velocity("filtered", 30.0)]
    paths = [simulate(viscous(), None, controller(velocity=v), REFERENCE, accuracy=FINE).q[-1] for v in kinds]
    for i, a in enumerate(paths):
        assert all(largest(a, b) > 1e-5 for b in paths[:i])


@pytest.mark.parametrize("delay", [1, 3])
def test_delay_and_saturation_equal_the_loop_by_hand(delay: int) -> None:
    robot = viscous()
    limit = np.array([0.4, 0.3])
    ours = simulate(robot, None, controller(delay=delay, saturation=tuple(limit)), REFERENCE, accuracy=FINE)
    truth = by_hand(robot, delay=delay, limit=limit).run(REFERENCE)
    assert largest(ours.q, truth.q) < 1e-8
    assert np.all(ours.tau[:delay] == 0)
    assert np.all(np.abs(ours.tau).max(axis=0) == limit)
    assert largest(ours.tau, truth.tau) < 1e-6


def test_joint_encoders_round_what_the_law_and_the_log_see() -> None:
    robot, step = viscous(), np.array([1e-3, 3e-3])
    ours = simulate(
        robot, None, controller(), REFERENCE, sensors=Sensors(resolution=tuple(step)), accuracy=FINE
    )
    truth = by_hand(robot, encoder=lambda q: step * np.floor(q / step + 0.5)).run(REFERENCE)
    assert largest(ours.log.channel("position"), truth.measured) < 1e-12
    assert largest(ours.q, truth.q) < 1e-8
    counts = ours.log.channel("position") / step
    assert largest(counts, np.round(counts)) < 1e-9


def test_ripple_and_disturbance_act_on_the_plant_only() -> None:
    robot = viscous()
    rng = np.random.default_rng(3)
    size, order = np.array([0.5, 0.1]), np.array([20.0, 7.0])
    ours = simulate(
        robot,
        None,
        controller(),
        REFERENCE,
        disturbances=Disturbances(noise=(0.3, 0.05), ripple=tuple(size), ripple_order=tuple(order)),
        accuracy=FINE,
        rng=rng,
    )
    pushed = np.array([0.3, 0.05]) * np.random.default_rng(3).standard_normal(REFERENCE.q.shape)
    truth = by_hand(robot, extra=lambda q: size * np.sin(order * q), pushed=pushed).run(REFERENCE)
    assert largest(ours.q, truth.q) < 1e-8
    assert largest(ours.log.channel("torque"), truth.tau) < 1e-6


def test_ripple_of_a_slide_is_counted_per_metre() -> None:
    robot = slider("Fv", Fv1=1.0)
    reference = Sines(((0.2,),), ((1.0,),)).sample(T, 0.2)
    own = Controller(PID(200.0, 20.0), T)
    ours = simulate(robot, None, own, reference, disturbances=Disturbances(ripple=3.0, ripple_order=5.0))
    hand = Loop(
        accelerations(robot),
        lambda r, rd, rdd, q, v: 200.0 * (r - q) + 20.0 * (rd - v),
        T,
        extra=lambda q: 3.0 * np.sin(2 * np.pi * 5.0 * q),
    )
    assert largest(ours.q, hand.run(reference).q) < 1e-8


def tx40() -> tuple[Robot, dict[str, float]]:
    """A TX40 with coupled wrist motors: bodies of the catalog's size, positive definite by drive inertias."""
    robot = load_robot("tx40")
    values = {name: v for name, v in robot.parameters.items() if name[:2] in ("Ia", "Fv")}
    values |= {f"Ia{k}": 0.4 for k in (1, 2, 3)} | {f"Ia{k}": 0.1 for k in (4, 5, 6)}
    return robot, {name: v for name, v in values.items() if "m" not in name}


def test_motor_encoders_of_a_coupled_wrist_round_motor_angles() -> None:
    robot, values = tx40()
    assert robot.drives is not None
    step = 2 * np.pi / 4096
    reference = Sines(tuple((0.3,) for _ in range(6)), tuple((0.5 + 0.1 * k,) for k in range(6))).sample(
        T, 0.2
    )
    own = Controller(PID((200.0,) * 3 + (50.0,) * 3, (20.0,) * 3 + (5.0,) * 3), T)
    ours = simulate(robot, values, own, reference, sensors=Sensors(resolution=step, side="motor"))
    motors = robot.drives.motor_position(ours.log.channel("position"))
    assert largest(motors / step, np.round(motors / step)) < 1e-6
    assert largest(motors, robot.drives.motor_position(ours.q)) <= step / 2 * (1 + 1e-9)
    # The gear divides the step: joints are seen more finely than the motors' step, and not at all rounded.
    assert largest(ours.log.channel("position"), ours.q) < step / 10
    alone = simulate(robot, values, own, reference, sensors=Sensors(resolution=step))
    assert largest(alone.log.channel("position"), alone.q) > step / 10


@pytest.mark.parametrize("friction", ["smooth", "stick"])
def test_torques_are_those_of_the_motion(friction: str) -> None:
    """Inverse dynamics of the recorded motion give the recorded torque, as long as no joint rests."""
    robot = load_robot("scara")
    own = Controller(PID((150.0, 20.0), (30.0, 2.0)), T)
    ours = simulate(robot, None, own, scara_reference(T, 2.0), accuracy=Accuracy(friction))
    model = kernels(robot.with_sign_width(3e-3) if friction == "smooth" else robot)
    again = model.inverse(robot.parameters, ours.q, ours.qd, ours.qdd)
    moving = np.all(ours.qd != 0, axis=1)
    assert moving.mean() > 0.95
    assert largest(again[moving], ours.tau[moving]) < 1e-12 * max(1.0, np.abs(ours.tau).max())


def test_the_log_and_the_motion_of_a_simulation() -> None:
    ours = simulate(viscous(), None, controller(), REFERENCE, name="pair")
    assert ours.log.name == "pair"
    assert ours.log.rate_hz == pytest.approx(200.0)
    assert largest(ours.log.channel("reference"), REFERENCE.q) == 0
    assert largest(ours.log.channel("position"), ours.q) == 0
    assert largest(ours.motion.q, ours.q) == 0
    assert largest(ours.motion.tau, ours.tau) == 0
    options = ours.log.history[0].options
    assert options["controller"]["law"] == "PID"
    assert options["controller"]["kp"] == KP.tolist()


def test_a_reference_of_another_rate_is_taken_at_the_controllers() -> None:
    slow = scara_reference(2e-2, 1.0)
    ours = simulate(viscous(), None, controller(), slow)
    assert ours.log.rate_hz == pytest.approx(200.0)
    assert ours.log.samples == 4 * (slow.samples - 1) + 1
    assert largest(ours.log.channel("reference")[::4], slow.q) < 1e-12
    held = replace(slow).resampled(T, "hold")
    assert largest(held.q[:4], slow.q[0]) == 0
