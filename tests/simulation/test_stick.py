"""Set-valued friction: rest is rest, breakaway is breakaway, and the smooth sign tends to it."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import PID, Accuracy, Controller, OpenLoop, Reference, Simulation, simulate
from support.loops import Array, largest, scara, scara_controller, scara_reference, slider, slopes

STICK = Accuracy("stick")
T = 1e-2


def pushed(robot: Robot, torque: Array, qd: float = 0.0, accuracy: Accuracy = STICK) -> Simulation:
    """A robot of one axis under given forces from rest or at a speed."""
    reference = Reference(T, np.zeros((len(torque), 1)))
    return simulate(
        robot,
        None,
        Controller(OpenLoop(1), T),
        reference,
        start=(np.zeros(1), np.array([qd])),
        torque=torque[:, None],
        accuracy=accuracy,
    )


def block() -> Robot:
    return slider("Fc", Fc1=4.0)


def test_a_joint_under_less_than_its_friction_stays_exactly_at_rest() -> None:
    force = 3.99 * np.sin(np.linspace(0, 40, 300))
    found = pushed(block(), force)
    assert np.all(found.q == 0)
    assert np.all(found.qd == 0)
    assert np.all(found.qdd == 0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_it_breaks_away_at_once_beyond_it(side: float) -> None:
    force = side * np.where(np.arange(100) < 20, 3.9, 5.0)
    found = pushed(block(), force)
    t = T * np.arange(80)
    assert np.all(found.q[:21] == 0)
    assert largest(found.q[20:, 0], side * 0.5 * (5.0 - 4.0) / 2.0 * t**2) < 1e-13
    assert largest(found.qdd[20:, 0], np.full(80, side * 0.5)) < 1e-13


def test_a_sliding_joint_stops_where_its_energy_is_used_up() -> None:
    """½ m v² = Fc x, to rounding, for any number of substeps, and then it rests."""
    for substeps in (1, 3, 8):
        found = pushed(block(), np.zeros(100), 0.77, Accuracy("stick", substeps=substeps))
        assert found.q[-1, 0] == pytest.approx(0.5 * 2.0 * 0.77**2 / 4.0, rel=1e-12)
        assert np.all(found.qd[60:] == 0)


def test_a_joint_that_turns_takes_the_friction_of_the_other_side() -> None:
    """Thrown against a constant force: up with (F + Fc)/m, down with (F − Fc)/m, exactly."""
    found = pushed(block(), np.full(100, -6.0), 1.0, Accuracy("stick", substeps=1))
    t = T * np.arange(100)
    top = 1.0 / 5.0
    truth = np.where(t < top, t - 2.5 * t**2, top / 2 - 0.5 * 1.0 * (t - top) ** 2)
    assert largest(found.q[:, 0], truth) < 1e-12


@pytest.mark.parametrize(("force", "moves"), [(3.9, False), (4.1, True), (-1.9, False), (-2.1, True)])
def test_the_two_sides_may_differ(force: float, moves: bool) -> None:
    found = pushed(slider("Fcp", "Fcn", Fcp1=4.0, Fcn1=2.0), np.full(20, force))
    assert bool(np.any(found.q != 0)) is moves
    assert np.sign(found.q[-1, 0]) == (np.sign(force) if moves else 0)


def test_an_offset_shifts_the_band_of_rest() -> None:
    robot = slider("Fc", "off", Fc1=4.0, off1=1.0)
    rests = [not np.any(pushed(robot, np.full(20, f)).q) for f in (4.9, 5.1, -2.9, -3.1)]
    assert rests == [True, False, True, False]


def test_several_joints_rest_and_go_by_themselves() -> None:
    """A SCARA pushed at its second joint: the first is held although the second one's motion loads it."""
    robot = scara()
    reference = Reference(T, np.zeros((60, 2)))
    torque = np.tile([0.0, robot.parameters["Fc2"] + 0.2], (60, 1))
    found = simulate(robot, None, Controller(OpenLoop(2), T), reference, torque=torque, accuracy=STICK)
    assert np.all(found.qd[:, 0] == 0)
    assert found.qd[20, 1] > 0


def test_turning_joints_are_of_second_order() -> None:
    """As a slope on a pendulum, whose force changes within a sample."""
    robot = load_robot("double_pendulum").with_terms("Fv", "Fc")
    values = {**robot.parameters, "Fc1": 0.4, "Fc2": 0.1, "Fv1": 0.05, "Fv2": 0.02}
    reference = scara_reference(0.01, 4.0)
    own = Controller(PID((10.0, 1.5), (1.0, 0.1)), 0.01)
    paths = {
        s: simulate(robot, values, own, reference, accuracy=Accuracy("stick", substeps=s)).q
        for s in (2, 4, 8, 16, 32, 256)
    }
    errors = [largest(paths[s], paths[256]) for s in (2, 4, 8, 16, 32)]
    found = -np.polyfit(np.log([2, 4, 8, 16, 32]), np.log(errors), 1)[0]
    assert found > 1.5, errors
    assert errors[0] < 1e-4


def test_smooth_friction_tends_to_stick_with_its_width() -> None:
    robot, own, reference = scara(), scara_controller(), scara_reference(5e-3, 3.0)
    truth = simulate(robot, None, own, reference, accuracy=STICK)
    widths = [1e-2, 3e-3, 1e-3]
    errors = [
        largest(simulate(robot, None, own, reference, accuracy=Accuracy("smooth", w)).q, truth.q)
        for w in widths
    ]
    assert np.all(slopes(widths, errors) > 0.75), errors
    assert errors[-1] < 1e-3


def test_friction_takes_energy_and_never_gives() -> None:
    """Free double pendulum: with friction the energy falls all the time, without it stays."""
    robot = load_robot("double_pendulum")
    reference = Reference(T, np.zeros((200, 2)))
    free = Controller(OpenLoop(2), T)
    start = (np.array([0.8, -0.5]), np.array([1.0, 2.0]))

    def energies(terms: tuple[str, ...], values: dict[str, float], accuracy: Accuracy) -> Array:
        own = robot.with_terms(*terms)
        chi = {k: v for k, v in robot.parameters.items() if k[:2] not in ("Fv", "Fc")} | values
        found = simulate(own, chi, free, reference, start=start, accuracy=accuracy)
        kinetic, potential = kernels(own).energy(chi, found.q, found.qd)
        return kinetic + potential

    kept = energies((), {}, Accuracy(tolerance=1e-9))
    assert np.ptp(kept) < 1e-7 * np.abs(kept).max()
    for terms, values in (
        (("Fv",), {"Fv1": 0.02, "Fv2": 0.01}),
        (("Fc",), {"Fc1": 0.02, "Fc2": 0.01}),
    ):
        for accuracy in (STICK, Accuracy()):
            lost = energies(terms, values, accuracy)
            assert np.all(np.diff(lost) < 1e-9)
            assert lost[-1] < lost[0] - 1e-3


def test_friction_between_joints_is_refused() -> None:
    robot = load_robot("tx40").with_terms("Ia", "Fv", "Fc", "Fcm")
    own = Controller(PID((1.0,) * 6), T)
    with pytest.raises(DynidError, match=r"Coulomb friction between joints \(Fcm\).*smooth friction"):
        simulate(robot, None, own, Reference(T, np.zeros((5, 6))), accuracy=STICK)
