"""Every way an MJCF model can be wrong, or beyond what is read, has its sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynid.core.errors import DynidError, FileError
from dynid.model.loaders.mjcf import from_mjcf, from_mjcf_text

INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
JOINT = '<joint name="a" axis="0 1 0"/>'
BODY = f'<body name="b">{JOINT}{INERTIAL}</body>'
PAIR = f'<body name="b">{JOINT}{INERTIAL}<body name="c"><joint name="d"/>{INERTIAL}</body></body>'


def model(world: str = BODY, head: str = "", tail: str = "") -> str:
    return f"<mujoco>{head}<worldbody>{world}</worldbody>{tail}</mujoco>"


def body(joint: str = JOINT, inside: str = INERTIAL, attributes: str = "") -> str:
    return model(f'<body name="b" {attributes}>{joint}{inside}</body>')


def equality(inside: str) -> str:
    return model(PAIR, tail=f"<equality>{inside}</equality>")


CASES = {
    "other root": ("<robot/>", r"The root element is <robot>; an MJCF model has <mujoco>\."),
    "no bodies": ("<mujoco/>", "has no joints"),
    "free joint": (body("<freejoint/>"), "Joint 'b_joint1' is a free joint; only hinges and slides"),
    "free by type": (body('<joint name="f" type="free"/>'), "Joint 'f' is a free joint"),
    "ball": (body('<joint name="s" type="ball"/>'), "Joint 's' is a ball joint"),
    "unknown joint type": (
        body('<joint name="s" type="hing"/>'),
        r"Unknown type of joint 's' 'hing'\. Did you mean 'hinge'",
    ),
    "joint in the world": (model("<joint/>" + BODY), "The <worldbody> has a joint; the world does not move"),
    "zero axis": (body('<joint name="a" axis="0 0 0"/>'), "Joint 'a': axis: .* has no direction"),
    "bad axis": (body('<joint name="a" axis="0 x 0"/>'), "Joint 'a': axis='0 x 0' must be 3 finite numbers"),
    "two bodies of one name": (model(BODY + BODY.replace('"a"', '"z"')), "Two bodies are named 'b'"),
    "two joints of one name": (model(BODY + BODY.replace('"b"', '"c"')), "has two joints of name 'a'"),
    "bad position": (body(attributes='pos="0 0"'), "Body 'b': pos='0 0' must be 3 finite numbers"),
    "infinite position": (body(attributes='pos="0 0 1e999"'), "Body 'b': pos='0 0 1e999' must be 3 finite"),
    "zero quaternion": (body(attributes='quat="0 0 0 0"'), "Body 'b': quat: .* has no direction"),
    "two orientations": (
        body(attributes='quat="1 0 0 0" euler="1 2 3"'),
        "Body 'b': the orientation is given by quat and euler; keep one",
    ),
    "parallel xyaxes": (body(attributes='xyaxes="1 0 0 2 0 0"'), "Body 'b': xyaxes: .* has no direction"),
    "bad angle unit": (
        model(head='<compiler angle="degrees"/>'),
        "Unknown angle of <compiler> 'degrees'. Did you mean 'degree'",
    ),
    "bad eulerseq": (
        model(head='<compiler eulerseq="xyw"/>'),
        "<compiler eulerseq> is 'xyw'; give three of the letters",
    ),
    "settotalmass": (
        model(head='<compiler settotalmass="3"/>'),
        "<compiler settotalmass> rescales every mass",
    ),
    "global coordinates": (model(head='<compiler coordinate="global"/>'), "coordinate> must be local"),
    "bad gravity": (
        model(head='<option gravity="0 -9.81"/>'),
        "<option>: gravity='0 -9.81' must be 3 finite",
    ),
    "unknown class": (body('<joint class="arm"/>'), "Unknown default class of <joint> 'arm'"),
    "unknown childclass": (
        body(attributes='childclass="mai"'),
        r"Unknown default class of Body 'b' 'mai'\. Did you mean 'main'",
    ),
    "class twice": (
        model(head='<default><default class="x"/><default class="x"/></default>'),
        "The default class 'x' is defined twice",
    ),
    "nested class without name": (
        model(head="<default><default/></default>"),
        "A nested <default> has no class",
    ),
    "outer class": (model(head='<default class="x"/>'), "The outermost <default> has the class 'x'"),
    "negative mass": (
        body(inside=INERTIAL.replace('mass="1"', 'mass="-1"')),
        "Body 'b': <inertial>: the mass -1 kg is negative",
    ),
    "no mass": (body(inside='<inertial pos="0 0 0"/>'), "Body 'b': <inertial> has no mass"),
    "negative moment": (body(inside=INERTIAL.replace("1 1 1", "1 -1 1")), "negative principal moment -1"),
    "both inertias": (
        body(inside='<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'),
        "both fullinertia and diaginertia are given",
    ),
    "two inertials": (body(inside=INERTIAL * 2), "Body 'b' has 2 <inertial>; keep one"),
    "mesh": (
        body(inside='<geom type="mesh" mesh="arm"/>'),
        "Body 'b': <geom type=\"mesh\">: the inertia of a mesh, shell or surface is not computed; give the "
        "body an <inertial>",
    ),
    "primitive from mesh": (body(inside='<geom type="box" mesh="arm"/>'), "give the body an <inertial>"),
    "shell": (body(inside='<geom size="0.1" shellinertia="true"/>'), "give the body an <inertial>"),
    "plane": (body(inside='<geom type="plane" size="1 1 1"/>'), '<geom type="plane">: the inertia'),
    "no size": (body(inside='<geom type="box"/>'), '<geom type="box"> has no size'),
    "short size": (body(inside='<geom type="box" size="1 1"/>'), "size='1 1' must be 3 finite numbers"),
    "negative size": (body(inside='<geom size="-0.1"/>'), r"size \(-0.1,\) must be positive"),
    "negative density": (body(inside='<geom size="0.1" density="-5"/>'), "the mass -0.020944 kg is negative"),
    "fromto sphere": (
        body(inside='<geom size="0.1" fromto="0 0 0 1 0 0"/>'),
        "fromto fits capsule, cylinder, box, ellipsoid only",
    ),
    "fromto of one point": (
        body(inside='<geom type="capsule" size="0.1" fromto="1 0 0 1 0 0"/>'),
        "fromto: .* has no direction",
    ),
    "pos and fromto": (
        body(inside='<geom type="capsule" size="0.1" pos="1 0 0" fromto="0 0 0 1 0 0"/>'),
        "both pos and fromto are given",
    ),
    "negative armature": (
        body('<joint name="a" armature="-1"/>'),
        "Joint 'a': armature is -1; it cannot be negative",
    ),
    "polynomial damping": (
        body('<joint name="a" damping="1 0.1"/>'),
        "Joint 'a': damping='1 0.1' is a polynomial",
    ),
    "polynomial spring": (body('<joint name="a" stiffness="1 0 2"/>'), "stiffness='1 0 2' is a polynomial"),
    "springdamper": (
        body('<joint name="a" springdamper="1 1"/>'),
        "Joint 'a': springdamper depends on the whole model",
    ),
    "range upside down": (body('<joint name="a" range="30 -30"/>'), "Joint 'a': The lower joint limit"),
    "bad limited": (body('<joint name="a" limited="yes"/>'), "Unknown limited of Joint 'a' 'yes'"),
    "polynomial equality": (
        equality('<joint joint1="a" joint2="d" polycoef="0 1 0.5 0 0"/>'),
        "The equality of joint 'a' has polycoef='0 1 0.5 0 0'; only c0 and c1",
    ),
    "equality of unknown joint": (
        equality('<joint joint1="q" joint2="d"/>'),
        "Unknown joint in an equality 'q'",
    ),
    "equality without joint": (equality('<joint joint2="d"/>'), "A joint equality has no joint1"),
    "cyclic equality": (
        equality('<joint joint1="a" joint2="d"/><joint joint1="d" joint2="a"/>'),
        "The mimic joints a -> d -> a follow each other",
    ),
    "joint follows twice": (
        equality('<joint joint1="a" joint2="d"/><joint joint1="a" polycoef="1"/>'),
        "Joint 'a' follows both 'd' and None; keep one",
    ),
    "all held": (
        model(tail='<equality><joint joint1="a" polycoef="1"/></equality>'),
        "Every joint is held or follows another",
    ),
    "tendon equality": (
        equality('<tendon tendon1="b" tendon2="c"/>'),
        "The equality <tendon> is not read; <joint> with a linear polycoef, <connect> and <weld> are",
    ),
    "tendon spring": (
        model(tail='<tendon><fixed name="t" stiffness="3"><joint joint="a" coef="1"/></fixed></tendon>'),
        "Tendon 't' has stiffness='3'; forces of tendons are not read",
    ),
    "tendon armature by default": (
        model(head='<default><tendon armature="1"/></default>', tail='<tendon><fixed name="t"/></tendon>'),
        "Tendon 't' has armature='1'",
    ),
    "armature on a tendon's actuator": (
        model(tail='<tendon><fixed name="t"/></tendon><actuator><motor tendon="t" armature="1"/></actuator>'),
        "Actuator <motor> has armature or damping but acts on no single joint",
    ),
    "replicate": (
        model(f'<replicate count="2">{BODY}</replicate>'),
        "<replicate> is not read; save the compiled model",
    ),
    "composite": (body(inside=INERTIAL + "<composite/>"), "<composite> is not read"),
    "include in a text": (model('<include file="x.xml"/>'), "The MJCF text includes 'x.xml'; give the path"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_mjcf_gives_its_sentence(name: str) -> None:
    text, sentence = CASES[name]
    with pytest.raises(DynidError, match=sentence) as caught:
        from_mjcf_text(text)
    assert "\n" not in str(caught.value)


def include(folder: Path, name: str) -> Path:
    file = folder / "model.xml"
    file.write_text(f'<mujoco><include file="{name}"/></mujoco>')
    return file


def test_includes_outside_the_folder_are_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    for name in ("../secret.xml", str(tmp_path / "secret.xml"), "/etc/passwd"):
        with pytest.raises(FileError, match="lies outside the model's folder"):
            from_mjcf(include(inner, name))
    (inner / "link.xml").symlink_to(tmp_path / "secret.xml")
    with pytest.raises(FileError, match=r"'link\.xml' lies outside the model's folder"):
        from_mjcf(include(inner, "link.xml"))


def test_includes_of_themselves_missing_or_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"'model\.xml' is included twice"):
        from_mjcf(include(tmp_path, "model.xml"))
    with pytest.raises(FileError, match="There is no included MJCF file at"):
        from_mjcf(include(tmp_path, "nothing.xml"))
    (tmp_path / "ping.xml").write_text('<mujoco><include file="pong.xml"/></mujoco>')
    (tmp_path / "pong.xml").write_text('<mujoco><include file="ping.xml"/></mujoco>')
    with pytest.raises(FileError, match=r"'ping\.xml' is included twice"):
        from_mjcf(include(tmp_path, "ping.xml"))
    with pytest.raises(DynidError, match=r"model\.xml: <include> has no file"):
        from_mjcf(include(tmp_path, ""))


def test_meshes_on_bodies_that_do_not_move_or_have_an_inertial_are_fine() -> None:
    mesh = '<geom type="mesh" mesh="none"/>'
    world = f'{mesh}<body name="stand">{mesh}<body name="b">{JOINT}{INERTIAL}{mesh}</body></body>'
    assert from_mjcf_text(model(world)).parameters["M1"] == 1.0


def test_file_errors_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(model("<joint/>"))
    with pytest.raises(DynidError, match=r"^Robot file arm\.xml: The <worldbody> has a joint"):
        from_mjcf(file)
