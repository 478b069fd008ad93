"""Springs, dampers and counterbalances against closed forms and MuJoCo's tendons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base.find import find_base
from dynid.core.errors import DynidError, ModelError
from dynid.model.element import ForceElement
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table, robot_to_table, robot_to_toml
from dynid.model.robot import Robot
from dynid.simulation import PID, Accuracy, Controller, Reference, Velocity, simulate
from support.evaluate import dynid_inverse, dynid_regressor, random_states, relative_error

STIFFNESS, DAMPING = 7.0, 0.03
COUNTERBALANCE = "sin(q) / sqrt(1.2 + cos(q))"


def sprung(robot: Robot) -> Robot:
    """A pendubot with a spring between its links, a damper and a spring of a counterbalance to the ground."""
    between = {"shoulder": 0.5, "elbow": -2.0}
    elements = (
        ForceElement("K1", between),
        ForceElement("D1", between, "qd", "N m s/rad"),
        ForceElement("B1", {"shoulder": 1.0}, COUNTERBALANCE, "N m"),
    )
    return replace(robot, elements=elements).with_parameters(
        {**robot.parameters, "K1": STIFFNESS, "D1": DAMPING, "B1": 0.9}
    )


def test_columns_are_the_closed_form() -> None:
    plain = load_robot("pendubot")
    robot, x = sprung(plain), random_states(plain, np.random.default_rng(1))
    chi = robot.table.vector(robot.parameters)
    tau = dynid_inverse(robot, chi, x)
    added = tau - dynid_inverse(plain, plain.table.vector(plain.parameters), x)
    e, rate = x.q @ [0.5, -2.0], x.qd @ [0.5, -2.0]
    force = STIFFNESS * e + DAMPING * rate
    balance = 0.9 * np.sin(x.q[:, 0]) / np.sqrt(1.2 + np.cos(x.q[:, 0]))
    np.testing.assert_allclose(added, np.column_stack([0.5 * force + balance, -2.0 * force]), atol=1e-12)
    assert relative_error(np.einsum("sjc,c->sj", dynid_regressor(robot, x), chi), tau) < 1e-13


def test_base_parameters_hold_them() -> None:
    """All three show; a spring sin(q) at a hanging joint cannot be told from gravity."""
    robot = sprung(load_robot("pendubot"))
    assert find_base(robot).names[-3:] == ("K1", "D1", "B1")
    hidden = replace(robot, elements=(ForceElement("B1", {"shoulder": 1.0}, "sin(q)"),), parameters={})
    found = find_base(hidden)
    assert "B1" not in found.names
    assert any("B1" in formula for formula in found.formulas)
    with pytest.raises(ModelError, match="does not know springs and dampers"):
        find_base(robot, method="closed-form")


def test_robot_files_hold_them() -> None:
    robot = sprung(load_robot("pendubot"))
    assert robot_from_table(robot_to_table(robot)) == robot
    assert "[[element]]" in robot_to_toml(robot)
    assert robot.digest != load_robot("pendubot").digest


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"joints": {}}, "acts on no joint"),
        ({"joints": {"elbow": 0.0}}, "acts on no joint"),
        ({"joints": {"elbw": 1.0}}, "elbow"),
        ({"joints": {"elbow": 1.0}, "expression": "q +"}, "is not a formula"),
        ({"joints": {"elbow": 1.0}, "name": "1K"}, "letters, digits or _"),
        ({"joints": {"elbow": 1.0}, "name": "ZZ1"}, "Two parameters are named 'ZZ1'"),
    ],
)
def test_wrong_elements_are_refused_in_a_sentence(given: dict[str, object], sentence: str) -> None:
    row = {"name": "K1"} | given
    table = robot_to_table(load_robot("pendubot")) | {"element": [row]}
    with pytest.raises(DynidError, match=sentence):
        robot_from_table(table)


def test_mujoco() -> None:
    """A fixed tendon with stiffness and damping over the two joints of a pendubot, MuJoCo's own RK4."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is an oracle of the tests; install the test extra.")
    text = """
    <mujoco><option gravity="9.81 0 0" timestep="5e-5" integrator="RK4"/><compiler angle="radian"/>
    <worldbody><body><joint name="shoulder" axis="0 0 1" damping="0.012"/>
      <inertial pos="0.14 0 0" mass="1.1" diaginertia="0.0004 0.0064 0.0066"/>
      <body pos="0.22 0 0"><joint name="elbow" axis="0 0 1" damping="0.0015"/>
        <inertial pos="0.15 0 0" mass="0.48" diaginertia="0.0002 0.0038 0.0039"/></body></body></worldbody>
    <tendon><fixed stiffness="7" damping="0.03" springlength="0">
      <joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-2"/></fixed></tendon></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    T, n = 2e-3, 250
    data.qpos[:], data.qvel[:] = (0.7, -0.4), (0.3, 1.0)
    path = []
    for _ in range(n):
        path.append(data.qpos.copy())
        data.qfrc_applied[0] = 5.0 * (0.4 - data.qpos[0]) - 0.5 * data.qvel[0]
        for _ in range(40):
            mujoco.mj_step(model, data)
    plain = load_robot("pendubot")
    robot = replace(plain, elements=sprung(plain).elements[:2]).with_terms("Fv")
    values = {name: v for name, v in plain.parameters.items() if name in robot.table.names}
    r = Reference(T, np.tile([0.4, 0.0], (n, 1)), np.zeros((n, 2)), np.zeros((n, 2)))
    law = Controller(PID((5.0, 100.0), (0.5, 100.0)), T, velocity=Velocity("exact"))
    ours = simulate(
        robot,
        values | {"K1": STIFFNESS, "D1": DAMPING},
        law,
        r,
        start=((0.7, -0.4), (0.3, 1.0)),
        accuracy=Accuracy(tolerance=1e-9),
    )
    assert ours.outcome.trustworthy
    assert np.abs(ours.q - np.array(path)).max() < 1e-7
    assert not ours.tau[:, 1].any(), "a passive joint has no torque, whatever the law's gains"


def test_a_stiff_spring_gets_steps_that_are_stable() -> None:
    """10 µs of natural period against 1 ms of sample time: RK4 with one step would explode."""
    robot = load_robot("elastic_drive")
    law = Controller(PID((12.0, 0.0), (0.15, 0.0)), 1e-3)
    n = 200
    r = Reference(1e-3, np.full((n, 2), 0.1), np.zeros((n, 2)), np.zeros((n, 2)))
    stiff = {**robot.parameters, "K1": 2.5e5}
    found = simulate(robot, stiff, law, r, start=((0.0, 0.0), (0.0, 0.0)))
    assert found.outcome.trustworthy, found.outcome
    step = 1e-3 / found.substeps
    assert step * np.sqrt(2.5e5 * (1 / 0.002 + 1 / 0.004)) < 2.78
    assert np.abs(found.q[:, 0] - found.q[:, 1]).max() < 1e-4
    hopeless = simulate(robot, {**robot.parameters, "K1": 2.5e9}, law, r)
    assert not hopeless.outcome.trustworthy
    assert "stiff" in hopeless.outcome.text
