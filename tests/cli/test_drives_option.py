"""``--drives`` and ``--toml``: a motor-side log of a robot whose own file knows no gears."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.model.drives import Drives
from dynid.model.load import load_robot
from support.logs import csv_text, pendulum_log, with_channel
from support.urdf_text import chain

Capsys = pytest.CaptureFixture[str]
LOG = pendulum_log(seconds=6.0)
DRIVES = Drives(((45.0, 0.0), (-32.0, 32.0)), (0.1, -0.3), (2.0, 0.5))
TABLE = "[drives]\nratio = [[45, 0], [-32, 32]]\noffset = [0.1, -0.3]\ngain = [2, 0.5]\n"
ROBOT = "double_pendulum"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same motion as the joints and as the motors saw it."""
    monkeypatch.chdir(tmp_path)
    motor = with_channel(
        LOG,
        position=DRIVES.motor_position(LOG.channels["position"]),
        torque=DRIVES.motor_torque(LOG.channels["torque"]),
    )
    Path("joint.csv").write_text(csv_text(LOG))
    Path("motor.csv").write_text(csv_text(motor))
    Path("map.toml").write_text('side = "motor"\n')
    Path("drives.toml").write_text(TABLE)
    Path("arm.urdf").write_text(chain())
    return tmp_path


def fitted(capsys: Capsys, robot: str, *arguments: str) -> np.ndarray:  # type: ignore[type-arg]
    said = dynid(capsys, "fit", robot, *arguments, "--cutoff-hz", "20", "--out", "out", "--force", "--json")
    assert said.code in (0, 2), said.err
    return np.array([row["value"] for row in said.document["parameters"]])


@pytest.mark.usefixtures("place")
def test_a_motor_side_log_gives_the_parameters_of_the_joint_side(capsys: Capsys) -> None:
    truth = fitted(capsys, ROBOT, "joint.csv")
    motor = ("motor.csv", "--map", "map.toml")
    beside = fitted(capsys, ROBOT, *motor, "--drives", "drives.toml")
    assert np.allclose(beside, truth, rtol=1e-3)
    assert dynid(capsys, "model", ROBOT, "--drives", "drives.toml", "--toml", "own.toml").code == 0
    assert np.array_equal(fitted(capsys, "own.toml", *motor), beside)


@pytest.mark.usefixtures("place")
def test_the_message_names_the_ways(capsys: Capsys) -> None:
    for command in (("fit", "arm.urdf", "motor.csv"), ("check", "motor.csv", "--robot", "arm.urdf")):
        sentence = assert_one_sentence(dynid(capsys, *command, "--map", "map.toml"))
        assert "is on the motor side, but robot 'arm' has no drives; add [drives] with ratio" in sentence
        for way in ("dynid model ROBOT --toml FILE", "--drives FILE", "Robot.with_drives", 'side = "joint"'):
            assert way in sentence
    half = '<transmission name="t"><type>Spring</type></transmission></robot>'
    Path("arm.urdf").write_text(chain().replace("</robot>", half))
    sentence = assert_one_sentence(dynid(capsys, "fit", "arm.urdf", "motor.csv", "--map", "map.toml"))
    assert sentence.endswith("the transmission 't' is of type 'Spring', and only SimpleTransmission and "
                             "DifferentialTransmission are read.")  # fmt: skip


@pytest.mark.usefixtures("place")
def test_check_sees_the_log_through_the_drives(capsys: Capsys) -> None:
    line = ("check", "motor.csv", "--map", "map.toml", "--drives", "drives.toml")
    said = dynid(capsys, *line, "--robot", ROBOT, "--json")
    assert said.code == 0, said.err
    plain = dynid(capsys, "check", "joint.csv", "--robot", ROBOT, "--json").document["logs"][0]
    found = said.document["logs"][0]
    assert found["facts"]["condition"] == pytest.approx(plain["facts"]["condition"], rel=1e-3)
    assert assert_one_sentence(dynid(capsys, *line)) == "--drives belongs to a robot; add --robot."


