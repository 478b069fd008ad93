"""Many simulations at once equal single ones: lanes, threads, groups, noise of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.simulation import PID, Controller, Disturbances, Sensors, simulate, simulate_many
from dynid.simulation.setup import Accuracy, prepare_loop
from dynid.simulation.simulator import Simulator
from support.loops import largest, scara, scara_controller, scara_reference

ROBOT = scara()
REFERENCE = scara_reference(5e-3, 1.0)


def sets(count: int) -> list[np.ndarray]:
    p = ROBOT.table.vector(ROBOT.parameters)
    return [p * scale for scale in np.linspace(0.8, 1.3, count)]


@pytest.mark.parametrize("friction", ["smooth", "stick"])
@pytest.mark.parametrize(("count", "threads"), [(1, 1), (3, 1), (9, 2)])
def test_each_equals_its_single_simulation(friction: str, count: int, threads: int) -> None:
    own, accuracy = scara_controller(), Accuracy(friction)
    together = simulate_many(ROBOT, sets(count), own, REFERENCE, accuracy=accuracy, threads=threads)
    assert len(together) == count
    for k, values in enumerate(sets(count)):
        alone = simulate(ROBOT, values, own, REFERENCE, accuracy=accuracy)
        assert together[k].substeps == alone.substeps
        assert together[k].outcome == alone.outcome
        assert together[k].error == pytest.approx(alone.error, rel=1e-3)
        assert largest(together[k].q, alone.q) < 1e-12
        assert largest(together[k].tau, alone.tau) < 1e-10
        assert together[k].log.name == f"simulation {k + 1}"


def test_threads_change_nothing() -> None:
    a, b = (
        simulate_many(ROBOT, sets(9), scara_controller(), REFERENCE, threads=threads) for threads in (1, 3)
    )
    assert all(largest(x.q, y.q) == 0 for x, y in zip(a, b, strict=True))


def test_noise_is_drawn_for_each_from_a_generator_of_its_own() -> None:
    own, sensors, pushes = scara_controller(), Sensors(position_noise=1e-4), Disturbances(noise_relative=0.02)
    same = [sets(2)[0]] * 4
    many = simulate_many(
        ROBOT, same, own, REFERENCE, sensors=sensors, disturbances=pushes, rng=np.random.default_rng(4)
    )
    sources = np.random.default_rng(4).spawn(4)
    for found, source in zip(many, sources, strict=True):
        alone = simulate(ROBOT, same[0], own, REFERENCE, sensors=sensors, disturbances=pushes, rng=source)
        assert largest(found.q, alone.q) < 1e-11
        assert largest(found.log.channel("torque"), alone.log.channel("torque")) < 1e-9
    assert largest(many[0].q, many[1].q) > 1e-6


def test_controllers_of_different_kinds_and_rates_stand_side_by_side() -> None:
    own = scara_controller()
    controllers = [own, own.scaled((2.0, 2.0)), Controller(PID((150.0, 20.0), (30.0, 2.0)), 2e-3), own]
    controllers[3] = replace(own, feedforward=ROBOT.parameters)
    many = simulate_many(ROBOT, sets(4), controllers, REFERENCE)
    for k, (values, one) in enumerate(zip(sets(4), controllers, strict=True)):
        assert largest(many[k].q, simulate(ROBOT, values, one, REFERENCE).q) < 1e-12
    assert many[2].log.rate_hz == pytest.approx(500.0)


def test_one_that_fails_leaves_the_others_alone() -> None:
    good, bad = sets(1)[0], sets(1)[0].copy()
    bad[ROBOT.table.index("ZZ2")] -= 100.0
    many = simulate_many(ROBOT, [good, bad, good], scara_controller(), REFERENCE)
    assert [one.outcome.name for one in many] == ["fine", "inertia not positive definite", "fine"]
    assert np.all(np.isnan(many[1].q))
    assert largest(many[0].q, many[2].q) == 0


@pytest.mark.parametrize("friction", ["smooth", "stick"])
def test_the_compiled_loop_of_a_robot_equals_its_fallback(friction: str) -> None:
    """With encoders, ripple, saturation, delay and an integral, so that every part of the programs is met."""
    own = Controller(PID((150.0, 20.0), (30.0, 2.0), (20.0, 3.0)), 5e-3, delay=1, saturation=(40.0, 6.0))
    setup = prepare_loop(
        ROBOT,
        None,
        own,
        REFERENCE,
        Accuracy(friction),
        sensors=Sensors(resolution=1e-4),
        disturbances=Disturbances(ripple=0.2, ripple_order=9.0),
    )
    state = setup.simulator.start(REFERENCE.q[0], REFERENCE.qd[0], own)
    inputs = np.hstack([REFERENCE.q, REFERENCE.qd, REFERENCE.qdd, np.zeros((REFERENCE.samples, 6))])
    for count in (1, 4):
        paths = [
            Simulator(setup.simulator.plan, backend).run(
                np.tile(state, (count, 1)), inputs, np.tile(setup.vector, (count, 1)), 5e-3, 3
            )[0]
            for backend in ("llvm", "casadi")
        ]
        for name in ("q", "qd", "qdd", "tau", "measured", "final"):
            a, b = (getattr(p, name) for p in paths)
            assert largest(a, b) < 1e-9 * max(1.0, np.abs(b).max()), name


def test_numbers_of_sets_and_controllers_must_agree() -> None:
    own = scara_controller()
    with pytest.raises(DynidError, match="There are 3 parameter sets and 2 controllers; give at least one"):
        simulate_many(ROBOT, sets(3), [own, own], REFERENCE)
    with pytest.raises(DynidError, match="There are 0 parameter sets"):
        simulate_many(ROBOT, [], own, REFERENCE)
    with pytest.raises(DynidError, match="Noise needs a source of random numbers"):
        simulate_many(ROBOT, sets(2), own, REFERENCE, sensors=Sensors(torque_noise=1.0))
