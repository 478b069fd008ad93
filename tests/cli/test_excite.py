"""``dynid excite``: the files it writes and what reads them, --given, --force, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.base import find_base
from dynid.cli.main import run
from dynid.compile.kernels import kernels
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.simulation import Sines, load_reference

FILES = [
    *("design.json", "joint_trajectory.json", "joint_trajectory.yaml"),
    *("motion.csv", "reference.toml", "report.html"),
]
LIMITS = "[limits]\nlower = -2.0\nupper = 2.0\nacceleration_deg = [800, 1600]\n"
SCARA = ("excite", "scara", "--starts", "2", "--workers", "1", "--limits", "limits.toml")
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a design of two periods at 50 Hz."""
    folder = tmp_path_factory.mktemp("excite")
    (folder / "limits.toml").write_text(LIMITS)
    words = [*SCARA[:-1], str(folder / "limits.toml"), "--rate-hz", "50", "--periods", "2"]
    assert run([*words, "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("limits.toml").write_text(LIMITS)


def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "design.json").read_text())
    return found


def planned(folder: Path) -> tuple[list[str], np.ndarray]:
    lines = (folder / "motion.csv").read_text().splitlines()
    return lines[0].split(","), np.loadtxt(lines[1:], delimiter=",")


# ── the files ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_files_tell_the_same_motion(made: Path) -> None:
    assert sorted(path.name for path in made.iterdir()) == FILES
    header, rows = planned(made)
    assert header[0] == "time_s"
    assert rows.shape == (1001, 1 + 4 * 2)  # 20 s at 50 Hz with the last pose; q, qd, qdd, tau
    assert np.allclose(rows[-1, 3:7], 0.0, atol=1e-9)  # at rest
    message = json.loads((made / "joint_trajectory.json").read_text())
    assert message["joint_names"] == ["joint1", "joint2"]
    points = message["points"]
    assert len(points) == len(rows)
    for key, columns in (
        ("positions", slice(1, 3)),
        ("velocities", slice(3, 5)),
        ("accelerations", slice(5, 7)),
    ):
        assert np.array_equal([point[key] for point in points], rows[:, columns])
    assert points[75]["time_from_start"] == {"sec": 1, "nanosec": 500_000_000}
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the YAML file.")
    assert yaml.safe_load((made / "joint_trajectory.yaml").read_text()) == message


def test_the_reference_is_the_motion(made: Path) -> None:
    _, rows = planned(made)
    reference = load_reference(made / "reference.toml", load_robot("scara"), 0.02)
    assert len(reference.q) == 1000  # both periods, without the pose in which they end
    for values, columns in (
        (reference.q, slice(1, 3)),
        (reference.qd, slice(3, 5)),
        (reference.qdd, slice(5, 7)),
    ):
        np.testing.assert_allclose(values, rows[:-1, columns], atol=1e-9)


def test_speeds_and_accelerations_are_derivatives_and_limits_are_kept(made: Path) -> None:
    _, rows = planned(made)
    q, qd, qdd = rows[:, 1:3], rows[:, 3:5], rows[:, 5:7]
    np.testing.assert_allclose(np.gradient(q, 0.02, axis=0)[1:-1], qd[1:-1], atol=0.05)
    assert np.all(np.abs(q) <= 2.0 + 1e-6)
    assert np.all(np.abs(qd) <= [10.0, 20.0])
    assert np.all(np.abs(qdd) <= np.radians([800.0, 1600.0]) * (1 + 1e-6))
    used = {(row["joint"], row["quantity"]): row for row in document(made)["limits"]}
    assert used["joint1", "position"]["largest"] >= q[:, 0].max() - 1e-9
    assert used["joint2", "acceleration"]["high"] == pytest.approx(np.radians(1600.0))


@pytest.mark.parametrize("reference", ["reference.toml", "motion.csv"])
def test_a_simulation_follows_it(made: Path, capsys: Capsys, reference: str) -> None:
    words = ("simulate", "scara", "--controller", "scara", "--reference", str(made / reference))
    said = dynid(capsys, *words, "--duration", "10", "--out", "log.csv", "--json")
    (found,) = said.document["simulations"]
    assert said.code == 0
    assert said.document["trustworthy"] is True
    assert found["samples"] == 2000
    log = read_log("log.csv")
    at = np.rint(np.arange(0, 9.99, 0.5) * log.rate_hz).astype(int)
    _, rows = planned(made)
    there = np.rint(at / log.rate_hz * 50).astype(int)
    np.testing.assert_allclose(log.channels["reference"][at], rows[there, 1:3], atol=1e-6)


