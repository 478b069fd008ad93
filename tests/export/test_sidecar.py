"""The file beside a model has all that the model file cannot hold: its sum is the whole torque."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from dynid.dynamics.operations import NUMERIC
from dynid.estimators.estimate import Further
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.export.export import export_model
from dynid.export.mjcf import to_mjcf
from dynid.export.model import Export
from dynid.export.urdf import to_urdf
from dynid.model.friction import FrictionTerm
from dynid.model.load import load_robot
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.robot import Robot
from support.evaluate import dynid_inverse, relative_error
from support.export_models import Array, model_of, states_of

STRIBECK = NonlinearTerm("Fs", "exp(-abs(qd)/vs)*sign(qd)", {"vs": 0.1}, joints=(1,), unit="N m")


def beside(export: Export) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(export.files[1].content)
    return content


def torques_beside(table: dict[str, Any], names: list[str], x: Any) -> Array:
    """What the table adds to the torques of the model file, from nothing but what is in it."""
    places = {name: k for k, name in enumerate(names)}
    total = np.zeros_like(x.q)
    entries = [(term, {joint["name"]: 1.0}) for joint in table["joints"] for term in joint["terms"]]
    entries += [(element, element["factors"]) for element in table["elements"]]
    for term, factors in entries:
        if term["in_model_file"]:
            continue
        sums = {
            symbol: sum(f * values[:, places[name]] for name, f in factors.items())
            for symbol, values in (("q", x.q), ("qd", x.qd), ("qdd", x.qdd))
        }
        value = NUMERIC.evaluate_named(term["expression"], sums)
        for name, factor in factors.items():
            total[:, places[name]] += term["value"] * factor * value
    for motor in (table["motors"] or {"terms": []})["terms"]:
        shares = np.array([motor["shares"][name] for name in names])
        rate = x.qdd if "qdd" in motor["law"] else x.qd
        if "sign" in motor["law"]:
            total += motor["value"] * np.sign(x.qd @ shares)[:, None] * shares
        else:
            total += motor["value"] * (rate @ shares)[:, None] * shares - motor["value"] * rate * shares**2
    return total


def everything() -> dict[str, Robot]:
    arm = load_robot("double_pendulum")
    law = FrictionTerm("Fq", "qd*abs(qd)")
    terms = ("Ia", "Fvp", "Fvn", "Fcp", "Fcn", "off", "Fq")
    return {
        "tx40_log": load_robot("tx40_log"),
        "elastic_drive": load_robot("elastic_drive"),
        "laws": replace(arm, friction=(law,), parameters={}, terms=terms),
    }


@pytest.mark.parametrize("form", ["urdf", "mjcf"])
@pytest.mark.parametrize("name", everything())
def test_model_file_and_the_file_beside_it_give_the_whole_torque(name: str, form: str) -> None:
    robot = everything()[name]
    model = model_of(robot)
    export = (to_urdf if form == "urdf" else to_mjcf)(model)
    read = (from_urdf_text if form == "urdf" else from_mjcf_text)(export.files[0].content.decode())
    read = read.with_gravity(*beside(export)["gravity"]["value"])
    x = states_of(robot)
    names = [robot.joints[j].name for j in robot.coordinates]
    assert [read.joints[j].name for j in read.coordinates] == names
    held = dynid_inverse(read, read.table.vector(read.parameters), x)
    whole = held + torques_beside(beside(export), names, x)
    assert relative_error(whole, dynid_inverse(robot, model.standard, x)) < 1e-12


def test_the_file_beside_names_the_model_file_by_its_hash() -> None:
    export = to_urdf(model_of(load_robot("ur10")))
    assert beside(export)["model_file"] == {
        "name": "ur10.urdf",
        "sha256": hashlib.sha256(export.files[0].content).hexdigest(),
    }
    assert (beside(export)["schema"], beside(export)["robot"]) == (1, "ur10")


def test_urdf_and_mjcf_of_one_name_lie_side_by_side(tmp_path: Path) -> None:
    result = model_of(load_robot("ur10")).result
    for form, model_file in (("urdf", "arm.urdf"), ("mjcf", "arm.xml")):
        export = export_model(result, form, tmp_path, name="arm")
        assert [file.name for file in export.files] == [model_file, f"{model_file}.dynid.json"]
        assert beside(export)["model_file"]["name"] == model_file
        assert all(f" in {model_file}.dynid.json." in sentence for sentence in export.lost)
    assert len(list(tmp_path.iterdir())) == 4


def test_added_terms_are_in_it_with_their_constants() -> None:
    robot = load_robot("ur10")
    further = Further(("Fs2", "vs2"), ("N m", "rad/s"), np.array([3.5, 0.07]), np.eye(2), terms=(STRIBECK,))
    export = to_mjcf(model_of(robot, further=further))
    assert "MJCF does not hold the added terms Fs: they are in ur10.xml.dynid.json." in export.lost
    assert beside(export)["added_terms"] == [
        {
            "name": "Fs2",
            "joint": robot.joints[1].name,
            "value": 3.5,
            "unit": "N m",
            "expression": STRIBECK.expression,
            "constants": {"vs": {"value": 0.07, "unit": ""}},
            "in_model_file": False,
        }
    ]


def test_equations_that_the_model_file_lacks_are_in_it() -> None:
    table = beside(to_urdf(model_of(load_robot("haptic"))))
    follows = {joint["name"]: joint["follows"] for joint in table["joints"]}
    assert follows["joint1"] is None
    assert follows["joint3"] == {"offset": pytest.approx(-np.pi), "factors": {"joint2": -1.0, "joint5": 1.0}}


def test_gears_that_couple_motors_are_in_it() -> None:
    export = to_urdf(model_of(load_robot("tx40_log")))
    drives = load_robot("tx40_log").drives
    assert drives is not None
    assert beside(export)["motors"]["ratio"] == [list(row) for row in drives.ratio]
    told = "URDF moves joints, not motors: the gears that couple them are in tx40_log.urdf.dynid.json."
    assert told in export.lost
