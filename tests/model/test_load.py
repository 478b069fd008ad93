"""One door for robots: names, suffixes, and files that are not what they should be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dynid.core import files
from dynid.core.errors import FileError, UnknownNameError
from dynid.model.load import catalog, load_robot
from support.urdf_text import chain

MJCF = '<mujoco model="hand"><worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'


def test_names_and_files_load(tmp_path: Path) -> None:
    assert load_robot("scara").name == "scara"
    (tmp_path / "arm.urdf").write_text(chain())
    (tmp_path / "ARM.URDF").write_text(chain())
    (tmp_path / "hand.mjcf").write_text(MJCF)
    assert load_robot(tmp_path / "arm.urdf").name == "arm"
    assert load_robot(str(tmp_path / "ARM.URDF")).name == "arm"
    assert load_robot(tmp_path / "hand.mjcf").name == "hand"


def test_xml_is_told_apart_by_its_root_element(tmp_path: Path) -> None:
    urdf, mjcf, other = (tmp_path / f"{name}.xml" for name in ("urdf", "mjcf", "other"))
    # A URDF for MuJoCo holds a <mujoco> element, and comments may say anything.
    urdf.write_text(chain().replace("<link", "<!-- <mujoco --><mujoco><compiler/></mujoco><link", 1))
    mjcf.write_text(MJCF)
    other.write_text("<sdf/>")
    assert load_robot(urdf).name == "arm"
    assert load_robot(mjcf).name == "hand"
    with pytest.raises(FileError, match=r"The root element of other\.xml is <sdf>; a robot file has <robot>"):
        load_robot(other)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown robot 'tx4O'\. Did you mean 'tx40'") as caught:
        load_robot("tx4O")
    assert ", ".join(catalog()) in str(caught.value)
    with pytest.raises(UnknownNameError, match=r"Or give a path to a \.toml, \.urdf or \.xml file"):
        load_robot("my_own_robot")


@pytest.mark.parametrize("name", ["no\0such", "x" * 5000, ""])
def test_names_that_no_file_can_have_are_unknown_or_refused(name: str) -> None:
    with pytest.raises((UnknownNameError, FileError)):
        load_robot(name)


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".mjcf", ".xml"])
def test_missing_folders_binary_and_huge_files_have_sentences(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"arm{suffix}"
    with pytest.raises(FileError, match=r"There is no .* file at .*arm"):
        load_robot(file)
    with pytest.raises(FileError, match="cannot be read: File name too long"):
        load_robot(tmp_path / ("a" * 300 + suffix))
    with pytest.raises(FileError, match="cannot be read: embedded null"):
        load_robot(f"a\0{suffix}")
    file.mkdir()
    with pytest.raises(FileError, match=r"is a folder; give the .*file itself"):
        load_robot(file)
    file.rmdir()
    file.write_bytes(b"\x7fELF\xff\xfe\x00\x01")
    with pytest.raises(FileError, match=r"is not UTF-8 text \(byte 4\)"):
        load_robot(file)
    monkeypatch.setattr(files, "MAX_BYTES", 4)
    with pytest.raises(FileError, match="at most 0 MB are read"):
        load_robot(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders.")
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "arm.urdf"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is not a regular file; give the URDF file itself"):
        load_robot(pipe)


def test_folders_and_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder; give the robot file itself"):
        load_robot(tmp_path)
    for name in ("robot.sdf", "robot.urdf.xacro"):
        with pytest.raises(
            FileError, match=r"ends in '\.\w+'; a robot file ends in .toml, .urdf, .mjcf or .xml"
        ):
            load_robot(tmp_path / name)
    (tmp_path / "plain").write_text("x")
    with pytest.raises(FileError, match="ends in ''; a robot file ends in"):
        load_robot(tmp_path / "plain")


def test_errors_inside_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(chain(["floating"]))
    with pytest.raises(Exception, match=r"^Robot file arm\.urdf: Joint 'j1' is floating"):
        load_robot(tmp_path / "arm.urdf")
