"""What is known of a payload, from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.calibration.knowledge_file import load_payload_file
from dynid.core.errors import DynidError
from dynid.model.load import load_robot
from support.mujoco_arm import arm_text


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "payload.toml"


def test_frame_of_a_body(write: Path, tmp_path: Path) -> None:
    """The hand's z is across the wrist's axis, which is dynid's z."""
    arm = tmp_path / "arm.xml"
    arm.write_text(arm_text())
    write.write_text('mass = 2.0\ncom = [0.0, 0.0, 0.1]\nlink = "hand"\n')
    known = load_payload_file(write, robot=load_robot(arm))
    assert set(known.values) == {"ML", "MXL", "MYL", "MZL"}
    moments = [known.values[name] for name in ("MXL", "MYL", "MZL")]
    assert moments[2] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(moments) == pytest.approx(0.2)


def test_mass_and_its_sigma_of_the_command_line(write: Path) -> None:
    """--mass stands for that of the file; a σ of the file stays unless one is given."""
    write.write_text("mass = 2.0\n[sigma]\nML = 0.05\n")
    assert load_payload_file(write, 3.0).sigma["ML"] == 0.05
    assert load_payload_file(write, 3.0, 0.01).sigma["ML"] == 0.01
    assert load_payload_file(write, 3.0).values["ML"] == 3.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "mass = 2.0\n[values]\nML = 3.0\n",
            r"mass \(or --mass\) and ML of \[values\] are both given; keep one",
        ),
        ("com = [0, 0, 1]\n", "com is given without mass; give both"),
        ('mass = 2.0\nlink = "tool0"\n', "no robot was given that would have it"),
        ("mass = -1\n", "mass is -1"),
        ("sigma = 3\n", "sigma is 3"),
        ("mass = 1\ncom = [0, 0, nan]\n", "com"),
        ("weight = 1\n", "Unknown key 'weight'"),
    ],
)
def test_bad_files_are_sentences(write: Path, text: str, said: str) -> None:
    write.write_text(text)
    with pytest.raises(DynidError, match=said):
        load_payload_file(write)
