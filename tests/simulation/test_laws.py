"""Control laws: poles as asked, equalities between laws, feed-forward, replay, gains that follow J."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.signal import cont2discrete, lti

from dynid.compile.kernels import kernels
from dynid.model.load import load_robot
from dynid.simulation import (
    PID,
    Accuracy,
    Bandwidth,
    Cascade,
    ComputedTorque,
    Controller,
    OpenLoop,
    Reference,
    UserLaw,
    Velocity,
    simulate,
)
from dynid.simulation.inertia import joint_inertias, postures
from dynid.simulation.law import Law, LawSignals
from support.loops import Array, largest, scara, scara_controller, scara_reference, slider

EXACT = Velocity("exact")
T = 1e-3


def step_reference(duration: float = 2.0, period: float = T) -> Reference:
    """One for all times; the robot starts at zero."""
    q = np.ones((round(duration / period), 1))
    return Reference(period, q)


def response(law: Law, mass: float = 2.0, duration: float = 2.0, period: float = T) -> Array:
    own = Controller(law, period, velocity=EXACT)
    found = simulate(
        slider(M1=mass), None, own, step_reference(duration, period), start=(np.zeros(1), np.zeros(1))
    )
    assert found.outcome.name == "fine"
    return found.q[:, 0]


@pytest.mark.parametrize(("frequency", "damping"), [(6.0, 1.0), (10.0, 0.4), (8.0, 1.6)])
def test_bandwidth_gives_the_step_response_of_its_poles(frequency: float, damping: float) -> None:
    ours = response(Bandwidth(frequency, damping, 2.0))
    w, z = frequency, damping
    t = T * np.arange(len(ours))
    _, truth = lti([w * w], [1, 2 * z * w, w * w]).step(T=t)
    # The hold delays the law by half a sample.
    assert largest(ours, truth) < 2 * T * w


def test_held_laws_have_the_poles_of_the_discrete_loop() -> None:
    """x' = A x + B u, u held: the exact closed loop is a matrix power."""
    kp, kd, mass, period = 60.0, 12.0, 2.0, 0.02
    A, B, *_ = cont2discrete(
        (np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1 / mass]]), np.eye(2), np.zeros((2, 1))),
        period,
    )
    x, path = np.zeros((2, 1)), []
    for _ in range(100):
        path.append(x[0, 0])
        x = A @ x + B * (kp * (1.0 - x[0, 0]) - kd * x[1, 0])
    assert largest(response(PID(kp, kd, reference_speed=0.0), mass, 2.0, period), np.array(path)) < 1e-12


def test_an_integral_takes_away_the_error_of_a_constant_load() -> None:
    robot = slider("off", off1=3.0)
    ends = {}
    for ki in (0.0, 60.0):
        own = Controller(PID(100.0, 25.0, ki), T)
        ends[ki] = simulate(robot, None, own, step_reference(12.0)).q[-1, 0]
    assert ends[0.0] == pytest.approx(1.0 - 3.0 / 100.0, abs=1e-6)
    assert ends[60.0] == pytest.approx(1.0, abs=1e-3)
    own = Controller(Cascade(4.0, 25.0, 2.0), T)
    assert simulate(robot, None, own, step_reference(12.0)).q[-1, 0] == pytest.approx(1.0, abs=1e-3)


def test_laws_equal_each_other_where_their_formulas_do() -> None:
    robot, reference = scara(), scara_reference()

    def path(law: Law) -> Array:
        return simulate(robot, None, Controller(law, 5e-3), reference, accuracy=Accuracy(substeps=4)).q

    w, z, J = np.array([6.0, 30.0]), np.array([1.0, 0.8]), np.array([3.7, 0.06])
    pole = path(Bandwidth(tuple(w), tuple(z), tuple(J)))
    kp, kd = J * w * w, 2 * z * w * J
    assert largest(pole, path(PID(tuple(kp), tuple(kd), reference_speed=0.0))) < 1e-9
    assert largest(pole, path(Cascade(tuple(w / (2 * z)), tuple(kd)))) < 1e-9
    full = PID(tuple(kp), tuple(kd), reference_speed=0.7, acceleration=tuple(0.5 * J))
    same = Cascade(tuple(kp / kd), tuple(kd), reference_speed=0.7, acceleration=tuple(0.5 * J))
    assert largest(path(full), path(same)) < 1e-9
    assert largest(path(full), pole) > 1e-3


def test_a_law_of_the_users_own_equals_the_built_in_one() -> None:
    robot, reference = scara(), scara_reference()
    kp, kd, ki = (150.0, 20.0), (30.0, 2.0), (40.0, 5.0)

    def mine(
        s: LawSignals, memory: Sequence[Any], gains: Sequence[Any], ops: Any
    ) -> tuple[list[Any], list[Any]]:
        error = [r - q for r, q in zip(s.reference, s.position, strict=True)]
        slip = [r - v for r, v in zip(s.reference_speed, s.speed, strict=True)]
        torques = [gains[i] * error[i] + gains[2 + i] * slip[i] + gains[4 + i] * memory[i] for i in range(2)]
        return torques, error

    user = UserLaw(mine, 2, (*kp, *kd, *ki), states=2)
    ours, built_in = (
        simulate(robot, None, Controller(law, 5e-3), reference) for law in (user, PID(kp, kd, ki))
    )
    assert largest(ours.q, built_in.q) < 1e-12
    json.dumps(Controller(user, 5e-3).to_dict())


