"""MJCF models with loops, written for tests: a five-bar, a four-bar, a spatial loop, three legs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FIVEBAR = """
<mujoco model="fivebar">
  <!-- two motors at the base, tips joined; turned frames, a tool that is fixed to its link -->
  <compiler angle="radian"/>
  <option timestep="0.0005" integrator="RK4"><flag contact="disable"/></option>
  <default><equality solref="0.0002 1" solimp="0.9999 0.9999 0.001"/></default>
  <worldbody>
    <body name="left" pos="-0.1 0 0">
      <joint name="left_motor" axis="0 1 0" ref="0.3" damping="0.08" armature="0.004" range="-0.2 0.7"/>
      <inertial pos="-0.02 0.01 0.12" mass="0.8" diaginertia="0.006 0.006 0.0006"/>
      <body name="left_rod" pos="-0.05 0 0.25" euler="0 0.4 0">
        <joint name="left_elbow" axis="0 -1 0"/>
        <inertial pos="0.01 -0.01 0.15" mass="0.5" diaginertia="0.005 0.005 0.0004"/>
        <body name="tool" pos="0.01 0.02 0.3"><geom type="sphere" size="0.02" mass="0.15"/></body>
      </body>
    </body>
    <body name="right" pos="0.1 0 0" euler="0 0 3.141592653589793">
      <joint name="right_motor" axis="0 -1 0" damping="0.06" armature="0.003" range="-0.4 0.5"/>
      <inertial pos="-0.03 0 0.13" mass="0.7" diaginertia="0.005 0.005 0.0005"/>
      <body name="right_rod" pos="-0.05 0 0.25">
        <joint name="right_elbow" axis="0 1 0" ref="-0.2"/>
        <inertial pos="0.07 0 0.14" mass="0.4" diaginertia="0.004 0.004 0.0003"/>
      </body>
    </body>
  </worldbody>
  <equality><connect name="tip" body1="right_rod" body2="left_rod" anchor="0.15 0 0.3"/></equality>
  <actuator>
    <motor name="left" joint="left_motor"/><motor name="right" joint="right_motor"/>
  </actuator>
</mujoco>
"""
FOURBAR = """
<mujoco model="fourbar">
  <compiler angle="radian"/>
  <option timestep="0.0005" integrator="RK4"><flag contact="disable"/></option>
  <default><equality solref="0.0002 1" solimp="0.9999 0.9999 0.001"/></default>
  <worldbody>
    <site name="ground" pos="0.3 0 0"/>
    <body name="crank">
      <joint name="crank" axis="0 1 0" damping="0.05" range="-1.2 1"/>
      <inertial pos="0 0 0.05" mass="0.6" diaginertia="0.001 0.001 0.0003"/>
      <body name="coupler" pos="0 0 0.1">
        <joint name="coupler" axis="0 1 0"/>
        <inertial pos="0.15 0 0.03" mass="0.5" diaginertia="0.0005 0.004 0.004"/>
        <body name="rocker" pos="0.3 0 0.1">
          <joint name="rocker" axis="0 1 0"/>
          <inertial pos="0 0 -0.1" mass="0.7" diaginertia="0.003 0.003 0.0003"/>
          <site name="foot" pos="0 0 -0.2"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><connect name="foot" site1="foot" site2="ground"/></equality>
  <keyframe><key name="other" qpos="9 9 9"/><key name="home" qpos="0 0 0"/></keyframe>
  <actuator><motor name="crank" joint="crank"/></actuator>
</mujoco>
"""
SPATIAL = """
<mujoco model="rssr">
  <!-- a crank and a rocker about skew axes, joined by a rod: two hinges at one end, a point at the other -->
  <compiler angle="radian"/>
  <option timestep="0.0005" integrator="RK4"><flag contact="disable"/></option>
  <default><equality solref="0.0002 1" solimp="0.9999 0.9999 0.001"/></default>
  <worldbody>
    <body name="crank" pos="0 0 0.1">
      <joint name="crank" axis="0 0 1" damping="0.02" armature="0.002" range="-0.1 1.3"/>
      <inertial pos="0.03 0.01 0" mass="0.5" fullinertia="0.0006 0.0009 0.001 0.0001 0 0.00005"/>
      <body name="rod" pos="0.1 0 0">
        <joint name="rod_y" axis="0 1 0"/>
        <joint name="rod_z" axis="0 0 1"/>
        <inertial pos="0.02 0.16 0.05" mass="0.4" fullinertia="0.004 0.0008 0.004 -0.0003 0.0001 -0.0006"/>
      </body>
    </body>
    <body name="rocker" pos="0.25 0.4 -0.1" euler="0.3 0 0.2">
      <joint name="rocker" axis="1 0 0" damping="0.03"/>
      <inertial pos="0 -0.02 0.1" mass="0.6" diaginertia="0.003 0.003 0.0004"/>
    </body>
  </worldbody>
  <equality><connect name="rod end" body1="rod" body2="rocker" anchor="0.15 0.35 0.1"/></equality>
  <actuator><motor name="crank" joint="crank"/></actuator>
</mujoco>
"""


def _three_legs() -> str:
    """A planar platform on three legs of two links each, motors at the base: the platform ends the first."""
    angles = np.deg2rad([90.0, 210.0, 330.0])
    out = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(3)])
    across = np.column_stack([-np.sin(angles), np.cos(angles), np.zeros(3)])
    base, tip = 0.35 * out, 0.15 * out
    elbow = 0.25 * out + 0.2 * across
    legs, joined = [], []
    for i in range(3):
        platform = ""
        if i == 0:
            centre = _text(-tip[0])
            platform = f"""<body name="platform" pos="{_text(tip[0] - elbow[0])}"><joint name="platform"/>
              <inertial pos="{centre}" mass="0.6" diaginertia="0.002 0.002 0.004"/></body>"""
        else:
            joined.append(
                f'<connect name="foot{i}" body1="platform" body2="rod{i}" anchor="{_text(tip[i] - tip[0])}"/>'
            )
        arm, rod = _text(0.4 * (elbow[i] - base[i])), _text(0.5 * (tip[i] - elbow[i]))
        legs.append(f"""<body name="arm{i}" pos="{_text(base[i])}">
          <joint name="motor{i}" damping="0.0{i + 3}" armature="0.00{i + 1}" range="-0.2 0.2"/>
          <inertial pos="{arm}" mass="0.{i + 4}" diaginertia="0.001 0.001 0.0015"/>
          <body name="rod{i}" pos="{_text(elbow[i] - base[i])}"><joint name="elbow{i}"/>
            <inertial pos="{rod}" mass="0.{i + 2}" diaginertia="0.001 0.001 0.001"/>
            {platform}</body></body>""")
    motors = "".join(f'<motor joint="motor{i}"/>' for i in range(3))
    return f"""<mujoco model="three_legs"><compiler angle="radian"/>
      <option gravity="0 -9.81 0" integrator="RK4"><flag contact="disable"/></option>
      <default><joint axis="0 0 1"/><equality solref="0.0002 1" solimp="0.9999 0.9999 0.001"/></default>
      <worldbody>{"".join(legs)}</worldbody>
      <equality>{"".join(joined)}</equality><actuator>{motors}</actuator></mujoco>"""


def _text(values: Sequence[float] | NDArray[np.float64]) -> str:
    return " ".join(f"{value:.12g}" for value in values)


MODELS = {"fivebar": FIVEBAR, "fourbar": FOURBAR, "spatial": SPATIAL, "three_legs": _three_legs()}
