"""Closed loops: positions, G and its rate, torques and motions against geometry and MuJoCo."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from dynid.base.find import find_base
from dynid.compile.kernels import kernels
from dynid.core.errors import ModelError
from dynid.dynamics.closure import loop_groups
from dynid.dynamics.expansion import Expansion, expand
from dynid.dynamics.loop_guess import closed_ranges
from dynid.dynamics.operations import NUMERIC
from dynid.model.assembly import Linkage
from dynid.model.continuation import close_loops, singular_values
from dynid.model.joint import Limits
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table, robot_to_table
from dynid.model.robot import Robot
from support.evaluate import States, random_states, stacked

LOOPED = ("fourbar", "fivebar")


@pytest.fixture(params=LOOPED)
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


@pytest.fixture
def states(robot: Robot) -> States:
    return random_states(robot, np.random.default_rng(14), 200)


def expansion_at(robot: Robot, q: np.ndarray) -> Expansion:
    return expand(robot, list(q.T), NUMERIC)


def positions(robot: Robot, q: np.ndarray) -> np.ndarray:
    return stacked(expansion_at(robot, q).positions, len(q))


def linkage_of(robot: Robot) -> Linkage:
    assert robot.closure is not None
    return Linkage(robot.joints, robot.closure.cuts, robot.closure.coordinates)


def spatial_loop() -> Robot:
    """RSSR-like four-bar in space: crank, two revolutes of the coupler's end, and a tilted rocker."""
    return robot_from_table(
        {
            "name": "spatial",
            "joint": [
                {"name": "crank"},
                {"name": "swing", "d": 0.12, "alpha_deg": 90, "actuated": False},
                {"name": "tilt", "alpha_deg": -90, "actuated": False},
                {"name": "rocker", "antecedent": 0, "d": 0.3, "alpha_deg": 70, "actuated": False},
            ],
            "loop": [
                {"kind": "spherical", "links": ["tilt", "rocker"], "points": [[0.31, 0, 0.02], [0.22, 0, 0]]}
            ],
            "closure": {
                "coordinates": ["crank"],
                "start": {"crank": 0.9, "swing": 0.930629, "tilt": -0.671021, "rocker": 1.54461},
            },
        }
    )


def slider_crank() -> Robot:
    """A crank and a rod whose end slides in a guide: a prismatic joint and a spherical cut."""
    return robot_from_table(
        {
            "name": "slider-crank",
            "joint": [
                {"name": "crank"},
                {"name": "rod", "d": 0.1, "actuated": False},
                {
                    "name": "slider",
                    "antecedent": 0,
                    "kind": "prismatic",
                    "alpha_deg": 90,
                    "gamma_deg": 90,
                    "actuated": False,
                },
            ],
            "loop": [{"kind": "spherical", "links": ["rod", "slider"], "points": [[0.3, 0, 0], [0, 0, 0]]}],
            "closure": {"coordinates": ["crank"], "start": {"crank": 0.0, "rod": 0.0, "slider": 0.4}},
        }
    )


# ── positions ─────────────────────────────────────────────────────────────────────────────────────────────


def test_loops_close_everywhere_on_one_branch(robot: Robot) -> None:
    """The traced steps end where continuation from the start ends, over the whole range."""
    assert robot.closure is not None
    q = random_states(robot, np.random.default_rng(2), 1000).q
    followed = close_loops(robot.joints, robot.closure, q)
    found = positions(robot, q)
    assert np.abs(linkage_of(robot).residuals(found)).max() < 1e-14
    assert np.abs(found - followed).max() < 1e-10


def test_four_bar_has_the_closed_form() -> None:
    """Angle of the rocker from the triangle of coupler and rocker over the diagonal."""
    robot = load_robot("fourbar")
    crank = np.linspace(-7.0, 7.0, 300)
    ground, r, coupler, rocker = 0.30, 0.10, 0.28, 0.25
    x, y = r * np.cos(crank) - ground, r * np.sin(crank)
    diagonal = np.hypot(x, y)
    inner = np.arccos((diagonal**2 + rocker**2 - coupler**2) / (2 * diagonal * rocker))
    angle = np.unwrap(np.arctan2(y, x)) - inner
    found = positions(robot, crank[:, None])[:, 2]
    np.testing.assert_allclose(np.cos(found - angle), 1.0, rtol=0, atol=1e-12)


