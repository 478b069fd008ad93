"""From a URDF to base parameters: no meshes needed, friction and inertias kept as a-priori values."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dynid

URDF = """
<robot name="two_axes">
  <link name="floor"/>
  <link name="column">
    <inertial> <origin xyz="0 0 0.2"/> <mass value="4"/>
      <inertia ixx="0.05" iyy="0.05" izz="0.02"/> </inertial>
  </link>
  <link name="arm">
    <inertial> <origin xyz="0.25 0 0"/> <mass value="2"/>
      <inertia ixx="0.004" iyy="0.03" izz="0.03"/> </inertial>
  </link>
  <link name="gripper">
    <inertial> <mass value="0.5"/> <inertia ixx="0.001" iyy="0.001" izz="0.001"/> </inertial>
  </link>
  <joint name="turn" type="continuous">
    <parent link="floor"/> <child link="column"/> <axis xyz="0 0 1"/> <dynamics damping="0.5" friction="1.2"/>
  </joint>
  <joint name="lift" type="revolute">
    <parent link="column"/> <child link="arm"/> <origin xyz="0 0 0.4" rpy="1.5708 0 0"/> <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1.5" velocity="3" effort="80"/> <dynamics damping="0.3" friction="0.8"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="arm"/> <child link="gripper"/> <origin xyz="0.5 0 0"/>
  </joint>
</robot>
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "two_axes.urdf"
    path.write_text(URDF, encoding="utf-8")
    robot = dynid.load_robot(path)

# The gripper hangs on a fixed joint, so it became part of the arm; 1.5708 was read as the right angle meant.
print([joint.name for joint in robot.joints], "alpha of lift:", robot.joints[1].alpha)
assert robot.parameters["M2"] == 2.5

base = dynid.find_base(robot)
values = base.regroup(robot.parameters)
for formula, value, unit in zip(base.formulas, values, base.units, strict=True):
    print(f"  {value:8.4f} {unit:9}  {formula}")
assert base.nearly_dependent == ()

# With the file's own digits two axes are not quite at right angles, and one parameter too many looks visible.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "two_axes.urdf"
    path.write_text(URDF, encoding="utf-8")
    tilted = dynid.model.from_urdf(path, snap_rad=0.0)
found = dynid.find_base(tilted)
print(
    f"unsnapped: {len(found)} base parameters, of which no real log shows {', '.join(found.nearly_dependent)}"
)
