"""``dynid fit --method separable``, and what other commands make of its results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from cli.scara_logs import LOAD_TRUTH, Capsys, distance, fit, strategy, values, write_all
from dynid.model.load import load_robot
from dynid.results.load import load_result
from dynid.simulation import Accuracy, load_controller, load_reference, simulate
from support.estimation import STRIBECK_TRUTH


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("logs"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_stribeck_friction_is_found_and_proven(folder: Path, capsys: Capsys) -> None:
    proof = ("--validate", str(folder / "sticky2.csv"))
    linear = fit(capsys, folder, "sticky", "--out", "linear", *proof)
    assert linear["further"] == []
    found = fit(capsys, folder, "sticky", "--method", "separable", *proof)
    assert values(found, "further") == pytest.approx(STRIBECK_TRUTH, rel=0.15)
    assert [row["unit"] for row in found["further"]] == ["N m", "N m", "rad/s", "rad/s"]
    assert found["validation"]["overall_percent"] < 0.8 * linear["validation"]["overall_percent"]
    assert distance(found) < 0.5 * distance(linear)
    again = dynid(capsys, "validate", "out/fit", str(folder / "sticky2.csv"), "--json").document
    assert again["decimated" if again["decimated"] else "full"]["overall_percent"] == pytest.approx(
        found["validation"]["overall_percent"]
    )


def test_friction_that_grows_with_the_load(folder: Path, capsys: Capsys) -> None:
    found = fit(capsys, folder, "load", "--add", "load")
    assert values(found, "further") == pytest.approx(LOAD_TRUTH, rel=0.15)


@pytest.mark.parametrize(
    "options",
    [
        ("--add", "stribeck,load"),
        ("--add", "stribeck", "--add", "load"),
        ("--add", "stribeck, load,stribeck"),
    ],
)
def test_several_terms(folder: Path, capsys: Capsys, options: tuple[str, ...]) -> None:
    found = values(fit(capsys, folder, "sticky", "--method", "separable", *options), "further")
    assert list(found) == ["Fs1", "Fs2", "Fl1", "Fl2", "vs1", "vs2"]
    assert found["Fs1"] == pytest.approx(STRIBECK_TRUTH["Fs1"], rel=0.15)
    assert abs(found["Fl1"]) < 0.05


def test_terms_on_some_joints_only(folder: Path, capsys: Capsys) -> None:
    options = ("--add", "stribeck@1,load@2", "--add", "load@1,2")
    found = values(fit(capsys, folder, "sticky", "--method", "separable", *options), "further")
    assert list(found) == ["Fs1", "Fl1", "Fl2", "vs1"]
    assert [term["joints"] for term in strategy()["terms"]] == [[0], None]


@pytest.mark.parametrize("uncertainty", ["hac", "bootstrap"])
def test_every_uncertainty_knows_the_further_parameters(
    folder: Path, capsys: Capsys, uncertainty: str
) -> None:
    options = ("--method", "separable", "--uncertainty")
    plain, other = (
        fit(capsys, folder, "sticky", *options, kind)["further"] for kind in ("classical", uncertainty)
    )
    for a, b in zip(plain, other, strict=True):
        assert a["value"] == b["value"]
        assert 0.3 < b["sigma"] / a["sigma"] < 3


@pytest.mark.parametrize("rule", ["sigma", "residual", "f-test"])
def test_essential_parameters_beside_nonlinear_friction(folder: Path, capsys: Capsys, rule: str) -> None:
    found = fit(capsys, folder, "sticky", "--method", "separable", "--essential", "--rule", rule)
    assert values(found, "further") == pytest.approx(STRIBECK_TRUTH, rel=0.2)
    facts = load_result(Path("out/fit")).document["estimate"]["facts"]["essential"]
    # Against the residual without the term nothing would seem to be lost.
    assert 1.0 <= facts["residual_ratio"] < 1.04
    assert values(found)["ZZ1R"] == pytest.approx(3.45, rel=0.05)


def test_people_read_the_further_parameters_everywhere(folder: Path, capsys: Capsys) -> None:
    log, plan = str(folder / "sticky.csv"), str(folder / "plan.toml")
    command = ("fit", "scara", log, "--plan", plan, "--out")
    assert dynid(capsys, *command, "linear").code in (0, 2)
    said = dynid(capsys, *command, "bent", "--method", "separable")
    assert "added terms:" in said.out
    assert "Fs1 " in said.out
    assert "rad/s" in said.out
    assert "\nvs2," in Path("bent/parameters.csv").read_text(encoding="utf-8")
    page = Path("bent/report.html").read_text(encoding="utf-8")
    assert "8 base parameters and 4 of added terms" in page
    assert "Fs2 × sign(qd) * exp(-(qd / vs)^2)" in page
    assert "<dt>Kept</dt><dd><b>8</b> of 8</dd>" in page
    assert "vs1" in load_result(Path("bent")).document["correlation"]["names"]
    Path("bent/report.html").unlink()
    assert dynid(capsys, "report", "bent").code == 0
    assert Path("bent/report.html").read_text(encoding="utf-8") == page
    compared = dynid(capsys, "compare", "linear", "bent", "--json").document
    rows = {row["name"]: row for row in compared["parameters"]}
    assert rows["Fs1"]["values"][0] is None
    assert rows["Fs1"]["values"][1] == pytest.approx(STRIBECK_TRUTH["Fs1"], rel=0.15)
    assert rows["Fs1"]["unit"] == "N m"
    # Fc takes up what Fs does not explain, so it differs; that is no disagreement about the robot.
    assert rows["Fc1"]["largest_gap_sigma"] > 4
    assert "Fc1" not in compared["sentence"]


def test_different_models_of_friction_may_agree(folder: Path, capsys: Capsys) -> None:
    fit(capsys, folder, "plain", "--out", "linear")
    fit(capsys, folder, "plain", "--out", "bent", "--method", "separable")
    said = dynid(capsys, "compare", "linear", "bent", "--json")
    compared = said.document
    assert (said.code, compared["agree"]) == (0, True), compared["sentence"]
    assert "no parameter but of friction, whose models differ," in compared["sentence"]


SIMULATED = ("simulate", "scara", "--controller", "scara", "--reference", "scara", "--friction", "stick")


def test_what_knows_only_standard_parameters_refuses_nonlinear_friction(folder: Path, capsys: Capsys) -> None:
    fit(capsys, folder, "sticky", "--method", "separable", "--out", "bent")
    Path("law.toml").write_text('kind = "pd"\nrate_hz = 200\nkp = 50\nkd = 5\nfeedforward = "bent"\n')
    fed = (*SIMULATED[:2], "--controller", "law.toml", *SIMULATED[4:])
    ridge = ("fit", "scara", "no.csv", "--method", "ridge", "--prior", "bent")
    for command in (fed, ridge):
        told = assert_one_sentence(dynid(capsys, *command))
        assert "The result in bent has terms beside the robot's own (Fs1, Fs2, vs1, vs2)" in told


def test_a_result_moves_the_robot_with_its_added_terms(folder: Path, capsys: Capsys) -> None:
    """Fitted, saved, loaded, simulated and fitted again: the coefficients come back."""
    known = values(fit(capsys, folder, "load", "--add", "load,stribeck@1", "--out", "bent"), "further")
    said = dynid(capsys, *SIMULATED, "--parameters", "bent", "--out", "log.csv", "--json")
    assert said.code == 0, said.err
    again = dynid(capsys, "fit", "scara", "log.csv", "--add", "load", "--force", "--json").document
    found = values(again, "further")
    assert found == pytest.approx({name: known[name] for name in ("Fl1", "Fl2")}, rel=0.05)
    # Python simulates the same.
    saved, robot = load_result("bent"), load_robot("scara")
    law = load_controller("scara", robot)
    reference = load_reference("scara", robot, law.sample_time)
    own = saved.base.expand(saved.values)
    run = simulate(robot, own, law, reference, accuracy=Accuracy("stick"), added=saved.added_torques)
    assert [term.joint for term in saved.added_torques] == [0, 1, 0]
    np.testing.assert_allclose(np.loadtxt("log.csv", delimiter=",", skiprows=1)[:, 1:3], run.q, atol=1e-9)
    plain = simulate(robot, own, law, reference, accuracy=Accuracy("stick"))
    assert np.abs(plain.tau - run.tau).max() > 0.1


@pytest.mark.parametrize(
    "more",
    [(), ("--essential",), ("--method", "wls", "--add", "auto"), ("--method", "wls", "--add", "ripple@1")],
)
def test_a_long_log_is_refused(
    folder: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    log = str(folder / "sticky.csv")
    told = assert_one_sentence(dynid(capsys, "fit", "scara", log, "--method", "separable", *more))
    assert told.startswith("This estimator needs the motions of the whole log, and ")
    assert "log 'sticky' is too long to be held in memory; cut it, or use an estimator that is linear" in told


def test_a_sliding_axis_has_forces_and_metres(tmp_path: Path, capsys: Capsys) -> None:
    t = np.arange(3000) / 250.0
    angle = 2 * np.pi * t / 12.0
    q = 0.2 * np.sin(3 * angle) + 0.05 * np.cos(7 * angle)
    qd, qdd = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
    force = 95 * qdd + 200 * qd + 20 * np.sign(qd) * (1 + 0.5 * np.exp(-((qd / 0.05) ** 2)))
    force += 0.3 * np.random.default_rng(0).normal(size=len(t))
    rows = np.column_stack([t, q, force])
    np.savetxt("axis.csv", rows, delimiter=",", header="time,q1,tau1", comments="", fmt="%.10g")
    said = dynid(capsys, "fit", "emps", "axis.csv", "--method", "separable", "--json")
    rows_found = said.document["further"]
    assert {row["name"]: row["unit"] for row in rows_found} == {"Fs1": "N", "vs1": "m/s"}
    assert rows_found[0]["value"] == pytest.approx(10, rel=0.2)
