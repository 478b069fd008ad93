"""Collision shapes of URDF and MJCF files: where Pinocchio and MuJoCo have them, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.core.errors import FileError, UnknownNameError
from dynid.model.joint import BASE
from dynid.model.load import attach_shapes, load_robot
from dynid.model.loaders.meshes import mesh_path, mesh_vertices
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.robot import Robot
from dynid.model.shapes import Capsule
from support.datasets import dataset
from support.urdf_text import joint, robot as urdf

Array = NDArray[np.float64]


def collision(solid: str, xyz: str = "0 0 0", rpy: str = "0 0 0") -> str:
    return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{solid}</geometry></collision>'


BALL, CAPSULE = '<sphere radius="0.07"/>', '<capsule radius="0.03" length="0.2"/>'
BOX, CYLINDER = '<box size="0.1 0.5 0.2"/>', '<cylinder radius="0.05" length="0.4"/>'
# A base, two links, a tool welded to the second and a stand welded to the base.
ARM = urdf(
    f'<link name="base">{collision(BALL, "0.1 0 0.05")}</link>',
    f'<link name="stand">{collision(BALL)}</link>',
    f'<link name="one">{collision(CAPSULE, "0.02 0.1 0.3", "0.3 0.2 1")}{collision(BOX, rpy="0 1 0")}</link>',
    f'<link name="two">{collision(CYLINDER, "0 0 0.1", "1.5707963 0 0")}</link>',
    f'<link name="tool">{collision(BALL, "0 0.05 0.1")}</link>',
    joint("weld", "base", "stand", "fixed", xyz="0.5 0.2 0"),
    joint("j1", "base", "one", xyz="0.1 0.2 0.3", rpy="0.2 -0.4 0.6", axis="0 1 0"),
    joint("j2", "one", "two", "prismatic", xyz="0 0.3 0.1", rpy="0 0.5 0", axis="0.6 0 0.8"),
    joint("grip", "two", "tool", "fixed", xyz="0.1 0 0.2", rpy="0 0.3 0.2"),
)


def points_in_base(robot: Robot, q: Array) -> dict[tuple[int, float], list[Array]]:
    """Middles of the capsules in the base frame, by link and radius."""
    p, R = kernels(robot).forward_kinematics(q[None])
    found: dict[tuple[int, float], list[Array]] = {}
    for shape in robot.shapes:
        middle = np.add(shape.start, shape.end) / 2
        if shape.link != BASE:
            middle = p[0, shape.link] + R[0, shape.link] @ middle
        found.setdefault((shape.link, round(shape.radius, 6)), []).append(middle)
    return found


def test_urdf_shapes_lie_where_pinocchio_has_them() -> None:
    robot = attach_shapes(from_urdf_text(ARM))
    assert [shape.link for shape in robot.shapes] == [BASE, BASE, 0, 0, 1, 1]
    text = ARM.replace("<capsule", "<cylinder")  # which Pinocchio's parser knows
    model = pin.buildModelFromXML(text)
    geometry = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION)
    q = np.array([0.7, -0.3])
    data, geometry_data = model.createData(), geometry.createData()
    pin.updateGeometryPlacements(model, data, geometry, geometry_data, q)
    theirs = {
        o.name: place.translation
        for o, place in zip(geometry.geometryObjects, geometry_data.oMg, strict=True)
    }
    ours = [middle for middles in points_in_base(robot, q).values() for middle in middles]
    assert len(ours) == len(theirs) == 6
    for name, place in theirs.items():
        assert min(np.linalg.norm(place - middle) for middle in ours) < 1e-6, name


def test_urdf_solids_become_capsules() -> None:
    robot = attach_shapes(from_urdf_text(ARM))
    rod = next(s for s in robot.shapes if s.radius == 0.03)
    assert np.linalg.norm(np.subtract(rod.end, rod.start)) == pytest.approx(0.2)
    box = next(s for s in robot.shapes if s.link == 0 and s is not rod)
    assert np.hypot(0.05, 0.1) <= box.radius <= 0.2
    assert robot.notes == ()
    assert attach_shapes(robot) is robot  # it has them
    bare = load_robot("scara")
    assert attach_shapes(bare) is bare  # no file of shapes


MJCF = """<mujoco><compiler angle="radian"/>
<default><geom type="capsule"/><default class="visual"><geom contype="0" conaffinity="0"/></default></default>
<asset><mesh name="wedge" vertex="0 0 0 0.2 0 0 0 0.3 0 0 0 0.1 0.2 0.3 0.05" scale="1 2 0.5"
  refpos="0.02 0.01 0" refquat="0.8 0 0.6 0"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
  <body name="foot" pos="0 0 0.1"><geom size="0.1 0.05" pos="0.01 0.02 0.03"/>
  <body name="a" pos="0.1 0.2 0.3" euler="0.3 0.2 -0.4"><joint name="j1" axis="1 2 3" pos="0.05 0 0"/>
    <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
    <geom size="0.04" fromto="0 0 0 0.1 0.2 0.3"/>
    <geom class="visual" size="5 5"/>
    <frame pos="0.1 0 0" euler="0 0.4 0">
      <geom type="box" size="0.1 0.05 0.2" pos="0 0.1 0" euler="1 0 0"/></frame>
    <body name="b" pos="0 0 0.4"><joint name="j2" type="slide" axis="0 1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <geom type="ellipsoid" size="0.1 0.05 0.2"/><geom type="cylinder" size="0.05 0.1" pos="0 0.1 0"/>
      <geom type="sphere" size="0.06" contype="0"/>
      <geom name="wedge" type="mesh" mesh="wedge" pos="0.1 0 0.05" euler="0.2 0 0.5"/></body></body></body>
