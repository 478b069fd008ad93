"""``dynid predict``: torques along logs as a table, also where a log holds none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.logs.read import read_log
from dynid.preparation.unseen import prepare_unseen
from dynid.results.load import load_result

MAPPING = """
[position]
columns = ["a", "b"]
unit = "deg"
[torque]
columns = ["u", "v"]
[time]
column = "time"
"""


@pytest.fixture(scope="module")
def fitted(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result, and logs without torques: by common names, and in degrees under names of their own."""
    folder = tmp_path_factory.mktemp("predict")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        from dynid.cli.main import run

        table = np.loadtxt(recorded / "run2.csv", delimiter=",", skiprows=1)
        write(folder / "bare.csv", "time,q1,q2", table[:, :3])
        degrees = np.column_stack([table[:, 0], np.degrees(table[:, 1:3]), table[:, 3:]])
        write(folder / "named.csv", "time,a,b,u,v", degrees)
        write(folder / "named_bare.csv", "time,a,b", degrees[:, :3])
        (folder / "map.toml").write_text(MAPPING)
        assert run(["fit", "scara", str(recorded / "run1.csv"), "--out", "fit", "--json"]) == 0
        assert run(["fit", "scara", "named.csv", "--map", "map.toml", "--out", "named", "--json"]) == 0
    return folder


def write(path: Path, head: str, table: np.ndarray) -> None:
    np.savetxt(path, table, delimiter=",", header=head, comments="", fmt="%.12g")


def read(path: Path) -> tuple[list[str], np.ndarray]:
    return path.read_text().splitlines()[0].split(","), np.loadtxt(path, delimiter=",", skiprows=1)


def test_torques_are_written_beside_the_measured_ones(
    capsys: pytest.CaptureFixture[str], fitted: Path, recorded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "torques.csv"
    command = ("predict", str(fitted / "fit"), str(recorded / "run2.csv"), "--out", str(out))
    said = dynid(capsys, *command)
    assert (said.code, said.err) == (0, "")
    assert "joint1" in said.out
    assert said.out.endswith(f"wrote {out}\n")
    head, table = read(out)
    each = [f"tau{j}_{what}" for j in (1, 2) for what in ("measured", "predicted", "sigma")]
    assert head == ["t", *each]
    saved = load_result(fitted / "fit")
    motion = prepare_unseen(read_log(recorded / "run2.csv"), saved.plan)
    assert np.allclose(table[:, 0], motion.time)
    assert np.allclose(table[:, [1, 4]], motion.tau)
    predicted = saved.predict(motion.q, motion.qd, motion.qdd)
    assert np.allclose(table[:, [2, 5]], predicted, rtol=1e-9, atol=1e-12)
    assert np.all(table[:, [3, 6]] > 0)
    errors = 100 * np.linalg.norm(motion.tau - predicted, axis=0) / np.linalg.norm(motion.tau, axis=0)
    document = dynid(capsys, *command, "--json", "--force").document
    assert document["logs"][0]["errors"]["relative_percent"] == pytest.approx(errors.tolist())
    assert document["file"] == str(out)
    sentence = assert_one_sentence(dynid(capsys, *command))
    assert sentence == f"{out} exists already; add --force to overwrite it."


def test_logs_without_torques_get_the_same_predictions(
    capsys: pytest.CaptureFixture[str], fitted: Path, recorded: Path, tmp_path: Path
) -> None:
    result, logs = str(fitted / "fit"), [str(recorded / "run2.csv"), str(fitted / "bare.csv")]
    said = dynid(capsys, "predict", result, logs[1], "--out", str(tmp_path / "bare.csv"))
    assert said.out.count("not measured") == 2
    head, bare = read(tmp_path / "bare.csv")
    assert head == ["t", "tau1_predicted", "tau1_sigma", "tau2_predicted", "tau2_sigma"]
    dynid(capsys, "predict", result, *logs, "--out", str(tmp_path / "both.csv"))
    head, both = read(tmp_path / "both.csv")
    assert head[:4] == ["log", "t", "tau1_measured", "tau1_predicted"]
    first, second = both[both[:, 0] == 1], both[both[:, 0] == 2]
    assert np.array_equal(first[:, [3, 6]], second[:, [3, 6]])
    assert np.array_equal(second[:, [3, 6]], bare[:, [1, 3]])
    assert np.all(np.isnan(second[:, [2, 5]]))
    document = dynid(capsys, "predict", result, logs[1], "--json").document
    assert document["logs"][0]["errors"] is None


def test_the_mapping_of_the_fit_holds_for_positions_alone(
    capsys: pytest.CaptureFixture[str], fitted: Path, tmp_path: Path
) -> None:
    """Degrees stay degrees, though the torques that the mapping names are not there."""
    tables = []
    for log in ("named", "named_bare"):
        out = tmp_path / f"{log}.csv"
        assert (
            dynid(
                capsys, "predict", str(fitted / "named"), str(fitted / f"{log}.csv"), "--out", str(out)
            ).code
            == 0
        )
        tables.append(read(out)[1])
    assert np.array_equal(tables[0][:, [2, 5]], tables[1][:, [1, 3]])


def test_logs_that_cannot_be_predicted_get_a_sentence(
    capsys: pytest.CaptureFixture[str], fitted: Path, recorded: Path, tmp_path: Path
) -> None:
    result = str(fitted / "fit")
    sentence = assert_one_sentence(dynid(capsys, "predict", result, str(recorded / "wild.csv")), code=2)
    assert sentence.startswith("Validation log 'wild' must be repaired: ")
    table = np.loadtxt(fitted / "bare.csv", delimiter=",", skiprows=1)
    table[5, 1] = np.nan
    write(tmp_path / "gap.csv", "time,q1,q2", table)
    sentence = assert_one_sentence(dynid(capsys, "predict", result, str(tmp_path / "gap.csv")), code=2)
    assert "1 values of the position in log 'gap' are not finite; repair it" in sentence
    assert dynid(capsys, "predict", result, str(tmp_path / "gap.csv"), "--repair").code == 0
    write(tmp_path / "torques.csv", "time,tau1,tau2", table[:, :3])
    assert_one_sentence(dynid(capsys, "predict", result, str(tmp_path / "torques.csv")))
