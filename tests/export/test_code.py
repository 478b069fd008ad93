"""Exported functions are those of the model: on all robots, with added terms, from either set of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.dynamics.loop_guess import closed_ranges
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.export.agreement import require_agreement
from dynid.export.export import export_model
from dynid.export.model import Export
from dynid.model.load import catalog, load_robot
from dynid.model.robot import Robot
from dynid.results.result import SavedResult
from support.exported import LOADED, REVERSING, STRIBECK, TORQUE, result_of, sly_robot
from support.robots import branched_robot, prismatic_robot, welded_robot

ALL = ["inverse", "gravity", "friction", "inertia_matrix", "forward"]
MADE_UP = {
    "prismatic": prismatic_robot(),
    "branched": branched_robot(),
    "welded": welded_robot(),
    "tilted": load_robot("tx90").with_gravity(2.1, -3.7, -8.6),
}
ROBOTS = {name: load_robot(name) for name in catalog()} | MADE_UP


def functions(result: SavedResult) -> dict[str, Callable[..., Any]]:
    made = export_model(result, "python")
    space: dict[str, Any] = {}
    exec(made.files[0].content.decode(), space)
    return {name: value for name, value in space.items() if callable(value) and not name.startswith("_")}


def states(robot: Robot, seed: int = 5) -> np.ndarray:
    x = np.random.default_rng(seed).uniform(-1.5, 1.5, (3, 40, robot.n_coordinates))
    for j, (low, high) in closed_ranges(robot).items():
        k = robot.coordinates.index(j)
        x[0, :, k] = (low + high) / 2 + (high - low) / 3.1 * x[0, :, k]
    return x


def assert_equal(found: Any, expected: Any) -> None:
    assert np.shape(found) == np.shape(expected)
    assert np.abs(found - expected).max() <= 1e-12 * max(np.abs(expected).max(), 1e-300)


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_the_module_equals_the_kernels(robot: Robot) -> None:
    result = result_of(robot)
    own, made = kernels(robot), functions(result)
    assert list(made) == [*ALL, "inverse_base"]
    q, qd, qdd = states(robot)
    tau = own.inverse(result.standard, q, qd, qdd)
    assert_equal(made["inverse"](q, qd, qdd), tau)
    assert_equal(made["inverse_base"](q, qd, qdd), result.predict(q, qd, qdd))
    assert_equal(made["inertia_matrix"](q), own.inertia_matrix(result.standard, q))
    gravity = own.gravity(result.standard, q)
    assert np.abs(made["gravity"](q) - gravity).max() <= 1e-12 * np.abs(tau).max()
    assert_equal(own.inverse(result.standard, q, qd, made["forward"](q, qd, tau)), tau)
    still = np.zeros_like(qd)
    links = np.where([e.family == "inertial" for e in robot.table], result.standard, 0.0)
    parts = own.inverse(links, q, qd, still) + made["friction"](q, qd)
    assert_equal(parts, own.inverse(result.standard, q, qd, still))


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_base_parameters_never_take_more_operations(robot: Robot) -> None:
    figures = export_model(result_of(robot), "c").figures
    counts = {name: sum(count.values()) for name, count in figures["operations"].items()}
    assert counts["inverse_base"] <= counts["inverse"]
    if len(robot.joints) >= 6:
        assert counts["inverse_base"] < 0.9 * counts["inverse"]
    assert figures["largest_difference"] <= 1e-14
    assert figures["standard_from_base"] <= 1e-12


@pytest.mark.parametrize("name", ["scara", "haptic", "tx40", "cartpole"])
@pytest.mark.parametrize(
    "terms", [(STRIBECK,), (LOADED,), (STRIBECK, LOADED, REVERSING)], ids=["Stribeck", "load", "all"]
)
def test_added_terms_are_in_the_functions(name: str, terms: tuple[Any, ...]) -> None:
    robot = load_robot(name)
    result = result_of(robot, *terms)
    q, qd, qdd = states(robot)
    made, bare = functions(result), functions(replace(result, further=None))
    expected = result.predict(q, qd, qdd)
    assert_equal(made["inverse_base"](q, qd, qdd), expected)
    assert_equal(made["inverse"](q, qd, qdd), expected)
    assert np.abs(expected - bare["inverse"](q, qd, qdd)).max() > 1e-3
    assert_equal(made["forward"](q, qd, expected), qdd)
    still = np.zeros_like(qd)
    added = made["friction"](q, qd) - bare["friction"](q, qd)
    assert_equal(bare["inverse"](q, qd, still) + added, result.predict(q, qd, still))


def test_a_term_of_the_measured_torque_takes_the_model_s_and_says_so() -> None:
    result = result_of(load_robot("scara"), TORQUE)
    q, qd, qdd = states(result.robot)
    tau = kernels(result.robot).inverse(result.standard, q, qd, qdd)
    assert result.further is not None
    expected = tau + result.further.values * np.abs(tau) * np.sign(qd)
    assert_equal(functions(result)["inverse"](q, qd, qdd), expected)
    (said,) = [sentence for sentence in export_model(result, "c").lost if "measured torque" in sentence]
    assert said.startswith("The measured torque in the added term 'abs(tau)*sign(qd)': inverse dynamics")


def test_a_result_without_standard_parameters_gives_the_base_form() -> None:
    result = replace(result_of(load_robot("tx40")), standard=None)
    for form in ("c", "python"):
        made = export_model(result, form)
        assert list(made.figures["operations"]) == ALL
        assert any(sentence.startswith("Standard parameters of a possible robot: ") for sentence in made.lost)
    q, qd, qdd = states(result.robot)
    own = functions(result)
    assert_equal(own["inverse"](q, qd, qdd), result.predict(q, qd, qdd))
    assert_equal(own["forward"](q, qd, own["inverse"](q, qd, qdd)), qdd)


def test_values_that_no_robot_has_give_no_forward_dynamics() -> None:
    result = replace(result_of(load_robot("scara")), standard=None)
    sick = replace(result, values=np.where(np.array(result.base.names) == "ZZ2", -1.0, result.values))
    made = export_model(sick, "python")
    assert list(made.figures["operations"]) == ALL[:-1]
    assert made.lost[0].startswith("Forward dynamics: the inertia matrix of these parameters is not positive")


def test_terms_that_newton_s_method_does_not_solve_give_no_forward_dynamics() -> None:
    jumping = NonlinearTerm("Fj", "50*sign(qdd)")
    made = export_model(result_of(load_robot("scara"), jumping), "python")
    assert list(made.figures["operations"]) == [*ALL[:-1], "inverse_base"]
    assert made.lost[0].startswith("Forward dynamics: the added terms depend on the accelerations in a way")


def test_a_module_takes_one_sample_or_many_and_refuses_other_widths() -> None:
    result = result_of(load_robot("scara"))
    made = functions(result)
    q, qd, qdd = states(result.robot)
    many = made["inverse"](q, qd, qdd)
    assert np.array_equal(made["inverse"](q[0].tolist(), qd[0], qdd[0]), many[0])
    assert made["inertia_matrix"](q.reshape(2, 20, 2)).shape == (2, 20, 2, 2)
    assert np.array_equal(made["inverse"](q, qd[0], qdd[0])[0], many[0])
    with pytest.raises(ValueError, match=r"have shape \(40, 3\); the last axis must be 2 long"):
        made["gravity"](np.zeros((40, 3)))


def test_a_module_says_what_it_is() -> None:
    space: dict[str, Any] = {}
    exec(export_model(result_of(load_robot("cartpole")), "python").files[0].content.decode(), space)
    assert space["JOINTS"] == ("cart", "pole")
    assert (space["POSITION_UNITS"], space["TORQUE_UNITS"]) == (("m", "rad"), ("N", "N m"))
    assert "Torque error on unseen motion: 1.23 percent." in space["__doc__"]


def test_names_from_a_robot_file_stay_words() -> None:
    """In Python's module they are texts; nothing of them is run, and the functions are the same."""
    robot = sly_robot()
    made = export_model(result_of(robot), "python")
    space: dict[str, Any] = {}
    exec(made.files[0].content.decode(), space)
    assert "evil" not in space
    assert space["JOINTS"][0] == robot.joints[0].name
    assert made.files[0].name == "x___int_evil___________evil______input_e.py"


def test_functions_that_differ_are_refused() -> None:
    require_agreement("c", {"inverse": 1e-13})
    for wrong in (1e-11, float("nan")):
        with pytest.raises(
            DynidError, match=r"The function 'gravity' of the form 'c' differs from the model"
        ):
            require_agreement("c", {"inverse": 0.0, "gravity": wrong})


def test_an_export_is_the_same_every_time() -> None:
    first, second = (export_model(result_of(load_robot("rx90")), "c") for _ in range(2))
    assert isinstance(first, Export)
    assert [file.content for file in first.files] == [file.content for file in second.files]