</worldbody></mujoco>"""


def test_mjcf_shapes_lie_where_mujoco_has_them() -> None:
    robot = attach_shapes(from_mjcf_text(MJCF))
    assert robot.notes == ()
    assert [shape.link for shape in robot.shapes] == [BASE, 0, 0, 1, 1, 1, 1]
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    data.qpos[:] = q = np.array([0.6, -0.2])
    mujoco.mj_forward(model, data)
    kinds = mujoco.mjtGeom
    left = (int(kinds.mjGEOM_PLANE), int(kinds.mjGEOM_MESH))
    solid = [g for g in range(model.ngeom) if model.geom_type[g] not in left and model.geom_size[g, 0] < 1]
    ours = [middle for middles in points_in_base(robot, q).values() for middle in middles]
    for g in solid:
        assert min(np.linalg.norm(data.geom_xpos[g] - middle) for middle in ours) < 1e-9
    # The vertices of the mesh, where MuJoCo has them after its own centring, are inside the last capsule.
    g = model.geom("wedge").id
    vertices = data.geom_xpos[g] + model.mesh_vert @ data.geom_xmat[g].reshape(3, 3).T
    p, R = kernels(robot).forward_kinematics(q[None])
    local = (vertices - p[0, 1]) @ R[0, 1]
    assert distance_outside(local, robot.shapes[-1]) < 1e-7
    assert distance_outside(local, robot.shapes[-1]) > -0.02


def distance_outside(points: Array, capsule: Capsule) -> float:
    start, along = np.array(capsule.start), np.subtract(capsule.end, capsule.start)
    share = np.clip((points - start) @ along / max(along @ along, 1e-300), 0.0, 1.0)
    return float(np.max(np.linalg.norm(points - start - np.outer(share, along), axis=1))) - capsule.radius


def test_what_cannot_be_read_is_left_out_with_a_note() -> None:
    solids = (
        '<box size="1 2"/>',
        "<cone/>",
        '<sphere radius="-1"/>',
        '<mesh filename="package://p/m.stl"/>',
        "",
    )
    text = urdf(
        '<link name="base"/>',
        f'<link name="one">{"".join(map(collision, solids))}{collision(BALL)}</link>',
        joint("j1", "base", "one"),
    )
    plain = from_urdf_text(text)
    assert plain.shapes == ()
    assert plain.notes == ()  # shapes are not read before they are asked for
    robot = attach_shapes(plain)
    assert len(robot.shapes) == 1
    said = "\n".join(robot.notes)
    assert (
        "A shape of link 'one' was left out. Link 'one': <collision>: <box>: size='1 2' must be 3 finite"
        in said
    )
    assert "Unknown solid in Link 'one': <collision>: <cone> 'cone'" in said
    assert "radius is -1" in said
    assert (
        "The mesh 'package://p/m.stl' is not looked for, as the folder of the robot file is not known."
        in said
    )
    assert "has no <geometry> with a solid inside" in said


def test_mjcf_geoms_that_cannot_be_read_are_left_out_with_a_note() -> None:
    geoms = '<geom type="mesh" mesh="no"/><geom type="hfield"/><geom type="box"/><geom type="mesh" mesh="m"/>'
    robot = attach_shapes(
        from_mjcf_text(
            '<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body name="a"><joint/>'
            f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geoms}</body></worldbody></mujoco>'
        )
    )
    assert robot.shapes == ()
    for words in (
        "Unknown mesh 'no'",
        "Unknown type of",
        "has no size",
        "The mesh 'm.stl' is not looked for",
    ):
        assert any(words in note for note in robot.notes), words


def test_a_real_urdf_without_its_meshes_says_so() -> None:
    robot = load_robot(dataset("lbr_med7", "med7dock.urdf"))
    shaped = attach_shapes(robot)
    assert shaped == replace(robot, shapes=shaped.shapes)
    assert any("There is no mesh" in note for note in shaped.notes)


# ── meshes ────────────────────────────────────────────────────────────────────────────────────────────────

TETRAHEDRON = """o tetrahedron
mtllib /etc/hostname
v 0 0 0
v 100 0 0
v 0 300 0
v 0 0 50
f 1 2 3
f 1 2 4
f 1 3 4
f 2 3 4
"""


def arm_with_mesh(folder: Path, name: str) -> Path:
    solid = f'<mesh filename="{name}" scale="0.001 0.001 0.001"/>'
    text = urdf(
        '<link name="base"/>',
        f'<link name="one">{collision(solid, "0.1 0 0")}</link>',
        joint("j1", "base", "one"),
    )
    path = folder / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    ["meshes/m.obj", "package://arm_description/meshes/m.obj", "file://{}/arm_description/meshes/m.obj"],
)
def test_meshes_are_found_scaled_and_enclosed(tmp_path: Path, name: str) -> None:
    pytest.importorskip("trimesh")
    package = tmp_path / "arm_description"
    (package / "meshes").mkdir(parents=True)
    (package / "meshes" / "m.obj").write_text(TETRAHEDRON, encoding="utf-8")
    folder = package if name.startswith("meshes") else package / "urdf"
    folder.mkdir(exist_ok=True)
    robot = attach_shapes(load_robot(arm_with_mesh(folder, name.format(tmp_path))))
    assert robot.notes == ()
    corners = np.array([[0.1, 0, 0], [0.2, 0, 0], [0.1, 0.3, 0], [0.1, 0, 0.05]])
    assert -1e-3 < distance_outside(corners, robot.shapes[0]) <= 1e-9
    assert robot.shapes[0].radius < 0.1


def test_without_trimesh_a_note_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.obj").write_text(TETRAHEDRON, encoding="utf-8")
    path = arm_with_mesh(tmp_path, "m.obj")
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    robot = attach_shapes(load_robot(path))
    assert robot.shapes == ()
    assert robot.notes == (
        "A shape of link 'one' was left out. Meshes need the package trimesh; install dynid with its meshes "
        "extra: pip install 'dynid[meshes]'.",
    )


def test_meshes_of_strangers(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    with pytest.raises(FileError, match=r"The mesh 'http://x/m.stl' is not a file on this computer"):
        mesh_path("http://x/m.stl", tmp_path)
    with pytest.raises(FileError, match="There is no mesh"):
        mesh_path("package://nowhere/a\0b.stl", tmp_path)
    (tmp_path / "m.stl").write_bytes(b"solid\0\xff\xff" * 40)
    with pytest.raises(FileError, match=r"The mesh m.stl (cannot be read|has no finite vertices)"):
        mesh_vertices(tmp_path / "m.stl")
    (tmp_path / "secret.txt").write_text("1 2 3")
    with pytest.raises(UnknownNameError, match=r"Unknown ending of a mesh '.txt'. .*Known: .dae, .glb, .obj"):
        mesh_vertices(tmp_path / "secret.txt")
