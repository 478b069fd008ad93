"""Options that one estimator alone takes: they reach it, change what it finds, and others refuse them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from cli.scara_logs import Capsys, distance, fit, strategy, values, write_all
from dynid import estimators
from dynid.cli.estimation import LOOP_METHODS, METHODS, SETTINGS, SettingOptions
from dynid.results.load import load_result
from support.estimation import scara


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("logs"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_option_has_a_setting_whose_field_the_strategy_has() -> None:
    assert {field.name for field in fields(SettingOptions)} <= set(SETTINGS)
    for setting in SETTINGS.values():
        for method in setting.methods:
            kind = getattr(estimators, (METHODS | LOOP_METHODS)[method])
            assert setting.field in {field.name for field in fields(kind)}


GIVEN = {
    "loss": "bisquare",
    "tuning": "3",
    "prior": "prior.toml",
    "prior_sigma": "0.1",
    "strength": "auto",
}


@pytest.mark.parametrize("name", GIVEN)
def test_other_methods_refuse_an_option(folder: Path, capsys: Capsys, name: str) -> None:
    owners, option = SETTINGS[name].methods, f"--{name.replace('_', '-')}"
    for method in (*METHODS, *LOOP_METHODS):
        if method not in owners:
            command = ("fit", "scara", str(folder / "plain.csv"), "--method", method, option, GIVEN[name])
            told = assert_one_sentence(dynid(capsys, *command))
            assert told == f"{option} is for --method {' or '.join(owners)}, and --method is {method}."
    assert not Path("out").exists()


def test_the_bisquare_ignores_what_huber_only_plays_down(folder: Path, capsys: Capsys) -> None:
    plain, huber, bisquare = (
        distance(fit(capsys, folder, "knocked", *options))
        for options in ((), ("--method", "irls"), ("--method", "irls", "--loss", "bisquare"))
    )
    assert bisquare < 0.2 * plain
    assert bisquare < 0.5 * huber < 0.5 * plain
    assert strategy()["loss"] == "bisquare"


def test_a_wide_tuning_is_least_squares_and_a_narrow_one_is_not(folder: Path, capsys: Capsys) -> None:
    irls = ("--method", "irls", "--tuning")
    wide, narrow = (distance(fit(capsys, folder, "knocked", *irls, tuning)) for tuning in ("1000", "0.5"))
    assert strategy()["tuning"] == 0.5
    # Without any row played down only the weights of the joints are left.
    assert wide > 2 * narrow


def test_a_prior_pulls_as_strongly_as_it_is_told(folder: Path, capsys: Capsys) -> None:
    base, truth = scara()
    prior = dict(zip(base.names, (1.3 * truth).tolist(), strict=True))
    Path("prior.toml").write_text("".join(f"{name} = {value!r}\n" for name, value in prior.items()))
    ridge = ("--method", "ridge", "--prior", "prior.toml")
    free = values(fit(capsys, folder, "noisy"))
    by_strength = [values(fit(capsys, folder, "noisy", *ridge, "--strength", s)) for s in ("0", "1e4", "1e9")]
    assert by_strength[0] == pytest.approx(free)
    assert by_strength[2] == pytest.approx(prior, rel=1e-4)
    far = [sum(abs(found[name] / prior[name] - 1) for name in prior) for found in by_strength]
    assert far[0] > 1.1 * far[1] > 10 * far[2]
    sure, doubtful = (
        values(fit(capsys, folder, "noisy", *ridge, "--prior-sigma", share)) for share in ("1e-6", "1e6")
    )
    assert sure == pytest.approx(prior, rel=1e-4)
    assert doubtful == pytest.approx(free, rel=1e-4)


def test_the_report_compares_with_the_prior_that_was_given(folder: Path, capsys: Capsys) -> None:
    Path("prior.json").write_text(json.dumps({"parameters": {"MX2": 0.5, "Fv1": 0.1}}))
    fit(capsys, folder, "plain", "--method", "ridge", "--prior", "prior.json", "--essential")
    inner = strategy()["strategy"]
    assert (inner["prior"]["MX2"], inner["prior"]["Fv1"], inner["prior"]["ZZ2"]) == (0.5, 0.1, 0.0)
    rows = {row["name"]: row for row in load_result(Path("out/fit")).document["parameters"]}
    assert (rows["MX2"]["prior"], rows["ZZ2"]["prior"]) == (0.5, 0.0)


def test_without_a_file_the_robot_s_own_values_are_the_prior(folder: Path, capsys: Capsys) -> None:
    base, _ = scara()
    own = dict(zip(base.names, base.regroup(base.robot.parameters), strict=True))
    found = values(fit(capsys, folder, "noisy", "--method", "ridge", "--prior-sigma", "1e-6"))
    assert found == pytest.approx(own, rel=1e-3, abs=1e-4)
    assert strategy()["prior"] is None


def test_an_earlier_result_is_a_prior(folder: Path, capsys: Capsys) -> None:
    before = values(fit(capsys, folder, "plain", "--out", "before"))
    ridge = ("--method", "ridge", "--prior", "before", "--strength", "1e9")
    assert values(fit(capsys, folder, "noisy", *ridge)) == pytest.approx(before, rel=1e-3)


def test_the_strength_can_be_left_to_the_torques(folder: Path, capsys: Capsys) -> None:
    found = fit(capsys, folder, "plain", "--method", "ridge", "--strength", "auto")
    assert strategy()["strength"] == "auto"
    assert distance(found) < 0.1


PRIORS = {
    "unknown": ("prior.toml", "ZZ9 = 1.0", "Parameter file prior.toml: Unknown parameter 'ZZ9'"),
    "not a number": ("prior.toml", "Fv1 = nan", "Fv1 is nan; it must be a finite number."),
    "infinite": ("prior.json", '{"Fv1": Infinity}', "Fv1 is inf; it must be a finite number."),
    "text": ("prior.toml", 'Fv1 = "much"', "Fv1 is 'much'; it must be a number."),
    "truth": ("prior.json", '{"Fv1": true}', "Fv1 is True; it must be a number."),
    "list": ("prior.json", "[1, 2]", "The parameters are [1, 2]; give names and values."),
    "empty": ("prior.toml", "", "There are no parameters in it"),
    "both kinds": ("prior.toml", "ZZ1R = 1.0\nZZ1 = 1.0", "ZZ1R is a base parameter and ZZ1 a standard one"),
    "no TOML": ("prior.toml", "=", "The parameter file prior.toml is not TOML"),
    "no JSON": ("prior.json", "{", "The parameter file prior.json is not JSON"),
    "deep": ("prior.json", "[" * 100_000, "The parameter file prior.json is not JSON"),
    "huge": ("prior.toml", "#" * 20_000_001, "has 20 MB; at most 20 MB are read."),
    "absent": ("other.toml", "Fv1 = 1.0", "There is no parameter file at prior.toml."),
}


@pytest.mark.parametrize(("name", "text", "part"), PRIORS.values(), ids=PRIORS)
def test_bad_priors_are_told_before_the_log_is_read(capsys: Capsys, name: str, text: str, part: str) -> None:
    Path(name).write_text(text)
    given = name if name.startswith("prior") else "prior.toml"
    said = dynid(capsys, "fit", "scara", "no.csv", "--method", "ridge", "--prior", given)
    assert part in assert_one_sentence(said)


BAD = {
    "loss": (("irls", "--loss", "bisqare"), "Unknown loss 'bisqare'. Did you mean 'bisquare'?"),
    "tuning": (("irls", "--tuning", "0"), "The tuning of IRLS is 0.0; it must be positive and finite."),
    "tuning nan": (("irls", "--tuning", "nan"), "The tuning of IRLS is nan; it must be positive and finite."),
    "tuning inf": (("irls", "--tuning", "inf"), "The tuning of IRLS is inf; it must be positive and finite."),
    "tuning text": (("irls", "--tuning", "much"), "see dynid fit --help."),
    "strength": (
        ("ridge", "--strength", "much"),
        "The strength of the prior is 'much'; give a number from 0",
    ),
    "negative": (("ridge", "--strength", "-1"), "The strength of the prior is -1.0; give a number from 0 on"),
    "endless": (("ridge", "--strength", "inf"), "The strength of the prior is inf; give a number from 0 on"),
    "sigma": (("ridge", "--prior-sigma", "0"), "The relative sigma of the prior is 0.0; it must be positive"),
    "friction": (("wls", "--add", "stribek"), "Unknown term to add 'stribek'. Did you mean 'stribeck'?"),
    "nothing": (("wls", "--add", ""), "Unknown term to add ''"),
    "joint": (("wls", "--add", "load@1,7"), "Unknown term to add '7'"),
    "one joint": (
        ("wls", "--add", "load@7"),
        "Unknown joint of the term 'load' '7'. Known: 1, 2, joint1",
    ),
    "no joint": (("wls", "--add", "load@"), "Unknown joint of the term 'load' ''"),
    "half": (("separable", "--add", "load,"), "Unknown term to add ''"),
    "robot's own": (("ols", "--add", "viscous@2"), "Robot 'scara' has viscous friction already (Fv2)"),
    "auto and names": (("wls", "--add", "auto,load"), "add has 'auto' beside 'load'"),
    "none and names": (("wls", "--add", "none", "--add", "load"), "add has 'none' beside 'load'"),
    "method": (
        ("irls", "--add", "auto"),
        "Terms can be added to fits by OLS and WLS, and the estimator is IRLS",
    ),
}


@pytest.mark.parametrize(("options", "part"), BAD.values(), ids=BAD)
def test_bad_values_are_told_before_the_log_is_read(
    capsys: Capsys, options: tuple[str, ...], part: str
) -> None:
    assert part in assert_one_sentence(dynid(capsys, "fit", "scara", "no.csv", "--method", *options))
    assert not Path("out").exists()