def test_what_does_not_close_is_nan() -> None:
    robot = load_robot("fivebar")
    values = robot.table.vector(robot.parameters)
    inside, outside = list(robot.home), [0.0, 0.0]
    torques = kernels(robot).inverse(values, [inside, outside, [2.0, 9.0]], np.ones((3, 2)), np.ones((3, 2)))
    assert np.isfinite(torques[0]).all()
    assert np.isnan(torques[1:]).all()
    assert np.isnan(expand(robot, outside, NUMERIC).positions[2])
    assert np.isnan(kernels(robot).direct(values, [outside], np.ones((1, 2)), np.ones((1, 2)))).all()


def test_margins_reach_beyond_the_limits() -> None:
    robot = load_robot("fivebar")
    for j, (low, high) in closed_ranges(robot).items():
        limits = robot.joints[j].limits
        assert low < limits.lower < limits.upper < high


def test_limits_beyond_the_branch_get_a_sentence() -> None:
    """Distal links too short for the widest position of the motors."""
    table = robot_to_table(load_robot("fivebar"))
    table["loop"][0]["points"] = [[0.34, 0, 0], [0.34, 0, 0]]
    table["joint"][0]["limits"]["upper"], table["joint"][1]["limits"]["lower"] = np.pi, 0.0
    table["closure"]["start"] |= {"left_elbow": -1.24677, "right_elbow": 1.24677}
    wrong = robot_from_table(table)
    words = r"'tip' cannot be closed everywhere within the limits.*firmly within left 1\.\d+ to .*, right "
    with pytest.raises(ModelError, match=words):
        expand(wrong, wrong.home, NUMERIC)


def test_limits_in_degrees_get_ranges_that_serve() -> None:
    """Limits that are 57 times too wide: the refusal names ranges, and with these the robot is taken."""
    table = robot_to_table(load_robot("fivebar"))
    for joint in table["joint"][:2]:
        joint["limits"] |= {"lower": -90.0, "upper": 180.0}
    with pytest.raises(ModelError, match=r"it closes firmly within left [\d.]+ to [\d.]+, right ") as told:
        closed_ranges(robot_from_table(table))
    for joint in table["joint"][:2]:
        ends = re.search(rf"{joint['name']} (\d\.\d+) to (\d\.\d+)", str(told.value))
        assert ends is not None
        joint["limits"] |= {"lower": float(ends[1]), "upper": float(ends[2])}
        assert float(ends[2]) - float(ends[1]) > 0.5
    assert len(closed_ranges(robot_from_table(table))) == 2


def test_coordinates_without_limits_have_the_largest_range() -> None:
    robot = load_robot("fivebar")
    free = tuple(replace(joint, limits=Limits()) for joint in robot.joints)
    ranges = closed_ranges(replace(robot, joints=free))
    for j, home in zip(robot.coordinates, robot.home, strict=True):
        assert ranges[j][0] < home - 0.5
        assert ranges[j][1] > home + 0.5


@pytest.mark.parametrize("make", [spatial_loop, slider_crank])
def test_other_loops_close_too(make: object) -> None:
    robot = make()  # type: ignore[operator]
    q = random_states(robot, np.random.default_rng(3), 100).q
    assert np.abs(linkage_of(robot).residuals(positions(robot, q))).max() < 1e-12
    assert len(find_base(robot)) > 3


# ── G and its rate ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("make", [spatial_loop, slider_crank, *(lambda n=n: load_robot(n) for n in LOOPED)])
def test_speeds_and_accelerations_are_derivatives_of_the_positions(make: object) -> None:
    robot = make()  # type: ignore[operator]
    x = random_states(robot, np.random.default_rng(4), 50)
    for j, (low, high) in closed_ranges(robot).items():  # differences stay inside
        k = robot.coordinates.index(j)
        x.q[:, k] = np.clip(x.q[:, k], low + 1e-3, high - 1e-3)
    here, h = expansion_at(robot, x.q), 1e-5
    speeds = stacked(here.speeds(list(x.qd.T)), 50)
    forward, back = positions(robot, x.q + h * x.qd), positions(robot, x.q - h * x.qd)
    assert np.abs(speeds - (forward - back) / (2 * h)).max() < 1e-6 * np.abs(speeds).max()
    accelerations = stacked(here.accelerations(list(x.qd.T), list(x.qdd.T)), 50)
    rates = [
        stacked(expansion_at(robot, x.q + s * h * x.qd).speeds(list((x.qd + s * h * x.qdd).T)), 50)
        for s in (1, -1)
    ]
    assert np.abs(accelerations - (rates[0] - rates[1]) / (2 * h)).max() < 1e-6 * np.abs(accelerations).max()