# ── the page and the screen ───────────────────────────────────────────────────────────────────────────────


def test_page_json_and_screen_agree(made: Path, capsys: Capsys) -> None:
    whole = document(made)
    page = (made / "report.html").read_text()
    shown = dict(re.findall(r'data-figure="(\w+)" data-value="([^"]+)"', page))
    for key in ("condition", "condition_scaled", "log_det"):
        assert float(shown[key]) == whole["figures"][key]
    said = dynid(capsys, *SCARA, "--rate-hz", "50", "--periods", "2", "--out", "again")
    assert (said.code, said.err) == (0, "")
    assert f"condition {whole['figures']['condition']:.4g} " in said.out
    assert f"log det {whole['figures']['log_det']:.4g}" in said.out
    assert "Used of the limits, at every instant [%]" in said.out
    assert "2 starts" in said.out
    assert "page: again/report.html" in said.out
    assert (Path("again") / "motion.csv").read_bytes() == (made / "motion.csv").read_bytes()  # the same seed


def test_json_on_standard_output_is_the_document(capsys: Capsys) -> None:
    said = dynid(capsys, *SCARA, "--starts", "1", "--json")
    assert said.code == 0
    told = said.document
    assert told.pop("folder") == "out/excite"
    assert told == document(Path("out/excite"))
    assert told["schema"] == "dynid.design/1"
    assert told["run"]["seed"] == 0
    assert told["run"]["command"].startswith("dynid excite scara --starts 2")
    assert len(told["starts"]) == 1
    assert told["trajectory"]["words"] == "8 harmonics of 0.1 Hz"


def test_the_numbers_of_the_document_follow_from_the_motion(made: Path) -> None:
    """σ, gains and the condition number, computed anew from the file of the motion alone."""
    whole, robot = document(made), load_robot("scara")
    base, (_, rows) = find_base(robot), planned(made)
    first = rows[:500]  # one period
    W = (
        kernels(robot, base.columns)
        .regressor(first[:, 1:3], first[:, 3:5], first[:, 5:7])
        .reshape(-1, len(base))
    )
    values = np.linalg.svd(np.sqrt(2) * W, compute_uv=False)  # two periods
    # At an instant of rest rounding decides the sign of friction, which is one row of many.
    assert whole["figures"]["condition"] == pytest.approx(values[0] / values[-1], rel=0.01)
    assert whole["figures"]["log_det"] == pytest.approx(2 * np.sum(np.log(values)), rel=1e-3)
    sigma = np.sqrt(np.diag(np.linalg.inv(2 * W.T @ W)))  # noise of 1 N m where no torque is limited
    assert [row["sigma"] for row in whole["parameters"]] == pytest.approx(sigma, rel=0.01)
    truth = base.regroup(robot.parameters)
    for row, value, spread in zip(whole["parameters"], truth, sigma, strict=True):
        assert row["percent_sigma"] == (
            None if value == 0 else pytest.approx(100 * spread / abs(value), rel=0.01)
        )


@pytest.mark.parametrize("family", ["modified-fourier", "spline"])
def test_other_families(capsys: Capsys, family: str) -> None:
    said = dynid(capsys, *SCARA, "--family", family, "--duration", "5", "--starts", "1")
    assert (said.code, said.err) == (0, "")
    _, rows = planned(Path("out/excite"))
    assert len(rows) == 501
    np.testing.assert_allclose(rows[-1, 1:3], rows[0, 1:3], atol=1e-9)
    reference = load_reference("out/excite/reference.toml", load_robot("scara"), 0.01)
    np.testing.assert_allclose(reference.q[:500], rows[:500, 1:3], atol=1e-9)


# ── logs that are there already ───────────────────────────────────────────────────────────────────────────


