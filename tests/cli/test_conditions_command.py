"""Logs of several conditions through the commands: fit, validate, predict, check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.payload import attach_payload
from support.logs import csv_text, robot_log

Capsys = pytest.CaptureFixture[str]
PAYLOAD = LinkInertia.from_com(1.5, (0.05, 0.02, 0.1), [[0.01, 0, 0], [0, 0.02, 0], [0, 0, 0.01]], "payload")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Logs of an iiwa, free and with a payload, with friction that wobbles in neither."""
    place = tmp_path_factory.mktemp("conditions")
    free = load_robot("iiwa14")
    loaded = attach_payload(free, PAYLOAD)
    made = {}
    for name, robot, seed in (("free", free, 1), ("loaded", loaded, 2), ("other", loaded, 3)):
        log = robot_log(robot, seconds=12.0, seed=seed)
        path = place / f"{name}.csv"
        path.write_text(csv_text(log))
        made[name] = str(path)
    (place / "loaded.toml").write_text('condition = "loaded"\n')
    return made


@pytest.fixture(scope="module")
def folder(logs: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a fit over both conditions."""
    from dynid.cli.main import run

    out = tmp_path_factory.mktemp("result") / "fit"
    words = ["fit", "iiwa14", logs["free"], logs["loaded"], "--payload", "--validate", logs["other"]]
    assert run([*words, "--condition", "free", "loaded", "loaded", "--out", str(out), "--json"]) == 0
    return out


def test_a_fit_over_two_conditions_weighs_the_payload(capsys: Capsys, folder: Path) -> None:
    """Mass and first moments of the payload stand beside the arm's own parameters."""
    from dynid.results.load import load_result

    saved = load_result(folder)
    values = dict(zip(saved.model.base.names, saved.model.values, strict=True))
    assert values["ML"] == pytest.approx(1.5, rel=0.01)
    assert values["MZL"] == pytest.approx(0.15, rel=0.05)
    assert [c.name for c in saved.robot.conditions] == ["free", "loaded"]


def test_a_saved_model_predicts_each_condition(capsys: Capsys, folder: Path, logs: dict[str, str]) -> None:
    """A loaded log that is said to be free is not predicted."""
    right = dynid(capsys, "validate", str(folder), logs["other"], "--condition", "loaded", "--json")
    wrong = dynid(capsys, "validate", str(folder), logs["other"], "--condition", "free", "--json")
    errors = [said.document["full"]["relative_percent"][1] for said in (right, wrong)]
    assert right.code == 0
    assert errors[1] > 3 * errors[0]


def test_wrong_conditions_are_sentences(capsys: Capsys, logs: dict[str, str], tmp_path: Path) -> None:
    """Too few, unknown, missing."""
    base = ("fit", "iiwa14", logs["free"], logs["loaded"], "--payload", "--out", str(tmp_path / "x"))
    said = assert_one_sentence(dynid(capsys, *base, "--condition", "free", "loaded", "free"))
    assert said.startswith("--condition names 3 conditions for 2 logs; give one for all of them")
    said = assert_one_sentence(dynid(capsys, *base, "--condition", "free", "loadde"))
    assert said.startswith("Unknown condition 'loadde'. Did you mean 'loaded'? Known: free, loaded.")
    said = assert_one_sentence(dynid(capsys, *base, "--condition", "free"))
    assert "No log was taken in the condition 'loaded'" in said
    said = assert_one_sentence(dynid(capsys, *base))
    assert "so nothing shows what lives in it only (payload); name the condition of each log" in said
    plain = ("fit", "iiwa14", logs["free"], "--out", str(tmp_path / "y"), "--condition", "heavy")
    assert "Unknown condition 'heavy'" in assert_one_sentence(dynid(capsys, *plain))


def test_swapped_conditions_are_not_trusted(capsys: Capsys, logs: dict[str, str], tmp_path: Path) -> None:
    """The payload then has a negative mass, which no link has; the other way round nothing is said."""
    words = ("fit", "iiwa14", logs["free"], logs["loaded"], "--payload", "--out", str(tmp_path / "x"))
    said = dynid(capsys, *words, "--condition", "loaded", "free", "--json")
    assert said.code == 2
    told = [f for f in said.document["verdict"]["findings"] if f["name"] == "impossible values"]
    assert told[0]["level"] == "fail"
    assert told[0]["sentence"].startswith(
        "The link 'payload', which is there only in logs of the condition 'loaded', comes out with a "
        "negative mass: ML = -1.5 ± "
    )
    assert "(--condition): they may be swapped" in str(told[0])


def test_a_mapping_names_the_condition(capsys: Capsys, logs: dict[str, str]) -> None:
    """``condition = "loaded"`` in the mapping is as good as ``--condition``; a check looks at one log."""
    mapping = str(Path(logs["free"]).with_name("loaded.toml"))
    said = dynid(capsys, "check", logs["loaded"], "--map", mapping, "--json")
    assert said.code in (0, 2)
    assert "loaded" in repr(replace(robot_log(load_robot("scara")), condition="loaded"))