def test_numeric_g_of_the_haptic_arm_is_the_papers() -> None:
    """Away from q5 = q2, where the parallelogram is flat."""
    from dynid.model.continuation import tangent

    robot = load_robot("haptic")
    assert robot.closure is not None
    assert robot.coupling is not None
    rng = np.random.default_rng(5)
    q = rng.uniform(-2.0, 2.0, (300, 3))
    q[:, 2] = q[:, 1] + rng.uniform(0.05, np.pi - 0.05, 300)
    followed = close_loops(robot.joints, robot.closure, q)
    assert np.abs(linkage_of(robot).residuals(followed)).max() < 1e-10
    G, p = robot.coupling.G, list(robot.closure.dependent)
    assert np.abs(tangent(linkage_of(robot), followed).follow - G[p]).max() < 1e-8
    assert np.abs(followed - q @ G.T - np.array(robot.coupling.offset)).max() < 1e-10


def test_the_haptic_arm_is_singular_where_its_parallelogram_is_flat() -> None:
    robot = load_robot("haptic")
    assert robot.closure is not None
    assert robot.coupling is not None
    q = np.array([[0.3, 0.5, 0.5 + gap] for gap in (np.pi / 2, 0.1, 0.01, 0.0)])
    all_joints = q @ robot.coupling.G.T + np.array(robot.coupling.offset)
    sizes = singular_values(robot.joints, robot.closure, all_joints)
    assert sizes[0] > 0.1
    assert np.all(np.diff(sizes) < 0)
    assert sizes[-1] < 1e-9
    assert np.isnan(close_loops(robot.joints, robot.closure, np.array([[0.3, 0.5, 0.2]]))).all()


# ── dynamics ──────────────────────────────────────────────────────────────────────────────────────────────


def test_power_of_the_torques_is_the_rate_of_the_energy(robot: Robot, states: States) -> None:
    """τᵀ q̇ = d/dt (E + U) + friction, along straight motions."""
    values = robot.table.vector(robot.parameters)
    k, h, x = kernels(robot), 1e-5, states
    q = x.q.copy()
    for j, (low, high) in closed_ranges(robot).items():
        c = robot.coordinates.index(j)
        q[:, c] = np.clip(q[:, c], low + 1e-3, high - 1e-3)
    still = robot.table.vector({n: v for n, v in robot.parameters.items() if n[0] != "F" and n[:3] != "off"})
    ends = [sum(k.energy(still, q + s * h * x.qd, x.qd + s * h * x.qdd)) for s in (1, -1)]
    rate = (ends[0] - ends[1]) / (2 * h)
    friction = k.inverse(values - still, q, x.qd, x.qdd)
    power = np.sum((k.inverse(values, q, x.qd, x.qdd) - friction) * x.qd, axis=1)
    assert np.abs(power - rate).max() < 1e-6 * np.abs(rate).max()


def test_direct_dynamics_undoes_inverse_dynamics(robot: Robot, states: States) -> None:
    values = robot.table.vector(robot.parameters)
    k = kernels(robot)
    tau = k.inverse(values, states.q, states.qd, states.qdd)
    W = k.regressor(states.q, states.qd, states.qdd)
    assert np.abs(W @ values - tau).max() < 1e-11 * np.abs(tau).max()
    found = k.direct(values, states.q, states.qd, tau)
    assert np.abs(found - states.qdd).max() < 1e-9 * np.abs(states.qdd).max()


def test_adjoint_is_the_derivative_of_the_regressor(robot: Robot) -> None:
    rng = np.random.default_rng(6)
    x = random_states(robot, rng, 5)
    for j, (low, high) in closed_ranges(robot).items():
        c = robot.coordinates.index(j)
        x.q[:, c] = np.clip(x.q[:, c], low + 1e-3, high - 1e-3)
    k, h = kernels(robot), 1e-6
    seed = rng.normal(size=k.regressor_blocks(x.q, x.qd, x.qdd).shape)
    dq, _, _ = k.regressor_adjoint(x.q, x.qd, x.qdd, seed)
    for c in range(robot.n_coordinates):
        step = h * np.eye(robot.n_coordinates)[c]
        change = k.regressor_blocks(x.q + step, x.qd, x.qdd) - k.regressor_blocks(x.q - step, x.qd, x.qdd)
        rate = np.sum(seed * change, axis=(0, 1)) / (2 * h)
        np.testing.assert_allclose(dq[:, c], rate, rtol=0, atol=1e-5 * np.abs(rate).max())