def test_the_next_motion_adds_to_the_logs_given(made: Path, capsys: Capsys) -> None:
    words = ("simulate", "scara", "--controller", "scara", "--reference", str(made / "reference.toml"))
    noise = ("--torque-noise", "0.05", "--seed", "1")
    assert dynid(capsys, *words, *noise, "--duration", "20", "--out", "log.csv").code == 0
    said = dynid(capsys, *SCARA, "--given", "log.csv", "--criterion", "log-sigma", "--out", "second")
    assert said.code == 0
    whole = document(Path("second"))
    assert "before: with the logs given" in whole["sigma_words"]
    assert all(row["gain"] >= 1 for row in whole["parameters"])  # no parameter is known less than before
    assert max(row["gain"] for row in whole["parameters"]) > 1.2
    assert "log.csv" in whole["run"]["command"]


def test_a_log_in_which_an_axis_stands_is_a_beginning(capsys: Capsys) -> None:
    """It tells nothing of some parameters: no gain can be told, and the next motion shows them."""
    robot = load_robot("scara")
    motion = Sines(((1.0, 0.4), (0.0, 0.0)), ((0.16, 0.37), (1.0, 1.0))).sample(0.01, 30.0)
    torque = kernels(robot).inverse(robot.parameters, motion.q, motion.qd, motion.qdd)
    torque = torque + 0.01 * np.random.default_rng(0).normal(size=torque.shape)
    rows = np.column_stack([motion.time, motion.q, torque])
    np.savetxt("one.csv", rows, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    assert dynid(capsys, *SCARA, "--given", "one.csv").code == 0
    gains = {row["name"]: row["gain"] for row in document(Path("out/excite"))["parameters"]}
    assert gains["Fv2"] is None
    assert gains["Fv1"] > 1
    assert all(row["sigma"] is not None for row in document(Path("out/excite"))["parameters"])


# ── nothing is overwritten, and refusals ──────────────────────────────────────────────────────────────────


def test_nothing_is_overwritten_without_force(made: Path, capsys: Capsys) -> None:
    shutil.copytree(made, "out")
    before = (Path("out") / "design.json").read_bytes()
    told = assert_one_sentence(dynid(capsys, *SCARA, "--out", "out"))
    assert told == "out/motion.csv exists already; add --force to overwrite it."
    (Path("out") / "motion.csv").unlink()
    assert "out/joint_trajectory.json exists already" in assert_one_sentence(
        dynid(capsys, *SCARA, "--out", "out")
    )
    assert (Path("out") / "design.json").read_bytes() == before
    (Path("out") / "notes.txt").write_text("mine")
    assert dynid(capsys, *SCARA, "--starts", "1", "--out", "out", "--force").code == 0
    assert (Path("out") / "design.json").read_bytes() != before
    assert (Path("out") / "notes.txt").read_text() == "mine"


REFUSED = {
    "--duration 0": "--duration is 0; give a positive number of seconds.",
    "--duration -1": "--duration is -1; give a positive number of seconds.",
    "--duration nan": "--duration is nan; give a positive number of seconds.",
    "--duration 1e9": "At 100 Hz the log has 1e+11 samples of a motion of 1e+09 s",
    "--harmonics 1": "1 harmonics were asked for; a Fourier series that starts and ends at rest needs 2",
    "--harmonics 0": "Invalid value for '--harmonics': 0 is not in the range",
    "--family fourrier": "Unknown family 'fourrier'. Did you mean 'fourier'",
    "--criterion logdet": "Unknown criterion 'logdet'. Did you mean 'log-det'",
    "--solver ipop": "Unknown solver 'ipop'. Did you mean 'ipopt'?",
    "--parameters ZZ9": "Unknown base parameter 'ZZ9'.",
    "--noise nan": "--noise is 'nan'; give one positive number, or 2 separated by commas.",
    "--noise 1,2,3": "--noise is '1,2,3'; give one positive number",
    "--start 1,2,3": "The start pose is '1,2,3'; give 2 numbers separated by commas, or one for all axes.",
    "--start 3,0": "cannot be reached: joint1 would stand at 3, outside -2 … 2.",
    "--start-deg 170,0": "joint1 would stand at 2.967, outside -2 … 2.",
    "--start 0 --start-deg 0": "--start and --start-deg are both given; keep one.",
    "--share 0": "share is 0.0; it must be a number above 0 and at most 1",
    "--floor 0": "Robot 'scara' has no shapes, so it is unknown how near it comes to a floor or walls; give "
    "--link-radius,",
    "--link-radius -1": "--link-radius is -1; give a positive length in metres.",
    "--rate-hz 0": "rate_hz is 0 and periods 1; give a positive rate and at least one period.",
    "--rate-hz 0.1": "At 0.1 Hz the log has 1 samples of a motion of 10 s; 14 coefficients per axis need 28",
    "--rate-hz 1000 --periods 1000": "are 10,000,000 points, and a file takes 200,000; lower --rate-hz or",
    "--given nolog.csv": "There is no log at nolog.csv.",
    "--limits none.toml": "There is no file of limits at none.toml.",
    "--out limits.toml": "The folder limits.toml cannot be made: File exists.",
    "--out limits.toml/sub": "The folder limits.toml/sub cannot be made: Not a directory.",
    "--conservative --family spline": "and the motion is a SplineSpace; ask for exact limits.",
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_are_one_sentence(capsys: Capsys, words: str) -> None:
    assert REFUSED[words] in assert_one_sentence(dynid(capsys, *SCARA, *words.split()))
    assert not [path for path in Path().rglob("*") if path.name in FILES]


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        ("rx90", "Robot 'rx90' has no speed limit for joint1, joint2,"),
        ("pendubot", "No motor drives elbow of robot 'pendubot'"),
        ("nosuch", "Unknown robot 'nosuch'."),
    ],
)
def test_robots_that_cannot_be_excited(capsys: Capsys, robot: str, words: str) -> None:
    assert words in assert_one_sentence(dynid(capsys, "excite", robot))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[limits", "The file of limits bad.toml is not TOML: "),
        ("[limits]\nvelocitty = 1", "[limits]: Unknown key 'velocitty'. Did you mean 'velocity'"),
        (
            "[limits]\nvelocity = [1, 2, 3]",
            "velocity has 3 values for 2 axes; give one per axis, or one for all.",
        ),
        ("[limits]\nvelocity = 'fast'", "velocity is 'fast'; it must be a number in rad/s or m/s"),
        ("[limits]\nvelocity = nan", "velocity"),
        ("[limits]\nlower = 1\nupper = -1", "The position limits of joint1 contradict each other"),
        ("[limits]\nlower = 1\nlower_deg = 50", "lower and lower_deg are both given; keep one."),
        ("[workcell]\nwalls = [{ normal = [0, 0, 0], offset = 1 }]", "which has no direction"),
        ("velocity = 1", "Unknown key 'velocity'. Known: limits, workcell."),
    ],
)
def test_files_of_limits_that_say_nothing(capsys: Capsys, text: str, words: str) -> None:
    Path("bad.toml").write_text(text)
    assert words in assert_one_sentence(dynid(capsys, *SCARA[:-1], "bad.toml"))