def test_laws_of_the_users_own_are_told_apart_by_their_code() -> None:
    def helper(x: Any) -> Any:
        return 2.0 * x

    def other(x: Any) -> Any:
        return 3.0 * x

    def law(scale: Any) -> UserLaw:
        return UserLaw(lambda s, m, g, ops: ([scale(e) for e in s.reference], []), 1)

    assert law(helper).key != law(other).key
    assert law(helper).key == law(helper).key

    def with_table(table: Array) -> UserLaw:
        return UserLaw(lambda s, m, g, ops: ([table[0] * s.speed[0]], []), 1)

    assert with_table(np.array([1.0])).key != with_table(np.array([2.0])).key


def test_computed_torque_decouples_the_axes() -> None:
    """With the true model each axis follows ë + k_d ė + k_p e = 0, whatever the others do."""
    robot = load_robot("double_pendulum").with_terms("Fv")
    w = np.array([12.0, 20.0])
    law = ComputedTorque(robot, tuple(w**2), tuple(2 * w))
    reference = scara_reference(5e-4, 0.5)
    start = (reference.q[0] + [0.1, -0.05], reference.qd[0])
    ours = simulate(robot, None, Controller(law, 5e-4, velocity=EXACT), reference, start=start)
    t = reference.time[:, None]
    truth = np.array([0.1, -0.05]) * (1 + w * t) * np.exp(-w * t)
    assert largest(ours.q - reference.q, truth) < 1e-3
    json.dumps(ours.log.history[0].options)
    wrong = robot.with_parameters({k: 1.3 * v for k, v in robot.parameters.items()})
    off = simulate(
        robot,
        None,
        Controller(ComputedTorque(wrong, law.kp, law.kd), 5e-4, velocity=EXACT),
        reference,
        start=start,
    )
    assert largest(off.q - reference.q, truth) > 5e-3


@pytest.mark.parametrize("friction", ["smooth", "stick"])
def test_replaying_the_torque_reproduces_the_loop(friction: str) -> None:
    robot, reference = scara(), scara_reference()
    accuracy = Accuracy(friction, substeps=8)
    loop = simulate(robot, None, scara_controller(), reference, accuracy=accuracy)
    again = simulate(
        robot, None, Controller(OpenLoop(2), 5e-3), reference, torque=loop.tau, accuracy=accuracy
    )
    assert largest(again.q, loop.q) < 1e-9
    assert largest(again.tau, loop.tau) == 0


def test_feedforward_of_the_true_model_leaves_little_to_feedback() -> None:
    robot, reference = scara(), scara_reference()
    plain = Controller(PID((150.0, 20.0), (30.0, 2.0)), 5e-3)
    helped = replace(plain, feedforward=robot.parameters)
    paths = [simulate(robot, None, c, reference) for c in (plain, helped)]
    errors = [np.abs(p.q - reference.q).max() for p in paths]
    assert errors[1] < 0.05 * errors[0]
    given = kernels(robot.with_sign_width(3e-3)).inverse(
        robot.parameters, reference.q, reference.qd, reference.qdd
    )
    own = simulate(robot, None, plain, reference, torque=given)
    assert largest(own.q, paths[1].q) == 0


@pytest.mark.parametrize(
    "law",
    [
        Bandwidth((2 * np.pi, 20 * np.pi), 0.9, (3.7, 0.06)),
        PID((150.0, 200.0), (30.0, 5.0), (50.0, 40.0), acceleration=(1.0, 0.02)),
        Cascade((5.0, 20.0), (30.0, 5.0), (1.0, 2.0), 0.5, (1.0, 0.02)),
    ],
    ids=lambda law: type(law).__name__,
)
def test_scaled_gains_keep_the_poles_on_other_inertias(law: Law) -> None:
    """P0 eq 59: parameters and gains three times as large move the same."""
    robot, reference = scara(), scara_reference()
    heavy = {name: 3.0 * v for name, v in robot.parameters.items()}
    own = Controller(law, 5e-3)
    before = simulate(robot, None, own, reference)
    after = simulate(robot, heavy, own.scaled((3.0, 3.0)), reference)
    assert largest(before.q, after.q) < 1e-9
    assert largest(3.0 * before.tau, after.tau) < 1e-7
    assert largest(simulate(robot, heavy, own, reference).q, before.q) > 1e-3


def test_inertias_follow_the_controllers_own_rule() -> None:
    """P0: at posture zero M11 = ZZ1R + ZZ2R + 2 L MX2 and M22 = ZZ2R; the maximum is not below."""
    robot = scara()
    p = robot.table.vector(robot.parameters)
    base = robot.parameters
    zero, most = (
        joint_inertias(robot, p, Controller(Bandwidth((1.0, 1.0)), 5e-3, posture=posture))
        for posture in ((0.0, 0.0), "maximum")
    )
    length = robot.joints[1].d
    zz2 = base.get("ZZ2", 0.0) + base.get("Ia2", 0.0)
    zz1 = base.get("ZZ1", 0.0) + base.get("Ia1", 0.0) + base.get("M2", 0.0) * length**2
    assert zero[0] == pytest.approx(zz1 + zz2 + 2 * length * base["MX2"], rel=1e-12)
    assert zero[1] == pytest.approx(zz2, rel=1e-12)
    assert np.all(most >= zero - 1e-15)
    assert np.array_equal(postures(robot)[0], np.zeros(2))
    bent = joint_inertias(robot, p, Controller(Bandwidth((1.0, 1.0)), 5e-3, posture=(0.0, 2.0)))
    assert bent[0] < zero[0]


def test_gains_are_symbols_so_that_new_ones_need_no_compilation() -> None:
    a, b = Controller(PID(1.0, 2.0), T), Controller(PID(7.0, 0.1), T)
    assert a.key == b.key
    assert Controller(PID(1.0, 2.0, 0.5), T).key != a.key
    assert a.to_dict()["kp"] == [1.0]