@pytest.mark.usefixtures("place")
def test_every_command_with_a_robot_takes_drives(capsys: Capsys) -> None:
    motor_terms = ("--drives", "drives.toml", "--terms", "Ia,Fv,Fc,off,Fvm,Fcm")
    shown = dynid(capsys, "model", "arm.urdf", *motor_terms, "--json").document
    assert shown["drives"] == {"ratio": [[45, 0], [-32, 32]], "offset": [0.1, -0.3], "gain": [2, 0.5]}
    assert shown["parameters"][-1]["name"] == "Fcm2"
    kernel = ("export", "arm.urdf", "--to", "c", "--kernel", "inverse")
    source = dynid(capsys, *kernel, *motor_terms, "--json").document
    assert source["parameters"][-1] == "Fcm2"
    run = ("simulate", "scara", "--controller", "scara", "--reference", "scara", "--duration", "0.5")
    coarse = ("--resolution", "0.01", "--side", "motor", "--json")
    assert_one_sentence(dynid(capsys, *run, *coarse[:-1]))
    assert dynid(capsys, *run, *coarse, "--drives", "drives.toml").code == 0


@pytest.mark.usefixtures("place")
def test_drives_replace_the_robot_s_own_and_their_terms(capsys: Capsys) -> None:
    text = dynid(capsys, "model", "arm.urdf", "--drives", "drives.toml")
    assert "drives: ratio 45, 32; motor 2 also with other joints" in text.out
    wrist = ("model", ROBOT, "--drives", "drives.toml", "--terms", "Ia,Fv,Fvm", "--toml", "wrist.toml")
    assert dynid(capsys, *wrist).code == 0
    Path("plain.toml").write_text("[drives]\nratio = [45, 32]\n")
    sentence = assert_one_sentence(dynid(capsys, "model", "wrist.toml", "--drives", "plain.toml"))
    assert sentence.startswith("Drives file plain.toml: The motor term 'Fvm' needs drives in which a motor")
    shown = dynid(capsys, "model", "wrist.toml", "--drives", "plain.toml", "--terms", "Ia,Fv", "--json")
    assert shown.document["drives"]["ratio"] == [[45, 0], [0, 32]]


@pytest.mark.usefixtures("place")
def test_wrong_drives_have_one_sentence(capsys: Capsys) -> None:
    sentence = assert_one_sentence(dynid(capsys, "model", "tx40", "--drives", "drives.toml"))
    assert sentence.startswith("Drives file drives.toml: The drives name 2 motors, but the robot has 6 coord")
    sentence = assert_one_sentence(dynid(capsys, "model", "tx40", "--drives", "nothing.toml"))
    assert sentence == "There is no drives file at nothing.toml."


@pytest.mark.usefixtures("place")
def test_a_robot_file_is_written_whole_and_not_over_another(capsys: Capsys) -> None:
    said = dynid(capsys, "model", "arm.urdf", "--toml", "arm.toml", "--gravity", "0,0,0")
    assert said.code == 0
    assert said.out.rstrip().endswith("wrote arm.toml")
    assert load_robot("arm.toml") == load_robot("arm.urdf").with_gravity(0, 0, 0)
    before = Path("arm.toml").read_text(encoding="utf-8")
    again = ("model", "tx40", "--toml", "arm.toml")
    assert (
        assert_one_sentence(dynid(capsys, *again)) == "arm.toml exists already; add --force to overwrite it."
    )
    assert Path("arm.toml").read_text(encoding="utf-8") == before
    assert dynid(capsys, *again, "--force", "--json").document["file"] == "arm.toml"
    assert load_robot("arm.toml") == load_robot("tx40")
    sentence = assert_one_sentence(dynid(capsys, "model", "tx40", "--toml", "arm.yaml"))
    assert sentence == "--toml is 'arm.yaml'; it must end in .toml, so that it is read again as what it is."
    assert not [path.name for path in Path.cwd().iterdir() if path.name.startswith(".")]
    assert assert_one_sentence(dynid(capsys, "model", "tx40", "--force")).startswith("--force has no meaning")