def test_regressor_is_mujocos_constrained_inverse_dynamics(robot: Robot, states: States) -> None:
    """τ = Gᵀ τ_tree with G from MuJoCo's own constraint Jacobian and τ_tree from its inverse dynamics."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is this test's oracle; install the oracles extra.")
    from support.mujoco_loops import at_state, planar_loop

    assert robot.closure is not None
    values = {n: v for n, v in robot.parameters.items() if n[0] != "F" and n[:3] != "off"}
    model = planar_loop(robot.with_parameters(values))
    ours = kernels(robot).regressor(states.q, states.qd, states.qdd) @ robot.table.vector(values)
    here = expansion_at(robot, states.q)
    q = stacked(here.positions, len(states.q))
    qd = stacked(here.speeds(list(states.qd.T)), len(q))
    qdd = stacked(here.accelerations(list(states.qd.T), list(states.qdd.T)), len(q))
    dof = [model.joint(joint.name).dofadr[0] for joint in robot.joints]
    c, p = list(robot.closure.coordinates), list(robot.closure.dependent)
    for s in range(40):
        data = at_state(model, robot, q[s], qd[s])
        J = data.efc_J.reshape(-1, model.nv)[:, dof]
        assert np.abs(J @ qd[s]).max() < 1e-9 * np.abs(qd[s]).max()
        G = np.zeros((len(dof), len(c)))
        G[c] = np.eye(len(c))
        G[p] = -np.linalg.pinv(J[:, p]) @ J[:, c]
        wanted, needed = np.zeros(model.nv), np.zeros(model.nv)
        wanted[dof] = qdd[s]
        mujoco.mj_mulM(model, data, needed, wanted)
        tree = (needed + data.qfrc_bias)[dof]
        np.testing.assert_allclose(ours[s], G.T @ tree, rtol=0, atol=1e-10 * np.abs(ours[s]).max())


def test_free_motion_is_mujocos() -> None:
    """The five-bar falls under gravity and small torques; MuJoCo holds the loop by a stiff constraint."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is this test's oracle; install the oracles extra.")
    from support.mujoco_loops import at_state, planar_loop

    robot, step = load_robot("fivebar"), 2e-4
    values = {n: v for n, v in robot.parameters.items() if n[0] != "F" and n[:3] != "off"}
    model = planar_loop(robot.with_parameters(values), step)
    chi, k = robot.table.vector(values), kernels(robot)
    q, qd = np.array([robot.home]), np.array([[0.5, -0.5]])
    tau = k.gravity(chi, q) + np.array([[0.05, 0.03]])
    here = expansion_at(robot, q)
    data = at_state(model, robot, stacked(here.positions, 1)[0], stacked(here.speeds(list(qd.T)), 1)[0])
    dof = [model.joint(robot.joints[j].name).dofadr[0] for j in robot.coordinates]
    data.qfrc_applied[dof] = tau[0]
    for _ in range(1500):  # 0.3 s
        mujoco.mj_step(model, data)
        q, qd = runge_kutta(lambda q, qd: k.direct(chi, q, qd, tau), q, qd, step)
    assert np.abs(q[0] - robot.home).max() > 0.1
    np.testing.assert_allclose(q[0], data.qpos[dof], rtol=0, atol=1e-8)


def runge_kutta(f: object, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    a1 = f(q, v)  # type: ignore[operator]
    a2 = f(q + h / 2 * v, v + h / 2 * a1)  # type: ignore[operator]
    a3 = f(q + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2)  # type: ignore[operator]
    a4 = f(q + h * v + h * h / 2 * a2, v + h * a3)  # type: ignore[operator]
    return q + h * v + h * h / 6 * (a1 + a2 + a3), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def test_groups_of_loops_are_closed_apart() -> None:
    """Two four-bars on one robot share no dependent joint, so each follows its own crank."""
    one = robot_to_table(load_robot("fourbar"))
    start = one["closure"]["start"]
    second = [{**row, "name": f"{row['name']}2", "label": f"{i}b"} for i, row in enumerate(one["joint"])]
    second[0]["antecedent"], second[1]["antecedent"], second[2]["antecedent"] = "base", "crank2", "base"
    pin = one["loop"][0]
    both = robot_from_table(
        {
            "lengths": one["lengths"],
            "joint": [*one["joint"], *second],
            "loop": [pin, {**pin, "name": "pin2", "links": [f"{name}2" for name in pin["links"]]}],
            "closure": {
                "coordinates": ["crank", "crank2"],
                "start": start | {f"{name}2": x for name, x in start.items()},
            },
        }
    )
    assert both.closure is not None
    groups = loop_groups(both.joints, both.closure)
    assert [(group.coordinates, group.dependent) for group in groups] == [((0,), (1, 2)), ((3,), (4, 5))]
    q = np.random.default_rng(8).uniform(-3.0, 3.0, (30, 2))
    found = positions(both, q)
    single = load_robot("fourbar")
    np.testing.assert_allclose(found[:, :3], positions(single, q[:, :1]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[:, 3:], positions(single, q[:, 1:]), rtol=0, atol=1e-12)
