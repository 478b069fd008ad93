"""The public face: few names, short reprs, one import for the main job, a reference that lists it all."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]
MOST_NAMES = 40
MOST_LINES = 15


@pytest.fixture(scope="module")
def logs() -> tuple[dynid.Log, dynid.Log]:
    """Two simulated experiments of the SCARA."""
    robot, made = dynid.load_robot("scara"), []
    sensors = dynid.simulation.Sensors(position_noise=4e-5, torque_noise_relative=0.02)
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        phases = rng.uniform(0, 6, (2, 2)).tolist()
        sines = dynid.simulation.Sines(((2.0, 1.0), (0.8, 0.4)), ((0.08, 0.15), (0.11, 0.3)), phases)
        reference = sines.sample(0.005, 40.0)
        law = dynid.load_controller("scara", robot)
        made.append(dynid.simulate(robot, None, law, reference, sensors=sensors, rng=rng).log)
    return made[0], made[1]


def test_few_names_and_no_deeper_import() -> None:
    assert len(dynid.__all__) <= MOST_NAMES
    deeper = re.compile(r"^\s*(from dynid\.|import dynid\.)", re.MULTILINE)
    assert [page.name for page in PAGES if deeper.search(page.read_text(encoding="utf-8"))] == []


def test_every_noun_has_a_short_repr(logs: tuple[dynid.Log, dynid.Log]) -> None:
    robot = dynid.load_robot("scara")
    result = dynid.fit(robot, logs[0], validate=logs[1])
    nouns = [
        *(robot, logs[0], dynid.check(logs[0], robot), result, result.estimate, result.estimate.problem),
        *(result.plan, result.motions[0], result.own, result.estimate.problem.base, dynid.kernels(robot)),
    ]
    long = {type(noun).__name__: repr(noun).count("\n") + 1 for noun in nouns}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}
    assert {type(noun).__name__: len(repr(noun)) for noun in nouns if len(repr(noun)) > 4000} == {}


def test_the_result_shows_itself(logs: tuple[dynid.Log, dynid.Log], tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="a table of parameters needs the plots extra")
    pytest.importorskip("matplotlib", reason="a plot needs the plots extra")
    result = dynid.fit(dynid.load_robot("scara"), logs[0], validate=logs[1])
    text = result.summary()
    assert text.splitlines()[0] == result.document["verdict"]["words"]
    assert all(f"joint{j}" in text for j in (1, 2))
    assert [f["sentence"] in text for f in result.document["verdict"]["findings"]]
    frame = result.to_frame()
    assert list(frame.index) == list(result.estimate.names)
    assert np.allclose(frame["value"], result.estimate.values)
    result.plot(str(tmp_path / "torques.png"))
    assert (tmp_path / "torques.png").stat().st_size > 1000
    assert result.document["verdict"]["words"] in result._repr_html_()


def test_a_saved_result_shows_the_same(logs: tuple[dynid.Log, dynid.Log], tmp_path: Path) -> None:
    result = dynid.fit(dynid.load_robot("scara"), logs[0])
    result.save(tmp_path / "out")
    result.report(tmp_path / "page.html")
    loaded = dynid.load_result(tmp_path / "out")
    assert loaded.summary() == result.summary()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 2))
    assert np.allclose(loaded.predict(q, qd, qdd), result.predict(q, qd, qdd), rtol=1e-12)
    assert np.allclose(result.predict(q[0], qd[0], qdd[0]), result.predict(q, qd, qdd)[0], rtol=1e-12)
    errors = [dynid.validate(one, logs[1]).validation.judged.overall_percent for one in (loaded, result)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    named = dynid.compare([loaded, result])
    assert len(named.names) == len(result.estimate.names)
    result.report(tmp_path / "new" / "page.html")
    assert (tmp_path / "new" / "page.html").exists()
    with pytest.raises(dynid.DynidError, match="takes a result for result, not str 'out'; use load_result"):
        dynid.validate("out", logs[1])
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!")


def test_bad_states_get_a_sentence(logs: tuple[dynid.Log, dynid.Log]) -> None:
    result = dynid.fit(dynid.load_robot("scara"), logs[0])
    with pytest.raises(
        dynid.DynidError, match=r"q, qd and qdd have shapes \(2,\), \(2,\), \(3,\); give three"
    ):
        result.predict([0, 0], [0, 0], [0, 0, 0])
    with pytest.raises(dynid.DynidError, match="has 3 coordinates, but robot 'scara' has 2"):
        result.predict([0] * 3, [0] * 3, [0] * 3)


def test_the_wrong_kind_of_thing_gets_a_sentence(logs: tuple[dynid.Log, dynid.Log]) -> None:
    robot, log = dynid.load_robot("scara"), logs[0]
    calls: list[tuple[str, Any]] = [
        ("fit takes a Robot for robot, not str 'scara'; use load_robot", lambda: dynid.fit("scara", log)),
        (
            "a list of Logs for logs, not str 'run1.csv'; use read_log",
            lambda: dynid.fit(robot, "run1.csv"),
        ),
        (
            "list of Logs for logs, not list of (Posix|Windows)Path",
            lambda: dynid.fit(robot, [Path("run1.csv")]),
        ),
        ("takes a Log or a list of Logs for logs, not None", lambda: dynid.fit(robot, None)),
        (
            "a Strategy for strategy, not str 'wls'; give an estimator",
            lambda: dynid.fit(robot, log, "wls"),
        ),
        ("fit takes a Strategy for strategy, not the class WLS", lambda: dynid.fit(robot, log, dynid.WLS)),
        ("check takes a Log for log, not str", lambda: dynid.check("run1.csv", robot)),
        ("check takes a Robot or None for robot, not str", lambda: dynid.check(log, "scara")),
        ("Unknown key of the preparation 'cutoff'", lambda: dynid.fit(robot, log, overrides={"cutoff": 3})),
    ]
    for sentence, call in calls:
        with pytest.raises(dynid.DynidError, match=sentence):
            call()


def test_the_newcomers_script_runs(logs: tuple[dynid.Log, dynid.Log], tmp_path: Path) -> None:
    """Read, check, fit, validate, plot, predict in at most 15 lines that import only dynid."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= MOST_LINES
    assert re.findall(r"^(?:import|from) .*", code, re.MULTILINE) == ["import dynid"]
    dynid.save_log(logs[0], tmp_path / "run1.csv")
    dynid.save_log(logs[1], tmp_path / "run2.csv")
    (tmp_path / "my_arm.toml").write_text(dynid.model.robot_to_toml(dynid.load_robot("scara")), "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "can be trusted" in run.stdout
    assert (tmp_path / "torques.png").exists()
    assert (tmp_path / "out" / "my_arm" / "report.html").exists()


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="the notebook plots")
    pytest.importorskip("pandas", reason="the notebook shows a table")
    book = json.loads((ROOT / "examples" / "first_fit.ipynb").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells):
        exec(compile(cell, f"cell {number}", "exec"), names)
    assert len(cells) >= 6
    assert not [cell["outputs"] for cell in book["cells"] if cell.get("outputs")]


def test_the_reference_lists_every_public_name(tmp_path: Path) -> None:
    """A build in which every warning is an error; its inventory has all names of ``dynid.__all__``."""
    pytest.importorskip("sphinx", reason="the documentation is built with the docs extra")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    run = subprocess.run(
        [*build, str(ROOT / "docs"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    from sphinx.util.inventory import InventoryFile

    with (tmp_path / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, name: name)
    listed = {name for kind in inventory.values() for name in kind}
    assert [name for name in dynid.__all__ if f"dynid.{name}" not in listed] == []