def test_a_workcell_that_leaves_no_pose(capsys: Capsys) -> None:
    told = assert_one_sentence(dynid(capsys, "excite", "iiwa14", "--floor", "3"))
    assert (
        "No pose was found at which the robot can rest within its limits; in the middle of its ranges" in told
    )
    assert "link 2 and the floor come 3.1 m too close" in told


def test_logs_that_cannot_be_used(capsys: Capsys) -> None:
    still = np.column_stack([np.arange(2000) / 100.0, np.zeros((2000, 2)), np.ones((2000, 2))])
    np.savetxt("still.csv", still, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    told = assert_one_sentence(dynid(capsys, *SCARA, "--given", "still.csv"), 2)
    assert "No axis moves in the whole log. Record a motion of the robot." in told
    assert not (Path("out/excite") / "design.json").exists()


def test_a_folder_that_cannot_be_written(capsys: Capsys) -> None:
    assert "The folder /proc/excite cannot be made: " in assert_one_sentence(
        dynid(capsys, *SCARA, "--out", "/proc/excite")
    )


@pytest.mark.parametrize("asked", [("--floor", "0"), ("--link-radius", "0.02")])
def test_collisions_of_loops_are_refused_without_advice_that_leads_nowhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, asked: tuple[str, str]
) -> None:
    said = assert_one_sentence(dynid(capsys, "excite", "fivebar", *asked, "--out", str(tmp_path / "x")))
    assert said.startswith("Robot 'fivebar' has closed loops, for which no clearance can be proved")
    assert "leave out floor, walls and --link-radius" in said
    assert "shapes to its file" not in said
