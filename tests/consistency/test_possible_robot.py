"""The nearest possible robot: the truth where the data tell it, an optimum, and honest sources."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize

from dynid.base.find import base_of
from dynid.consistency import DataRows, Knowledge, LinkBounds, PossibleRobots, Prior
from dynid.consistency.pseudo_inertia import (
    as_matrix,
    link_columns,
    pseudo_inertia,
    pseudo_inertias,
    standard_values,
)
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.consistent_rows import nearest, rows_of
from support.possible_arms import draw_arm
from support.robots import branched_robot, prismatic_robot, with_random_inertias


@pytest.mark.parametrize("number", [3, 5, 8, 11])
def test_without_noise_the_true_base_parameters_come_back(number: int) -> None:
    arm = draw_arm("setting", number, noise=0.0, seconds=8.0)
    found = nearest(arm)
    assert found.solution.status in ("Inside", "Solved", "AlmostSolved")
    scale = np.maximum(np.abs(arm.base_truth), 1e-3 * np.abs(arm.base_truth).max())
    assert np.max(np.abs(found.values - arm.base_truth) / scale) < 1e-5
    assert arm.error(found.values) < 1e-6
    assert found.cost == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("number", range(12))
def test_every_link_can_exist_and_nothing_gives_power(number: int) -> None:
    """Weak motion and much noise: least squares is impossible in most of these."""
    arm = draw_arm("showing", number, speed=0.3, noise=0.1, seconds=2.0)
    found = nearest(arm)
    for P in pseudo_inertias(arm.robot, found.standard):
        sizes = np.linalg.eigvalsh(P)
        assert sizes[0] > 0
    by_name = arm.robot.table.mapping(found.standard)
    assert min(v for n, v in by_name.items() if n.startswith(("Ia", "Fv", "Fc"))) >= 0
    assert found.cost >= 1.0 - 1e-9


def test_least_squares_is_impossible_in_most_of_them() -> None:
    """So that the test above has something to do."""
    impossible = 0
    for number in range(12):
        arm = draw_arm("showing", number, speed=0.3, noise=0.1, seconds=2.0)
        rows = rows_of(arm)
        found = PossibleRobots.of(arm.robot, rows).nearest(rows)
        impossible += (found.cost**2 - 1.0) * rows.remainder**2 > 1.0
    assert impossible >= 8


def test_no_other_solver_finds_a_better_robot() -> None:
    """A descent over Cholesky factors, which never leave the possible robots, ends at the same objective."""
    arm = draw_arm("setting", 2, speed=0.5, noise=0.05, seconds=3.0)
    rows = rows_of(arm)
    robots = PossibleRobots.of(arm.robot, rows)
    program, found = robots.program(rows), robots.nearest(rows)
    links, table = link_columns(arm.robot), arm.robot.table
    others = [i for i, e in enumerate(table) if e.family != "inertial"]
    signed = [i for i in others if table.entries[i].symbol in ("Ia", "Fv", "Fc")]
    lower = np.tril_indices(4)
    inverse = np.linalg.inv(robots.coordinates.T)

    def standard(u: np.ndarray) -> np.ndarray:
        x = np.empty(len(table))
        for k, (columns, body) in enumerate(zip(links, robots.reference.bodies, strict=True)):
            L = np.zeros((4, 4))
            L[lower] = u[10 * k : 10 * k + 10]
            root = np.linalg.cholesky(body) @ L
            x[columns] = standard_values(root @ root.T)
        x[others] = u[10 * len(links) :]
        x[signed] = x[signed] ** 2
        return x

    def objective(x: np.ndarray) -> float:
        z = inverse @ x
        bodies = [as_matrix(z[columns]) for columns in links]
        inside = sum(np.trace(Z) - np.linalg.slogdet(Z)[1] for Z in bodies)
        return float(0.5 * np.sum((program.B @ z - program.t) ** 2) + program.entropy * inside)

    def cost(u: np.ndarray) -> float:
        return objective(standard(u))

    far = np.concatenate([np.tile(np.eye(4)[lower], len(links)), np.full(len(others), 0.5)])
    z = inverse @ found.standard
    roots = [np.linalg.cholesky(as_matrix(z[columns]))[lower] for columns in links]
    own = found.standard[others]
    others_found = np.where(np.isin(others, signed), np.sqrt(np.abs(own)), own)
    ours = objective(found.standard)
    assert found.rise > 0.5  # the cones hold
    from_ours = minimize(cost, np.concatenate([*roots, others_found]), method="BFGS").fun
    assert ours - from_ours < 1e-4  # nothing better is near
    assert minimize(cost, far, method="BFGS", options={"maxiter": 4000}).fun > ours - 1e-4  # nor far away


@pytest.mark.parametrize("made", [prismatic_robot, branched_robot])
def test_mujoco_takes_the_bodies(made: object) -> None:
    """MuJoCo refuses bodies whose moments break the triangle inequality."""
    robot = with_random_inertias(made(), np.random.default_rng(4))  # type: ignore[operator]
    base = base_of(robot)
    rng = np.random.default_rng(5)
    truth = base.regroup(robot.parameters)
    A = np.linalg.qr(rng.normal(size=(len(base), len(base))))[1] * 3.0
    noisy = truth + np.linalg.solve(A, rng.normal(size=len(base)))
    rows = DataRows(base, A, A @ noisy, 1.0)
    found = PossibleRobots.of(replace(robot, parameters={}), rows).nearest(rows)
    for columns in link_columns(robot):
        P = pseudo_inertia(found.standard[columns])
        com = P[:3, 3] / P[3, 3]
        second = P[:3, :3] - P[3, 3] * np.outer(com, com)
        tensor = np.trace(second) * np.eye(3) - second
        places = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        full = " ".join(repr(float(tensor[place])) for place in places)
        mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><body><joint/><inertial pos="0 0 0" mass="{float(P[3, 3])!r}" '
            f'fullinertia="{full}"/></body></worldbody></mujoco>'
        )


def test_it_says_what_fixed_each_parameter() -> None:
    arm = draw_arm("setting", 8, noise=0.02, seconds=8.0)
    found = nearest(arm)
    by = dict(zip(arm.robot.table.names, found.sources.fixed_by, strict=True))
    assert by["Fv1"] == by["Fc6"] == "data"
    assert by["M1"] == "prior"  # no torque ever shows it
    sigma = dict(zip(arm.robot.table.names, found.sources.sigma, strict=True))
    assert sigma["M1"] > 5 * abs(found.standard[arm.robot.table.index("M1")])  # as good as unknown
    assert sigma["Fc6"] < 0.2 * found.standard[arm.robot.table.index("Fc6")]
    at = arm.robot.table.index("Fv1")
    low = 1.5 * found.standard[at]
    bound = nearest(arm, Knowledge(parameters={"Fv1": (low, 2 * low)}))
    assert bound.standard[at] == pytest.approx(low, rel=1e-4)
    assert bound.sources.fixed_by[at] == "bound"
    assert any(b.given and b.name.startswith("Fv1 at least") for b in bound.active)


def test_a_bound_that_does_not_press_is_not_active() -> None:
    """Near its bound, and known far better than the distance: the data hold it, and σ is not zero."""
    arm = draw_arm("setting", 5, noise=1e-5, seconds=6.0)
    rows = rows_of(arm)
    values = np.linalg.solve(rows.A, rows.b)
    place = arm.problem.base.names.index("Fv2")
    values[place] = 1e-3 * values[place]
    rows = replace(rows, b=rows.A @ values)
    found = PossibleRobots.of(arm.robot, rows).nearest(rows)
    at = arm.robot.table.index("Fv2")
    assert found.standard[at] == pytest.approx(values[place], rel=0.2)
    assert found.sources.fixed_by[at] == "data"
    assert found.sources.sigma[at] > 0
    assert not any(bound.name == "Fv2 ≥ 0" for bound in found.active)


def test_a_fit_that_bodies_hold_names_them_although_they_lie_inside() -> None:
    bodies = 0
    for number in range(12):
        arm = draw_arm("showing", number, speed=0.3, noise=0.1, seconds=2.0)
        found = nearest(arm)
        if found.rise > 1:
            assert found.active
            bodies += any(bound.link is not None for bound in found.active)
    assert bodies >= 2


def test_a_friction_that_would_be_negative_is_held_by_its_bound() -> None:
    arm = draw_arm("setting", 5, noise=0.02, seconds=6.0)
    rows = rows_of(arm)
    place = arm.problem.base.names.index("Fv2")
    values = np.linalg.solve(rows.A, rows.b)
    values[place] = -2.0
    rows = replace(rows, b=rows.A @ values)
    found = PossibleRobots.of(arm.robot, rows).nearest(rows)
    table = arm.robot.table
    assert found.standard[table.index("Fv2")] == pytest.approx(0.0, abs=1e-5)
    assert found.sources.fixed_by[table.index("Fv2")] == "bound"
    assert any(bound.name == "Fv2 ≥ 0" for bound in found.active)
    free = PossibleRobots.of(arm.robot, rows, None, [table.index("Fv2")]).nearest(rows)
    assert free.standard[table.index("Fv2")] < -0.5


@pytest.mark.parametrize("kind", ["geodesic", "entropic", "quadratic"])
def test_a_prior_decides_where_the_data_do_not(kind: str) -> None:
    """Nothing but noise: the prior comes back. Much data: it moves nothing."""
    arm = draw_arm("setting", 3, noise=0.02, seconds=6.0)
    rows = rows_of(arm)
    prior = Knowledge(prior=Prior(values=arm.truth, doubt=0.1, kind=kind))
    blind = replace(rows, A=1e-9 * rows.A, b=1e-9 * rows.b)
    found = PossibleRobots.of(arm.robot, blind, prior).nearest(blind)
    truth = arm.robot.table.vector(arm.truth)
    masses = [arm.robot.table.index(f"M{j.label}") for j in arm.robot.joints]
    np.testing.assert_allclose(found.standard[masses], truth[masses], rtol=2e-2)
    assert found.sources.fixed_by[masses[0]] == "prior"
    with_data = PossibleRobots.of(arm.robot, rows, prior).nearest(rows)
    assert with_data.cost < 1.05
    np.testing.assert_allclose(with_data.standard[masses], truth[masses], rtol=0.3)


def test_the_entropic_prior_is_the_divergence_it_claims_to_be() -> None:
    """One free mass beside a prior: min ½ (m − a)²/s² + ¼/d² (tr Z − log det Z), solved by a scan."""
    robot = load_robot("emps")
    base = base_of(robot)
    truth = robot.table.vector({"XX1": 1.0, "YY1": 1.2, "ZZ1": 0.9, "M1": 100.0})
    values = {name: value for name, value in robot.table.mapping(truth).items() if value}
    rows = DataRows(base, np.eye(len(base)) * 0.05, 0.05 * np.array([150.0, 0, 0, 0])[: len(base)], 1.0)
    prior = Knowledge(prior=Prior(values=values, doubt=0.2, kind="entropic"))
    found = PossibleRobots.of(replace(robot, parameters={}), rows, prior).nearest(rows)
    # P scales as a whole only in its mass entry here: h = 0, so Z = diag(1, 1, 1, m/100).
    masses = np.linspace(60, 200, 14001)
    ratio = masses / 100.0
    cost = 0.5 * (0.05 * (masses - 150.0)) ** 2 + 0.25 / 0.04 * (ratio - np.log(ratio))
    assert base.names[0] == "M1"
    assert found.standard[robot.table.index("M1")] == pytest.approx(masses[np.argmin(cost)], rel=2e-3)


def test_a_prior_that_no_body_has_is_refused() -> None:
    arm = draw_arm("setting", 2)
    values = {**arm.truth, "XX1": -1.0}
    rows = rows_of(arm)
    with pytest.raises(DynidError, match="parameters that no body has"):
        PossibleRobots.of(arm.robot, rows, Knowledge(prior=Prior(values=values)))
    PossibleRobots.of(arm.robot, rows, Knowledge(prior=Prior(values=values, kind="quadratic"))).nearest(rows)


def test_reversed_torques_are_much_less_possible() -> None:
    arm = draw_arm("setting", 8, noise=0.02, seconds=8.0)
    mirrored = rows_of(arm).mirror()
    assert PossibleRobots.of(arm.robot, mirrored).nearest(mirrored).cost > 5 * nearest(arm).cost


def test_the_reference_is_the_robot_file_where_it_resembles_the_torques() -> None:
    arm = draw_arm("setting", 8, noise=0.02, seconds=8.0)
    rows = rows_of(arm)

    def words(robot: Robot) -> str:
        return PossibleRobots.of(robot, rows).nearest(rows).reference

    assert words(arm.robot) == "links of one density"
    inertial = {e.name: arm.truth[e.name] for e in arm.robot.table if e.family == "inertial"}
    assert words(arm.robot.with_parameters(inertial)) == "the robot file"
    heavy = {name: 10 * value for name, value in inertial.items()}
    assert words(arm.robot.with_parameters(heavy)) == "links of one density"


def test_torques_almost_without_noise_find_a_robot_whatever_their_sign() -> None:
    """The solver is asked again with data that it may believe less."""
    arm = draw_arm("setting", 8, noise=1e-5, seconds=6.0)
    rows = rows_of(arm)
    own = PossibleRobots.of(arm.robot, rows).nearest(rows)
    mirrored = rows.mirror()
    other = PossibleRobots.of(arm.robot, mirrored).nearest(mirrored)
    assert own.cost < 1.01
    assert other.cost > 100


def test_bounds_too_tight_for_the_solver_are_refused() -> None:
    """A link of a tenth of a gram in an arm of kilograms."""
    arm = draw_arm("setting", 8, noise=0.02, seconds=8.0)
    for most in (1e-4, 1e-3, 1e-2):
        known = Knowledge(link=(LinkBounds(joint=2, mass=(0.0, most)),))
        try:
            found = nearest(arm, known)
        except NotTrustworthyError:
            continue  # the solver's precision ends somewhere
        assert found.standard[arm.robot.table.index("M2")] <= most * 1.001
        assert np.linalg.eigvalsh(pseudo_inertias(arm.robot, found.standard))[:, 0].min() > 0


def test_a_robot_of_other_size_gives_the_same_answer() -> None:
    """Masses, torques and friction a thousand times larger or smaller."""
    arm = draw_arm("setting", 5, speed=0.4, noise=0.05, seconds=3.0)
    rows = rows_of(arm)
    one = PossibleRobots.of(arm.robot, rows).nearest(rows)
    for factor in (1e-3, 1e3):
        scaled = replace(rows, A=rows.A / factor)
        other = PossibleRobots.of(arm.robot, scaled).nearest(scaled)
        np.testing.assert_allclose(other.values, factor * one.values, rtol=1e-3, atol=1e-6 * factor)
        assert other.sources.fixed_by == one.sources.fixed_by


def test_friction_alone_leaves_bodies_that_exist() -> None:
    arm = draw_arm("setting", 3, noise=0.02, seconds=6.0)
    rows = rows_of(arm)
    inertial = [arm.robot.table.entries[c].family == "inertial" for c in arm.problem.base.columns]
    values = np.where(inertial, 0.0, np.linalg.solve(rows.A, rows.b))
    rows = replace(rows, b=rows.A @ values)
    found = PossibleRobots.of(arm.robot, rows).nearest(rows)
    assert found.standard[arm.robot.table.index("M1")] > 1e-9
