"""How exact a simulation is: orders as slopes, step doubling against the real error, noise in proportion."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.model.load import load_robot
from dynid.simulation import PID, Accuracy, Controller, Disturbances, OpenLoop, Reference, Sensors, simulate
from support.loops import largest, scara, scara_controller, scara_reference, slopes


def test_a_smooth_plant_is_integrated_with_fourth_order() -> None:
    robot = load_robot("double_pendulum").with_terms("Fv")
    own = Controller(PID((20.0, 3.0), (2.0, 0.2)), 0.02)
    reference = scara_reference(0.02, 1.0)
    paths = {s: simulate(robot, None, own, reference, accuracy=Accuracy(substeps=s)).q for s in (1, 2, 4, 64)}
    found = slopes([1, 1 / 2, 1 / 4], [largest(paths[s], paths[64]) for s in (1, 2, 4)])
    assert np.all(np.abs(found - 4.0) < 0.5), found


@pytest.mark.parametrize("friction", ["smooth", "stick"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, 1e-6])
def test_step_doubling_keeps_the_real_error_below_the_tolerance(friction: str, tolerance: float) -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference(5e-3, 4.0)
    found = simulate(robot, None, own, reference, accuracy=Accuracy(friction, tolerance=tolerance))
    truth = simulate(robot, None, own, reference, accuracy=Accuracy(friction, substeps=256))
    assert found.error <= tolerance
    assert largest(found.q, truth.q) < tolerance
    assert found.outcome.name == "fine"


@pytest.mark.parametrize("friction", ["smooth", "stick"])
def test_a_given_number_of_substeps_is_taken_and_its_error_told(friction: str) -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference()
    found, truth = (
        simulate(robot, None, own, reference, accuracy=Accuracy(friction, substeps=s)) for s in (8, 256)
    )
    assert found.substeps == 8
    assert largest(found.q, truth.q) < 2 * found.error < 1e-4
    strict = Accuracy(friction, tolerance=1e-13, substeps=8)
    judged = simulate(robot, None, own, reference, accuracy=strict).outcome
    assert judged.name == "tolerance not reached"
    assert judged.sentence.startswith("With 8 integration steps per sample")


def test_too_few_given_substeps_for_the_friction_are_told() -> None:
    accuracy = Accuracy(width=1e-4, substeps=1)
    found = simulate(scara(), None, scara_controller(), scara_reference(), accuracy=accuracy)
    assert (found.outcome.name, found.outcome.trustworthy) == ("friction too stiff", False)
    assert "too stiff for 1 integration step per sample" in found.outcome.sentence
    assert found.error > accuracy.tolerance
    assert "Leave substeps out" in found.outcome.remedy


def test_a_tolerance_that_is_not_reached_is_told() -> None:
    accuracy = Accuracy(tolerance=1e-13)
    found = simulate(scara(), None, scara_controller(), scara_reference(), accuracy=accuracy)
    assert found.outcome.name == "tolerance not reached"
    assert found.outcome.trustworthy
    assert found.error > 1e-13
    assert found.outcome.sentence.startswith(f"With {found.substeps} integration steps per sample")
    assert "more than the tolerance 1e-13" in found.outcome.sentence
    assert "stick" in found.outcome.remedy
    assert np.all(np.isfinite(found.q))


def test_without_feedback_all_samples_are_compared() -> None:
    """A pendulum that swings in open loop gathers errors, beyond the first samples too."""
    robot = load_robot("double_pendulum").with_terms("Fv")
    reference = Reference(0.01, np.zeros((3000, 2)))
    start = (np.array([1.5, 0.3]), np.zeros(2))
    values = {**robot.parameters, "Fv1": 0.01, "Fv2": 0.005}
    own = Controller(OpenLoop(2), 0.01)
    loose = Accuracy(tolerance=1e-5)
    found = simulate(robot, values, own, reference, start=start, accuracy=loose)
    truth = simulate(robot, values, own, reference, start=start, accuracy=Accuracy(substeps=64))
    assert found.outcome.name == "fine"
    assert largest(found.q, truth.q) < 1e-5


def test_encoder_noise_and_rounding_move_the_loop_in_proportion() -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference()
    clean = simulate(robot, None, own, reference, accuracy=Accuracy(substeps=4))

    def spread(sensors: Sensors) -> float:
        rng = np.random.default_rng(7)
        noisy = simulate(robot, None, own, reference, sensors=sensors, rng=rng, accuracy=Accuracy(substeps=4))
        return float(np.sqrt(np.mean((noisy.q - clean.q) ** 2)))

    sizes = [1e-6, 1e-5, 1e-4]
    noise = [spread(Sensors(position_noise=s)) for s in sizes]
    assert np.all(np.abs(slopes(sizes, noise) - 1.0) < 0.1), noise
    steps = [1e-5, 1e-4, 1e-3]
    rounding = [spread(Sensors(resolution=s)) for s in steps]
    assert np.polyfit(np.log(steps), np.log(rounding), 1)[0] == pytest.approx(1.0, abs=0.25), rounding


def test_disturbances_move_the_loop_in_proportion() -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference()
    accuracy = Accuracy(substeps=4)
    clean = simulate(robot, None, own, reference, accuracy=accuracy)
    sizes, moved = [1e-3, 1e-2, 1e-1], []
    for size in sizes:
        found = simulate(
            robot,
            None,
            own,
            reference,
            disturbances=Disturbances(noise_relative=size),
            rng=np.random.default_rng(5),
            accuracy=accuracy,
        )
        moved.append(float(np.sqrt(np.mean((found.q - clean.q) ** 2))))
    assert np.all(np.abs(slopes(sizes, moved) - 1.0) < 0.15), moved


def test_the_logged_torque_is_sensed() -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference(5e-3, 10.0)
    rng = np.random.default_rng(1)
    found = simulate(
        robot, None, own, reference, sensors=Sensors(torque_noise_relative=0.05, torque_delay=2), rng=rng
    )
    clean = simulate(robot, None, own, reference)
    assert largest(found.q, clean.q) == 0, "torque sensing stands outside the loop"
    error = found.log.channel("torque")[2:] - clean.tau[:-2]
    size = np.sqrt(np.mean(clean.tau**2, axis=0))
    assert np.sqrt(np.mean(error**2, axis=0)) / size == pytest.approx([0.05, 0.05], rel=0.1)
    stepped = simulate(robot, None, own, reference, sensors=Sensors(torque_resolution=0.5)).log.channel(
        "torque"
    )
    assert largest(stepped / 0.5, np.round(stepped / 0.5)) == 0
    assert largest(stepped, clean.tau) <= 0.25 + 1e-12


def test_the_noise_comes_from_the_generator_alone() -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference(5e-3, 1.0)

    def run(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        return simulate(robot, None, own, reference, sensors=Sensors(position_noise=1e-4), rng=rng).q

    assert largest(run(1), run(1)) == 0
    assert largest(run(1), run(2)) > 1e-6
