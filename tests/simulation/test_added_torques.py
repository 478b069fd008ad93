"""Added terms inside a simulated robot: the motion put back, oracles by hand, rest under load, bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques
from dynid.dynamics.operations import symbolic
from dynid.estimators import CATALOGUE, NonlinearTerm
from dynid.estimators.linear.augmented import load_torques
from dynid.estimators.linear.terms import nonlinear_torques, simulated_terms
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import (
    PID,
    Accuracy,
    AddedTorque,
    Controller,
    OpenLoop,
    Reference,
    Simulation,
    Sines,
    simulate,
    simulate_many,
)
from dynid.simulation.added_torques import added_state, solve_accelerations
from support.loops import Array, largest, scara, scara_controller, scara_reference, slider

T = 1e-2
STICK, SMOOTH = Accuracy("stick"), Accuracy()
LOAD = "abs(load) * sign(qd)"


def terms(*names: str) -> tuple[NonlinearTerm, ...]:
    return tuple(CATALOGUE[name] for name in names)


RIPPLE = NonlinearTerm("Rs", "sin(9 * q)")
SMOOTH_LOAD = NonlinearTerm("Fw", "load * tanh(load / w) * tanh(qd / v)", start={"w": 0.5, "v": 0.05})
MODELS = {
    "friction": (terms("stribeck", "flattening", "asymmetry"), (0.4, 0.05, -0.2, 0.03, 0.1, 0.02, 0.2, 0.3)),
    "position": ((*terms("spring"), RIPPLE), (2.0, 0.3, 0.4, 0.05)),
    "load": (terms("load"), (0.15, 0.3)),
    "inertia": (terms("inertia"), (0.3, 0.02)),
    "all": (
        (*terms("stribeck", "load", "inertia"), RIPPLE),
        (0.4, 0.05, 0.1, 0.4, 0.3, 0.02, 0.4, 0.05, 0.2, 0.3),
    ),
    "smooth load": ((SMOOTH_LOAD,), (0.2, 0.3, 0.5, 0.05, 0.4, 0.1)),
}


def put_back(base: BaseMap, run: Simulation, own: tuple[NonlinearTerm, ...], values: Array) -> Array:
    """τ − (W χ + terms) along a simulated motion, by what predictions use."""
    chi = base.regroup(base.robot.parameters)
    load = load_torques(base, chi, run.motion)
    robot = kernels(base.robot, columns=base.columns)
    rigid = np.einsum("sjc,c->sj", robot.regressor(run.q, run.qd, run.qdd), chi)
    return np.asarray(run.tau - rigid - nonlinear_torques(base.robot, own, values, run.motion, load))


@pytest.mark.parametrize("accuracy", [SMOOTH, STICK], ids=["smooth", "stick"])
@pytest.mark.parametrize("name", MODELS)
def test_the_motion_put_back_gives_the_torque(name: str, accuracy: Accuracy) -> None:
    (own, numbers), robot = MODELS[name], scara()
    values = np.array(numbers)
    added = simulated_terms(robot, own, values)
    run = simulate(robot, None, scara_controller(), scara_reference(), accuracy=accuracy, added=added)
    assert run.outcome.name == "fine"
    moving = np.abs(run.qd) > (accuracy.width if accuracy.friction == "smooth" else 1e-9)
    assert np.all(moving.sum(axis=0) > 300)
    left = put_back(base_of(robot), run, own, values)
    assert np.abs(left[moving]).max() < 1e-10 * np.abs(run.tau).max()
    without = simulate(robot, None, scara_controller(), scara_reference(), accuracy=accuracy)
    assert largest(run.q, without.q) > 1e-3


def test_an_arm_with_gravity_and_six_joints_too() -> None:
    """Friction under load on all joints; every number of threads and lanes gives the same."""
    robot = load_robot("ur10")
    robot = robot.with_terms("Fv", "Fc").with_parameters(
        {k: v for k, v in robot.parameters.items() if k[:2] not in ("Ia", "Fv", "Fc")}
    )
    n, own = robot.n_coordinates, terms("load", "flattening")
    values = np.array([0.3] * n + [0.5] * n)
    sines = Sines(((0.4,),) * n, tuple((0.4 + 0.1 * k,) for k in range(n)), ((0.0,), (1.0,), (2.0,)) * 2)
    law = Controller(PID((3000, 6000, 2000, 100, 100, 50), (300, 600, 200, 10, 10, 5)), 2e-3)
    arguments = (law, sines.sample(2e-3, 1.0))
    added = simulated_terms(robot, own, values)
    run = simulate(robot, None, *arguments, added=added)
    moving = np.abs(run.qd) > SMOOTH.width
    assert np.abs(put_back(base_of(robot), run, own, values)[moving]).max() < 1e-9 * np.abs(run.tau).max()
    many = simulate_many(robot, [None, None], *arguments, added=added)
    assert all(np.array_equal(one.q, run.q) for one in many)


def test_a_continuous_law_has_them_too() -> None:
    (own, numbers), robot = MODELS["all"], scara()
    law = replace(scara_controller(), sample_time=None)
    values = np.array(numbers)
    run = simulate(robot, None, law, scara_reference(), added=simulated_terms(robot, own, values))
    moving = np.abs(run.qd) > SMOOTH.width
    assert np.abs(put_back(base_of(robot), run, own, values)[moving]).max() < 1e-9 * np.abs(run.tau).max()


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_accelerations_under_load_are_exact_at_any_state(share: float) -> None:
    """M q̈ + t(q̈) = τ − N of an arm of six joints, whatever the sides of the kinks."""
    import casadi as ca

    robot, count, rng = load_robot("ur10"), 3000, np.random.default_rng(0)
    base, n, ops = base_of(robot), robot.n_coordinates, symbolic()
    chi = np.zeros(len(robot.table))
    chi[list(base.columns)] = base.regroup(robot.parameters)
    added = tuple(AddedTorque(j, LOAD, share) for j in range(n))
    symbols = [ca.SX.sym(name, n) for name in ("q", "qd", "tau")]
    q, qd, tau = ([x[j] for j in range(n)] for x in symbols)
    at = added_state(robot, chi.tolist(), q, qd, tau, added, [share] * n, ops)
    M, bias = inertia_matrix(robot, chi.tolist(), q, ops), bias_torques(robot, chi.tolist(), q, qd, ops)
    qdd = solve_accelerations(M, [t - b for t, b in zip(tau, bias, strict=True)], at)
    inertial = [sum(m * a for m, a in zip(row, qdd, strict=True)) for row in M]
    given = [ca.vertcat(*part) for part in (inertial, bias, at.torques(qdd))]
    left = ca.Function("left", symbols, [symbols[2] - sum(given)])
    state = [rng.uniform(-3, 3, (count, n)), rng.normal(size=(count, n)), 2 * rng.normal(size=(count, n))]
    torque = kernels(robot).inverse(chi, *state)
    assert np.abs(np.asarray(left(state[0].T, state[1].T, torque.T))).max() < 1e-10 * np.abs(torque).max()


def pendulum() -> Robot:
    """One arm that swings in a vertical plane: ZZ1R and MX1, MY1, with a motor of its own inertia."""
    robot = load_robot("rx90").with_terms("Ia")
    first = replace(robot.joints[0], limits=replace(robot.joints[0].limits, lower=-10.0, upper=10.0))
    one = Robot("swing", (first,), terms=("Ia",)).with_gravity(0.0, -9.81, 0.0)
    return one.with_parameters({"ZZ1": 0.8, "MX1": 1.5, "M1": 4.0})


def by_hand(torque: Callable[[float], float], start: tuple[float, float], time: Array, width: float) -> Array:
    """θ of the pendulum by SciPy: I θ̈ + g(θ) + friction = τ, the side of the load found by trying both."""

    def sign(v: float) -> float:
        c = np.clip(v / width, -1, 1)
        return float(c * (3 - c * c) / 2)

    def rate(t: float, x: Array) -> list[float]:
        weight = 1.5 * 9.81 * np.cos(x[0])
        s = sign(x[1])
        friction = 0.3 * s * np.exp(-((x[1] / 0.4) ** 2)) + 0.05 * x[1] * abs(x[1]) + 0.7 * x[0]
        rest = torque(t) - friction
        for side in (1.0, -1.0):
            share = 0.2 * s * side  # ℓ (1 + share) = rest
            load = rest / (1.0 + share)
            if load * side >= 0:
                break
        return [x[1], (load - weight) / 0.8]

    found = solve_ivp(rate, (0, time[-1]), start, method="LSODA", t_eval=time, rtol=1e-11, atol=1e-12)
    return np.asarray(found.y[0])


def test_a_pendulum_swings_as_scipy_says() -> None:
    robot = pendulum()
    added = (
        AddedTorque(0, "sign(qd) * exp(-(qd / vs)^2)", 0.3, {"vs": 0.4}),
        AddedTorque(0, "qd * abs(qd)", 0.05),
        AddedTorque(0, "q", 0.7),
        AddedTorque(0, LOAD, 0.2),
    )
    time = T * np.arange(400)
    reference = Reference(T, np.zeros((400, 1)))
    accuracy = Accuracy(width=0.05, tolerance=1e-9)
    run = simulate(
        robot,
        None,
        Controller(OpenLoop(1), T),
        reference,
        start=(np.array([0.4]), np.array([0.0])),
        torque=np.full((400, 1), 3.0),
        accuracy=accuracy,
        added=added,
    )
    assert largest(run.q[:, 0], by_hand(lambda t: 3.0, (0.4, 0.0), time, accuracy.width)) < 1e-7
    assert np.ptp(run.q) > 1.0


def pushed(
    robot: Robot, force: Array, added: tuple[AddedTorque, ...], values: dict[str, float] | None = None
) -> Simulation:
    """A slide under given forces from rest, with set-valued friction."""
    reference = Reference(T, np.zeros((len(force), 1)))
    law = Controller(OpenLoop(1), T)
    return simulate(robot, values, law, reference, torque=force[:, None], accuracy=STICK, added=added)


@pytest.mark.parametrize(("force", "moves"), [(23.4, False), (23.7, True), (15.8, False), (15.6, True)])
def test_a_lift_rests_inside_the_band_that_its_weight_makes(force: float, moves: bool) -> None:
    """m g = 19.62 N and a fifth of it as friction: at rest between 15.696 and 23.544 N, then as by hand."""
    robot = slider().with_gravity(0.0, 0.0, -9.81)
    found = pushed(robot, np.full(50, force), (AddedTorque(0, LOAD, 0.2),))
    assert bool(np.any(found.q != 0)) is moves
    side = np.sign(force - 19.62)
    load = force / (1 + 0.2 * side)  # the load pulls downwards all the time, so |ℓ| = ℓ
    expected = (load - 19.62) / 2.0 if moves else 0.0
    assert np.abs(found.qdd[5:] - expected).max() < 1e-12


def test_added_dry_friction_is_that_of_the_robot() -> None:
    """Fc as a term or as the robot's own: the same rest, the same turns."""
    force = 6.0 * np.sin(np.linspace(0, 12, 300))
    own = pushed(slider("Fc", Fc1=4.0), force, ())
    term = pushed(slider(), force, (AddedTorque(0, "sign(qd)", 4.0),))
    assert np.any(own.qd == 0)
    assert np.any(own.qd != 0)
    np.testing.assert_allclose(term.q, own.q, atol=1e-14)


