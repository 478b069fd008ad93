"""``dynid fit`` and its result folder: safe from mistakes, from other fits and from kills."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.results.load import load_result

FILES = ["arrays.npz", "parameters.csv", "report.html", "result.json"]
Capsys = pytest.CaptureFixture[str]


def command_of(logs: Path, *options: str) -> list[str]:
    log, plan = str(logs / "run1.csv"), str(logs / "plan.toml")
    return [sys.executable, "-m", "dynid.cli.main", "fit", "scara", log, "--plan", plan, *options]


def names_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_force_keeps_foreign_files_and_the_log_beside_the_result(logs: Path, capsys: Capsys) -> None:
    """The log that is fitted lies in the folder that is written."""
    given = (logs / "run1.csv").read_bytes()
    assert dynid(capsys, "fit", "scara", str(logs / "run1.csv"), "--out", "found").code == 0
    Path("found/log.csv").write_bytes(given)
    Path("found/notes").mkdir()
    Path("found/notes/thesis.txt").write_text("years of work")
    assert dynid(capsys, "fit", "scara", "found/log.csv", "--out", "found", "--force").code == 0
    assert names_in("found") == sorted([*FILES, "log.csv", "notes"])
    assert Path("found/log.csv").read_bytes() == given
    assert Path("found/notes/thesis.txt").read_text() == "years of work"
    assert str(load_result(Path("found")).run["inputs"][0]["path"]) == str(Path("found/log.csv"))


def test_an_input_that_would_be_replaced_is_refused(logs: Path, capsys: Capsys) -> None:
    """A log, a mapping or a prior under one of the names that a result has."""
    log = str(logs / "run1.csv")
    assert dynid(capsys, "fit", "scara", log, "--out", "found").code == 0
    Path("found/parameters.csv").write_bytes((logs / "run1.csv").read_bytes())
    ridge = ("--method", "ridge", "--strength", "1e-3", "--prior", "found")
    for given, options in (
        ("found/parameters.csv", ()),
        (log, ("--validate", "found/parameters.csv")),
        (log, ("--map", "found/result.json")),
        (log, ridge),
    ):
        before = {name: Path("found", name).read_bytes() for name in FILES}
        said = dynid(capsys, "fit", "scara", given, *options, "--out", "found", "--force")
        told = assert_one_sentence(said)
        if "--map" not in options:
            assert told.endswith("would be replaced by the result in found; choose another folder (--out).")
        assert {name: Path("found", name).read_bytes() for name in FILES} == before
    Path("scara").mkdir()  # the name of a robot is not taken for the folder
    assert dynid(capsys, "fit", "scara", log, "--out", "scara").code == 0
    assert dynid(capsys, "fit", "scara", log, "--out", "scara", "--force").code == 0


def test_a_fit_that_fails_leaves_no_folder(logs: Path, capsys: Capsys) -> None:
    for log in ("still.csv", "missing.csv"):
        assert dynid(capsys, "fit", "scara", str(logs / log), "--out", "a/b/c").code != 0
    assert names_in(".") == []


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["first", "force"])
def test_of_two_fits_at_once_one_wins_and_the_other_is_told(logs: Path, force: tuple[str, ...]) -> None:
    command = command_of(logs, "--out", "found", *force)
    if force:
        assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    pair = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate()[1] for process in pair]
    codes = [process.returncode for process in pair]
    if codes == [0, 0] and force:
        pytest.skip("the first one had finished before the second one began")
    assert sorted(codes) == [0, 1]
    loser = told[codes.index(1)]
    assert loser.count("\n") == 1
    assert "Another dynid process is writing to found; wait" in loser or "found exists already" in loser
    assert told[codes.index(0)] == ""
    assert names_in("found") == FILES
    load_result(Path("found"))


KILLS = 200


@pytest.mark.slow
def test_two_hundred_kills_leave_the_old_result_or_the_new_one(logs: Path) -> None:
    """Half of them at any moment of the fit, half of them while it saves."""
    rng = random.Random(0)
    commands, values = {}, {}
    for method in ("ols", "wls"):
        commands[method] = command_of(logs, "--method", method, "--out", "found", "--force")
        started = time.perf_counter()
        assert subprocess.run(commands[method], check=False, capture_output=True).returncode == 0
        seconds = time.perf_counter() - started
        values[method] = load_result(Path("found")).values
    assert not np.array_equal(values["ols"], values["wls"])
    seen = {"killed": 0, "finished": 0, "old": 0, "new": 0, "left": 0}
    current = "wls"
    while seen["killed"] < KILLS:
        other = "ols" if current == "wls" else "wls"
        before = set(Path("found").glob(".dynid-*-*"))
        with subprocess.Popen(commands[other], stdout=subprocess.DEVNULL) as process:
            if rng.random() < 0.5:
                time.sleep(rng.uniform(0.0, 1.1 * seconds))
            else:
                while process.poll() is None and not set(Path("found").glob(".dynid-*-*")) - before:
                    time.sleep(0.0002)
                time.sleep(rng.uniform(0.0, 0.05))
            process.kill()
        seen["finished" if process.returncode == 0 else "killed"] += 1
        found = load_result(Path("found"))
        method = str(found.section("estimate")["strategy"]["name"]).lower()
        assert np.array_equal(found.values, values[method]), "the parts of two results are mixed"
        seen["old" if method == current else "new"] += 1
        seen["left"] += names_in("found") != FILES
        current = method
    print(seen)
    assert min(seen["old"], seen["new"]) > KILLS / 20
    assert subprocess.run(commands["ols"], check=False, capture_output=True).returncode == 0
    assert names_in("found") == FILES
    assert names_in(".") == ["found"]
