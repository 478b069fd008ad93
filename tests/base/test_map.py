"""The map itself: torques are kept, formulas mean what the matrix says, misuse gets a sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from base.helpers import fresh_regressor, read, unexplained
from dynid.base import BaseMap, find_base, joint_bases
from dynid.base.forms import with_lengths
from dynid.core.errors import ModelError, NotTrustworthyError, ShapeError, UnknownNameError
from dynid.model.friction import FrictionTerm
from dynid.model.load import catalog, load_robot

ROBOTS = pytest.mark.parametrize("name", catalog())


@ROBOTS
def test_regroup_and_expand_give_equal_torques(name: str) -> None:
    base = find_base(load_robot(name))
    rng = np.random.default_rng(3)
    chi, prior = rng.normal(size=(2, len(base.robot.table)))
    W = fresh_regressor(base)
    torque = W @ chi
    scale = np.abs(torque).max()
    x = base.regroup(chi)
    assert np.abs(W[:, list(base.columns)] @ x - torque).max() < 1e-10 * scale
    for standard in (base.expand(x), base.expand(x, prior=prior)):
        assert np.abs(W @ standard - torque).max() < 1e-10 * scale
        assert base.regroup(standard) == pytest.approx(x, abs=1e-10)


@ROBOTS
def test_formulas_mean_what_the_matrix_says(name: str) -> None:
    base = find_base(load_robot(name))
    rng = np.random.default_rng(4)
    chi = rng.normal(size=len(base.robot.table))
    values = dict(zip(base.robot.table.names, chi, strict=True)) | dict(base.robot.lengths)
    assert [read(text, values) for text in base.formulas] == pytest.approx(list(base.regroup(chi)), abs=1e-8)
    assert [text.split(" = ")[0] for text in base.formulas] == list(base.names)


@pytest.mark.parametrize("name", ["scara", "tx40", "tx90", "iiwa14", "tx40_log"])
def test_formulas_hold_for_other_lengths(name: str) -> None:
    """The coefficients are true polynomials, not numbers dressed as such."""
    robot = load_robot(name)
    other = {length: 0.3 + 0.17 * i for i, length in enumerate(robot.lengths)}
    here, there = find_base(robot), find_base(with_lengths(robot, other))
    assert here.formulas == there.formulas
    chi = np.random.default_rng(8).normal(size=len(robot.table))
    values = dict(zip(robot.table.names, chi, strict=True)) | other
    assert [read(text, values) for text in here.formulas] == pytest.approx(list(there.regroup(chi)), abs=1e-9)


@pytest.mark.parametrize("name", ["scara", "tx90", "iiwa14"])
def test_recognised_formulas_are_those_of_the_closed_form(name: str) -> None:
    robot = load_robot(name)
    assert find_base(robot, method="numeric").formulas == find_base(robot).formulas


def test_a_negative_length_keeps_its_name_and_sign() -> None:
    robot = load_robot("double_pendulum")
    turned = replace(robot.joints[1], d=-0.2, symbols={"d": "-l1"})
    base = find_base(replace(robot, joints=(robot.joints[0], turned)))
    assert base.formulas[:2] == ("ZZ1R = ZZ1 + l1^2*M2", "MX1R = MX1 - l1*M2")


def test_a_length_that_no_longer_fits_its_name_is_printed_as_a_number() -> None:
    robot = load_robot("double_pendulum")
    moved = replace(robot.joints[1], d=0.3)
    base = find_base(replace(robot, joints=(robot.joints[0], moved)))
    assert base.formulas[:2] == ("ZZ1R = ZZ1 + 0.09*M2", "MX1R = MX1 + 0.3*M2")


def test_prior_stays_where_the_torques_do_not_care() -> None:
    base = find_base(load_robot("rx90"))
    prior = dict.fromkeys(base.robot.table.names, 0.5)
    kept = base.expand(base.regroup(prior), prior=prior)
    assert kept == pytest.approx(np.full(len(base.robot.table), 0.5), abs=1e-12)
    moved = base.expand(base.regroup(prior) + 1.0, prior=prior)
    unseen = base.robot.table.indices(base.unseen)
    assert moved[list(unseen)] == pytest.approx(np.full(len(unseen), 0.5), abs=1e-12)


def test_names_units_and_unseen() -> None:
    base = find_base(load_robot("tx40"))
    assert base.names[:5] == ("ZZ1R", "Fv1", "Fc1", "off1", "XX2R")
    assert "XY2 = XY2" in base.formulas
    assert dict(zip(base.names, base.units, strict=True))["MX2R"] == "kg m"
    expected = "XX1 XY1 XZ1 YY1 YZ1 MX1 MY1 MZ1 M1 MZ2 M2"
    assert base.unseen == tuple(expected.split())


@pytest.mark.parametrize("name", ["tx90", "haptic", "emps"])
def test_json_form(name: str) -> None:
    base = find_base(load_robot(name), method="numeric")
    content = json.loads(json.dumps(base.to_dict(), allow_nan=False))
    assert content["n_base"] == len(base) == len(content["base"])
    assert content["n_standard"] == len(base.robot.table)
    assert content["method"] == "numeric"
    assert content["base"][0] == {
        "name": base.names[0],
        "formula": base.formulas[0],
        "unit": base.units[0],
    }
    assert content["unseen"] == list(base.unseen)
    # Nothing is dropped by rank on the one-axis bench, so there is no gap to report.
    assert (content["rank_gap"] is None) == (name == "emps")


def test_gap_is_reported_and_wide() -> None:
    for name in ("tx40", "haptic", "iiwa14"):
        assert find_base(load_robot(name), method="numeric").rank_gap > 1e10
    assert find_base(load_robot("iiwa14")).rank_gap > 1e10


def test_results_repeat_and_do_not_depend_on_the_seed() -> None:
    robot = load_robot("haptic")
    first, again = find_base(robot), find_base(robot)
    other = find_base(robot, rng=np.random.default_rng(7))
    assert np.array_equal(first.matrix, again.matrix)
    assert first.columns == other.columns
    assert np.abs(first.matrix - other.matrix).max() < 1e-9


def test_the_order_of_links_decides_which_columns_are_kept() -> None:
    robot = load_robot("tx40")
    usual = find_base(robot, method="numeric")
    tip_first = find_base(robot, order=(5, 4, 3, 2, 1, 0))
    assert tip_first.method == "numeric"
    assert len(tip_first) == len(usual)
    assert set(tip_first.columns) != set(usual.columns)
    assert robot.table.index("M6") in tip_first.columns
    assert tip_first.columns[0] == robot.table.index("XX6")
    assert unexplained(tip_first) < 1e-10


def test_torques_of_some_joints() -> None:
    robot = load_robot("rx90")
    base = find_base(robot, rows=(4, 3))
    assert base.rows == (3, 4)
    assert base.method == "numeric"
    assert unexplained(base) < 1e-10
    assert {"Fv1", "ZZ1", "M6"} <= set(base.unseen)
    joint4, joint5 = joint_bases(robot)[3:5]
    assert set(joint5.columns) <= set(base.columns)
    assert len(base) >= len(joint4)


def test_the_matrix_cannot_be_changed() -> None:
    base = find_base(load_robot("scara"))
    with pytest.raises(ValueError, match="read-only"):
        base.matrix[0, 0] = 2.0


def _scara() -> BaseMap:
    return find_base(load_robot("scara"))


def test_wrong_shapes_get_a_sentence() -> None:
    with pytest.raises(ShapeError, match=r"base parameters have shape \(3,\); expected \(8,\)"):
        _scara().expand([1, 2, 3])
    with pytest.raises(ShapeError, match=r"standard parameters have shape \(3,\); expected \(24,\)"):
        _scara().regroup([1, 2, 3])
    with pytest.raises(UnknownNameError, match="Unknown parameter 'ZZ9'"):
        _scara().regroup({"ZZ9": 1.0})


def test_wrong_choices_get_a_sentence() -> None:
    robot = load_robot("scara")
    with pytest.raises(UnknownNameError, match="Did you mean 'numeric'"):
        find_base(robot, method="numerical")
    with pytest.raises(ModelError, match="give each of the joint indices 0 … 1 once"):
        find_base(robot, order=(0, 0))
    for rows in ((2,), (), (0, 0)):
        with pytest.raises(ModelError, match="give some of the coordinates 0 … 1, each once"):
            find_base(robot, rows=rows)
    with pytest.raises(
        ModelError, match=r"keeps the earliest columns in the order of the joints.*numeric method"
    ):
        find_base(robot, method="closed-form", order=(1, 0))
    with pytest.raises(ModelError, match="is for the torques of all 2 coordinates"):
        find_base(robot, method="closed-form", rows=(0,))
    with pytest.raises(ModelError, match="'haptic' has closed loops"):
        find_base(load_robot("haptic"), method="closed-form")


@pytest.mark.parametrize("method", ["closed-form", "numeric"])
def test_an_unclear_rank_is_not_trusted(method: str) -> None:
    nearly = (FrictionTerm("Fa", "sign(qd) + 4e-9*q*qd"), FrictionTerm("Fb", "sign(qd) + 4e-10*q^2"))
    robot = replace(load_robot("scara"), terms=("Fc", "Fa", "Fb"), friction=nearly, parameters={})
    with pytest.raises(NotTrustworthyError, match=r"not clear: the gap .* at least 10000 .*hardly differ"):
        find_base(robot, method=method)


@pytest.mark.parametrize("method", ["closed-form", "numeric"])
def test_a_law_without_values_gets_a_sentence(method: str) -> None:
    law = FrictionTerm("Fl", "log(q)")
    robot = replace(load_robot("scara"), terms=("Fl",), friction=(law,), parameters={})
    with pytest.raises(ModelError, match=r"Fl1.*is not finite"):
        find_base(robot, method=method)


def test_rules_that_hold_a_length_are_named_too() -> None:
    """Without gravity the iiwa's first moments of link 3 act as inertias at the distance d3."""
    base = find_base(load_robot("iiwa14").with_gravity(0, 0, 0))
    assert base.method == "closed-form"
    assert "XZ3R = XZ3 - d3*MX3" in base.formulas
    assert "YZ3R = YZ3 - d3*(MY3-MZ4)" in base.formulas
    assert {"XY2", "YZ2"} <= set(base.names)


@pytest.mark.parametrize("method", ["closed-form", "numeric"])
def test_a_rounded_right_angle_is_found_out(method: str) -> None:
    """1.5708 for π/2 tilts axis 2 by 4e-6 rad: Ia2 becomes independent by rank, and of no use."""
    robot = load_robot("tx40")
    assert find_base(robot, method=method).nearly_dependent == ()
    tilted = replace(
        robot, joints=(robot.joints[0], replace(robot.joints[1], alpha=1.5708), *robot.joints[2:])
    )
    base = find_base(tilted, method=method)
    assert len(base) == 59
    assert base.nearly_dependent == ("Ia2",)