def test_an_inertia_that_the_robot_lacks_makes_it_possible() -> None:
    """M(q) > 0 is asked of the robot with its added inertia."""
    light = {"M1": -1.0}
    assert pushed(slider(), np.ones(20), (), light).outcome.name == "inertia not positive definite"
    found = pushed(slider(), np.ones(20), (AddedTorque(0, "qdd", 3.0),), light)
    assert found.outcome.name == "fine"
    assert found.qdd[0, 0] == pytest.approx(0.5)


def test_friction_of_a_stiff_term_takes_shorter_steps() -> None:
    own, reference = scara_controller(), scara_reference()
    soft, stiff = (
        simulate(scara(), None, own, reference, added=(AddedTorque(0, "sign(qd)", c),)) for c in (0.1, 20.0)
    )
    assert stiff.outcome.name == soft.outcome.name == "fine"
    assert stiff.substeps > soft.substeps


def test_other_numbers_need_no_new_program() -> None:
    a, b = (AddedTorque(0, "sign(qd) * exp(-(qd / v)^2)", c, {"v": v}) for c, v in ((1.0, 0.1), (2.0, 0.3)))
    assert (a.key, a.numbers) == (b.key, (1.0, 0.1))
    assert b.numbers == (2.0, 0.3)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: AddedTorque(0, "qd * w", 1.0), "contains 'w'; allowed are q, qd, qdd, tau, load, numbers"),
        (lambda: AddedTorque(0, "qd +", 1.0), "is not a formula"),
        (lambda: AddedTorque(0, "qd", float("nan")), "has the coefficient nan and .*; give finite numbers"),
        (
            lambda: pushed(slider(), np.ones(3), (AddedTorque(1, "qd", 1.0),)),
            "is of joint 1; robot 'slider' has 0 … 0",
        ),
        (
            lambda: pushed(slider(), np.ones(3), (AddedTorque(0, LOAD, 0.6),) * 2),
            "take 1.2 of the load of joint 'axis'; from 1 on it locks itself",
        ),
    ],
)
def test_bad_input_gets_a_sentence(made: Callable[[], object], said: str) -> None:
    with pytest.raises(DynidError, match=said):
        made()
